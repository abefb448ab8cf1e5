"""Rebasing without a checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.git.identity import Identity
from gitticks.git.merges import CleanRebase, Conflict, find_merge, merge_trailers, rebase_in_memory
from gitticks.git.repository import discover
from tests.support.repositories import commit_file, git, make_repository

ENGINE = Identity("engine", "engine@example.org")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "project")


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


def test_a_conflict_names_its_paths(root: Path) -> None:
    git("checkout", "-qb", "topic", at=root)
    head = commit_file(root, "README.md", "topic\n")
    git("checkout", "-q", "main", at=root)
    onto = commit_file(root, "README.md", "main\n")
    assert rebase_in_memory(discover(root), onto, head, committer=ENGINE) == Conflict(("README.md",))


def test_a_line_that_shares_no_history_is_put_on_top(root: Path) -> None:
    git("checkout", "-q", "--orphan", "topic", at=root)
    git("rm", "-qrf", ".", at=root)
    head = commit_file(root, "a.txt", "a\n", "alone")
    rebased = rebase_in_memory(discover(root), "main", head, committer=ENGINE)
    assert isinstance(rebased, CleanRebase)
    assert git("ls-tree", "--name-only", rebased.commit, at=root).split() == ["README.md", "a.txt"]


def test_nothing_to_bring_along_ends_where_it_began(root: Path) -> None:
    tip = git("rev-parse", "main", at=root)
    assert rebase_in_memory(discover(root), tip, tip, committer=ENGINE) == CleanRebase(tip)


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
