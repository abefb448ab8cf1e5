"""Objects written here, looked at by git."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.errors import GitticksError
from gitticks.git import trees
from gitticks.git.identity import Identity
from gitticks.git.objects import Change, Objects
from gitticks.git.repository import discover
from tests.support.repositories import fsck_problems, git, make_repository

ADA = Identity("Ada Lovelace", "ada@example.org")


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "r")


@pytest.fixture
def objects(top: Path) -> Objects:
    return Objects.open(discover(top))


def listing(top: Path, tree: str) -> list[str]:
    return git("ls-tree", "-r", "--name-only", tree, at=top).splitlines()


def test_blobs_are_kept_byte_for_byte(top: Path, objects: Objects) -> None:
    content = b"a\r\n\x00\xff"
    made = objects.write_blob(content)
    assert objects.read_blob(made) == content
    assert objects.has(made)
    assert git("cat-file", "-s", made, at=top) == "5"


def test_a_tree_changes_along_the_touched_paths_only(top: Path, objects: Objects) -> None:
    first = objects.update_tree(None, {"a/b/c": b"1", "a/b/d": b"2", "e/f": b"3", "g": b"4"})
    assert first is not None
    second = objects.update_tree(first, {"a/b/c": b"new", "a/x": b"5", "g": None, "not/there": None})
    assert second is not None
    assert listing(top, second) == ["a/b/c", "a/b/d", "a/x", "e/f"]
    assert objects.find(second, "e") == objects.find(first, "e")
    assert objects.find(second, "a/b/d") == objects.find(first, "a/b/d")


def test_an_emptied_folder_is_gone(objects: Objects) -> None:
    first = objects.update_tree(None, {"a/b/c": b"1", "d": b"2"})
    second = objects.update_tree(first, {"a/b/c": None})
    assert second is not None
    assert [entry.name for entry in objects.entries(second)] == ["d"]
    assert objects.update_tree(second, {"d": None}) is None
    assert objects.entries(objects.empty_tree()) == ()


def test_a_foreign_file_is_never_replaced_by_a_folder(objects: Objects) -> None:
    tree = objects.update_tree(None, {"tasks": b"a file", "folder/x": b"1"})
    with pytest.raises(GitticksError, match="`tasks` on the state branch is a file"):
        objects.update_tree(tree, {"tasks/a": b"1"})
    with pytest.raises(GitticksError, match="`folder` on the state branch is a folder"):
        objects.update_tree(tree, {"folder": b"1"})
    assert objects.update_tree(tree, {"tasks/a": None}) == tree
    with pytest.raises(GitticksError, match="a file and a folder at once"):
        objects.update_tree(None, {"a": b"1", "a/b": b"2"})


def test_entries_tell_files_from_links(top: Path, objects: Objects) -> None:
    (top / "link").symlink_to("README.md")
    (top / "run").write_text("#!/bin/sh\n")
    (top / "run").chmod(0o755)
    git("add", "link", "run", at=top)
    tree = git("write-tree", at=top)
    kinds = {entry.name: entry.is_file for entry in objects.entries(tree)}
    assert kinds == {"README.md": True, "link": False, "run": True}
    assert objects.find(tree, "link/under") is None
    assert objects.find(tree, "none/at/all") is None


def test_a_commit_is_by_its_author(top: Path, objects: Objects) -> None:
    tree = objects.update_tree(None, {"a": b"1"})
    assert tree is not None
    first = objects.write_commit(tree, (), author=ADA, message="one\n\nTask: k7f2\n")
    second = objects.write_commit(tree, (first,), author=ADA, message="zwei → drei\n")
    assert git(
        "log", "--format=%s|%an <%ae>|%cn|%(trailers:key=Task,valueonly,separator=%x2C)", second, at=top
    ) == (
        "zwei → drei|Ada Lovelace <ada@example.org>|Ada Lovelace|\n"
        "one|Ada Lovelace <ada@example.org>|Ada Lovelace|k7f2"
    )
    assert objects.parents_of(second) == (first,)
    assert objects.tree_of(second) == tree
    assert fsck_problems(top) == ""


files = st.dictionaries(
    st.lists(st.sampled_from("abc"), min_size=3, max_size=3).map("/".join), st.binary(max_size=3), max_size=8
)


@given(old=files, new=files)
def test_changed_files_are_those_that_differ(
    old: dict[str, bytes], new: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    objects = Objects.open(discover(shared_repository(tmp_path_factory)))
    before, after = objects.update_tree(None, old), objects.update_tree(None, new)
    found = list(objects.changed_files(before, after))
    expected = sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))
    assert [change.path for change in found] == expected
    for change in found:
        assert (change.old is None) == (change.path not in old)
        assert change.new is None or objects.read_blob(change.new) == new[change.path]


def shared_repository(factory: pytest.TempPathFactory) -> Path:
    path = factory.getbasetemp() / "shared-objects"
    return path if path.exists() else make_repository(path)


def test_a_file_that_becomes_a_folder_is_two_changes(objects: Objects) -> None:
    before = objects.update_tree(None, {"a": b"1"})
    after = objects.update_tree(None, {"a/b": b"1"})
    blob = objects.write_blob(b"1")
    assert list(objects.changed_files(before, after)) == [Change("a", blob, None), Change("a/b", None, blob)]


def test_folders_in_one_another_without_end_are_refused(top: Path, objects: Objects) -> None:
    tree = objects.update_tree(None, {"a" + "/a" * 190: b"1"})
    assert [one.path for one in objects.changed_files(None, tree)] == ["a" + "/a" * 190]
    for _ in range(20):
        tree = git("mktree", at=top, input=f"040000 tree {tree}\ta\n")
    with pytest.raises(GitticksError, match="`a/a/a`: more than 200 folders in one another") as told:
        list(objects.changed_files(None, tree))
    assert told.value.hint == "`git log --all -- a/a/a` says who put them there"


def test_more_files_than_anybody_makes_are_refused(
    top: Path, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "MOST_DIFFERENCES", 1000)
    empty = git("mktree", at=top, input="")
    for leaf in (objects.update_tree(None, {str(number): b"1" for number in range(10)}), empty):
        tree = leaf
        for _ in range(3):
            tree = git("mktree", at=top, input="".join(f"040000 tree {tree}\td{one}\n" for one in range(10)))
        with pytest.raises(GitticksError, match="`: more than 1,000 files that changed at once") as told:
            list(objects.changed_files(None, tree))
        assert "says who put them there" in str(told.value.hint)
    many = objects.update_tree(None, {str(number): b"1" for number in range(1001)})
    with pytest.raises(GitticksError, match=r"`\.`: more than 1,000 files") as told:
        list(objects.changed_files(None, many))
    assert told.value.hint == "`git log --all -- .` says who put them there"


def test_an_object_of_another_kind_is_refused(top: Path, objects: Objects) -> None:
    commit = git("rev-parse", "HEAD", at=top)
    with pytest.raises(GitticksError, match="is damaged, or not what its place"):
        objects.read_blob(commit)
    with pytest.raises(GitticksError, match="is damaged, or not what its place"):
        objects.entries(commit)
    with pytest.raises(GitticksError, match="is damaged, or not what its place"):
        objects.tree_of(objects.tree_of(commit))


WRITE_ONCE = """\
import sys
from contextlib import nullcontext
from pathlib import Path
from gitticks.git.identity import ENGINE_IDENTITY
from gitticks.git.objects import Objects
from gitticks.git.ref_updates import compare_and_swap_ref
from gitticks.git.repository import discover
objects = Objects.open(discover(Path(sys.argv[1])))
with objects.unsynced() if sys.argv[2] == "together" else nullcontext() as written:
    tree = objects.update_tree(None, {"a/b": b"1"})
    commit = objects.write_commit(tree, (), author=ENGINE_IDENTITY, message="m")
