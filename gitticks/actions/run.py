"""Runs agents on what is ready, finishes what a killed run left, merges approved work, and forecasts its conflicts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from shlex import quote
from typing import NamedTuple

from gitticks.actions.changing import Moved, work_head
from gitticks.actions.context import Context
from gitticks.actions.hook_history import refuse_push
from gitticks.actions.lifecycle import close_task
from gitticks.actions.merges_by_hand import notice_merges
from gitticks.actions.sync_auto import claims_of, keeping, sharing
from gitticks.actions.taking_up import take_up
from gitticks.actions.trust import require_team_trusted, settings_here
from gitticks.actions.watching import EditLeft, Happening, Trouble, in_background, watching
from gitticks.actions.workspaces import remove_expired
from gitticks.agents.base import Front
from gitticks.agents.prices import Priced, foresee
from gitticks.agents.tmux import require_tmux
from gitticks.board.skip_reasons import is_for_nobody
from gitticks.document.settings_layers import DEFAULT
from gitticks.errors import GitticksError, RefusedError
from gitticks.flocks import holding_lock, is_lock_held
from gitticks.git.merges.asides import PooledAside
from gitticks.git.repository import Repository
from gitticks.model.event import EventType
from gitticks.model.ids import BOARD_FOLDER, TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.settings import MergeMode
from gitticks.model.task import SessionRecord
from gitticks.runner.budgets import require_price
from gitticks.runner.context import RunContext
from gitticks.runner.events import MergeWaits, RunEvent, TaskMerged, Warned
from gitticks.runner.finishing import recover
from gitticks.runner.jobs import interrupting
from gitticks.runner.liveness import RUN_LOCK, Holds, is_run_alive_at, takes_work_at
from gitticks.runner.loop import Loop
from gitticks.runner.mergequeue import MergeQueue, MergeResult
from gitticks.runner.options import RunOptions
from gitticks.runner.outcome import RunExit
from gitticks.runner.overlaps import find_overlaps, keep_overlaps
from gitticks.runner.prompt import read_overrides, require_templates
from gitticks.runner.pull_requests import PullRequests
from gitticks.runner.records import Sessions
from gitticks.runner.reviewing import require_program
from gitticks.runner.run_record import Foreseen, keep_wait
from gitticks.runner.shared_base import MERGE_LOCK
from gitticks.runner.templates import idle_templates
from gitticks.runner.workspace_plan import plan, shown_paths, workspace_name
from gitticks.runner.workspace_removal import Removals, delete_removed, remove_merged_workspaces, tidy_up
from gitticks.sandbox.machine import require_workspace
from gitticks.store.layout import CONFIG_PATH, refuse_newer_format
from gitticks.store.settings import keeping_team_settings
from gitticks.workflow.triggers import Proof

_BEFORE_WATCHING_SECONDS = 1.0
"""What was saved before is applied already, and a run that ends at once need not load the watch."""


def prepare_run(context: Context, options: RunOptions, listener: Callable[[RunEvent], None]) -> Loop:
    """Returns a run that is ready to be executed."""
    context.require_person("start a run")
    if options.front is Front.TMUX:
        require_tmux(context.world.environment)
    context.repository.require_project_dir("a run")
    refuse_newer_format(context.store.read(CONFIG_PATH))
    _ = context.author
    # A command that was killed between its commit and its board left the board behind; a run may have nothing to write.
    for path, reason in take_up(context).left.items():
        if not is_for_nobody(reason):
            context.warnings.append(f"`{BOARD_FOLDER}/{path}` is {reason}")
    context.warn_of_fallen()
    for found in notice_merges(context):
        context.warnings.append(f"`{found.id}` has been merged into `{found.base}`: {found.outcome}")
    run = run_context(context, listener, options)
    run.claims = claims_of(context, lambda message: run.emit(Warned(None, message)))
    if options.agent is not None:
        require_program(run.registry.spec(options.agent), run.registry)
    require_templates(context.store)
    context.warnings.extend(idle_templates(read_overrides(context.store)))
    loop = Loop(run)
    loop.picking.require_agent()
    _require_prices(context, loop)
    return loop


def _require_prices(context: Context, loop: Loop) -> None:
    """Refuses a run whose dollars are limited and could not be counted for its agents; of the default it warns."""
    settings, limits, found = context.settings, loop.budgets.limits, context.resolved_settings
    costs = {
        "budget.task.cost": settings.budget.task.cost,
        "budget.epic.cost": settings.budget.epic.cost,
        "budget.run.cost": limits.cost,
    }
    limited = [name for name, cost in costs.items() if cost is not None]
    is_chosen = loop.options.max_cost is not None or any(found.origin(name) != DEFAULT for name in limited)
    for _, agent in loop.picking.first_agents() if limited else ():
        require_price(agent, settings, limits, is_chosen=is_chosen)
        if foresee(agent, settings.prices, is_chosen=False) is Priced.NO_MODEL:
            words = f"`{agent.name}` reports neither its cost nor its model, so no budget of dollars can be enforced for it"
            hint = f"`gt config agents.{agent.name}.model MODEL` names one"
            if is_chosen:
                raise GitticksError(words, hint=hint)
            context.warnings.append(f"{words}; {hint}")


def run_context(
    context: Context, listener: Callable[[RunEvent], None], options: RunOptions | None = None
) -> RunContext:
    """Returns what the runner's parts share, for a run or for a command that does a part of one."""
    settings = settings_here(context)
    require_team_trusted(context)
    context.resolved_settings.require_whole_prices()
    return RunContext(
        context.repository,
        settings,
        context.world,
        listener,
        options or RunOptions(),
        context.overrides,
        refuse_push=lambda *pushed: refuse_push(context.renewed(), *pushed),  # another thread calls it
    )


