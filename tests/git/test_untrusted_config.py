"""Programs that a repository's own configuration names give way to the person's, or to nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.git.process import run_git
from gitticks.git.untrusted_config import fence_programs, own_hooks, without_foreign_hooks
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


def test_the_persons_ssh_comes_back_in_place_of_the_repositorys(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    git("config", "core.sshCommand", "evil", at=root)
    git("config", "credential.helper", "evil", at=root)
    assert fence_programs(root / ".git").unused == ("core.sshcommand", "credential.helper")
    git("config", "--global", "core.sshCommand", "ssh -i mine", at=root)
    fence = fence_programs(root / ".git")
    assert "ssh -i mine" in fence.variables.values()
    assert fence.unused == ("credential.helper",)


def test_settings_of_one_worktree_are_the_repositorys(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    git("config", "extensions.worktreeConfig", "true", at=root)
    git("config", "--worktree", "filter.evil.smudge", "evil", at=root)
    assert setting(root, "filter.evil.smudge") == ""


def test_a_fenced_call_does_no_housekeeping(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    variables = fence_programs(root / ".git").variables
    for key, value in (("gc.auto", "0"), ("maintenance.auto", "false")):
        git("config", key, "1", at=root)
        asked = ["config", key]
        told = run_git(asked, repository_dir=root / ".git", extra_environment=variables, trusted=True)
        assert told.text == value


def helper(file: Path) -> str:
    """Returns a credential helper that leaves a trace and knows nothing."""
    return f"!f() {{ touch {file}; }}; f"


@pytest.mark.parametrize("key", ["credential.helper", "credential.https://example.org.helper"])
def test_of_credential_helpers_only_the_persons_are_asked(tmp_path: Path, key: str) -> None:
    root = make_repository(tmp_path / "project")
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    git("config", "--global", "credential.helper", helper(mine), at=root)
    git("config", key, helper(theirs), at=root)
    run_git(
        ["credential", "fill"],
        repository_dir=root / ".git",
        input=b"protocol=https\nhost=example.org\n\n",
        extra_environment=fence_programs(root / ".git").variables,
        trusted=True,
        check=False,
    )
    assert (mine.exists(), theirs.exists()) == (True, False)


def test_a_proxy_of_the_repository_is_never_started(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    git("config", "core.gitProxy", str(trap), at=root)
    variables = {**fence_programs(root / ".git").variables, "GIT_ALLOW_PROTOCOL": "git"}
    asked = ["ls-remote", "git://localhost:1/project"]
    for fence, is_sprung in ((variables, False), ({"GIT_ALLOW_PROTOCOL": "git"}, True)):
        run_git(asked, repository_dir=root / ".git", extra_environment=fence, trusted=True, check=False)
        assert (tmp_path / "sprung").exists() is is_sprung


def test_what_was_read_once_is_read_again_when_a_file_changed(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    git("config", "extensions.worktreeConfig", "true", at=root)
    assert fence_programs(root / ".git").filters == ()
    git("config", "filter.x.clean", "evil", at=root)
    assert fence_programs(root / ".git").filters == ("x",)
    (root / ".git" / "config.worktree").write_text('[filter "y"]\n\tclean = evil\n')
    assert fence_programs(root / ".git").filters == ("x", "y")
    git("config", "--global", "filter.x.clean", "mine", at=root)
    assert fence_programs(root / ".git").filters == ("y",)


def test_an_included_file_may_appear_at_any_time(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    included = tmp_path / "included"
    git("config", "include.path", str(included), at=root)
    assert fence_programs(root / ".git").filters == ()
    included.write_text('[filter "x"]\n\tclean = evil\n')
    assert fence_programs(root / ".git").filters == ("x",)


def test_hooks_that_the_configuration_names_run_only_where_they_are_the_persons(tmp_path: Path) -> None:
    """Gits before 2.54 read nothing of this; what newer ones run is told from the same settings."""
    top = make_repository(tmp_path / "project")
    for scope, name, event in (("--global", "lint", "commit-msg"), ("--local", "evil.one", "pre-commit")):
        git("config", scope, f"hook.{name}.command", "touch ran", at=top)
        git("config", scope, f"hook.{name}.event", event, at=top)
    common = top / ".git"
    assert own_hooks(common, ["commit-msg", "pre-commit"])
    assert not own_hooks(common, ["pre-commit"])
    laid_over = without_foreign_hooks(common)
    off = run_git(["config", "hook.evil.one.enabled"], repository_dir=common, extra_environment=laid_over)
    assert (off.text, "lint" in str(laid_over)) == ("false", False)
    fenced = fence_programs(common).variables
    for event in ("commit-msg", "pre-commit", "reference-transaction", "post-index-change", "pre-push"):
        asked = ["config", f"hook.{event}.enabled"]
        assert run_git(asked, repository_dir=common).text == "false"
        trusted = run_git(asked, repository_dir=common, extra_environment=fenced, trusted=True)
        assert trusted.text == "false"
