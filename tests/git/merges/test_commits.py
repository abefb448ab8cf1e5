"""Commits as the person would make them: trailers, hooks, signatures."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git.identity import Identity
from gitticks.git.merges import commits
from gitticks.git.merges.asides import checkout_aside
from gitticks.git.merges.commits import (
    HookRefusedError,
    add_trailers,
    commit_merge,
)
from gitticks.git.process import run_git
from gitticks.git.repository import Repository, discover
from tests.support.repositories import commit_file, git, make_repository, run_git_command

PERSON = Identity("Grace Hopper", "grace@example.org")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_repository(tmp_path / "project")
    git("checkout", "-qb", "topic", at=root)
    commit_file(root, "a.txt", "a\n")
    git("checkout", "-q", "main", at=root)
    return root


@pytest.fixture
def repository(root: Path) -> Repository:
    return discover(root)


def hook(folder: Path, name: str, body: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


def merge(repository: Repository, root: Path, message: str = "merged\n") -> str:
    sides = [git("rev-parse", name, at=root) for name in ("main", "topic")]
    tree = git("rev-parse", "topic^{tree}", at=root)
    return commit_merge(
        repository, tree, sides, message, author=PERSON, aside=partial(checkout_aside, repository)
    )


def test_stores_a_commit_and_moves_nothing(repository: Repository, root: Path) -> None:
    before = git("for-each-ref", at=root)
    made = merge(repository, root, "merged ü\n\nTask: k7f2\n")
    assert git("show", "-s", "--format=%an <%ae>|%cn|%B", made, at=root) == (
        "Grace Hopper <grace@example.org>|Grace Hopper|merged ü\n\nTask: k7f2\n"
    )
    assert git("rev-list", "--parents", "-n1", made, at=root).split()[1:] == [
        git("rev-parse", name, at=root) for name in ("main", "topic")
    ]
    assert git("for-each-ref", at=root) == before


def test_hooks_see_the_merged_files_and_change_the_message(repository: Repository, root: Path) -> None:
    hooks = root / ".git" / "hooks"
    hook(hooks, "pre-merge-commit", "test -f a.txt && echo made > b.txt && git add b.txt")
    hook(hooks, "prepare-commit-msg", 'echo "source $2" >> "$1"')
    hook(hooks, "commit-msg", 'echo "checked" >> "$1"')
    made = merge(repository, root)
    assert git("show", "-s", "--format=%B", made, at=root) == "merged\nsource merge\nchecked\n"
    assert git("ls-tree", "--name-only", made, at=root).split() == ["README.md", "a.txt", "b.txt"]
    assert git("status", "--porcelain", at=root) == ""
    assert len(git("worktree", "list", at=root).splitlines()) == 1


def test_hooks_have_the_persons_language(
    repository: Repository, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.delenv("LC_ALL", raising=False)
    hook(root / ".git" / "hooks", "commit-msg", "grep -q '^...$' \"$1\"")  # by letters, not by bytes
    assert git("show", "-s", "--format=%s", merge(repository, root, "äöü\n"), at=root) == "äöü"


def test_a_hook_that_fails_refuses_the_commit(repository: Repository, root: Path) -> None:
    hook(root / ".git" / "hooks", "commit-msg", "echo 'no ticket number' >&2; exit 1")
    with pytest.raises(HookRefusedError, match="`commit-msg` refused the merge: no ticket number"):
        merge(repository, root)
    assert len(git("worktree", "list", at=root).splitlines()) == 1


def test_a_relative_hooks_path_counts_from_the_main_worktree(repository: Repository, root: Path) -> None:
    git("config", "core.hooksPath", ".husky/_", at=root)
    hook(root / ".husky" / "_", "commit-msg", "exit 1")
    with pytest.raises(HookRefusedError):
        merge(repository, root)


def test_a_squash_has_one_parent_and_asks_the_plain_hook(repository: Repository, root: Path) -> None:
    hook(root / ".git" / "hooks", "pre-commit", "exit 1")
    merge(repository, root)
    parent = git("rev-parse", "main", at=root)
    with pytest.raises(HookRefusedError, match="pre-commit"):
        commit_merge(
            repository,
            git("rev-parse", "topic^{tree}", at=root),
            [parent],
            "squash",
            author=PERSON,
            aside=partial(checkout_aside, repository),
        )


def test_signs_with_the_persons_key_and_never_by_a_program_of_the_repository(
    repository: Repository, root: Path, tmp_path: Path
) -> None:
    signer = tmp_path / "signer"
    signer.write_text(
        '#!/bin/sh\ncat >/dev/null\necho "[GNUPG:] SIG_CREATED " >&2\necho "-----BEGIN PGP SIGNATURE-----"\n'
    )
    signer.chmod(0o755)
    git("config", "--global", "commit.gpgSign", "true", at=root)
    git("config", "--global", "gpg.program", str(signer), at=root)
    git("config", "gpg.program", f"touch {tmp_path / 'sprung'}; false", at=root)
    assert "gpgsig -----BEGIN" in git("cat-file", "commit", merge(repository, root), at=root)
    assert not (tmp_path / "sprung").exists()


def test_a_key_that_is_missing_is_said_with_what_asks_for_it(repository: Repository, root: Path) -> None:
    git("config", "--global", "commit.gpgSign", "true", at=root)
    git("config", "--global", "gpg.program", "false", at=root)
    with pytest.raises(
        GitticksError, match=r"cannot be signed, as `commit.gpgSign` asks for: gpg failed"
    ) as error:
        merge(repository, root)
    assert "`git config commit.gpgSign false`" in str(error.value.hint)


def test_where_nobody_signs_git_is_not_asked_whether_to(
    repository: Repository, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    merge(repository, root)  # the settings are known from now on
    asked: list[str] = []

    def run(words: list[str], **named: object) -> object:
        asked.append(next(word for word in words if word in ("config", "commit-tree")))
        return run_git(words, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(commits, "run_git", run)
    tree = git("rev-parse", "topic^{tree}", at=root)
    commits.store_commit(repository, tree, [], "one", PERSON.variables())
    assert asked == ["commit-tree"]


def test_trailers_join_the_block_that_is_there_once() -> None:
    assert add_trailers("subject\n", "Task: k7f2\n") == "subject\n\nTask: k7f2\n"
    assert add_trailers("subject: x", "Task: k7f2") == "subject: x\n\nTask: k7f2\n"
    once = add_trailers("subject\n\nSigned-off-by: Ada\n", "Task: k7f2\nHead: abc\n")
    assert once == "subject\n\nSigned-off-by: Ada\nTask: k7f2\nHead: abc\n"
    assert add_trailers(once, "Task: k7f2\nHead: abc\n") == once


def test_made_commits_are_sound(repository: Repository, root: Path) -> None:
    merge(repository, root)
    assert run_git_command("fsck", "--strict", "--no-dangling", at=root).returncode == 0
