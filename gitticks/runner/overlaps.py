"""Which work in progress would conflict when it is merged, said while there is still time to go around it."""

from __future__ import annotations

from collections.abc import Iterable

from gitticks.errors import GitticksError
from gitticks.git.merges.forecast import Overlap, forecast
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.repository import Repository
from gitticks.model.settings import Settings
from gitticks.model.task import Task
from gitticks.runner.workspace_plan import base_of, shown_paths
from gitticks.store.layout import WORK_BRANCH


def find_overlaps(
    repository: Repository, tasks: Iterable[Task], settings: Settings, *, among: Iterable[str] | None = None
) -> tuple[Overlap, ...]:
    """Returns the conflicts of unmerged work with its base and with other work for the same base.

    Work is named after its task, or after the epic where its tasks share a branch. Only commits count.

    Args:
        repository: where the branches are.
        tasks: those whose work counts.
        settings: which say what the base is.
        among: names; only what one of these takes part in; None for all.
    """
    by_base: dict[str, dict[str, str]] = {}
    for task in tasks:
        branch = task.branch or ""
        if not task.is_open or not branch.startswith(WORK_BRANCH):
            continue
        tip = read_ref(repository.common_dir, BRANCHES + branch)
        if tip is not None and tip != task.start_sha:
            heads = by_base.setdefault(base_of(task, settings, repository), {})
            heads[branch.removeprefix(WORK_BRANCH)] = tip
    found: list[Overlap] = []
    for base, heads in by_base.items():
        tip = read_ref(repository.common_dir, BRANCHES + base)
        if tip is not None:
            found += forecast(repository, tip, heads, among=among)
    return tuple(found)


def overlap_warnings(
    repository: Repository, tasks: Iterable[Task], settings: Settings, name: str
) -> tuple[str, ...]:
    """Returns what a worker on the branch of this name should know of them."""
    try:
        found = find_overlaps(repository, tasks, settings, among=[name])
    except GitticksError:
        return ()  # a forecast keeps nobody from working
    return tuple(_words(one, name) for one in found)


def _words(overlap: Overlap, name: str) -> str:
    where = shown_paths(overlap.paths)
    if overlap.other is None:
        return f"your commits conflict with what the base has now, in {where}: `git merge` the base and resolve that"
    other = overlap.other if overlap.name == name else overlap.name
    return (
        f"`{other}`, which others work on at the same time, conflicts with your commits in {where}: change no more "
        "there than you need"
    )
