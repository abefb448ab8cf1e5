"""Lists, compares and drops checkpoints, and goes back to one: a workspace's code, scratchpad and tasks' counters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.review import patch_between
from gitticks.actions.run import check_health
from gitticks.actions.sync_auto import claims_of
from gitticks.actions.task_lookup import CHARACTERS_TO_DECIDE, find_or_take_up_task
from gitticks.errors import GitticksError, NotFoundError, RefusedError, UsageError
from gitticks.git.checkouts import checkout_at
from gitticks.git.merges.history import DiffSummary, diff_summary
from gitticks.git.process import run_git
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.snapshots import store_snapshot, take_snapshot
from gitticks.model.checkpoint import Checkpoint, nearest_number
from gitticks.model.ids import WORK_BRANCH, TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.status import Isolation
from gitticks.model.task import Task, Usage
from gitticks.runner import workspaces
from gitticks.runner.checkpoints import Rewound, rewind
from gitticks.runner.liveness import Holds
from gitticks.runner.records import Sessions
from gitticks.runner.scratchpad import rewind as rewind_scratchpad
from gitticks.runner.workspace_plan import OWN_FOLDERS
from gitticks.runner.workspace_removal import list_workspaces
from gitticks.store.checkpoints import (
    StoredCheckpoint,
    is_number,
    kept_refs,
    members,
    missing_commits,
    read_all,
    ref_of,
    scratchpad_of,
    workspace_of,
)
from gitticks.store.decisions import carry_out
from gitticks.store.transaction import Transaction
from gitticks.workflow.triggers import Resumed

_MOST_NAMED = 5


class ListedCheckpoint(NamedTuple):
    """A checkpoint, the title of what its workspace is of, and whether its code is in this clone."""

    stored: StoredCheckpoint
    title: str
    has_code: bool


def list_checkpoints(context: Context, task_id: TaskId | None = None) -> list[ListedCheckpoint]:
    """Returns the checkpoints of the workspace of a task, or of all, sorted by workspace and number."""
    found = read_all(context.store, None if task_id is None else _workspace_of(context, task_id))
    missing = missing_commits(context.store, (one.checkpoint.commit for one in found if one.checkpoint))
    titles = context.index.titles()
    return [
        ListedCheckpoint(
            one,
            titles.get(one.workspace, ""),
            one.checkpoint is not None and one.checkpoint.commit not in missing,
        )
        for one in found
    ]


def find_checkpoint(context: Context, text: str) -> Checkpoint:
    """Returns the checkpoint that a person named, such as `k7f2-14` or `k7-14`.

    Raises:
        NotFoundError: there is none, with the nearest one in the hint; or the name is that of a task alone.
        GitticksError: its file cannot be read.
    """
    stored = _find_named(context, text)
    if not isinstance(stored, StoredCheckpoint):
        raise _not_a_checkpoint(context, stored)
    if stored.checkpoint is None:
        raise GitticksError(
            f"`.gitticks/{stored.path}` cannot be read: {stored.problem}",
            hint=f"`gt checkpoints prune {stored.id}` drops it",
        )
    return stored.checkpoint


def _find_named(context: Context, text: str) -> StoredCheckpoint | TaskId:
    """Returns the task or checkpoint that a person named; one that cannot be read, or whose task is gone, too."""
    name, dash, number = text.rpartition("-")
    if not dash or not is_number(number):
        try:
            return find_or_take_up_task(context, text, least=CHARACTERS_TO_DECIDE)
        except NotFoundError as error:
            raise NotFoundError(error.message, hint="`gt checkpoints` lists the checkpoints") from None
    if _is_task(context, text):  # ids from elsewhere may end so, too
        if f"{name}-{number}" in {one.id for one in read_all(context.store, TaskId(name))}:
            raise NotFoundError(
                f"`{text}` is a task, and checkpoint {number} of `{name}`",
                hint=f"`{name}-0{number}` is the checkpoint; `gt checkpoints list {text}` lists those of the task",
            )
        return TaskId(text)
    try:
        workspace = find_or_take_up_task(context, name, least=CHARACTERS_TO_DECIDE)
        there = {one.number: one for one in read_all(context.store, workspace)}
    except NotFoundError:
        workspace = TaskId(name)
        there = {one.number: one for one in read_all(context.store) if one.workspace == workspace}
        if not there:
            raise
    if int(number) not in there:
        near = nearest_number(int(number), there)
        if near is None:
            raise _not_a_checkpoint(context, workspace)
        raise NotFoundError(
            f"`{workspace}` has no checkpoint {int(number)}",
            hint=f"the nearest is `{workspace}-{near}`; `gt checkpoints list {workspace}`",
        )
    return there[int(number)]


def _is_task(context: Context, text: str) -> bool:
    try:
        return find_or_take_up_task(context, text) == text
    except (NotFoundError, UsageError):
        return False


def _not_a_checkpoint(context: Context, task_id: TaskId) -> NotFoundError:
    owner = _workspace_of(context, task_id)
    there = read_all(context.store, owner)
    shown = ", ".join(f"`{one.id}`" for one in there[-_MOST_NAMED:])
    if there and owner != task_id:
        what = f"`{task_id}` shares the workspace of `{owner}`, and its checkpoints"
        return NotFoundError(what, hint=f"one of {shown}")
    if there:
        return NotFoundError(f"`{task_id}` is a task: name one of its checkpoints", hint=f"one of {shown}")
    return NotFoundError(
        f"`{task_id}` has no checkpoints",
        hint="`gt run` makes one every `checkpoint_every` iterations, and before each merge",
    )


def _workspace_of(context: Context, task_id: TaskId) -> TaskId:
    try:
        return workspace_of(context.store.task_file(task_id).task)
    except GitticksError:  # its file is broken
        return task_id


class CheckpointDiff(NamedTuple):
    """What is between a checkpoint and another one, or the workspace as it is now, which has no `until`."""

    since: Checkpoint
    until: Checkpoint | None
    span: tuple[str, str]
    summary: DiffSummary
    patch: bytes


def diff_checkpoint(context: Context, text: str, other: str | None) -> CheckpointDiff:
    """Returns what was changed since a checkpoint, or up to a later one."""
    since = find_checkpoint(context, text)
    until = None if other is None else find_checkpoint(context, other)
    _require_code(context, since)
    if until is not None:
        _require_code(context, until)
    end = _now(context, since) if until is None else until.commit
    span = (since.commit, end)
    return CheckpointDiff(
        since, until, span, diff_summary(context.repository, *span), patch_between(context.repository, span)
    )


def _now(context: Context, since: Checkpoint) -> str:
    """Returns a commit of what the workspace of a checkpoint holds now, or its branch where it has none."""
    branch = WORK_BRANCH + since.workspace
    tip = read_ref(context.repository.common_dir, BRANCHES + branch)
    for one in list_workspaces(context.repository, context.settings):
        if one.branch == branch and not one.is_gone:
            checkout = checkout_at(context.repository, one.path)
            found = take_snapshot(checkout, OWN_FOLDERS)
            if found.files:
                return store_snapshot(checkout, found, f"Now, after {since.id}\n")
            return one.head or tip or ""
    if tip is None:
        raise NotFoundError(
            f"the branch `{branch}` is gone",
            hint=f"`git diff {since.commit[:10]} HEAD` compares it with your checkout",
        )
    return tip


def _require_code(context: Context, checkpoint: Checkpoint) -> None:
    """Refuses a checkpoint whose code is not in this clone."""
    if not missing_commits(context.store, {checkpoint.commit, checkpoint.head}):
        return
    ref = ref_of(checkpoint.workspace, checkpoint.number)
    raise GitticksError(
        f"the code of `{checkpoint.id}` is not in this clone: {checkpoint.commit[:10]}",
        hint=f"`git push origin {ref}` in the clone that made it, then `git fetch origin {ref}:{ref}` here; "
        f"`gt checkpoints list {checkpoint.workspace}` shows the others",
    )


class Pruned(NamedTuple):
    """A checkpoint that was dropped, or a ref that belonged to none; `is_only_there` if nothing else has its code."""

    id: str
    commit: str | None
    is_only_there: bool
    is_ref_alone: bool = False


def prune_checkpoints(
    context: Context, names: Iterable[str], *, keep: int | None, dry_run: bool
) -> list[Pruned]:
    """Drops checkpoints and their refs: those named, of the tasks named, or without a name those of closed tasks.

    With `keep` the newest of each workspace stay, and without a name open tasks are looked at too. Refs that belong to
    no checkpoint are dropped along where nothing is named.
    """
    context.require_person("drop checkpoints")
    names = tuple(names)
    chosen = _chosen(context, names, keep)
    refs = kept_refs(context.store)
    commits: dict[tuple[TaskId, int], str | None] = {}
    for one in chosen:
        place = one.workspace, one.number
        commits[place] = one.checkpoint.commit if one.checkpoint else refs.get(place)
    stray: set[tuple[TaskId, int]] = set()
    if not names and not Sessions(context.repository.own_dir).live():
        stray = refs.keys() - {(one.workspace, one.number) for one in read_all(context.store)}
        commits |= {place: refs[place] for place in sorted(stray)}
    only_there = _only_there(context, commits.values())
    if not dry_run and commits:
        _drop(context, chosen, {place: refs[place] for place in commits if place in refs})
    return [
        Pruned(f"{place[0]}-{place[1]}", commit, commit in only_there, place in stray)
        for place, commit in commits.items()
    ]


def _chosen(context: Context, names: tuple[str, ...], keep: int | None) -> list[StoredCheckpoint]:
    found: dict[str, StoredCheckpoint] = {}
    for name in names:
        one = _find_named(context, name)
        named = [one] if isinstance(one, StoredCheckpoint) else _older(read_all(context.store, one), keep)
        found |= {one.id: one for one in named}
    if names:
        return list(found.values())
    tasks = context.store.snapshot().all_tasks()
    by_workspace: dict[TaskId, list[StoredCheckpoint]] = {}
    for one in read_all(context.store):
        by_workspace.setdefault(one.workspace, []).append(one)
    return [
        one
        for workspace, there in by_workspace.items()
        if keep is not None or workspace not in tasks or not tasks[workspace].is_open
        for one in _older(there, keep)
    ]


def _older(there: list[StoredCheckpoint], keep: int | None) -> list[StoredCheckpoint]:
    return there[: max(0, len(there) - (keep or 0))]


def _only_there(context: Context, commits: Iterable[str | None]) -> frozenset[str]:
    asked = {one for one in commits if one is not None}
    asked -= missing_commits(context.store, asked)
    if not asked:
        return frozenset()
    listed = run_git(
        ["rev-list", "--stdin", "--not", "--branches", "--tags", "--remotes", "--glob=refs/gitticks/rescued"],
        repository_dir=context.repository.common_dir,
        input="".join(f"{one}\n" for one in sorted(asked)).encode(),
    )
    return frozenset(listed.text.split()) & asked


def _drop(context: Context, chosen: list[StoredCheckpoint], refs: dict[tuple[TaskId, int], str]) -> None:
    def operation(transaction: Transaction) -> None:
        for one in chosen:
            transaction.remove(one.path)
        workspaces_of = sorted({one.workspace for one in chosen})
        shown = workspaces_of[0] if len(workspaces_of) == 1 else f"{len(workspaces_of)} tasks"
        count = f"{len(chosen)} checkpoint{'s' if len(chosen) > 1 else ''}"
        transaction.describe(
            f"{shown}: {count} dropped", [("Task", one) for one in workspaces_of[:_MOST_NAMED]]
        )

    if chosen:
        context.store.transact(operation, author=context.author)
    for (workspace, number), commit in refs.items():
        context.store.move_ref(ref_of(workspace, number), commit, None, "gitticks: checkpoint dropped")


class ResumedWork(NamedTuple):
    """A workspace that went back to a checkpoint, and the tasks that were given back to their agents."""

    checkpoint: Checkpoint
    rewound: Rewound
    tasks: tuple[TaskId, ...]


def resume_checkpoint(context: Context, text: str, *, force: bool) -> ResumedWork:
    """Takes a workspace back to a checkpoint: its code, its scratchpad and the counters of its tasks.

    Raises:
        RefusedError: an agent works there, or a task is done whose code would go.
        GitticksError: the code is gone, or work is uncommitted and `force` is not given; nothing was changed.
    """
    context.require_person("resume a task")
    checkpoint = find_checkpoint(context, text)
    _require_code(context, checkpoint)
    check_health(context, lambda _event: None)
    snapshot = context.store.snapshot()
    there = members(snapshot, checkpoint.workspace)
    if not there:
        raise NotFoundError(f"there is no task `{checkpoint.workspace}` any more", hint="`gt list --all`")
    owner = next(one for one in there if one.id == checkpoint.workspace)
    claims = claims_of(context, context.warnings.append)
    graph = TaskGraph.of(snapshot.all_tasks().values(), snapshot.unreadable_ids())
    ids = {one.id for one in there} | (set(graph.below(owner.id)) if owner.is_epic else set())
    with Sessions(context.repository.own_dir).reserve(ids):
        _refuse_lost_work(context, checkpoint, there)
        plan = workspaces.plan(owner, graph, context.settings, context.repository)
        if plan.isolation is Isolation.NONE:
            raise RefusedError(
                f"`{owner.id}` is worked on in your own checkout, which gitticks does not reset",
                hint=f"`gt update {owner.id} --isolation task` gives it a workspace, then `gt resume {checkpoint.id}`; "
                f"or look at it yourself: `git switch --detach {checkpoint.commit[:10]}`",
            )
        back = [
            one
            for one in there
            if one.id in (checkpoint.workspace, checkpoint.task)
            or (one.is_open and one.usage != checkpoint.usage.get(one.id, Usage()))
        ]
        # Tried on a snapshot first: a refusal leaves the workspace alone.
        _carry_out(context, context.store.snapshot(), checkpoint, back)
        try:
            claims.take(owner.id)
            rewound = rewind(context.repository, plan, checkpoint, [one.id for one in there], force=force)
            context.store.transact(
                lambda transaction: _carry_out(context, transaction, checkpoint, back), author=context.author
            )
        finally:
            claims.end()
    holds = Holds(context.repository.own_dir)
    for task in back:
        holds.release(task.id)
    return ResumedWork(checkpoint, rewound, tuple(one.id for one in back))


def _refuse_lost_work(context: Context, checkpoint: Checkpoint, there: Iterable[Task]) -> None:
    objects = context.store.objects
    lost = [
        one
        for one in there
        if not one.is_open
        and one.id != checkpoint.workspace
        and one.end_sha is not None
        and not objects.is_ancestor(one.end_sha, checkpoint.head)
    ]
    if lost:
        shown = ", ".join(f"`{one.id}`" for one in lost[:_MOST_NAMED])
        raise RefusedError(
            f"{shown} {'was' if len(lost) == 1 else 'were'} closed after {checkpoint.id}, "
            f"and {'its' if len(lost) == 1 else 'their'} code would be lost",
            hint=f"`gt reopen {' '.join(one.id for one in lost)}` first, or resume a later checkpoint: "
            f"`gt checkpoints list {checkpoint.workspace}`",
        )


def _carry_out(
    context: Context, transaction: Transaction, checkpoint: Checkpoint, back: Iterable[Task]
) -> None:
    objects = context.store.objects
    for known in back:
        task = transaction.task_file(known.id).task
        if not task.is_open and task.id != checkpoint.workspace:
            continue
        start = task.start_sha
        if start is not None and not objects.is_ancestor(start, checkpoint.head):
            start = checkpoint.head
        usage = task.usage if task.is_epic else checkpoint.usage.get(task.id, Usage())
        resumed = Resumed(context.actor, checkpoint.id, checkpoint.head, usage, start)
        carry_out(transaction, task.id, resumed, context.circumstances(task))
    path = scratchpad_of(transaction.task_file(checkpoint.task).task)
    now = (transaction.read(path) or b"").decode("utf-8", "replace")
    tasks = {one.id for one in members(transaction, checkpoint.workspace)}
    after = rewind_scratchpad(now, checkpoint.scratchpad, tasks)
    if after != now:
        transaction.write(path, after.encode())
