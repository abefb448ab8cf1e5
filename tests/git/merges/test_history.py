"""Questions to the history."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.git.merges import (
    DiffSummary,
    count_commits,
    diff_summary,
    find_merge,
    is_ancestor,
    merge_base,
    merge_trailers,
)
from gitticks.git.process import GitError
from gitticks.git.repository import Repository, discover
from tests.support.repositories import commit_file, git, make_repository

TASK = "k7f2"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "project")


@pytest.fixture
def repository(root: Path) -> Repository:
    return discover(root)


@pytest.fixture
def head(root: Path) -> str:
    git("checkout", "-qb", "topic", at=root)
    commit_file(root, "a.txt", "1\n")
    tip = commit_file(root, "a.txt", "1\n2\n")
    git("checkout", "-q", "main", at=root)
    commit_file(root, "b.txt", "b\n")
    return tip


def test_ancestors_bases_and_counts(repository: Repository, root: Path, head: str) -> None:
    first = git("rev-parse", "main~1", at=root)
    assert merge_base(repository, "main", head) == first
    assert is_ancestor(repository, first, head)
    assert is_ancestor(repository, head, head)
    assert not is_ancestor(repository, head, "main")
    assert count_commits(repository, "main", head) == 2
    stranger = git("commit-tree", f"{head}^{{tree}}", "-m", "stranger", at=root)
    assert merge_base(repository, "main", stranger) is None


def test_what_is_no_commit_is_an_error(repository: Repository) -> None:
    with pytest.raises(GitError):
        is_ancestor(repository, "nowhere", "main")
    with pytest.raises(GitError):
        merge_base(repository, "--all", "main")


def test_a_summary_counts_lines_of_text(repository: Repository, root: Path) -> None:
    base = git("rev-parse", "HEAD", at=root)
    (root / "picture.png").write_bytes(b"\0\1\2")
    git("add", "picture.png", at=root)
    git("mv", "README.md", "moved ü.md", at=root)
    head = commit_file(root, "new.txt", "1\n2\n")
    assert diff_summary(repository, base, head) == DiffSummary(
        4, 3, 1, ("README.md", "moved ü.md", "new.txt", "picture.png")
    )
    assert diff_summary(repository, base, base) == DiffSummary(0, 0, 0, ())


def test_a_merge_is_found_by_what_it_contains(repository: Repository, root: Path, head: str) -> None:
    assert find_merge(repository, "main", TASK, head) is None
    git("merge", "-q", "--no-ff", "-m", "merged", "topic", at=root)
    merge = git("rev-parse", "HEAD", at=root)
    commit_file(root, "later.txt", "later\n")
    assert find_merge(repository, "main", TASK, head) == merge


def test_a_fast_forward_is_the_head_itself(repository: Repository, root: Path, head: str) -> None:
    git("checkout", "-q", "-B", "main", head, at=root)
    assert find_merge(repository, "main", TASK, head) == head
    commit_file(root, "later.txt", "later\n")
    assert find_merge(repository, "main", TASK, head) == head


def test_a_squash_is_found_by_its_trailers(repository: Repository, root: Path, head: str) -> None:
    squash = commit_file(root, "a.txt", "1\n2\n", f"the work\n\n{merge_trailers(TASK, head)}")
    commit_file(root, "later.txt", "later\n")
    assert find_merge(repository, "main", TASK, head) == squash
    assert find_merge(repository, "main", "other", head) is None


def test_words_in_a_message_are_no_trailers(repository: Repository, root: Path, head: str) -> None:
    commit_file(root, "a.txt", "1\n", f"it quotes\n\nTask: {TASK}\nHead: {head}\n\nand goes on in prose")
    assert find_merge(repository, "main", TASK, head) is None
