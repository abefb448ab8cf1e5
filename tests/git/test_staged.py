from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.git.log import author_of
from gitticks.git.repository import Repository, discover
from gitticks.git.staged import (
    is_in_series,
    is_made_again,
    is_sequencing,
    rebased_from,
    staged_changes,
    version_before,
)
from gitticks.safe_read import MOST_BYTES
from tests.support.repositories import commit_file, git, make_repository, run_git_command


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    make_repository(tmp_path)
    for name in ("a b.txt", "gone.txt", "naïve.txt"):
        commit_file(tmp_path, name, "old\n")
    return discover(tmp_path)


def test_what_is_staged_and_nothing_else(repository: Repository, tmp_path: Path) -> None:
    for name in ("a b.txt", "naïve.txt", "new.txt"):
        (tmp_path / name).write_text("new\n")
    (tmp_path / "link").symlink_to("a b.txt")
    git("rm", "-q", "gone.txt", at=tmp_path)
    git("add", "naïve.txt", "new.txt", "link", at=tmp_path)
    found = {change.path: change for change in staged_changes(repository, {})}
    assert sorted(found) == ["gone.txt", "link", "naïve.txt", "new.txt"]
    assert found["gone.txt"].new is None
    assert found["new.txt"].old is None
    assert not found["link"].is_plain
    assert found["naïve.txt"].new == git("hash-object", "new.txt", at=tmp_path)


def test_the_index_that_git_names_is_read(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "a b.txt").write_text("new\n")
    git("read-tree", "HEAD", at=tmp_path, environment={"GIT_INDEX_FILE": ".git/other"})
    git("add", "a b.txt", at=tmp_path, environment={"GIT_INDEX_FILE": ".git/other"})
    assert staged_changes(repository, {}) == ()
    assert [one.path for one in staged_changes(repository, {"GIT_INDEX_FILE": ".git/other"})] == ["a b.txt"]


def test_conflicts_and_sequencers_are_seen(repository: Repository, tmp_path: Path) -> None:
    git("checkout", "-q", "-b", "side", "HEAD", at=tmp_path)
    commit_file(tmp_path, "a b.txt", "theirs\n")
    git("checkout", "-q", "main", at=tmp_path)
    commit_file(tmp_path, "a b.txt", "ours\n")
    assert not is_sequencing(repository.git_dir)
    run_git_command("merge", "-q", "side", at=tmp_path)
    assert is_sequencing(repository.git_dir)
    assert [one.is_unmerged for one in staged_changes(repository, {}) if one.path == "a b.txt"] == [True]


def test_an_amended_commit_is_compared_with_the_one_that_it_replaces(
    repository: Repository, tmp_path: Path
) -> None:
    parent = git("rev-parse", "HEAD", at=tmp_path)
    first = commit_file(tmp_path, "a b.txt", "one\n")
    assert version_before(repository, "main", first, parent) == parent
    git("commit", "-q", "--amend", "-m", "again", "--author=Grace <g@example.org>", at=tmp_path)
    amended = git("rev-parse", "HEAD", at=tmp_path)
    assert version_before(repository, "main", amended, parent) == first
    assert author_of(repository, amended).name == "Grace"


def test_commits_that_were_made_before_are_distinguished_from_new_ones(
    repository: Repository, tmp_path: Path
) -> None:
    assert not is_made_again(repository.git_dir)
    git("checkout", "-q", "-b", "side", "HEAD", at=tmp_path)
    commit_file(tmp_path, "a b.txt", "theirs\n", "picky: a pick")
    git("checkout", "-q", "main", at=tmp_path)
    commit_file(tmp_path, "other.txt", "ours\n", "revert: not really")
    for words in (("cherry-pick", "side"), ("revert", "--no-edit", "HEAD"), ("rebase", "-q", "side")):
        assert not is_made_again(repository.git_dir)
        git(*words, at=tmp_path)
        assert is_made_again(repository.git_dir)
        lengthen(repository.git_dir / "logs/HEAD")
        assert is_made_again(repository.git_dir)
        assert not is_in_series(repository.git_dir)
        commit_file(tmp_path, "new.txt", f"{words[0]}\n")
    (repository.git_dir / "logs/HEAD").unlink()
    assert not is_made_again(repository.git_dir)
    (repository.git_dir / "sequencer").mkdir()
    assert is_made_again(repository.git_dir)
    assert is_in_series(repository.git_dir)


@pytest.mark.parametrize("backend", ["--merge", "--apply"])
def test_where_a_rebase_began_is_known_while_it_waits(
    repository: Repository, tmp_path: Path, backend: str
) -> None:
    assert rebased_from(repository.git_dir) is None
    git("checkout", "-q", "-b", "side", "HEAD", at=tmp_path)
    commit_file(tmp_path, "same.txt", "theirs\n")
    git("checkout", "-q", "main", at=tmp_path)
    began = commit_file(tmp_path, "same.txt", "ours\n")
    assert run_git_command("rebase", backend, "side", at=tmp_path).returncode != 0
    assert rebased_from(repository.git_dir) == began
    git("rebase", "--abort", at=tmp_path)
    assert rebased_from(repository.git_dir) is None


def lengthen(log: Path) -> None:
    """Puts more moves before those of a log than a small file holds."""
    line = f"{'0' * 40} {'a' * 40} who <w@x> 1 +0000\tmove\n"
    log.write_text(line * (MOST_BYTES // len(line)) + log.read_text())
