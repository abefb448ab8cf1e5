"""Merging without a checkout."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pygit2
import pytest
from pygit2.enums import ObjectType

from gitticks.git.merges import CleanMerge, Conflict, merge_in_memory
from gitticks.git.merges.memory import merge_rules
from gitticks.git.process import GitError
from gitticks.git.repository import discover
from tests.support.repositories import commit_file, git, make_repository


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "project")


def on_branch(root: Path, name: str, start: str, file: str, text: str) -> str:
    git("checkout", "-q", "-B", name, start, at=root)
    tip = commit_file(root, file, text)
    git("checkout", "-q", "main", at=root)
    return tip


def test_a_clean_merge_is_a_tree_and_nothing_moves(root: Path) -> None:
    ours = on_branch(root, "ours", "main", "a.txt", "a\n")
    theirs = on_branch(root, "theirs", "main", "b.txt", "b\n")
    before = git("status", "--porcelain=v2", "--branch", at=root)
    merged = merge_in_memory(discover(root), ours, theirs)
    assert isinstance(merged, CleanMerge)
    assert git("ls-tree", "--name-only", merged.tree, at=root).split() == ["README.md", "a.txt", "b.txt"]
    assert git("status", "--porcelain=v2", "--branch", at=root) == before


def test_a_conflict_names_its_paths(root: Path) -> None:
    ours = on_branch(root, "ours", "main", "nëw\tfile", "a\n")
    theirs = on_branch(root, "theirs", "main", "nëw\tfile", "b\n")
    assert merge_in_memory(discover(root), ours, theirs) == Conflict(("nëw\tfile",))


def test_attributes_of_our_side_count_also_in_a_bare_repository(root: Path, tmp_path: Path) -> None:
    commit_file(root, "doc/.gitattributes", "LOG merge=union\n")
    commit_file(root, "doc/LOG", "start\n")
    ours = on_branch(root, "ours", "main", "doc/LOG", "start\nours\n")
    theirs = on_branch(root, "theirs", "main", "doc/LOG", "start\ntheirs\n")
    bare = tmp_path / "bare.git"
    git("clone", "-q", "--bare", str(root), str(bare), at=tmp_path)
    for place in (root, bare):
        merged = merge_in_memory(discover(place), ours, theirs)
        assert isinstance(merged, CleanMerge)
        assert git("show", f"{merged.tree}:doc/LOG", at=place) == "start\nours\ntheirs"


def test_a_merge_driver_of_the_repository_never_runs(root: Path, tmp_path: Path) -> None:
    trap = tmp_path / "sprung"
    git("config", "merge.evil.driver", f"touch {trap}", at=root)
    commit_file(root, ".gitattributes", "* merge=evil\n")
    commit_file(root, "code", "1\n2\n3\n4\n5\n")
    ours = on_branch(root, "ours", "main", "code", "one\n2\n3\n4\n5\n")
    theirs = on_branch(root, "theirs", "main", "code", "1\n2\n3\n4\nfive\n")
    merged = merge_in_memory(discover(root), ours, theirs)
    assert isinstance(merged, CleanMerge)
    assert git("show", f"{merged.tree}:code", at=root) == "one\n2\n3\n4\nfive"
    assert not trap.exists()


def test_a_merge_driver_of_the_person_runs(root: Path) -> None:
    git("config", "--global", "merge.ours.driver", "true", at=root)
    commit_file(root, ".gitattributes", "code merge=ours\n")
    ours = on_branch(root, "ours", "main", "code", "a\n")
    theirs = on_branch(root, "theirs", "main", "code", "b\n")
    assert isinstance(merge_in_memory(discover(root), ours, theirs), CleanMerge)


def test_attributes_are_never_laid_out_where_a_hostile_tree_leads(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    attributes = git("hash-object", "-w", "--stdin", at=root, input="* text\n")
    inner = tree_of(root, b"100644", ".gitattributes", attributes)
    up = tree_of(root, b"40000", "..", tree_of(root, b"40000", "outside", inner))
    absolute = tree_of(root, b"100644", f"{outside}/.gitattributes", attributes)
    for tree in (up, absolute):
        ours = git("commit-tree", "-p", "main", "-m", "hostile", tree, at=root)
        with merge_rules(discover(root), ours) as rules:
            assert list(rules.folder.iterdir()) == []
        assert list(outside.iterdir()) == []


def tree_of(root: Path, mode: bytes, name: str, object_id: str) -> str:
    """Stores a tree with one entry, of whatever name."""
    content = mode + b" " + name.encode() + b"\0" + bytes.fromhex(object_id)
    return str(pygit2.Repository(str(root)).odb.write(ObjectType.TREE, content))


def test_unrelated_histories_are_an_error(root: Path) -> None:
    tree = git("rev-parse", "HEAD^{tree}", at=root)
    stranger = git("commit-tree", tree, "-m", "stranger", at=root)
    with pytest.raises(GitError, match="merge-tree"):
        merge_in_memory(discover(root), "main", stranger)
