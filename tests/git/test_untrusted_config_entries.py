"""What git's configuration says is asked of git once, and never differs from what git would say."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.git import untrusted_config
from gitticks.git.process import run_git
from gitticks.git.untrusted_config import list_file, read_all
from tests.support.repositories import git, make_repository


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_repository(tmp_path / "project")
    git("config", "extensions.worktreeConfig", "true", at=root)
    for name in ("one", "two"):
        git("worktree", "add", "-q", "-b", name, f"../{name}", at=root)
        git("config", "--worktree", "user.name", f"Worker {name}", at=tmp_path / name)
    return root


def asked_of_git(git_dir: Path) -> tuple[tuple[str, str, str], ...]:
    words = run_git(["config", "--null", "--show-scope", "--list"], repository_dir=git_dir).text.split("\0")
    return tuple(
        (scope, *entry.partition("\n")[::2]) for scope, entry in zip(words[::2], words[1::2], strict=False)
    )


def places(root: Path) -> list[Path]:
    return [root / ".git", *(root / ".git" / "worktrees" / name for name in ("one", "two"))]


def test_every_worktree_is_told_what_git_tells_it_and_git_is_asked_seldom(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def run(arguments: list[str], **named: object) -> object:
        asked.append(arguments)
        return run_git(arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(untrusted_config, "run_git", run)
    for known in ("_known", "_of_files"):
        monkeypatch.setattr(untrusted_config, known, {})
    for _ in range(2):
        for place in places(root):
            assert read_all(place) == asked_of_git(place)
    assert len(asked) == 3
    list_file(places(root)[0], places(root)[1] / "config.worktree")
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("file", "key", "value"),
    [
        ("config", "core.sshCommand", "elsewhere"),
        ("config", "extensions.worktreeConfig", "false"),
        ("config", "include.path", "more"),
        ("config", "includeIf.gitdir:**/one.path", "more"),
        ("worktrees/one/config.worktree", "core.fsmonitor", "program"),
        ("worktrees/one/config.worktree", "include.path", "../../more"),
        (
            "worktrees/one/config.worktree",
            "includeIf.hasconfig:remote.*.url:https://example.org/**.path",
            "../../more",
        ),
        ("config.worktree", "filter.x.clean", "program"),
    ],
)
def test_a_change_of_any_file_is_seen(root: Path, file: str, key: str, value: str) -> None:
    git("remote", "add", "origin", "https://example.org/project", at=root)
    more = root / ".git" / "more"
    more.write_text("[diff]\n\texternal = program\n")
    for place in places(root):
        read_all(place)
    git("config", f"--file={root / '.git' / file}", key, value, at=root)
    for place in places(root):
        assert read_all(place) == asked_of_git(place)
    more.write_text("[diff]\n\texternal = another\n")
    for place in places(root):
        assert read_all(place) == asked_of_git(place)


def test_of_a_setting_that_is_there_twice_the_last_counts(root: Path) -> None:
    for value in ("true", "false"):
        git("config", "--add", "extensions.worktreeConfig", value, at=root)
    for _ in range(2):
        for place in places(root):
            assert read_all(place) == asked_of_git(place)
