"""What a workspace's own configuration says of who commits there; its hooks are tested with the workspaces."""

from __future__ import annotations

from pathlib import Path

from gitticks.git.identity import agent_identity
from gitticks.git.repository import discover
from gitticks.runner.workspace_hooks import name_committer
from tests.support.repositories import add_linked_worktree, commit_file, git, make_repository


def test_commits_in_a_workspace_are_by_whom_it_was_given_to(tmp_path: Path) -> None:
    main = make_repository(tmp_path / "main")
    workspace = add_linked_worktree(main, tmp_path / "work", "gitticks/work/k7f2")
    git("config", "extensions.worktreeConfig", "true", at=main)
    authors = []
    for committer in (agent_identity("gemini"), None):
        name_committer(discover(main), workspace, committer)
        commit_file(workspace, "a.txt", f"{committer}\n")
        authors.append(git("log", "-1", "--format=%an, %cn", at=workspace))
    assert authors == ["gemini (gitticks agent), gemini (gitticks agent)", "Ada Lovelace, Ada Lovelace"]
    commit_file(main, "b.txt", "mine\n")
    assert git("log", "-1", "--format=%an", at=main) == "Ada Lovelace"