def execute(context: Context, loop: Loop) -> RunExit:
    """Runs to the end, as the only run of this clone; Ctrl-C lets running iterations end, twice stops them.

    What people save on the board meanwhile is applied, and tasks are shared where the settings ask for that.
    """
    require_workspace(loop.run.settings.sandbox, loop.run.settings.isolation, "`gt run --isolation task`")
    repository = loop.run.repository
    is_ending = is_run_alive_at(repository.own_place) and not takes_work_at(repository.own_place)
    released = () if is_ending else loop.release()

    def warn(message: str) -> None:
        loop.run.emit(Warned(None, message))

    with only_run(repository, released), keeping_team_settings(repository), _following(loop.run):
        if is_ending:
            loop.release()
        with sharing(context, warn, every_seconds=loop.options.poll):
            with keeping(loop.run.claims, warn), interrupting(loop.interrupt), _taking_up(context, loop):
                ended = loop.execute()
            remove_merged_workspaces(loop.run)
        tidy_up(loop.run.repository)
        remove_expired(context)
    context.warn_of_fallen()  # which may be why a task vanished from under the run
    context.warnings[:] = dict.fromkeys(context.warnings)
    return ended


def _taking_up(context: Context, loop: Loop) -> AbstractContextManager[object]:
    """Applies what people save during the run, and warns of what stays."""

    def tell(happening: Happening) -> None:
        if isinstance(happening, EditLeft) and not is_for_nobody(happening.reason):
            loop.run.emit(Warned(None, f"`{BOARD_FOLDER}/{happening.path}` is {happening.reason}"))
        elif isinstance(happening, Trouble):
            loop.run.emit(Warned(None, happening.message))

    return watching(context, tell, after_seconds=_BEFORE_WATCHING_SECONDS)


