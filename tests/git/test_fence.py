"""Programs that a repository's own configuration names give way to the person's, or to nothing."""

from __future__ import annotations

from pathlib import Path

from gitticks.git.fence import fence_programs
from gitticks.git.process import run_git
from tests.support.repositories import git, make_repository


def setting(root: Path, key: str) -> str:
    fence = fence_programs(root / ".git")
    return run_git(["config", key], repository_dir=root / ".git", extra_environment=fence.variables).text


def test_the_repositorys_programs_are_replaced(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    git("config", "filter.a=b c.clean", "evil", at=root)
    git("config", "merge.mine.driver", "evil", at=root)
    git("config", "gpg.program", "evil", at=root)
    assert setting(root, "filter.a=b c.clean") == ""
    assert setting(root, "merge.mine.driver").startswith("git merge-file")
    assert setting(root, "gpg.program") == "gpg"
    assert fence_programs(root / ".git").filters == ("a=b c",)


def test_the_persons_value_comes_back(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    git("config", "--global", "filter.lfs.clean", "git-lfs clean -- %f", at=root)
    git("config", "filter.lfs.clean", "evil", at=root)
    assert setting(root, "filter.lfs.clean") == "git-lfs clean -- %f"
    assert fence_programs(root / ".git").filters == ()


def test_settings_of_one_worktree_are_the_repositorys(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    git("config", "extensions.worktreeConfig", "true", at=root)
    git("config", "--worktree", "filter.evil.smudge", "evil", at=root)
    assert setting(root, "filter.evil.smudge") == ""
