"""Trees read from their bytes: the same as libgit2 reads, whatever somebody put into them."""

from __future__ import annotations

import pygit2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygit2.enums import FileMode, ObjectType

from gitticks.git.objects.trees import Entry, by_name, differing, split_tree, tree_id_of
from tests.support.repositories import make_repository

ID = bytes(range(20))
MODES = [
    b"100644",
    b"100755",
    b"100664",
    b"100600",
    b"40000",
    b"040000",
    b"120000",
    b"120777",
    b"160000",
    b"644",
]
ids = st.binary(min_size=20, max_size=20).filter(any)
names = st.binary(min_size=1, max_size=6).filter(lambda name: b"\0" not in name)
trees = st.lists(st.tuples(st.sampled_from(MODES), names, ids), unique_by=lambda parts: parts[1], max_size=6)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> pygit2.Repository:
    return pygit2.Repository(str(make_repository(tmp_path_factory.mktemp("trees") / "r")))


def stored(parts: list[tuple[bytes, bytes, bytes]]) -> bytes:
    return b"".join(mode + b" " + name + b"\0" + raw_id for mode, name, raw_id in parts)


@given(parts=trees)
def test_entries_are_those_that_libgit2_reads(
    repository: pygit2.Repository, parts: list[tuple[bytes, bytes, bytes]]
) -> None:
    content = stored(parts)
    tree = repository[repository.odb.write(ObjectType.TREE, content)]
    assert isinstance(tree, pygit2.Tree)
    expected = [
        Entry(
            str(item.name),
            str(item.id),
            is_file=item.filemode in (FileMode.BLOB, FileMode.BLOB_EXECUTABLE),
            is_tree=item.filemode == FileMode.TREE,
            is_executable=item.filemode == FileMode.BLOB_EXECUTABLE,
        )
        for item in tree
    ]
    assert list(by_name(split_tree(content, 20) or []).values()) == expected


@given(old=trees, new=trees)
def test_what_differs_is_what_two_dictionaries_tell(
    old: list[tuple[bytes, bytes, bytes]], new: list[tuple[bytes, bytes, bytes]]
) -> None:
    before, after = by_name(old), by_name(new)
    expected = [
        (name, before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    assert list(differing(old, new)) == expected


@pytest.mark.parametrize(
    "content",
    [
        b"x",
        b"100644 a\0" + ID[:19],
        b"100644 \0" + ID,
        b"888 a\0" + ID,
        b"100644 a\0" + ID + b"x",
        b"100644 a" + ID[1:],
    ],
)
def test_other_bytes_are_no_tree(content: bytes) -> None:
    assert split_tree(content, 20) is None


def test_only_a_folder_has_a_tree() -> None:
    entries = by_name([(b"40000", b"a", ID), (b"100644", b"b", ID)])
    assert tree_id_of(entries["a"]) == ID.hex()
    assert tree_id_of(entries["b"]) is None
    assert tree_id_of(None) is None