@contextlib.contextmanager
def _following(run: RunContext) -> Iterator[None]:
    """Takes in what happened on the forge, then continues in a thread while the block runs, every `--poll`."""
    if run.settings.merge.mode is not MergeMode.PULL_REQUEST:
        yield
        return
    pulls = PullRequests(run)
    pulls.look_once()
    with in_background(lambda over: pulls.follow(over, run.options.poll), "pull requests"):
        try:
            yield
        finally:
            pulls.stop.request(at_once=True)


@contextlib.contextmanager
def only_run(repository: Repository, released: Sequence[TaskId] = ()) -> Iterator[None]:
    """Holds the clone's run lock; where another run has it, that one takes up the `released` tasks."""
    repository.own_dir.mkdir(parents=True, exist_ok=True)
    with holding_lock(repository.own_file(RUN_LOCK)) as is_ours:
        if not is_ours:
            if not takes_work_at(str(repository.own_dir)):
                raise GitticksError(
                    "a run is ending in this clone, and takes nothing more",
                    hint="`gt status` shows it; try again once it has ended",
                )
            takes = f"; it resumes {' and '.join(f'`{one}`' for one in released)}" if released else ""
            raise GitticksError(
                f"a run is already active in this clone{takes}",
                hint="`gt run --add ID` adds to it, `gt stop` ends it",
            )
        holds = Holds(repository.own_dir)
        holds.forget_added(holds.asked_to_add())  # asked of a run that was killed
        holds.forget_run_stop()
        yield


class Health(NamedTuple):
    """What lives in this clone, which dead sessions were finished now, and which could not be."""

    run_is_alive: bool
    live: tuple[SessionRecord, ...]
    finished: tuple[TaskId, ...]
    left: tuple[TaskId, ...]


def check_health(context: Context, listener: Callable[[RunEvent], None]) -> Health:
    """Finishes dead sessions by the same rules as a run does, and returns what is alive."""
    context.require_person("finish dead sessions")
    sessions = Sessions(context.repository.own_dir)
    # Where none is dead nothing depends on settings, which may be what is broken.
    finished = recover(run_context(context, listener)) if sessions.dead() else ()
    return Health(
        is_run_alive_at(context.repository.own_place),
        tuple(sessions.live().values()),
        tuple(finished),
        tuple(one.task for one in sessions.dead()),
    )


def merge_task(
    context: Context, task_id: TaskId, listener: Callable[[RunEvent], None] | None = None
) -> MergeResult:
    """Merges one approved task now."""
    return _merged(_queue(context, listener or keeping_warnings(context)), task_id)


def keeping_warnings(context: Context) -> Callable[[RunEvent], None]:
    """Returns a listener that leaves it to the command to print warnings, and takes no other event."""

    def tell(event: RunEvent) -> None:
        if isinstance(event, Warned):
            context.warnings.append(f"{event.task}: {event.message}" if event.task else event.message)

    return tell


def merge_each(
    context: Context, task_ids: Sequence[TaskId], listener: Callable[[RunEvent], None]
) -> dict[TaskId, MergeResult]:
    """Merges approved tasks, without ids all, in the queue's order; what a killed merge left behind is removed.

    One that cannot be merged waits with the reason, and the next is tried.
    """
    context.require_person("merge")
    run = run_context(context, listener)
    with Removals(run) as removals, PooledAside(run.repository) as pool:
        queue = MergeQueue(run, context.author, pool=pool, removals=removals)
        remove_merged_workspaces(run)
        ids = task_ids or [task.id for task in queue.waiting()]
        merged: dict[TaskId, MergeResult] = {}
        for one in ids:
            try:
                merged[one] = _merged(queue, one)
            except GitticksError as error:
                run.emit(MergeWaits(one, error.in_one_line))
                merged[one] = MergeResult(waits=error.in_one_line)
    delete_removed(run.repository, run.settings)
    return merged