if written is not None:
    objects.sync(written.ids)
compare_and_swap_ref(objects, "refs/heads/synced", None, commit, "m")
"""


@pytest.mark.debian("strace")
@pytest.mark.parametrize("how", ["each", "together"])
def test_objects_are_on_disk_before_the_ref_names_them(top: Path, tmp_path: Path, how: str) -> None:
    trace = tmp_path / "trace"
    calls = "trace=fsync,syncfs,link,rename"
    program = [sys.executable, "-c", WRITE_ONCE, str(top), how]
    subprocess.run(["strace", "-f", "-o", str(trace), "-e", calls, *program], check=True)
    steps = [step for line in trace.read_text().splitlines() if (step := _step(line))]
    assert steps[-2:] == ["ref", "sync"]
    before = steps[: -1 - steps[::-1].index("object")]
    after = steps[len(before) + 1 : -2]
    assert (before.count("object"), before.count("sync") > 0) == (3, how == "each")
    assert after.count("sync") >= 2
    assert set(after) == {"sync"}


def _step(line: str) -> str | None:
    """Returns what a traced call does: a sync, an object put in place, or the ref."""
    if "= -1" in line:
        return None
    if "fsync(" in line or "syncfs(" in line:
        return "sync"
    if "/objects/" in line and ("link(" in line or "rename(" in line):
        return "object"
    return "ref" if "refs/heads/synced.lock" in line else None
