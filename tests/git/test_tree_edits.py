"""Edited trees have the ids that git gives to the same entries."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from gitticks.git.objects import Objects
from gitticks.git.repository import discover
from gitticks.git.tree_edits import FILE_MODE, FOLDER_MODE, EditedTree
from gitticks.git.trees import split_tree
from tests.support.repositories import git, make_repository

NAMES = ["a", "a.b", "a-b", "a0", "ab", "b", "tasks", "tasks.md", "é", "zz"]
BLOB, FOLDER = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def entries_of(tree: EditedTree) -> list[tuple[bytes, bytes, bytes]]:
    parts = split_tree(tree.content)
    assert parts is not None
    return parts


def edit(tree: EditedTree, changes: list[tuple[str, str | None]]) -> None:
    for name, mode in changes:
        if mode is None:
            tree.remove(name)
        else:
            tree.put(name, mode, BLOB if mode == FILE_MODE else FOLDER)


CHANGES = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from([FILE_MODE, FOLDER_MODE, None])))


@given(before=CHANGES, after=CHANGES)
def test_the_order_does_not_depend_on_the_way(
    before: list[tuple[str, str | None]], after: list[tuple[str, str | None]]
) -> None:
    tree = EditedTree()
    edit(tree, before)
    again = EditedTree(entries_of(tree))
    edit(again, after)
    last = dict([*before, *after])
    kept = [(name, mode) for name, mode in last.items() if mode is not None]
    keys = [f"{name}/" if mode == FOLDER_MODE else name for name, mode in kept]
    wanted = [
        name.encode() for _, (name, _) in sorted(zip([key.encode() for key in keys], kept, strict=True))
    ]
    assert [entry[1] for entry in entries_of(again)] == wanted
    assert len(again) == len(wanted)


def test_git_makes_the_same_tree(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    objects = Objects.open(discover(top))
    made = objects.update_tree(None, {"a/x": b"", "a.b": b"", "a-b/c": b"", "a0": b"", "é": b""})
    assert made is not None
    listed = git("ls-tree", "-z", made, at=top)
    assert git("mktree", "-z", at=top, input=listed) == made
    assert objects.update_tree(made, {"a/y": None, "nothing/here": None}) == made


def test_folders_are_told_from_files() -> None:
    tree = EditedTree()
    edit(tree, [("a", FILE_MODE), ("b", FOLDER_MODE)])
    assert (tree.has("a"), tree.folder("a"), tree.folder("b")) == (True, None, FOLDER)
    assert (tree.has("c"), tree.folder("c")) == (False, None)
