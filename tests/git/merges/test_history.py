"""Recognising work that came to a branch in other commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.git.merges.history import (
    DiffSummary,
    count_commits,
    diff_summary,
    find_merge,
    find_same_patch,
    is_ancestor,
    merge_trailers,
)
from gitticks.git.process import GitError
from gitticks.git.repository import Repository, discover
from tests.support.repositories import commit_file, git, make_repository

LINES = [f"line {number}" for number in range(40)]

TASK = "k7f2"


def text(**changed: str) -> str:
    return "".join(f"{changed.get(f'line{number}', line)}\n" for number, line in enumerate(LINES))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Returns a repository whose branch `work` changes a line near to one that `main` has changed since."""
    root = make_repository(tmp_path / "project")
    commit_file(root, "file", text())
    git("checkout", "-qb", "work", at=root)
    commit_file(root, "file", text(line20="work"))
    git("checkout", "-q", "main", at=root)
    commit_file(root, "file", text(line26="main"))
    return root


def same(root: Path) -> str | None:
    main, work = (git("rev-parse", name, at=root) for name in ("main", "work"))
    return find_same_patch(discover(root), main, work)


def test_a_change_that_was_picked_is_found(root: Path) -> None:
    assert same(root) is None
    git("cherry-pick", "work", at=root)
    picked = git("rev-parse", "main", at=root)
    commit_file(root, "other", "more\n")
    assert same(root) == picked


def test_changes_that_were_picked_one_by_one_are_found_at_the_last(root: Path) -> None:
    git("checkout", "-q", "work", at=root)
    commit_file(root, "more", "more\n")
    git("checkout", "-q", "main", at=root)
    git("cherry-pick", "work~1", at=root)
    assert same(root) is None
    commit_file(root, "between", "between\n")
    git("cherry-pick", "work", at=root)
    assert same(root) == git("rev-parse", "main", at=root)


@pytest.mark.parametrize("setting", ["diff.context=9", "diff.noprefix=true", "format.pretty=%s"])
def test_how_a_person_likes_to_see_changes_is_no_matter(root: Path, setting: str) -> None:
    git("cherry-pick", "work", at=root)
    git("config", *setting.split("="), at=root)
    assert same(root) == git("rev-parse", "main", at=root)


def test_changes_of_binary_files_are_distinguished(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    commit_file(root, "image", "\0one")
    git("checkout", "-qb", "work", at=root)
    commit_file(root, "image", "\0two")
    git("checkout", "-q", "main", at=root)
    commit_file(root, "image", "\0three")
    assert same(root) is None
    commit_file(root, "image", "\0one")
    git("cherry-pick", "work", at=root)
    assert same(root) == git("rev-parse", "main", at=root)


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "project")


@pytest.fixture
def repository(begun: Path) -> Repository:
    return discover(begun)


@pytest.fixture
def head(begun: Path) -> str:
    git("checkout", "-qb", "topic", at=begun)
    commit_file(begun, "a.txt", "1\n")
    tip = commit_file(begun, "a.txt", "1\n2\n")
    git("checkout", "-q", "main", at=begun)
    commit_file(begun, "b.txt", "b\n")
    return tip


def test_ancestors_bases_and_counts(repository: Repository, begun: Path, head: str) -> None:
    first = git("rev-parse", "main~1", at=begun)
    assert repository.objects.merge_base("main", head) == first
    assert is_ancestor(repository, first, head)
    assert is_ancestor(repository, head, head)
    assert not is_ancestor(repository, head, "main")
    assert count_commits(repository, "main", head) == 2
    stranger = git("commit-tree", f"{head}^{{tree}}", "-m", "stranger", at=begun)
    assert repository.objects.merge_base("main", stranger) is None


def test_what_is_no_commit_is_an_error(repository: Repository) -> None:
    with pytest.raises(GitError):
        is_ancestor(repository, "nowhere", "main")
    with pytest.raises(GitError):
        repository.objects.merge_base("--all", "main")


def test_a_summary_counts_lines_of_text(repository: Repository, begun: Path) -> None:
    base = git("rev-parse", "HEAD", at=begun)
    (begun / "picture.png").write_bytes(b"\0\1\2")
    git("add", "picture.png", at=begun)
    git("mv", "README.md", "moved ü.md", at=begun)
    head = commit_file(begun, "new.txt", "1\n2\n")
    assert diff_summary(repository, base, head) == DiffSummary(
        3, 2, 0, ("README.md", "moved ü.md", "new.txt", "picture.png")
    )
    assert diff_summary(repository, base, base) == DiffSummary(0, 0, 0, ())


def test_a_merge_is_found_by_what_it_contains(repository: Repository, begun: Path, head: str) -> None:
    assert find_merge(repository, "main", TASK, head) is None
    git("merge", "-q", "--no-ff", "-m", "merged", "topic", at=begun)
    merge = git("rev-parse", "HEAD", at=begun)
    commit_file(begun, "later.txt", "later\n")
    assert find_merge(repository, "main", TASK, head) == merge


def test_a_fast_forward_is_the_head_itself(repository: Repository, begun: Path, head: str) -> None:
    git("checkout", "-q", "-B", "main", head, at=begun)
    assert find_merge(repository, "main", TASK, head) == head
    commit_file(begun, "later.txt", "later\n")
    assert find_merge(repository, "main", TASK, head) == head


def test_a_squash_is_found_by_its_trailers(repository: Repository, begun: Path, head: str) -> None:
    squash = commit_file(begun, "a.txt", "1\n2\n", f"the work\n\n{merge_trailers(TASK, head)}")
    commit_file(begun, "later.txt", "later\n")
    assert find_merge(repository, "main", TASK, head) == squash
    assert find_merge(repository, "main", "other", head) is None


def test_words_in_a_message_are_no_trailers(repository: Repository, begun: Path, head: str) -> None:
    commit_file(begun, "a.txt", "1\n", f"it quotes\n\nTask: {TASK}\nHead: {head}\n\nand goes on in prose")
    assert find_merge(repository, "main", TASK, head) is None
