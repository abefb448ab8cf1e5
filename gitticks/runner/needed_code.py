"""Whether this clone has the code that work goes on from, or is judged and merged by; if not, how it comes here."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from shlex import quote

from gitticks.errors import GitticksError, first_of
from gitticks.git.checkouts import current_branch, list_worktrees
from gitticks.git.merges.commits import has_work
from gitticks.git.merges.history import is_ancestor
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.repository import Repository
from gitticks.model.graph import NeededCode, code_of_blockers
from gitticks.model.ids import WORK_BRANCH
from gitticks.model.queries import TaskGraph
from gitticks.model.task import Task
from gitticks.workflow import gates

_MOST_SHOWN = 5


class CodeMissingError(GitticksError):
    """Work cannot go on from what this clone has; a fetch or a pull may change that."""


def require_code(repository: Repository, task: Task) -> None:
    """Refuses to go on with work that was handed off in another clone and whose commits are not in this one.

    Raises:
        CodeMissingError: they are missing here.
    """
    if task.end_sha is None or not task.has_code or repository.objects.has(task.end_sha):
        return
    branch = task.branch or f"{WORK_BRANCH}{task.id}"
    raise CodeMissingError(
        f"the code of `{task.id}` is not in this clone: commit {task.end_sha[:10]} is missing",
        hint=f"{how_to_fetch(repository, branch)}{gates.if_lost(task.id) if task.is_open else ''}",
    )


def moved_tip(repository: Repository, task: Task) -> tuple[str, bool] | None:
    """Returns where the branch that is a task's alone stands, if not at its hand-off, and whether it is only behind that."""
    if task.branch is None or task.sharing_epic is not None:
        return None
    tip = read_ref(repository.common_dir, f"{BRANCHES}{task.branch}")
    if tip is None or not gates.is_other_head(tip, task.end_sha):
        return None
    return tip, is_ancestor(repository, tip, str(task.end_sha))


def require_head(repository: Repository, task: Task) -> None:
    """Refuses to judge or merge work whose last commits are not on this clone's branch of it, where nothing was added.

    Raises:
        CodeMissingError: they are missing here, or only the branch is behind them.
    """
    require_code(repository, task)
    branch, end = task.branch, task.end_sha
    moved = moved_tip(repository, task)
    if moved is not None and moved[1] and branch == WORK_BRANCH + task.id:
        place = _place_of(repository, branch)
        raise CodeMissingError(
            f"`{branch}` is at {moved[0][:7]} in this clone, behind {str(end)[:7]}, which was handed off",
            hint=f"`git branch --force {branch} {str(end)[:10]}` brings it there"
            if place is None
            else f"`git -C {quote(str(place))} merge --ff-only {str(end)[:10]}` brings it there",
        )


def how_to_fetch(repository: Repository, branch: str | None) -> str:
    """Returns how a branch comes here, also where it is checked out."""
    place = _place_of(repository, branch)
    return gates.how_to_fetch(str(branch), None if place is None else str(place))


def _place_of(repository: Repository, branch: str | None) -> Path | None:
    """Returns where a branch is checked out."""
    places = (one.path for one in list_worktrees(repository) if current_branch(one) == branch)
    return None if branch is None else next(places, None)


def require_blockers(
    repository: Repository, task: Task, graph: TaskGraph, base: str, starts: tuple[str, ...]
) -> None:
    """Refuses to begin work from commits of which none has the code of a blocker that is done.

    Raises:
        CodeMissingError: that code is to be fetched or merged first.
    """
    for needed in code_of_blockers(graph, task):
        if can_be_had(repository, needed, starts):
            continue
        one, short = needed.task, needed.commit[:10]
        epic = graph.tasks.get(one.carrier) if one.carrier else None
        if epic is not None and not epic.is_open:
            lacks = f"it is on `{one.branch}` alone, whose epic `{epic.id}` is cancelled"
            way = f"`git merge --no-edit {short}` on `{base}` brings it there"
        elif epic is not None and epic in graph.open_above(task):
            lacks = f"it is merged with `{epic.id}`, which waits for `{task.id}`"
            way = f"`gt update {task.id} --parent {epic.id} --isolation epic` lets both work on one branch"
        elif one.merged_sha != needed.commit:
            lacks, way = (
                f"its branch here lacks {short} of `{one.branch}`",
                how_to_fetch(repository, one.branch),
            )
        elif _is_to_come(repository, needed.commit, base):
            lacks, way = (
                f"`{base}` lacks the merge {short}",
                f"`git pull`, once `{base}` is pushed where it was made",
            )
        else:
            lacks, way = (
                f"`{base}` lacks the merge {short}",
                f"`git merge --no-edit {short}` on `{base}` restores it",
            )
        raise CodeMissingError(
            f"`{task.id}` waits for the code of `{one.id}`: {lacks}",
            hint=f"{way}; `gt unblock {needed.owner} {needed.blocker}` starts without it",
        )


def lacking_on(repository: Repository, tasks: Iterable[Task], owner: str, commit: str) -> list[NeededCode]:
    """Returns the code that is to be merged with an epic, and is not in a commit: it may be from another clone."""
    needed = (
        NeededCode(one.id, one.id, one, one.end_sha) for one in tasks if one.carrier == owner and one.end_sha
    )
    return [one for one in needed if not can_be_had(repository, one, (commit,))]


def why_lacking(repository: Repository, tasks: Collection[Task], epic: Task) -> str | None:
    """Returns why an epic is not merged whose branch lacks the code of a task that another clone did on a branch of its own.

    Raises:
        CodeMissingError: that code is not in this clone.
    """
    lacking = lacking_on(repository, tasks, epic.id, str(epic.end_sha))
    for one in lacking:
        require_code(repository, one.task)
    tip = read_ref(repository.common_dir, f"{BRANCHES}{epic.branch}")
    if not lacking or (tip is not None and not lacking_on(repository, tasks, epic.id, tip)):
        return None  # the branch has it by now, so that it is handed off again
    shown = first_of([f"`{one.task.id}`" for one in lacking], _MOST_SHOWN)
    commits = " ".join(one.commit[:10] for one in lacking)
    return f"its branch lacks the code of {shown}: `git merge --no-edit {commits}` there brings it"


def _is_to_come(repository: Repository, commit: str, base: str) -> bool:
    """True if a merge is not stored here, or the remote's base has it."""
    remote = read_ref(repository.common_dir, f"refs/remotes/origin/{base}")
    is_stored = repository.objects.has(commit)
    return not is_stored or (remote is not None and is_ancestor(repository, commit, remote))


def can_be_had(repository: Repository, needed: NeededCode, starts: tuple[str, ...]) -> bool:
    """True if one of some commits has the code."""
    if not repository.objects.has(needed.commit):  # a shallow clone has no old commits, merged or not
        return repository.is_shallow
    return any(
        is_ancestor(repository, needed.commit, start)
        or has_work(repository, start, needed.task.id, needed.task.end_sha)
        for start in starts
    )
