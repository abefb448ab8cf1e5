"""Checks for abandoned workspaces, work branches, sessions and checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from shlex import quote

from gitticks.actions.context import Context
from gitticks.actions.doctor import Finding, Repair, Severity, note, warning
from gitticks.actions.merges_by_hand import find_missing
from gitticks.actions.workspaces import WorkspaceState, list_worktrees
from gitticks.errors import first_of
from gitticks.git.checkouts import current_branch, linked_checkouts
from gitticks.git.merges.history import count_commits
from gitticks.git.refs import BRANCHES, default_base, read_ref
from gitticks.git.sharing import list_local_branches, remotes
from gitticks.git.worktrees import half_made, is_without_commit
from gitticks.model.ids import BOARD_FOLDER, WORK_BRANCH, TaskId
from gitticks.model.status import Status
from gitticks.model.task import Task
from gitticks.runner.outcome import shown
from gitticks.runner.records import Sessions
from gitticks.runner.workspace_plan import how_to_move
from gitticks.store.checkpoints import REFS, kept_refs, missing_commits, read_all
from gitticks.store.index import open_index

_MOST_NAMED = 3


def check_workspaces(context: Context) -> Iterator[Finding]:
    """Yields what is left over of work that is closed, and what lost its folder or its task."""
    if context.repository.project_dir is None:
        return
    for checkout in filter(is_without_commit, linked_checkouts(context.repository)):
        broken = half_made(checkout)
        yield warning(broken.message, broken.hint)
    states = list_worktrees(context)
    for state in states:
        yield from _workspace(state)
    occupied = {state.workspace.branch for state in states}
    tasks = {str(task_id): task for task_id, task in context.store.snapshot().all_tasks().items()}
    for branch in list_local_branches(context.repository, WORK_BRANCH):
        if branch not in occupied:
            yield from _branch(context, branch, tasks)


def check_merged(context: Context) -> Iterator[Finding]:
    """Yields a warning for each base that lacks the code of tasks which are done."""
    with open_index(context.repository) as index:
        tasks = index.tasks()
    for one in find_missing(context, tasks):
        if not one.is_pulled:
            pull = f"`git pull --no-rebase origin {one.base}` on `{one.base}`"
            yield note(f"{one.words}; `origin/{one.base}` has it", pull)
            continue
        aside = f"`git branch rescue {one.commits[0]}` keeps it; `gt reopen` if it is not wanted"
        fix = one.way_back if one.is_gone else f"{one.way_back}; {aside}"
        yield warning(one.words, fix, task=one.tasks[0])
    if not context.repository.is_shallow:
        yield from _not_stored(context, tasks)


def check_bases(context: Context) -> Iterator[Finding]:
    """Yields a warning for each base branch that is not here, though work is to begin from it or to be merged into it."""
    common_dir, configured = context.repository.common_dir, context.settings.base
    with open_index(context.repository) as index:
        tasks = [task for task in index.tasks() if task.is_open and task.base]
    for base in dict.fromkeys([*filter(None, [configured]), *(str(task.base) for task in tasks)]):
        if read_ref(common_dir, BRANCHES + base) is not None or base == current_branch(context.repository):
            continue  # the first commit is still to come, where the branch is checked out
        of_base = [task for task in tasks if task.base == base]
        is_remote = read_ref(common_dir, f"refs/remotes/origin/{base}") is not None
        if is_remote and not any(task.end_sha for task in of_base):
            continue  # work begins from that one
        began = next((task.start_sha[:10] for task in of_base if task.start_sha), None)
        start = f"origin/{base}" if is_remote else began
        again = f"`git branch {quote(base)} {start}` creates it" if start else None
        other = "`gt config base BRANCH` chooses another" if base == configured else None
        if of_base:
            other = how_to_move(of_base, base, context.settings, context.repository)
        named = f", which the work on {shown([task.id for task in of_base])} is for" if of_base else ""
        yield warning(
            f"the base branch `{base}` does not exist here{named}",
            "; ".join(filter(None, [again, other])),
            task=of_base[0].id if of_base else None,
        )


def _not_stored(context: Context, tasks: Iterable[Task]) -> Iterator[Finding]:
    """Yields a note of merges that this clone does not have: nobody fetched them, or git dropped them for good."""
    has = context.store.objects.has
    done = (one for one in tasks if one.status is Status.DONE and one.merged_sha)
    absent = sorted(one.id for one in done if not has(str(one.merged_sha)))
    if absent:
        named = first_of([f"`{one}`" for one in absent], _MOST_NAMED)
        yield note(
            f"the merge of {named} is not in this clone",
            f"`git fetch` fetches it if a remote has it; if its code is lost, `gt reopen {absent[0]}`",
            task=absent[0],
        )


def _workspace(state: WorkspaceState) -> Iterator[Finding]:
    one = state.workspace
    if one.is_gone:
        yield warning(
            f"the folder of the workspace `{one.name}` is missing: `{one.path}`",
            "`gt doctor --fix`",
            Repair.WORKTREES,
        )
    elif state.task is None:
        what = f"the workspace `{one.name}` belongs to no task: `{one.path}`"
        yield warning(what, f"`gt worktree clean {one.name}`", task=TaskId(one.name))
    elif not state.is_needed:
        what = f"the workspace of `{one.name}` is left over: the task is {state.task.status}"
        yield note(what, f"`gt worktree clean {one.name}`", task=state.task.id)


def _branch(context: Context, branch: str, tasks: Mapping[str, Task]) -> Iterator[Finding]:
    task_id = TaskId(branch.removeprefix(WORK_BRANCH))
    task = tasks.get(task_id)
    if task is not None and task.is_open:
        return
    base = (task.base if task is not None else None) or default_base(context.repository)
    count = _unmerged(context, branch, base, task)
    drop = f"`git branch -D {branch}` drops it"
    look = f"`git log {base}..{branch}` shows what is on it; {drop}"
    has = f"has {count} commit{'s' if count > 1 else ''} that `{base}` lacks" if count else "is merged"
    if task is None:
        what = f"the branch `{branch}` belongs to no task, and {has}"
        yield warning(what, look if count else drop, task=task_id)
    elif count:
        severity = Severity.NOTE if task.status is Status.CANCELLED else Severity.WARNING
        what = f"`{task.id}` is {task.status}, but its branch {has}"
        yield Finding(severity, what, look, task=task.id)
    else:
        what = f"the branch of `{task.id}` is left over: the task is {task.status}"
        yield note(what, drop, task=task.id)


def _unmerged(context: Context, branch: str, base: str | None, task: Task | None) -> int:
    """Returns how many commits of a branch its base lacks; what was squashed is in it under another id."""
    common_dir = context.repository.common_dir
    tip = read_ref(common_dir, BRANCHES + branch)
    onto = None if base is None else read_ref(common_dir, BRANCHES + base)
    if tip is None or onto is None:
        return 0
    if task is not None and task.merged_sha is not None and tip == task.end_sha:
        return 0
    return count_commits(context.repository, onto, tip)


def check_sessions(context: Context) -> Iterator[Finding]:
    """Yields sessions whose runner and agent are gone, and which nobody has dealt with."""
    for record in Sessions(context.repository.own_dir).dead():
        yield warning(
            f"the session of {record.agent} on `{record.task}` is dead and was not processed", "`gt health`"
        )


def check_checkpoints(context: Context) -> Iterator[Finding]:
    """Yields what keeps `gt resume` from a checkpoint, and what nothing resumes any more."""
    store = context.store
    found, refs = read_all(store), kept_refs(store)
    for one in found:
        if one.checkpoint is None:
            what = f"{BOARD_FOLDER}/{one.path}: {one.problem}"
            yield warning(what, f"`gt checkpoints prune {one.id}`", task=one.workspace)
    missing = missing_commits(store, (one.checkpoint.commit for one in found if one.checkpoint))
    gone = [one for one in found if one.checkpoint is not None and one.checkpoint.commit in missing]
    if gone and remotes(context.repository):
        what = f"the code of {len(gone)} checkpoint{'s' if len(gone) > 1 else ''} is not in this clone; another one may have it"
        yield note(what, "`gt checkpoints` lists them")
        gone = []  # whoever dropped them here would drop them for all
    for one in gone:
        what = f"the code of checkpoint `{one.id}` is gone"
        yield warning(what, f"`gt checkpoints prune {one.id}` drops it", task=one.workspace)
    there = {(one.workspace, one.number) for one in found}
    stray = [f"`{REFS}{name}/{number}`" for name, number in sorted(refs) if (name, number) not in there]
    if stray and not Sessions(context.repository.own_dir).live():
        belongs = "belongs" if len(stray) == 1 else "belong"
        yield note(f"{first_of(stray, _MOST_NAMED)} {belongs} to no checkpoint", "`gt checkpoints prune`")
