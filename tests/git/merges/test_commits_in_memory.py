"""Merging without a checkout."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pygit2
import pytest
from pygit2.enums import ObjectType

from gitticks.git.identity import Identity
from gitticks.git.merges.commits import (
    CleanMerge,
    CleanRebase,
    Conflict,
    merge_in_memory,
    merge_rules,
    rebase_in_memory,
)
from gitticks.git.merges.history import find_merge, merge_trailers
from gitticks.git.process import GitError
from gitticks.git.repository import discover
from tests.support.hints import follow_hint
from tests.support.repositories import clone, commit_file, git, make_repository

ENGINE = Identity("engine", "engine@example.org")


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


def test_unrelated_histories_conflict_in_all_that_differs(root: Path) -> None:
    tree = git("rev-parse", "HEAD^{tree}", at=root)
    stranger = git("commit-tree", tree, "-m", "stranger", at=root)
    main = commit_file(root, "new.txt", "new\n")
    assert merge_in_memory(discover(root), main, stranger) == Conflict(("new.txt",), is_unrelated=True)


def test_in_a_shallow_clone_the_rest_of_the_history_is_asked_for(root: Path, tmp_path: Path) -> None:
    git("checkout", "-qb", "topic", at=root)
    topic = commit_file(root, "a.txt", "1\n")
    git("checkout", "-q", "main", at=root)
    main = commit_file(root, "b.txt", "b\n")
    shallow = clone(root, tmp_path / "shallow", "--depth=1", "--no-single-branch")
    with pytest.raises(GitError, match="unrelated") as caught:
        merge_in_memory(discover(shallow), main, topic)
    follow_hint(caught.value, at=shallow)
    assert isinstance(merge_in_memory(discover(shallow), main, topic), CleanMerge)


def test_commits_keep_author_date_and_message(root: Path) -> None:
    git("checkout", "-qb", "topic", at=root)
    commit_file(root, "a.txt", "1\n", "first ☕\n\nbody\n\nTask: k7f2")
    head = commit_file(root, "a.txt", "2\n", "second")
    git("checkout", "-q", "main", at=root)
    onto = commit_file(root, "b.txt", "b\n")
    trailers = merge_trailers("k7f2", head)
    rebased = rebase_in_memory(discover(root), onto, head, committer=ENGINE, trailers=trailers)
    assert isinstance(rebased, CleanRebase)
    shown = git("log", "--format=%an|%cn|%ai|%s", f"{onto}..{rebased.commit}", at=root).splitlines()
    date = "2026-01-02 03:04:05 +0000"
    assert shown == [f"Ada Lovelace|engine|{date}|second", f"Ada Lovelace|engine|{date}|first ☕"]
    assert git("show", "-s", "--format=%B", f"{rebased.commit}^", at=root) == (
        f"first ☕\n\nbody\n\nTask: k7f2\nHead: {head}\n"
    )
    assert git("diff", f"{onto}", rebased.commit, "--stat", "--format=", at=root).strip().startswith("a.txt")
    git("update-ref", "refs/heads/main", rebased.commit, at=root)
    assert find_merge(discover(root), "main", "k7f2", head) == rebased.commit


def test_merges_and_changes_that_are_there_already_are_left_out(root: Path) -> None:
    git("checkout", "-qb", "topic", at=root)
    commit_file(root, "same.txt", "same\n")
    git("checkout", "-q", "main", at=root)
    onto = commit_file(root, "same.txt", "same\n")
    git("checkout", "-q", "topic", at=root)
    git("merge", "-q", "-m", "merge main", "main", at=root)
    head = commit_file(root, "more.txt", "more\n", "more")
    rebased = rebase_in_memory(discover(root), onto, head, committer=ENGINE)
    assert isinstance(rebased, CleanRebase)
    assert git("log", "--format=%s", f"{onto}..{rebased.commit}", at=root) == "more"


def test_a_rebase_in_conflict_names_the_paths(root: Path) -> None:
    git("checkout", "-qb", "topic", at=root)
    head = commit_file(root, "README.md", "topic\n")
    git("checkout", "-q", "main", at=root)
    onto = commit_file(root, "README.md", "main\n")
    assert rebase_in_memory(discover(root), onto, head, committer=ENGINE) == Conflict(("README.md",))


def test_what_a_merge_resolved_is_returned_as_one(root: Path) -> None:
    git("checkout", "-qb", "topic", at=root)
    commit_file(root, "README.md", "topic\n")
    git("checkout", "-q", "main", at=root)
    commit_file(root, "README.md", "main\n")
    git("checkout", "-q", "topic", at=root)
    git("merge", "-q", "-s", "ours", "--no-commit", "main", at=root)
    head = commit_file(root, "README.md", "both\n", "merge main")
    git("checkout", "-q", "main", at=root)
    onto = commit_file(root, "later.txt", "later\n")
    merged = rebase_in_memory(discover(root), onto, head, committer=ENGINE)
    assert isinstance(merged, CleanMerge)
    assert git("show", f"{merged.tree}:README.md", at=root) == "both"
    assert "later.txt" in git("ls-tree", "--name-only", merged.tree, at=root).split()


def test_what_a_merge_changed_beside_is_returned_as_one(root: Path) -> None:
    git("checkout", "-qb", "topic", at=root)
    commit_file(root, "a.txt", "a\n")
    git("checkout", "-q", "main", at=root)
    onto = commit_file(root, "b.txt", "b\n")
    git("checkout", "-q", "topic", at=root)
    git("merge", "-q", "--no-commit", "main", at=root)
    head = commit_file(root, "c.txt", "c\n", "merge main")
    git("checkout", "-q", "main", at=root)
    merged = rebase_in_memory(discover(root), onto, head, committer=ENGINE)
    assert merged == CleanMerge(git("rev-parse", f"{head}^{{tree}}", at=root))


def test_commits_that_take_each_other_back_conflict_with_nothing(root: Path) -> None:
    git("checkout", "-qb", "topic", at=root)
    commit_file(root, "README.md", "topic\n")
    git("revert", "--no-edit", "HEAD", at=root)
    head = commit_file(root, "a.txt", "a\n")
    git("checkout", "-q", "main", at=root)
    onto = commit_file(root, "README.md", "main\n")
    merged = rebase_in_memory(discover(root), onto, head, committer=ENGINE)
    assert isinstance(merged, CleanMerge)
    assert git("show", f"{merged.tree}:README.md", at=root) == "main"


@pytest.mark.parametrize("has_merge", [False, True])
def test_a_branch_that_conflicts_as_a_whole_is_rebased_unless_it_has_merges(
    root: Path, *, has_merge: bool
) -> None:
    git("checkout", "-qb", "topic", at=root)
    commit_file(root, "README.md", "one\n")
    git("checkout", "-q", "main", at=root)
    commit_file(root, "b.txt", "b\n")
    git("checkout", "-q", "topic", at=root)
    if has_merge:
        git("merge", "-q", "--no-commit", "main", at=root)
        commit_file(root, "c.txt", "c\n", "merge main")
    head = commit_file(root, "README.md", "two\n")
    git("checkout", "-q", "main", at=root)
    onto = commit_file(root, "README.md", "one\n")  # the first of them, but not by a merge
    rebased = rebase_in_memory(discover(root), onto, head, committer=ENGINE)
    if has_merge:
        assert rebased == Conflict(("README.md",))
    else:
        assert isinstance(rebased, CleanRebase)
        assert git("show", f"{rebased.commit}:README.md", at=root) == "two"


def test_a_line_that_shares_no_history_is_put_on_top(root: Path) -> None:
    git("checkout", "-q", "--orphan", "topic", at=root)
    git("rm", "-qrf", ".", at=root)
    head = commit_file(root, "a.txt", "a\n", "alone")
    main = git("rev-parse", "main", at=root)
    rebased = rebase_in_memory(discover(root), main, head, committer=ENGINE)
    assert isinstance(rebased, CleanRebase)
    assert git("ls-tree", "--name-only", rebased.commit, at=root).split() == ["README.md", "a.txt"]


def test_nothing_to_bring_along_ends_where_it_began(root: Path) -> None:
    tip = git("rev-parse", "main", at=root)
    tree = git("rev-parse", f"{tip}^{{tree}}", at=root)
    assert rebase_in_memory(discover(root), tip, tip, committer=ENGINE) == CleanRebase(tip, tree)


def test_without_a_committer_only_the_tree_is_found_out(root: Path) -> None:
    git("checkout", "-qb", "topic", at=root)
    commit_file(root, "a.txt", "1\n")
    head = commit_file(root, "b.txt", "2\n")
    git("checkout", "-q", "main", at=root)
    onto = commit_file(root, "c.txt", "3\n")
    made = rebase_in_memory(discover(root), onto, head, committer=ENGINE)
    tried = rebase_in_memory(discover(root), onto, head, committer=None)
    assert isinstance(made, CleanRebase)
    assert tried == CleanRebase(onto, made.tree)
    assert git("rev-parse", f"{made.commit}^{{tree}}", at=root) == made.tree


def test_a_commit_from_before_1973_keeps_its_date(root: Path) -> None:
    git("checkout", "-qb", "topic", at=root)
    commit_file(root, "a.txt", "1\n")
    old = {"GIT_AUTHOR_DATE": "@0 +0100"}
    git("commit", "--quiet", "--amend", "--reset-author", "--no-edit", at=root, environment=old)
    head = git("rev-parse", "HEAD", at=root)
    git("checkout", "-q", "main", at=root)
    onto = commit_file(root, "b.txt", "b\n")
    rebased = rebase_in_memory(discover(root), onto, head, committer=ENGINE)
    assert isinstance(rebased, CleanRebase)
    assert git("show", "-s", "--format=%ad", "--date=raw", rebased.commit, at=root) == "0 +0100"


def test_a_signature_is_no_part_of_what_is_read(root: Path) -> None:
    git("checkout", "-qb", "topic", at=root)
    head = signed(root, commit_file(root, "a.txt", "1\n", "signed"))
    git("checkout", "-q", "main", at=root)
    onto = commit_file(root, "b.txt", "b\n")
    ran = root / ".git" / "ran"
    program = root / ".git" / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\necho 'Good signature' >&2\n")
    program.chmod(0o755)
    for key, value in (("log.showSignature", "true"), ("gpg.program", str(program))):
        git("config", key, value, at=root)
    trailers = merge_trailers("k7f2", head)
    rebased = rebase_in_memory(discover(root), onto, head, committer=ENGINE, trailers=trailers)
    assert isinstance(rebased, CleanRebase)
    assert find_merge(discover(root), rebased.commit, "k7f2", head) == rebased.commit
    assert not ran.exists()
    shown = git("-c", "log.showSignature=false", "show", "-s", "--format=%an|%s", rebased.commit, at=root)
    assert shown == "Ada Lovelace|signed"


def signed(root: Path, commit: str) -> str:
    """Returns the same commit with a signature, which need not be good."""
    header, _, message = git("cat-file", "commit", commit, at=root).partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n wsBc\n -----END PGP SIGNATURE-----"
    return git(
        "hash-object", "-t", "commit", "-w", "--stdin", at=root, input=f"{header}\n{signature}\n\n{message}\n"
    )