def merged_words(base: str | None, sha: str, tested: str) -> str:
    """Returns `merged into main as 91bd02e, tests pass on the merge (212 in 9 s)`; `tested` may be empty."""
    first, separator, rest = tested.partition(" (")
    checks = f", {first} on the merge{separator}{rest}" if tested else ""
    return f"merged into {base} as {sha[:7]}{checks}"


def _merged(queue: MergeQueue, task_id: TaskId) -> MergeResult:
    if is_lock_held(queue.repository.own_file(MERGE_LOCK)):
        queue.run.emit(MergeWaits(task_id, "another merge is under way, and this one follows it"))
    waits = None
    try:
        result = queue.merge(task_id)
        waits = result.waits
    except GitticksError as error:
        waits = error.in_one_line
        raise
    finally:
        if not is_run_alive_at(queue.repository.own_place):
            keep_wait(queue.repository.own_dir, task_id, waits)
    if result.waits is not None:
        queue.run.emit(MergeWaits(task_id, result.waits))
    if result.sha is not None and result.decision is not None and not result.decision.steps:
        queue.run.emit(
            TaskMerged(task_id, result.decision.task.base or "", result.sha, "")
        )  # by another command
    return result


def try_out(context: Context, task_ids: list[TaskId]) -> dict[TaskId, tuple[str, ...]]:
    """Returns in which paths merging each task, in turn, would conflict; all approved ones if none is named."""
    queue = _queue(context, lambda _event: None)
    ids = task_ids or [task.id for task in queue.waiting()]
    return queue.try_out(ids)


def _queue(context: Context, listener: Callable[[RunEvent], None]) -> MergeQueue:
    context.require_person("merge")
    return MergeQueue(run_context(context, listener), context.author)


def list_conflicts(context: Context, task_ids: Sequence[TaskId] = ()) -> tuple[Foreseen, ...]:
    """Returns the conflicts of unmerged work with its base and with one another; of these tasks' work if any is named."""
    tasks = context.store.snapshot().all_tasks()
    if not task_ids:
        return keep_overlaps(context.repository, tasks.values(), context.settings)
    graph = TaskGraph.of(tasks.values())
    among = [workspace_name(context.store.task_file(one).task, graph, context.settings) for one in task_ids]
    return find_overlaps(context.repository, tasks.values(), context.settings, among)


def continue_merge(context: Context, task_id: TaskId, proof: Callable[[], Proof]) -> Moved:
    """Takes over what a person committed after the task's merge failed, as their work, so that it is merged next.

    `proof` is asked for then, how strongly the person says so.

    Raises:
        RefusedError: no merge of the task failed, its work still conflicts with the base, or nothing is new.
    """
    context.require_person("merge")
    task = context.store.task_file(task_id).task
    failures = [event for event in context.store.history(task_id) if event.type is EventType.MERGE_FAILED]
    if not task.is_open or not failures:
        raise RefusedError(
            f"no merge of `{task_id}` has failed", hint=f"`gt merge {task_id}` merges it once it is approved"
        )
    of_base = [one for one in list_conflicts(context, [task_id]) if one.other is None]
    if of_base:
        graph = TaskGraph.of(context.store.snapshot().all_tasks().values())
        place = plan(task, graph, context.settings, context.repository).path
        raise RefusedError(
            f"`{task_id}` still conflicts with its base in {shown_paths(of_base[0].paths)}",
            hint=f"`cd {quote(str(place))} && git merge {task.base}`, resolve and commit, then run this command again",
        )
    last = failures[-1]
    # What conflicted and no longer does was resolved on the base.
    if not last.data.get("conflicts") and work_head(context, task) in (None, task.end_sha):
        raise RefusedError(
            f"nothing was committed to `{task_id}` since its merge failed: {last.reason}",
            hint=f"`gt run {task_id}` lets its agent continue, `gt close {task_id}` merges the work as it is"
            if task.awaiting is None
            else f"`gt close {task_id}` merges the work as it is",
        )
    return close_task(context, task_id, "the conflict was resolved by hand", proof=proof)
