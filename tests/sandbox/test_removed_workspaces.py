"""Workspaces that are removed with a sandbox's commits in them that nobody has taken yet."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout
from gitticks.git.repository import Repository
from gitticks.model.settings import Settings
from gitticks.runner import workspace_removal
from gitticks.runner.workspace_removal import ListedWorkspace
from tests.sandbox.test_never_our_own_git import BRANCH, COMMIT, checkout, home, inside, repository
from tests.support.agents import processes_with
from tests.support.repositories import git
from tests.support.runs import RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

pytestmark = pytest.mark.debian("bubblewrap", program="bwrap")
__all__ = ["checkout", "project", "repository"]

BAD = "printf '[submodule \"a\"]\\n\\tpath = a\\n\\turl = -utouch\\n' > .gitmodules; git add -A; git commit -qm bad; "


@pytest.mark.parametrize("command", [("gc",), ("clean", "k7f2")])
def test_what_a_killed_session_committed_outlives_its_workspace(
    project: RunProject, command: tuple[str, ...]
) -> None:
    begun = project.workspace() / ".gt/begun"
    project.agent(
        "git switch -qc idea; echo idea > idea.txt; git add -A; git commit -qm idea; git switch -q -;"
        "echo own > own.txt; git add -A; git commit -qm own; touch .gt/begun; sleep 600"
    )
    project.make()
    with project.running("--sandbox", "permissive") as process:
        until(begun.exists, "the commits of the agent")
        process.send_signal(signal.SIGKILL)
    until(lambda: not processes_with(project.mark), "the end of the agent")
    project.ok("cancel", "k7f2")
    project.ok("worktree", *command)
    assert not project.workspace().exists()
    assert git("log", "-1", "--format=%s", "idea", at=project.path) == "idea"
    assert git("log", "-1", "--format=%s", BRANCH, at=project.path) == "own"
    project.run("--sandbox", "permissive")  # which ends the session


def test_a_workspace_that_was_removed_under_its_agent_is_said_to_be_gone(project: RunProject) -> None:
    begun = project.workspace() / ".gt/begun"
    project.agent(f"{COMMIT}touch .gt/begun; while [ -e .gt/begun ]; do sleep 0.05; done")
    project.make()
    with project.running("--sandbox", "permissive", "--max-iterations", "1") as process:
        until(begun.exists, "the agent")
        gone = project.workspace().rename(project.path.parent / "gone")
        (gone / ".gt/begun").unlink()
        said, _ = process.communicate(timeout=LONGEST_SECONDS)
    assert f"its workspace {project.workspace()} was removed while its agent worked" in said
    assert "git reset" not in said


def test_what_cannot_be_taken_keeps_a_workspace_until_its_removal_is_forced(
    repository: Repository, checkout: Checkout
) -> None:
    inside(repository, checkout, BAD)
    listed = ListedWorkspace("k7f2", checkout.path, BRANCH, None, False)
    settings, said = Settings(), list[str]()
    with pytest.raises(GitticksError, match="gitmodules") as caught:
        workspace_removal.remove(repository, listed, settings)
    assert caught.value.hint == "`gt worktree clean k7f2 --force` removes it without that"
    assert checkout.path.exists()
    workspace_removal.remove(repository, listed, settings, force=True, warn=said.append)
    assert not checkout.path.exists()
    assert [words.partition(": ")[0] for words in said] == [
        f"what was committed in the sandbox of `{checkout.path}` is dropped"
    ]


def test_nothing_that_is_to_be_taken_needs_no_sandbox(
    repository: Repository, checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "git").symlink_to(shutil.which("git") or "")
    inside(repository, checkout, COMMIT)
    listed = ListedWorkspace("k7f2", checkout.path, BRANCH, None, False)
    with monkeypatch.context() as patched:
        patched.setenv("PATH", str(tools))
        with pytest.raises(GitticksError, match="bubblewrap"):
            workspace_removal.remove(repository, listed, Settings())
    assert home(repository, checkout) == ()
    monkeypatch.setenv("PATH", str(tools))
    workspace_removal.remove(repository, listed, Settings())
    assert not checkout.path.exists()
