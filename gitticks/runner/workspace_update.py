"""Takes what the base has new into a task's workspace between iterations, where the setting `workspace.update` asks for it."""

from __future__ import annotations

from gitticks.errors import LostRaceError
from gitticks.git.checkouts import Checkout, current_branch
from gitticks.git.identity import ENGINE_IDENTITY
from gitticks.git.merges.base import Moved, move_base
from gitticks.git.merges.commits import store_commit
from gitticks.git.merges.history import count_commits, is_ancestor
from gitticks.git.merges.memory import Conflict, merge_in_memory
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.repository import Repository
from gitticks.runner.workspace_plan import OWN_FOLDERS, Workspace, shown_paths, uncommitted_paths


def take_up_base(repository: Repository, checkout: Checkout, workspace: Workspace) -> str | None:
    """Merges the base into the work branch if that is clean, and returns what the agent should know of it.

    Uncommitted work and a workspace that an agent left on another branch are left alone, and so is a conflict.
    """
    base, branch = workspace.base, workspace.branch
    if base is None or branch is None or current_branch(checkout) != branch:
        return None
    tip = read_ref(repository.common_dir, BRANCHES + base)
    head = read_ref(repository.common_dir, BRANCHES + branch)
    if tip is None or head is None or is_ancestor(repository, tip, head):
        return None
    count = count_commits(repository, head, tip)
    news = f"`{base}` has {count} new commit{'' if count == 1 else 's'}"
    if uncommitted_paths(checkout, OWN_FOLDERS) or (checkout.git_dir / "MERGE_HEAD").exists():
        return f"{news}, which are taken in once everything here is committed"
    merged = merge_in_memory(repository, head, tip)
    if isinstance(merged, Conflict):
        return f"{news} that conflict with yours in {shown_paths(merged.paths)}: `git merge {base}` and resolve that"
    message = f"Merge {base} into {branch}\n"
    commit = store_commit(repository, merged.tree, [head, tip], message, ENGINE_IDENTITY.variables())
    try:
        moved = move_base(repository, branch, head, commit, f"gitticks: take up {base}")
    except LostRaceError:
        return None  # somebody is at work there just now; the next iteration asks again
    return f"{news}, which were merged into your branch" if isinstance(moved, Moved) else None
