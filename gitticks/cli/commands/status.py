"""`gt status` and `gt current`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from gitticks.actions.context import Context
from gitticks.actions.current import InWork, current_tasks
from gitticks.actions.derived_state import Standing
from gitticks.cli.at_once import JSON, ReadingCommand, Switch
from gitticks.cli.commands.inbox import inbox_lines, request_lines
from gitticks.cli.json import print_answer, print_object, task_object
from gitticks.cli.render import (
    GAP,
    Screen,
    Style,
    age_of,
    ago,
    below,
    count_of,
    hint,
    name_line,
    say,
    screen,
)
from gitticks.cli.table import Cell, table
from gitticks.cli.text import as_called, called, from_here, visible
from gitticks.cli.views.tasks import BOARD_PREFIX, joined, merged_lines, resuming
from gitticks.model.ids import TaskId
from gitticks.model.status import Status
from gitticks.model.task_row import TaskRow
from gitticks.world import elapsed

if TYPE_CHECKING:
    from gitticks.actions.inbox import Inbox
    from gitticks.actions.status import Overview
    from gitticks.actions.stop_reasons import Denied
    from gitticks.runner.run_record import Resting

T = TypeVar("T")
MOST_LISTED = 5
_MOST_DAYS = 14
"""A run that ended longer ago is not news any more."""
_MERGING = "gt list --status reviewing"
_TURNS = {"merging": "now", "ahead": "checked ahead", "waiting": "waits", "queued": "queued"}
"""How far a merge has come, in words."""


def answer_current(context: Context) -> None:
    """List tasks that are being worked on in this clone."""
    found = current_tasks(context)
    nothing = "nothing is being worked on here: `gt run` starts agents, `gt start` starts a task by hand"
    tasks = list(map(_in_work_object, found)) if context.as_json else ()
    print_answer(context, in_work_table(screen(), context, found), nothing, tasks=tasks)


def _in_work_object(one: InWork) -> dict[str, object]:
    return {**task_object(one.standing), "session": one.session, "workspace": one.workspace}


def in_work_table(
    on: Screen,
    context: Context,
    found: Sequence[InWork],
    spent: Mapping[TaskId, str] | None = None,
    *,
    with_heading: bool = True,
) -> list[str]:
    """Returns one line for each task in work: who works on it, as what, for how long, at what cost, and where.

    `spent` are costs in words with the budget that they come out of, as far as there is one.
    """
    rows: list[list[Cell | str]] = [
        [
            Cell(one.standing.task.id, Style.STRONG),
            one.session.agent if one.session else "this session" if one.is_own else "by hand",
            _role(one),
            elapsed((context.now - one.session.started).total_seconds()) if one.session else "",
            _cost(one, spent or {}),
            one.standing.task.title,
            (one.workspace or "").removeprefix(f"{context.repository.project_place}/"),
        ]
        for one in found
    ]
    return table(
        on,
        ["id", "who", "as", "for", "spent", "title", "workspace"],
        rows,
        flexible="title",
        with_heading=with_heading,
    )


def _cost(one: InWork, spent: Mapping[TaskId, str]) -> str:
    if one.standing.task.id in spent or not one.cost:
        return spent.get(one.standing.task.id, "")
    from gitticks.model.spending import Metric, in_words

    return in_words(Metric.COST, one.cost)


def _role(one: InWork) -> str:
    if one.session is None:
        return ""
    role = one.session.role.value
    return f"{role}, iteration {one.iterations + 1}" if role == "worker" else role


current_command = ReadingCommand("current", answer_current, (JSON,), examples=("gt current",))


def answer_status(context: Context, *, watches: bool) -> None:
    """Show what is running, what waits for you and what is next.

    With --watch it keeps running until Ctrl-C: a terminal is redrawn in place, other output is printed again at each
    change.
    """
    if watches:
        _watch(context)
        return
    found = _take_stock(context)
    if context.as_json:
        _print_json(found)
        return
    say(*_lines(screen(), context, found))
    next_step = _next_step(found)
    if next_step:
        hint(next_step)


def _take_stock(context: Context) -> Overview:
    from gitticks.actions.status import take_stock  # which loads much that `gt current` does not need

    context.is_current = True
    return take_stock(context, MOST_LISTED)


def _watch(context: Context) -> None:
    """Shows the status until Ctrl-C or until its reader leaves; stock is taken when something has changed."""
    from gitticks.actions.status import changes
    from gitticks.cli.live import in_place, is_reader_gone, until_interrupted

    context.require_person("watch the status", "`gt status` shows it once")
    with until_interrupted() as over, in_place(is_wanted=not context.as_json) as show:
        current, found = context, None
        for has_changed in changes(context, over):
            if is_reader_gone():
                break
            if has_changed or found is None:
                current = context.renewed()
                found = _take_stock(current)
                current.index.close()
            if context.as_json:
                if has_changed:
                    _print_json(found)
            elif show is not None:
                show(_page(current, found))
            elif has_changed:
                say(*_page(current, found), "")


def _page(context: Context, found: Overview) -> list[str]:
    warnings = [*(f"{BOARD_PREFIX}{file.message}" for file in found.broken), *context.warnings]
    next_step = _next_step(found)
    return [
        *_lines(screen(), context, found),
        *(f"warning: {visible(one)}" for one in warnings),
        *([f"hint: {visible(from_here(next_step))}"] if next_step else []),
    ]


def _lines(on: Screen, context: Context, found: Overview) -> Iterator[str]:
    inner = on.narrower(len(GAP))
    fit = inner.fit
    yield from _part(on, "merged by hand", merged_lines(found.merged))
    budgets = found.spending.budgets if found.spending else ()
    costs = {one.task: one.words for one in budgets if one.task is not None and one.metric == "cost"}
    in_work = in_work_table(inner, context, found.in_work, costs, with_heading=False)
    yield from _part(on, "in work", in_work)
    paused = [as_called("runs start nothing new until `gt unpause`")] if found.is_paused else []
    yield from _part(on, "paused", paused)
    yield from _listed(on, "not going on", found.left, lambda one: fit(_left_words(one, found)), "gt list")
    yield from _run(on, found, context)
    spent = (f"{one.task or 'run'}{GAP}{one.words} ({one.percent} %)" for one in budgets)
    yield from _part(on, "budgets", spent)
    yield from _part(on, "resting", (fit(_resting_words(one, context.now)) for one in found.resting))
    yield from _awaiting(on, found.inbox, context.now)
    yield from _names(inner, "to review", found.to_review, "gt list --status agent-review")
    yield from _merging(inner, found)
    named = {one.task.id for one in found.left}
    ready = tuple(one for one in found.startable if one.task.id not in named)
    yield from _names(inner, "ready", ready, "gt ready")
    skipped = [f"{task_id}{GAP}{visible(from_here(why))}" for task_id, why in found.skipped.items()]
    yield from _listed(on, "not started", skipped, str, "gt status --json")
    yield from _listed(
        on,
        "conflicts",
        found.foreseen,
        lambda one: fit(
            f"{one.name}{GAP}with {visible(one.other or one.base)} in {visible(', '.join(one.paths))}"
        ),
        "gt conflicts",
    )
    circular = "wait for one another"
    yield from _listed(
        on, circular, found.cycles, lambda one: f"{one.words}{GAP}{as_called(one.fix)}", "gt doctor"
    )
    yield from _listed(on, "not allowed", found.denied, _denied_words, "gt log ID")
    yield from _part(on, "board", _board(found))
    parts = [f"{found.counts[status]} {status.value}" for status in Status if found.counts.get(status)]
    if parts:
        parts[0] = f"{count_of(sum(found.counts.values()), 'task')}: {parts[0]}"
    yield from joined(on, parts or ["no tasks"], ", ")


def _part(on: Screen, heading: str, lines: Iterable[str]) -> Iterator[str]:
    return below(on, heading, (GAP + line for line in lines))


def _listed(
    on: Screen, heading: str, items: Sequence[T], line: Callable[[T], str], more: str
) -> Iterator[str]:
    """Yields the first of some things below their heading, each on a line, and how to see the others."""
    return _part(on, heading, [*map(line, items[:MOST_LISTED]), *_rest(items, more)])


def _rest(items: Sequence[object], more: str) -> list[str]:
    left = len(items) - MOST_LISTED
    return [as_called(f"… {left} more: `{more}`")] if left > 0 else []


def _left_words(one: Standing[TaskRow], found: Overview) -> str:
    state = "interrupted" if one.left == "interrupted" else "stopped"
    asks = resuming(one.task.id, is_active=found.is_active)
    fix = as_called(asks if one.is_held or state == "stopped" else "`gt run`")
    return f"{one.task.id}{GAP}{state}{GAP}{fix}{GAP}{visible(one.task.title)}"


def _run(on: Screen, found: Overview, context: Context) -> Iterator[str]:
    """Yields how long the run is active, or when and why the last one ended and what it came to."""
    run = found.spending.run if found.spending else None
    if run is None or (context.now - (run.ended or run.began)).days > _MOST_DAYS:
        return
    if found.is_active:
        yield on.styled("run", Style.STRONG)
        ending = ", ends after its current iterations" if found.is_stopping else ""
        yield f"{GAP}active for {age_of(run.began, context.now)}{ending}"
        if run.reason and not (found.is_stopping or found.is_paused):
            yield on.fit(f"{GAP}{visible(from_here(run.reason))}")
        return
    yield on.styled("last run", Style.STRONG)
    if run.ended is None:
        yield f"{GAP}was cut off, as by a kill or a restart; it began {ago(run.began, context.now)}: `{called()} run` continues"
        return
    lasted = elapsed((run.ended - run.began).total_seconds())
    yield on.fit(f"{GAP}ended {ago(run.ended, context.now)} after {lasted}: {visible(run.reason)}")
    parts = [f"{run.done} done", count_of(run.iterations, "iteration")]
    parts += [f"${run.cost:,.2f}"] if run.cost else []
    yield f"{GAP}{', '.join(parts)}{f'{GAP}`{called()} run` continues' if found.spending and found.spending.ended else ''}"


def _resting_words(one: Resting, now: datetime) -> str:
    until = f"until {one.until:%Y-%m-%d %H:%M} UTC (for {elapsed((one.until - now).total_seconds())})"
    return f"{visible(one.agent)}{GAP}{until}: {visible(one.reason)}"


def _awaiting(on: Screen, found: Inbox, now: datetime) -> Iterator[str]:
    if found.asked or found.requests:
        yield on.styled("waiting for you", Style.STRONG)
    for request in found.requests:
        yield from request_lines(on, request, now)
    for asked in found.asked:
        yield from inbox_lines(on, asked, now)
    if found.left_out:
        yield as_called(f"{GAP}… {found.left_out} more: `gt inbox`")
    others = count_of(found.for_others, "task")
    yield from _part(
        on, "waiting for others", [as_called(f"{others}: `gt inbox --all`")] if found.for_others else []
    )


def _names(on: Screen, heading: str, standings: Sequence[Standing[TaskRow]], more: str) -> Iterator[str]:
    longest = max((len(one.task.id) for one in standings[:MOST_LISTED]), default=0)
    return _listed(on, heading, standings, lambda one: name_line(on, one.task, longest), more)


def _merging(on: Screen, found: Overview) -> Iterator[str]:
    """Yields the merge queue in its order, with how far each has come where a run merges."""
    if not found.queue:
        return _names(on, "merging", found.merging, _MERGING)

    lines = []
    for one in found.merging[:MOST_LISTED]:
        turn = found.queue.get(one.task.id)
        words = (one.task.id, _TURNS[turn.state] if turn else "", visible(one.task.title))
        lines.append(on.fit(GAP.join(filter(None, words))))
        lines += [f"{GAP}{visible(from_here(turn.reason))}"] if turn and turn.reason else []
    return _part(on, "merging", [*lines, *_rest(found.merging, _MERGING)])


def _denied_words(one: Denied) -> str:
    # A mode or a rule keeps it from that; the rules are shown with the mode.
    denied = visible(", ".join(one.denied))
    return as_called(f"{one.id}  {visible(one.agent)}: {denied}{GAP}`gt permissions rules`")


def _board(found: Overview) -> Iterator[str]:
    waiting = dict.fromkeys(found.board.taken_up, "edited, now committed")
    waiting |= {path: f"not in step: {reason}" for path, reason in found.board.pending.items()}
    waiting |= found.board.uncommitted
    for path, words in sorted(waiting.items()):
        yield f"{BOARD_PREFIX}{visible(path)}{GAP}{visible(from_here(words))}"


def _next_step(found: Overview) -> str | None:
    if not found.counts and not found.broken:
        return '`gt create "…"` creates the first task'
    if not found.board.exists:
        return "there is no board to edit tasks on: `gt doctor` says why"
    if found.waiting:
        return "{}: {}".format(*found.waiting)
    if found.board.is_refused:
        return "fix what was refused, then run `gt status` again"
    from gitticks.board.skip_reasons import awaits_commit

    if not found.is_elsewhere and any(map(awaits_commit, found.board.uncommitted.values())):
        return 'commit the edits on the board: `git -C .gitticks commit -am "…"`'
    if found.awaiting:
        return None
    tried = next((one.task.id for one in found.merging if one.task.id in found.queue), None)
    if tried is not None and not found.in_work:
        return f"`gt merge {tried}` tries the merge again"
    if found.merging and not found.in_work:
        return "`gt merge` merges approved work, or says why it cannot"
    is_waiting = (found.ready or found.to_review) and not (found.in_work or found.is_active)
    return _way_to_run(found) if is_waiting else None


def _way_to_run(found: Overview) -> str | None:
    if found.no_run is not None:
        return f"{found.no_run.message}: {found.no_run.hint}"
    if not found.has_work:
        return None  # each of the others says what to type
    return "`gt unpause`, then `gt run`" if found.is_paused else "`gt run`"


def _print_json(found: Overview) -> None:
    print_object(
        in_work=list(map(_in_work_object, found.in_work)),
        awaiting=[
            {**task_object(one), "open_questions": found.questions[one.task.id]} for one in found.awaiting
        ],
        to_review=list(map(task_object, found.to_review)),
        merging=[{**task_object(one), "merge": _turn(found, one.task.id)} for one in found.merging],
        ready=list(map(task_object, found.ready)),
        counts={status.value: found.counts.get(status, 0) for status in Status},
        board=found.board,
        broken=found.broken,
        merged_by_hand=found.merged,
        cycles=found.cycles,
        paused=found.is_paused,
        resting=found.resting,
        budgets=[
            {**one._asdict(), "words": one.words}
            for one in (found.spending.budgets if found.spending else ())
        ],
        ended=found.spending.ended if found.spending else None,
        run=found.spending.run._asdict() if found.spending and found.spending.run else None,
        denied=found.denied,
        left=list(map(task_object, found.left)),
        skipped=[{"id": task_id, "reason": reason} for task_id, reason in found.skipped.items()],
        conflicts=[{"id": one.name, "with": one.other, "paths": one.paths} for one in found.foreseen],
    )


def _turn(found: Overview, task_id: TaskId) -> dict[str, object] | None:
    turn = found.queue.get(task_id)
    return None if turn is None else {"state": turn.state, "reason": turn.reason or None}


status_command = ReadingCommand(
    "status",
    answer_status,
    (Switch("watches", ("-w", "--watch"), "Keep running, and update the display."), JSON),
    examples=("gt status", "gt status --watch"),
)
