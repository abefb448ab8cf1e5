"""An index changed in place is what git would have made of it."""

from __future__ import annotations

import io
import os
import shutil
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitticks.git.plainindex import IndexEntry, PlainIndex
from tests.support.repositories import git, make_repository

NAMES = ("a", "a-b", "f2", "k7f2", "TASK.md", "tasks", "ü x", "z" * 70)
Changes = Mapping[str, Sequence[IndexEntry]]


@pytest.fixture(scope="module")
def blobs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    root = make_repository(tmp_path_factory.mktemp("plain") / "project")
    return root, [git("hash-object", "-w", "--stdin", at=root, input=f"{number}\n") for number in range(4)]


def index_of(root: Path) -> bytes:
    return (root / ".git" / "index").read_bytes()


def parsed(data: bytes, entries_end: int | None = None) -> PlainIndex:
    index = PlainIndex.parse(data, entries_end)
    assert index is not None
    return index


def rendered(index: PlainIndex) -> bytes:
    file = io.BytesIO()
    index.write(file)
    return file.getvalue()


def by_git(root: Path, changes: Changes) -> None:
    lines = []
    for path, entries in changes.items():
        lines.append(f"0 {'0' * 40}\t{path}")
        lines += [f"{one.mode} {one.object_id} {one.stage}\t{path}" for one in entries]
    git("update-index", "-z", "--index-info", at=root, input="".join(f"{line}\0" for line in lines))


def listed(root: Path) -> str:
    return git("ls-files", "--stage", "-z", at=root)


def tree(root: Path) -> str:
    """Returns the tree that a commit would have: by what git remembers of trees, which must not be too much."""
    return git("write-tree", at=root)


paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)
"""Few names, so that files are where folders were, and names are ends of names."""


def has_clash(names: Sequence[str]) -> bool:
    return any(other.startswith(f"{name}/") for name in names for other in names)


@settings(max_examples=25)
@given(data=st.data())
def test_it_is_what_git_makes(blobs: tuple[Path, list[str]], data: st.DataObject) -> None:
    root, ids = blobs
    first = data.draw(
        st.lists(paths, unique=True, min_size=1, max_size=12).filter(lambda names: not has_clash(names))
    )
    (root / ".git" / "index").unlink(missing_ok=True)
    by_git(root, {path: [IndexEntry(path, data.draw(st.sampled_from(ids)))] for path in first})
    remembered = data.draw(st.booleans())
    if remembered:
        tree(root)  # from now on the index remembers the ids of its trees
    entries_end = None
    for _ in range(3):
        there = [line.partition("\t")[2] for line in listed(root).split("\0")[:-1]]
        is_known = bool(there) and data.draw(st.booleans())
        path = data.draw(st.sampled_from(there) if is_known else paths)
        wanted = [
            IndexEntry(path, one, mode="100755")
            for one in data.draw(st.sets(st.sampled_from(ids), max_size=1))
        ]
        index = parsed(index_of(root), entries_end)
        if not index.replace({path: wanted}):
            assert has_clash([*there, path])
            entries_end = None
            by_git(root, {path: wanted})
            continue
        entries_end = index.entries_end
        by_git(root, {path: wanted})
        expected = listed(root), tree(root)
        (root / ".git" / "index").write_bytes(rendered(index))
        assert (listed(root), tree(root)) == expected
        assert parsed(rendered(index)).entries_end == entries_end
        if not remembered:
            (root / ".git" / "index").write_bytes(rendered(index))
    git("fsck", "--strict", at=root)


def test_conflicts_come_and_go(blobs: tuple[Path, list[str]]) -> None:
    root, ids = blobs
    (root / ".git" / "index").unlink(missing_ok=True)
    by_git(root, {path: [IndexEntry(path, ids[0])] for path in ("a", "b", "c")})
    index = parsed(index_of(root))
    stages = [IndexEntry("b", one, stage) for stage, one in ((3, ids[2]), (1, ids[0]), (2, ids[1]))]
    assert index.replace({"b": stages})
    assert index.entries("b") == {one.stage: one for one in stages}
    (root / ".git" / "index").write_bytes(rendered(index))
    assert git("ls-files", "--unmerged", "-z", at=root).count("\0") == 3
    assert index.replace({"b": [IndexEntry("b", ids[3])]})
    (root / ".git" / "index").write_bytes(rendered(index))
    assert git("ls-files", "--stage", "b", at=root) == f"100644 {ids[3]} 0\tb"
    assert index.entries("b") == {0: IndexEntry("b", ids[3])}
    assert index.entries("missing") == {}


