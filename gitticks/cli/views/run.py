"""A run's events, as lines for people and as JSON lines for programs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import assert_never

from gitticks.actions.run import merged_words
from gitticks.cli.json import plain, print_event
from gitticks.cli.render import (
    GAP,
    PrintingError,
    Screen,
    count_of,
    discard,
    hint,
    opposite,
    say,
    warn,
    whole,
)
from gitticks.cli.text import clock, pad, visible
from gitticks.cli.views.tasks import indent_of
from gitticks.model.checkpoint import Cause
from gitticks.model.spending import Level, Metric, Scope, in_words
from gitticks.model.status import Awaiting, Role, Status
from gitticks.model.task import Ending
from gitticks.runner.events import (
    AgentSaid,
    BudgetReached,
    CheckpointMade,
    ChecksEnded,
    MergeWaits,
    PermissionAsked,
    RunAdded,
    RunEnded,
    RunEvent,
    RunWaits,
    SessionBegan,
    SessionSpent,
    TaskMerged,
    TaskMoved,
    Warned,
)
from gitticks.runner.run_record import BudgetState
from gitticks.workflow.transitions import REVIEW_WORDS
from gitticks.world import World

_WITH_REASON = frozenset({Awaiting.ESCALATION, Awaiting.WORK, Awaiting.CHECKPOINT})


def printed(listener: Callable[[RunEvent], None]) -> Callable[[RunEvent], None]:
    """Returns a listener that stays silent once stdout takes no more, and says so: what runs continues."""
    can_print = True

    def tell(event: RunEvent) -> None:
        nonlocal can_print
        if not can_print:
            return
        try:
            listener(event)
        except (PrintingError, BrokenPipeError) as error:
            can_print = False
            discard(sys.stdout)
            reason = str(error) if isinstance(error, PrintingError) else "nobody reads it any more"
            warn(f"nothing more is printed, but the work continues: {reason}")

    return tell


class RunLines:
    """Prints what happens from now on as plain lines, with how long it took by the clock of `world`."""

    def __init__(self, on: Screen, world: World, *, with_output: bool = False) -> None:
        self._on = on
        self._world = world
        self._begun = world.monotonic_seconds()
        self._with_output = with_output
        self._checks: dict[str, str] = {}
        self._failures: dict[str, str] = {}
        self._unsaid: set[str] = set()
        self._budgets: set[BudgetState] = set()

    def __call__(self, event: RunEvent) -> None:
        """Prints one event."""
        match event:
            case SessionBegan():
                self._began(event)
            case AgentSaid() | PermissionAsked():
                self._said(event)
            case SessionSpent() | BudgetReached():
                self._counted(event)
            case ChecksEnded():
                self._checked(event)
            case TaskMoved():
                self._moved(event)
            case TaskMerged() | MergeWaits() | CheckpointMade():
                self._kept(event)
            case Warned():
                warn(f"{event.task}: {event.message}" if event.task else event.message)
            case RunWaits() | RunAdded():
                say(*opposite(self._on, visible(_run_words(event)), self._clock_now()))
            case RunEnded():
                self._ended(event)
            case _:
                assert_never(event)

    def _said(self, event: AgentSaid | PermissionAsked) -> None:
        if isinstance(event, PermissionAsked):
            self._say(event.task, f"{event.agent} asks: {event.operation}", timed=True)
            indent = indent_of(self._on)
            say(*(indent + line for line in whole(self._on.narrower(len(indent)), event.target)))
            hint(f"`gt permissions allow {event.number}` or `deny {event.number}`; {visible(event.reason)}")
        elif self._with_output:
            self._say(event.task, f"│ {event.line.expandtabs(4)}")

    def _kept(self, event: TaskMerged | MergeWaits | CheckpointMade) -> None:
        if isinstance(event, MergeWaits):
            self._say(event.task, f"merge waits: {event.reason}", timed=True)
        elif isinstance(event, TaskMerged):
            self._say(event.task, merged_words(event.base, event.sha, event.summary), timed=True)
        elif event.cause is not Cause.MERGE:
            self._say(event.task, f"checkpoint{GAP}{event.checkpoint}", timed=True)

    def _checked(self, event: ChecksEnded) -> None:
        if event.failure is None:
            self._checks[event.task] = event.summary
        else:
            self._failures[event.task] = _first_line(event.failure)
            self._say(event.task, f"checks failed: {self._failures[event.task]}", timed=True)

    def _began(self, event: SessionBegan) -> None:
        self._unsaid.add(event.task)
        what = "reviews" if event.role is Role.REVIEWER else "started"
        start = f" from {event.origin}@{event.start_sha[:7]}" if event.origin and event.start_sha else ""
        where = f" in {event.workspace}" if event.role is not Role.REVIEWER else ""
        self._say(event.task, f"{event.agent}{GAP}{what}{where}{start if where else ''}", timed=True)

    def _counted(self, event: SessionSpent | BudgetReached) -> None:
        if isinstance(event, BudgetReached):
            self._reached(event)
            return
        if event.task in self._unsaid and event.role is Role.WORKER and event.ending is Ending.CLEAN:
            self._say(event.task, "ended without a hand-off", timed=True)
        self._unsaid.discard(event.task)
        told = (
            [f"{in_words(Metric.COST, event.cost)}{f' by {event.cost_source}' if event.cost_source else ''}"]
            if event.cost
            else []
        )
        told += [f"{event.tokens:,} tokens"] if event.tokens else []
        spent = [
            one
            for one in event.budgets
            if one.spent and (one.scope is not Scope.RUN or one.metric is not Metric.DURATION)
        ]
        budgets = [
            f"{'run' if one.task is None else one.scope if one.task == event.task else one.task} {one.words}"
            for one in spent
        ]
        is_new = not self._budgets.issuperset(spent)
        self._budgets.update(spent)
        if told or (budgets and is_new):
            self._say(event.task, f"spent{GAP}{', '.join([*told, *budgets])}", timed=True)

    def _reached(self, event: BudgetReached) -> None:
        if event.level < Level.SPENT:
            state = event.budget
            whose = f"`budget.{state.scope}.{state.metric}`"
            self._say(
                state.task or "run", f"{state.percent} % of {whose} is spent: {state.words}", timed=True
            )

    def _moved(self, event: TaskMoved) -> None:
        said = self._failures.pop(event.task, None)
        self._unsaid.discard(event.task)
        for line in _moved_lines(event, self._checks.pop(event.task, "")):
            if line != said:
                self._say(event.task, line, timed=True)

    def _ended(self, event: RunEnded) -> None:
        waiting = f"{count_of(event.waiting, 'task')} {'is' if event.waiting == 1 else 'are'} waiting for you"
        parts = [waiting] if event.waiting else []
        parts += [event.reason]
        of = {one.metric: one.words for one in event.budgets}
        spent = f"{of.get(Metric.COST, in_words(Metric.COST, event.cost))}{GAP}" if event.cost else ""
        counted = (
            of.get(Metric.ITERATIONS, count_of(event.iterations, "iteration")) if event.iterations else ""
        )
        say(*opposite(self._on, visible(", ".join(parts)), f"{spent}{counted}".rstrip()))
        hints = [*(["`gt inbox`"] if event.waiting else []), *event.hints]
        if hints:
            hint("; ".join(hints))

    def _clock_now(self) -> str:
        return clock(self._world.monotonic_seconds() - self._begun)

    def _say(self, task: str, text: str, *, timed: bool = False) -> None:
        line = f"{pad(task, 4)}{GAP}{visible(text)}"
        if timed:
            say(*opposite(self._on, line, self._clock_now()))
        else:
            say(self._on.fit(line))


def _moved_lines(event: TaskMoved, checks: str) -> list[str]:
    """Returns the lines for a decision: what was passed on the way, then whose turn it is."""
    reason = _first_line(event.reason or "")
    if event.target is Status.CLARIFICATION:
        return [f"{'asks' if event.awaiting is Awaiting.INPUT else 'escalates'}{GAP}{reason}"]
    passed = _passed(event, reason, checks)
    outcome = _outcome(event, reason)
    return [line for line in (passed, outcome) if line]


def _passed(event: TaskMoved, reason: str, checks: str) -> str:
    forward = event.target in (Status.AGENT_REVIEW, Status.REVIEWING, Status.DONE)
    if event.source is Status.WORKING and forward:
        return f"handed off{f', {checks}' if checks else ''}"
    if event.source is Status.AGENT_REVIEW and forward and event.source is not event.target:
        why = _first_line(event.passed or "") or reason
        return f"review{GAP}{f'PASS by {event.actor}' if why == 'PASS' else REVIEW_WORDS.get(why, why)}"
    if event.source is Status.AGENT_REVIEW and event.target is Status.WORKING:
        if _first_line(event.passed or "") == "PASS":
            return f"review{GAP}PASS by {event.actor}, back to work: {reason}"
        return f"review{GAP}FAIL by {event.actor}, back to work"
    if event.source is Status.REVIEWING and event.target is Status.WORKING:
        return f"back to work: {reason}"
    return reason if event.source is event.target and event.awaiting is None else ""


def _outcome(event: TaskMoved, reason: str) -> str:
    if event.target is Status.STUCK:
        return f"stuck: {reason}"
    if event.target is Status.DONE:
        return "done"
    if event.target is Status.CANCELLED:
        return f"cancelled by {event.actor}, so its agent was stopped"
    if reason and event.awaiting is not None and event.source is event.target is Status.REVIEWING:
        return reason
    if event.awaiting is not None:
        why = f": {reason}" if event.awaiting in _WITH_REASON and reason else ""
        return f"waits for you: {event.awaiting}{why}"
    return "approved; merging" if event.is_merging else ""


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _run_words(event: RunWaits | RunAdded) -> str:
    return event.reason if isinstance(event, RunWaits) else f"added to the run: {', '.join(event.tasks)}"


def print_json_event(event: RunEvent) -> None:
    """Prints one event as a JSON object: `schema`, `event` (the kind) and the event's own keys."""
    print_event(EVENT_KINDS[type(event)], **plain(event))


EVENT_KINDS: dict[type, str] = {
    SessionBegan: "session.began",
    AgentSaid: "agent.said",
    SessionSpent: "session.spent",
    BudgetReached: "budget.reached",
    ChecksEnded: "checks.ended",
    TaskMoved: "task.moved",
    TaskMerged: "task.merged",
    MergeWaits: "merge.waits",
    CheckpointMade: "checkpoint.made",
    Warned: "warning",
    PermissionAsked: "permission.asked",
    RunWaits: "run.waits",
    RunAdded: "run.added",
    RunEnded: "run.ended",
}
