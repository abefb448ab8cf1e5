"""The commits that merge a task, by the strategy that was chosen; they are made in memory, and no branch is moved."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from gitticks.git.checkouts import Checkout
from gitticks.git.identity import Identity
from gitticks.git.merges.commits import Conflict, commit_merge, merge_in_memory, rebase_in_memory
from gitticks.git.merges.history import merge_trailers
from gitticks.git.repository import Repository
from gitticks.model.settings import MergeStrategy
from gitticks.model.task import Task


def build_merge(
    repository: Repository,
    task: Task,
    tip: str,
    strategy: MergeStrategy,
    *,
    author: Identity,
    aside: Callable[[str], AbstractContextManager[Checkout]],
) -> str | Conflict | None:
    """Returns the commit that brings a task's head to `tip`, as `commit_merge` makes it; None if `tip` lacks nothing of it."""
    head = str(task.end_sha)
    trailers = merge_trailers(task.id, head)
    if strategy is MergeStrategy.REBASE:
        rebased = rebase_in_memory(repository, tip, head, committer=author, trailers=trailers)
        if isinstance(rebased, Conflict):
            return rebased
        return None if rebased.commit == tip else rebased.commit
    merged = merge_in_memory(repository, tip, head)
    if isinstance(merged, Conflict):
        return merged
    if merged.tree == repository.objects.tree_of(tip):
        return None
    parents = [tip, head] if strategy is MergeStrategy.MERGE else [tip]
    title = " ".join(task.title.split())
    subject = f"Merge {task.id}: {title}" if strategy is MergeStrategy.MERGE else title
    message = f"{subject}\n\n{trailers}"
    return commit_merge(repository, merged.tree, parents, message, author=author, aside=aside)