def test_git_believes_the_status_that_was_noted(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    file = root / "README.md"
    file.write_text("other\n")
    os.utime(file, (1_700_000_000, 1_700_000_000))
    other = git("hash-object", "-w", "README.md", at=root)
    index = parsed(index_of(root))
    assert index.replace({"README.md": [IndexEntry("README.md", other, status=file.stat())]})
    (root / ".git" / "index").write_bytes(rendered(index))
    assert git("diff-files", at=root) == ""
    assert git("status", "--porcelain", at=root) == "M  README.md"
    assert index.replace({"README.md": [IndexEntry("README.md", other)]})
    (root / ".git" / "index").write_bytes(rendered(index))
    assert git("diff-files", "--name-only", at=root) == "README.md"  # until git has read the file


@pytest.mark.parametrize(
    "command",
    [
        ("update-index", "--index-version", "4"),
        ("update-index", "--split-index"),
        ("update-index", "--untracked-cache"),
        ("update-index", "--assume-unchanged", "README.md"),
        ("update-index", "--skip-worktree", "README.md"),
        ("-c", "index.recordEndOfIndexEntries=true", "update-index", "--force-write-index"),
        ("rm", "-q", "--cached", "README.md"),
    ],
)
def test_what_is_not_plain_is_left_to_git(tmp_path: Path, command: tuple[str, ...]) -> None:
    root = make_repository(tmp_path / "project")
    if command[0] == "rm":
        (root / "long").mkdir()
        name = "/".join("n" * 200 for _ in range(21))
        blob = git("hash-object", "README.md", at=root)
        git("update-index", "--add", "--cacheinfo", f"100644,{blob},{name}", at=root)
    git(*command, at=root)
    assert PlainIndex.parse(index_of(root)) is None


@pytest.mark.parametrize("cut", [0, 11, 40, 120])
def test_what_is_torn_is_left_to_git(tmp_path: Path, cut: int) -> None:
    data = index_of(make_repository(tmp_path / "project"))
    assert PlainIndex.parse(data[:cut]) is None
    too_many = data[:8] + struct.pack(">I", 1_000_000) + data[12:]
    assert PlainIndex.parse(too_many) is None


@pytest.mark.parametrize("shift", [-1000, -1, 1, 8, 10**9])
def test_a_wrong_end_of_the_entries_is_noticed(tmp_path: Path, shift: int) -> None:
    root = make_repository(tmp_path / "project")
    data = index_of(root)
    assert PlainIndex.parse(data, parsed(data).entries_end + shift) is None


@given(at=st.integers(min_value=0), damage=st.binary(min_size=1, max_size=8))
def test_damage_is_no_bug(blobs: tuple[Path, list[str]], at: int, damage: bytes) -> None:
    root, ids = blobs
    git("read-tree", "HEAD", at=root)
    data = bytearray(index_of(root))
    place = at % len(data)
    data[place : place + len(damage)] = damage
    index = PlainIndex.parse(bytes(data))
    if index is not None:
        index.entries("README.md")
        index.replace({"a/b": [IndexEntry("a/b", ids[0])], "README.md": []})


def test_an_index_without_a_checksum_stays_one(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    data = index_of(root)[:-20] + b"\0" * 20
    assert rendered(parsed(data)) == data


def test_the_cost_is_that_of_the_change(tmp_path: Path) -> None:
    """A known end of the entries is believed, so that nothing looks at each of them."""
    root = make_repository(tmp_path / "project")
    data = index_of(root)
    end = parsed(data).entries_end
    damaged = bytearray(data)
    damaged[12 + 60] |= 0xC0  # a walk would stop here
    assert PlainIndex.parse(bytes(damaged)) is None
    assert PlainIndex.parse(bytes(damaged), end) is not None
    shutil.rmtree(root)
