"""Objects written here, looked at by git: the same with both backends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitticks.errors import GitticksError
from gitticks.git.identity import Identity
from gitticks.git.objects import BACKEND_VARIABLE, Change, Objects, trees
from tests.git.objects.conftest import OpenObjects
from tests.support.repositories import commit_file, fsck_problems, git, loose_file, make_repository
from tests.support.waiting import LONGEST_SECONDS

ADA = Identity("Ada Lovelace", "ada@example.org")


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "r")


@pytest.fixture
def objects(top: Path, opened: OpenObjects) -> Objects:
    return opened(top)


def tree_with(objects: Objects, changes: Mapping[str, bytes | None], base: str | None = None) -> str:
    """Returns the tree of a commit that makes `changes` to the tree of the commit `base`."""
    return objects.tree_of(commit_with(objects, changes, base))


def commit_with(objects: Objects, changes: Mapping[str, bytes | None], base: str | None = None) -> str:
    parents = () if base is None else (base,)
    return objects.write_commit(parents, changes, author=ADA, message="made\n").id


def listing(top: Path, tree: str) -> list[str]:
    return git("ls-tree", "-r", "--name-only", tree, at=top).splitlines()


def test_a_file_stays_executable_unless_it_is_said_otherwise(top: Path, objects: Objects) -> None:
    def commit(content: bytes, base: str | None = None, **executable: bool) -> str:
        changes = {"in/program": content, "plain": content}
        named = {f"in/{name}": is_one for name, is_one in executable.items()}
        parents = () if base is None else (base,)
        return objects.write_commit(parents, changes, author=ADA, message="made\n", executable=named).id

    def modes(made: str) -> list[str]:
        return [line.split()[0] for line in git("ls-tree", "-r", made, at=top).splitlines()]

    first = commit(b"1", program=True)
    assert modes(first) == ["100755", "100644"]
    assert modes(commit(b"2", first)) == ["100755", "100644"]
    assert modes(commit(b"1", first, program=False)) == ["100644", "100644"]


def test_what_is_removed_makes_room(top: Path, objects: Objects) -> None:
    first = commit_with(objects, {"one": b"1", "in/two": b"2", "in/deep/three": b"3"})
    removed: dict[str, bytes | None] = {"one": None, "in/two": None, "in/deep/three": None}
    for changes in ({**removed, "one/a": b"4", "in": b"5"}, {"in": b"5", "one/a": b"4", **removed}):
        assert listing(top, tree_with(objects, changes, first)) == ["in", "one/a"]
    with pytest.raises(GitticksError, match="a folder where a file is needed"):
        commit_with(objects, {"in": b"5", "in/two": None}, first)
    with pytest.raises(GitticksError, match="a file where a folder is needed"):
        commit_with(objects, {"one/a": b"5"}, first)


def test_blobs_are_kept_byte_for_byte(top: Path, objects: Objects) -> None:
    content = b"a\r\n\x00\xff"
    made = objects.write_blob(content)
    assert objects.read_blob(made) == content
    assert objects.has(made)
    assert not objects.has("1" * 40)
    assert not objects.has("no id")
    assert git("cat-file", "-s", made, at=top) == "5"


@pytest.mark.parametrize("text", ["", "one\n", "ü\r\n"])
def test_an_id_is_what_git_says(top: Path, objects: Objects, text: str) -> None:
    (top / "file").write_bytes(text.encode())
    assert objects.blob_id(text.encode()) == git("hash-object", "file", at=top)


def test_many_blobs_are_read_at_once(objects: Objects) -> None:
    contents = [b"", b"one\n", b"\0\n\n", b"x" * 100_000]
    made = [objects.write_blob(content) for content in contents]
    found = objects.read_blobs([made[0], "1" * 40, *made[1:]])
    assert found == dict(zip(made, contents, strict=True))


@pytest.mark.damages
def test_what_cannot_be_read_among_many_is_left_out(top: Path, objects: Objects) -> None:
    made = [objects.write_blob(content) for content in (b"one", b"two", b"three")]
    damaged = loose_file(top / ".git", made[1])
    damaged.chmod(0o644)
    os.truncate(damaged, 5)
    found = objects.read_blobs(made)
    assert found[made[0]] == b"one"
    assert made[1] not in found
    with pytest.raises(GitticksError, match="cannot be read"):
        objects.read_blob(made[1])
    assert objects.read_blob(made[2]) == b"three"


def test_what_git_wrote_since_is_read(top: Path, objects: Objects) -> None:
    assert objects.tree_of(git("rev-parse", "HEAD", at=top))
    later = commit_file(top, "later.txt", "later\n")
    git("repack", "-adq", at=top)
    assert objects.find(objects.tree_of(later), "later.txt") is not None
    for number in range(3):
        commit = commit_file(top, "later.txt", f"{number}\n")
        git("repack", "-adq", at=top)
        assert objects.parents_of(commit) == (later,)
        later = commit


def test_a_tree_changes_along_the_touched_paths_only(top: Path, objects: Objects) -> None:
    base = commit_with(objects, {"a/b/c": b"1", "a/b/d": b"2", "e/f": b"3", "g": b"4"})
    first = objects.tree_of(base)
    second = tree_with(objects, {"a/b/c": b"new", "a/x": b"5", "g": None, "not/there": None}, base)
    assert listing(top, second) == ["a/b/c", "a/b/d", "a/x", "e/f"]
    assert objects.find(second, "e") == objects.find(first, "e")
    assert objects.find(second, "a/b/d") == objects.find(first, "a/b/d")


def test_an_emptied_folder_is_gone(objects: Objects) -> None:
    first = commit_with(objects, {"a/b/c": b"1", "d": b"2"})
    second = commit_with(objects, {"a/b/c": None}, first)
    assert list(objects.folder(objects.tree_of(second))) == ["d"]
    assert objects.folder(tree_with(objects, {"d": None}, second)) == {}


def test_a_file_takes_the_place_of_a_removed_one(top: Path, objects: Objects) -> None:
    base = commit_with(objects, {"a": b"1", "b/c": b"2"})
    assert listing(top, tree_with(objects, {"b/c": b"3", "a": None, "z": b""}, base)) == ["b/c", "z"]


@pytest.mark.parametrize("name", ['quo"te', "back\\slash", "spa ce", "ünï", "new\nline"])
def test_odd_names_are_kept(objects: Objects, name: str) -> None:
    tree = tree_with(objects, {f"x/{name}": b"1"})
    inner = objects.find(tree, "x")
    assert inner is not None
    assert list(objects.folder(inner.object_id)) == [name]


def test_a_foreign_file_is_never_replaced_by_a_folder(objects: Objects) -> None:
    base = commit_with(objects, {"tasks": b"a file", "folder/x": b"1"})
    with pytest.raises(GitticksError, match="`tasks` on the state branch is a file"):
        commit_with(objects, {"tasks/a": b"1"}, base)
    with pytest.raises(GitticksError, match="`folder` on the state branch is a folder"):
        commit_with(objects, {"folder": b"1"}, base)
    assert tree_with(objects, {"tasks/a": None}, base) == objects.tree_of(base)
    with pytest.raises(GitticksError, match="a file and a folder at once"):
        commit_with(objects, {"a": b"1", "a/b": b"2"})


def test_entries_tell_files_from_links(top: Path, objects: Objects) -> None:
    (top / "link").symlink_to("README.md")
    (top / "run").write_text("#!/bin/sh\n")
    (top / "run").chmod(0o755)
    git("add", "link", "run", at=top)
    tree = git("write-tree", at=top)
    kinds = {entry.name: entry.is_file for entry in objects.folder(tree).values()}
    assert kinds == {"README.md": True, "link": False, "run": True}
    assert objects.find(tree, "link/under") is None
    assert objects.find(tree, "none/at/all") is None


def test_modes_that_are_not_touched_stay(top: Path, objects: Objects) -> None:
    (top / "link").symlink_to("README.md")
    (top / "run").write_text("#!/bin/sh\n")
    (top / "run").chmod(0o755)
    git("add", "link", "run", at=top)
    git("commit", "-qm", "modes", at=top)
    before = git("ls-tree", "HEAD", at=top)
    after = git("ls-tree", tree_with(objects, {"new": b"1"}, git("rev-parse", "HEAD", at=top)), at=top)
    assert set(before.splitlines()) < set(after.splitlines())


def test_a_commit_is_by_its_author(top: Path, objects: Objects) -> None:
    first = objects.write_commit((), {"a": b"1"}, author=ADA, message="one\n\nTask: k7f2\n").id
    second = objects.write_commit((first,), {}, author=ADA, message="zwei → drei\n").id
    assert git(
        "log", "--format=%s|%an <%ae>|%cn|%(trailers:key=Task,valueonly,separator=%x2C)", second, at=top
    ) == (
        "zwei → drei|Ada Lovelace <ada@example.org>|Ada Lovelace|\n"
        "one|Ada Lovelace <ada@example.org>|Ada Lovelace|k7f2"
    )
    assert objects.parents_of(second) == (first,)
    assert objects.tree_of(second) == objects.tree_of(first)
    assert git("log", "-1", "--format=%ai", second, at=top) == git(
        "log", "-1", "--format=%ci", second, at=top
    )
    assert fsck_problems(top) == ""


def test_a_commit_tells_all_that_is_to_be_on_disk(top: Path, objects: Objects) -> None:
    base = commit_with(objects, {"a/b": b"1", "c": b"2"})
    made = objects.write_commit((base,), {"a/b": b"3"}, author=ADA, message="x\n")
    new = git("rev-list", "--objects", "--no-object-names", made.id, f"^{base}", at=top).split()
    assert sorted(made.objects) == sorted(new)


@pytest.mark.parametrize("content", [b"%d", b"same%.0d"])
def test_a_large_change_is_one_pack(top: Path, objects: Objects, content: bytes) -> None:
    made = objects.write_commit(
        (), {f"f/{one}": content % one for one in range(150)}, author=ADA, message="many\n"
    )
    assert len(list((top / ".git/objects/pack").glob("*.idx"))) == 1
    objects.sync(made.objects)
    assert len(listing(top, made.id)) == 150
    assert fsck_problems(top) == ""


def test_nothing_is_left_in_the_repository_but_objects(top: Path, objects: Objects) -> None:
    before = git("for-each-ref", at=top)
    commit_with(objects, {"a": b"1"})
    assert git("for-each-ref", at=top) == before
    assert not list((top / ".git").glob("fast_import*"))


files = st.dictionaries(
    st.lists(st.sampled_from("abc"), min_size=3, max_size=3).map("/".join), st.binary(max_size=3), max_size=8
)


@given(old=files, new=files)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_changed_files_are_those_that_differ(
    objects: Objects, old: dict[str, bytes], new: dict[str, bytes]
) -> None:
    before, after = tree_with(objects, old), tree_with(objects, new)
    found = list(objects.changed_files(before, after))
    expected = sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))
    assert [change.path for change in found] == expected
    for change in found:
        assert (change.old is None) == (change.path not in old)
        assert change.new is None or objects.read_blob(change.new) == new[change.path]


def test_a_file_that_becomes_a_folder_is_two_changes(objects: Objects) -> None:
    before, after = tree_with(objects, {"a": b"1"}), tree_with(objects, {"a/b": b"1"})
    blob = objects.write_blob(b"1")
    assert list(objects.changed_files(before, after)) == [Change("a", blob, None), Change("a/b", None, blob)]


def test_folders_in_one_another_without_end_are_refused(top: Path, objects: Objects) -> None:
    tree = tree_with(objects, {"a" + "/a" * 190: b"1"})
    assert [one.path for one in objects.changed_files(None, tree)] == ["a" + "/a" * 190]
    for _ in range(20):
        tree = git("mktree", at=top, input=f"040000 tree {tree}\ta\n")
    with pytest.raises(GitticksError, match="`a/a/a`: more than 200 folders in one another") as told:
        list(objects.changed_files(None, tree))
    assert told.value.hint == "`git log --all -- a/a/a` shows where they came from"


def test_more_files_than_anybody_makes_are_refused(
    top: Path, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "MOST_DIFFERENCES", 1000)
    empty = git("mktree", at=top, input="")
    for leaf in (tree_with(objects, {str(number): b"1" for number in range(10)}), empty):
        tree = leaf
        for _ in range(3):
            tree = git("mktree", at=top, input="".join(f"040000 tree {tree}\td{one}\n" for one in range(10)))
        with pytest.raises(GitticksError, match="`: more than 1,000 files that changed at once") as told:
            list(objects.changed_files(None, tree))
        assert "shows where they came from" in str(told.value.hint)
    many = tree_with(objects, {str(number): b"1" for number in range(1001)})
    with pytest.raises(GitticksError, match=r"`\.`: more than 1,000 files") as told:
        list(objects.changed_files(None, many))
    assert told.value.hint == "`git log --all -- .` shows where they came from"


def test_an_object_of_another_kind_is_refused(top: Path, objects: Objects) -> None:
    commit = git("rev-parse", "HEAD", at=top)
    with pytest.raises(GitticksError, match="is damaged, or not what the tree"):
        objects.read_blob(commit)
    with pytest.raises(GitticksError, match="is damaged, or not what the tree"):
        objects.folder(commit)
    with pytest.raises(GitticksError, match="is damaged, or not what the tree"):
        objects.tree_of(objects.tree_of(commit))


@pytest.mark.damages
def test_ancestors_are_found_above_damage(top: Path, objects: Objects) -> None:
    root, old = git("rev-parse", "HEAD", at=top), commit_file(top, "a.txt", "a\n")
    above = commit_file(top, "a.txt", "above\n")
    aside = git("commit-tree", "HEAD^{tree}", "-p", old, "-m", "aside", at=top)
    new = git("commit-tree", "HEAD^{tree}", "-p", above, "-p", aside, "-m", "both", at=top)
    damaged = loose_file(top / ".git", root)
    damaged.chmod(0o644)
    os.truncate(damaged, damaged.stat().st_size // 2)
    assert objects.is_ancestor(above, new)
    assert objects.is_ancestor(aside, new)
    assert objects.is_ancestor(old, new)
    assert not objects.is_ancestor(above, aside)
    assert not objects.is_ancestor(new, above)
    assert not objects.is_ancestor("f" * 40, new)


def test_far_ancestors_are_git_s_to_find(
    top: Path, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = git("rev-parse", "HEAD", at=top)
    for number in range(4):
        commit_file(top, "a.txt", f"{number}\n")
    monkeypatch.setattr("gitticks.git.objects.database._MOST_WALKED", 2)
    assert objects.is_ancestor(old, git("rev-parse", "HEAD", at=top))
    assert not objects.is_ancestor(git("rev-parse", "HEAD", at=top), git("rev-parse", "HEAD~1", at=top))


WRITE_ONCE = """\
import sys
from pathlib import Path
from gitticks.git.identity import ENGINE_IDENTITY
from gitticks.git.objects import open_objects
objects = open_objects(Path(sys.argv[1]) / ".git")
commit = objects.write_commit((), {"a/b": b"1"}, author=ENGINE_IDENTITY, message="m")
objects.sync(commit.objects)
objects.move_ref("refs/heads/synced", None, commit.id, "m")
"""


@pytest.mark.debian("strace")
@pytest.mark.parametrize("backend", ["libgit2", "processes"])
def test_objects_are_on_disk_before_the_ref_names_them(top: Path, tmp_path: Path, backend: str) -> None:
    trace = tmp_path / "trace"
    calls = "trace=fsync,fdatasync,syncfs,link,rename"
    program = [sys.executable, "-c", WRITE_ONCE, str(top)]
    environment = {**os.environ, BACKEND_VARIABLE: backend}
    subprocess.run(["strace", "-f", "-o", str(trace), "-e", calls, *program], check=True, env=environment)
    steps = [step for line in trace.read_text().splitlines() if (step := _step(line))]
    assert steps.count("object") == 4
    assert "ref" in steps
    between = steps[len(steps) - steps[::-1].index("object") : steps.index("ref")]
    assert "sync" in between


def _step(line: str) -> str | None:
    """Returns what a traced call does: a sync, an object put in place, or the ref."""
    if "= -1" in line:
        return None
    if "sync(" in line or "syncfs(" in line:
        return "sync"
    if "/objects/" in line and ("link(" in line or "rename(" in line):
        return "object"
    return "ref" if "refs/heads/synced.lock" in line else None


READ_AND_FORK = """\
import os, sys
from pathlib import Path
from gitticks.git.objects import open_objects
objects = open_objects(Path(sys.argv[1]) / ".git")
tree, is_parent = objects.tree_of(sys.argv[2]), os.fork() != 0
if is_parent:
    assert os.wait()[1] == 0
assert objects.tree_of(sys.argv[2]) == tree
if not is_parent:
    del objects
    os._exit(0)
"""


@pytest.mark.parametrize("backend", ["libgit2", "processes"])
def test_a_forked_child_reads_and_ends_beside_its_parent(top: Path, backend: str) -> None:
    program = [sys.executable, "-c", READ_AND_FORK, str(top), git("rev-parse", "HEAD", at=top)]
    environment = {**os.environ, BACKEND_VARIABLE: backend}
    subprocess.run(program, check=True, env=environment, timeout=LONGEST_SECONDS)
