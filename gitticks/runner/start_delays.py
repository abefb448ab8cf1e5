"""What delays a ready task: a person's edit, an agent whose service is limited, an earlier failure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from gitticks.agents.base import AgentReport
from gitticks.errors import GitticksError, MachineError, RefusedError
from gitticks.model.ids import TaskId
from gitticks.model.status import Role, Status
from gitticks.model.task import SERVICE_FAILED, Ending, Task
from gitticks.runner.context import RunContext
from gitticks.runner.events import Warned
from gitticks.runner.needed_code import CodeMissingError
from gitticks.runner.places.conversation import PASSING
from gitticks.runner.records import UnderWayError
from gitticks.runner.reviewing import first_awake
from gitticks.runner.run_record import Resting, read_resting, write_resting, write_skipped
from gitticks.runner.workspace_plan import has_base
from gitticks.world import elapsed

FIRST_PAUSE_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 60.0
LONGEST_UNTOLD_SECONDS = 10.0
MOST_LIMITS = 5
_MOST_IN_A_ROW = {Ending.OUTAGE: 3, Ending.RATE_LIMITED: MOST_LIMITS, Ending.START_FAILED: 2}
_JITTER_STEPS = 1000
_GIVEN_UP = "gets no more work in this run"
_UNDER_WAY_SECONDS = 2.0
_PASSING = (*PASSING, CodeMissingError)


class Pause(NamedTuple):
    """Until when an agent rests, by the run's clock, and why.

    `resets_at` is the time that the service named: it counts also where the run's clock stood still, on a machine that slept.
    """

    until: float
    reason: str
    resets_at: datetime | None = None

    def is_short(self, now: float) -> bool:
        """True if a run that has nothing else to do should wait for its end."""
        return self.until - now <= LONGEST_PAUSE_SECONDS

    def in_words(self, now: float) -> str:
        """Returns how long it lasts."""
        return f"for {elapsed(round(self.until - now))}"

    def ends_at(self, now: float, present: datetime) -> datetime:
        """Returns when it ends, `present` being the time at `now`."""
        if self.resets_at is not None:
            return self.resets_at
        return (present + timedelta(seconds=self.until - now)).replace(microsecond=0)


class Patience:
    """What one run waits for; `is_short` says that something held back will be free within a minute."""

    def __init__(self, run: RunContext) -> None:
        self.is_short = False
        self._run = run
        self._clock = run.world.monotonic_seconds
        self._pauses: dict[str, Pause] = {}
        self._in_a_row: dict[str, int] = {}
        self._failed_at: dict[str, float] = {}
        self._waited_for: dict[str, Pause] = {}
        run.resting = self.long_rests

    def take_over(self) -> None:
        """Continues with the rests of an earlier run whose end a service named; the others are free."""
        own_place = str(self._run.repository.own_dir)
        known = (
            () if self._run.options.no_rest else read_resting(own_place, self._run.now, is_run_alive=False)
        )
        write_resting(self._run.repository.own_dir, known)
        for one in known:
            left = (one.until - self._run.now).total_seconds()
            self._pauses[one.agent] = Pause(self._clock() + left, one.reason, one.until)

    def look_again(self, *, is_short: bool) -> None:
        """Forgets what was held back, before the next look at all that is ready."""
        self.is_short = is_short
        self._waited_for = {}

    def of(self, agent: str) -> Pause | None:
        """Returns the agent's pause while it lasts."""
        pause = self._pauses.get(agent)
        if pause is None or pause.until <= self._clock():
            return None
        return pause if pause.resets_at is None or pause.resets_at > self._run.now else None

    @property
    def resting(self) -> frozenset[str]:
        """Returns the agents that rest now."""
        # A copy: the threads of sessions ask while the loop's adds a pause.
        return frozenset(agent for agent in tuple(self._pauses) if self.of(agent) is not None)

    def long_rests(self) -> frozenset[str]:
        """Returns those whose rest is too long to be waited for."""
        now = self._clock()
        return frozenset(name for name in self.resting if not self._pauses[name].is_short(now))

    def rest(self, agent: str, report: AgentReport) -> Pause | None:
        """Takes an agent's report into account and returns the pause that follows from it, if one does."""
        if report.ending not in SERVICE_FAILED and report.ending is not Ending.START_FAILED:
            self._in_a_row.pop(agent, None)
            return None
        count, now, longest = self._count(agent, report), self._run.now, self._run.settings.limits.rest
        resets_at = report.resets_at if report.resets_at is not None and report.resets_at > now else None
        seconds = self._seconds(report, count, now)
        is_limit = report.ending in (Ending.RATE_LIMITED, Ending.USAGE_LIMITED)
        if is_limit and count >= MOST_LIMITS and seconds < longest:
            # Its word was kept each time, or is of a time that is over, and it continues.
            seconds, resets_at = longest, None
        pause = Pause(self._clock() + seconds, report.detail or report.ending.value, resets_at)
        # Not one that is over by the service's word: the run's clock stood still while the machine slept.
        before = self.of(agent) or pause
        self._pauses[agent] = max(pause, before, key=lambda one: one.until)
        return pause

    def _count(self, agent: str, report: AgentReport) -> int:
        """Counts a failure; sessions side by side that one outage ends are one."""
        count = self._in_a_row.get(agent, 0)
        if count == 0 or self._clock() - report.usage.seconds >= self._failed_at.get(agent, -math.inf):
            count += 1
            self._failed_at[agent] = self._clock()
        self._in_a_row[agent] = count
        return count

    def _seconds(self, report: AgentReport, count: int, now: datetime) -> float:
        if report.resets_at is not None and report.resets_at > now:
            return max(FIRST_PAUSE_SECONDS, (report.resets_at - now).total_seconds())
        if report.resets_at is None and count >= _MOST_IN_A_ROW.get(report.ending, 1):
            return self._run.settings.limits.rest
        if report.retry_after_seconds is not None:
            return max(FIRST_PAUSE_SECONDS, report.retry_after_seconds)
        jitter = 1 + self._run.world.random_number(_JITTER_STEPS) / (2 * _JITTER_STEPS)
        return min(
            math.ldexp(FIRST_PAUSE_SECONDS, min(count, MOST_LIMITS) - 1) * jitter, LONGEST_PAUSE_SECONDS
        )

    @property
    def waits_for(self) -> str | None:
        """Returns which agents have work and rest, until when and why; None if there are none."""
        rests = []
        for name, pause in self._waited_for.items():
            until = pause.ends_at(self._clock(), self._run.now)
            rests.append(f"`{name}` rests until {until:%Y-%m-%d %H:%M} UTC: {pause.reason}")
        return "; ".join(rests) or None

    def holds_back(self, task: Task) -> bool:
        """True if the task has to wait."""
        if self._is_being_edited(task):
            return True
        rests = self._rests_of(task)
        for name, pause in rests.items():
            is_short = pause.is_short(self._clock())
            self.is_short |= is_short
            if not is_short or pause.until - self._clock() > LONGEST_UNTOLD_SECONDS:
                self._waited_for[name] = pause
        return bool(rests)

    def note(self, reports: Sequence[tuple[str, AgentReport]], *, was_ready: bool) -> None:
        """Lets an agent rest if its service failed it, or if it could not be started in a workspace that was ready."""
        if not was_ready:
            return
        names = dict.fromkeys(name for name, _ in reports)  # of a council several may be one agent
        rested = {name for name, report in reports if self.rest(name, report)}
        for name in names:
            pause = self.of(name)
            if name in rested and pause is not None:
                rests = f"`{name}` rests {pause.in_words(self._clock())}: {pause.reason}"
                self._run.emit(Warned(None, rests))
            # What another session brought about holds, however this one ended.
            self._let_others_know(name, pause)

    def why_resting(self, task: Task) -> str | None:
        """Returns that the task's agent rests, how long and why, as a run says it at its end; None if it does not."""
        now = self._clock()
        rests = []
        try:
            found = self._rests_of(task)
        except GitticksError:  # there is no such agent, which is said once the task has its turn
            return None
        for name, pause in found.items():
            if not pause.is_short(now):
                # A rest whose end no service named is over with this run.
                words = _GIVEN_UP if pause.resets_at is None else f"rests {pause.in_words(now)}"
                rests.append(f"`{name}` {words}: {pause.reason}")
        return "; ".join(rests) or None

    @property
    def holds_later_runs(self) -> bool:
        """True if an agent rests in a later run too, since its service named the end."""
        found = (self.of(name) for name in self.long_rests())
        return any(pause is not None and pause.resets_at is not None for pause in found)

    def _let_others_know(self, name: str, pause: Pause | None) -> None:
        """Keeps a long pause where `gt status` finds it."""
        before = read_resting(str(self._run.repository.own_dir), self._run.now, is_run_alive=True)
        others = [one for one in before if one.agent != name]
        if pause is not None and (pause.resets_at is not None or not pause.is_short(self._clock())):
            until = pause.ends_at(self._clock(), self._run.now)
            others.append(Resting(name, until, pause.reason, pause.resets_at is not None))
        elif len(others) == len(before):
            return
        write_resting(self._run.repository.own_dir, others)

    def _is_being_edited(self, task: Task) -> bool:
        """True while a person's last change of the task is younger than the debounce.

        A change from the future was made before the clock was set back, and is not waited for.
        """
        if task.updated is None:
            return False
        if abs((self._run.now - task.updated).total_seconds()) >= self._run.options.debounce:
            return False
        history = self._run.open_store().history(task.id)
        is_edited = bool(history) and history[-1].actor.is_human
        self.is_short |= is_edited
        return is_edited

    def _rests_of(self, task: Task) -> dict[str, Pause]:
        """Returns the pauses of the agents that a task's next session starts, all reviewers of a council among them."""
        run = self._run
        history = run.open_store().history
        resting = self.long_rests()
        found = {}
        for agent in run.staff.agents(task, role_for(task)):
            left = run.staff.left(agent, lambda: history(task.id))
            name = first_awake(left, resting).name
            if (pause := self.of(name)) is not None:
                found[name] = pause
        return found


def role_for(task: Task) -> Role:
    """Returns who is to be started on a task that is ready or to be reviewed."""
    return Role.REVIEWER if task.status is Status.AGENT_REVIEW else Role.WORKER


class LeftAlone:
    """The tasks of one run that are not tried again until something changes that may let them succeed.

    That is the task, the settings, a template, what is trusted, and whether there is a commit to begin from.
    What failed by the machine, such as a full disk or a workspace that could not be made ready, or for code that others
    have, is tried again after `limits.rest` by a run that runs forever. What another command is about to work on is
    looked at again soon by every run.
    """

    def __init__(self, run: RunContext) -> None:
        self._run = run
        self._states: dict[TaskId, tuple[object, ...] | None] = {}
        self._begun: dict[TaskId, tuple[object, ...]] = {}
        self._again_at: dict[TaskId, float] = {}
        self._refused: set[TaskId] = set()
        self._reasons: dict[TaskId, tuple[str, str]] = {}
        self._noted: dict[TaskId, tuple[str, str]] | None = None

    @property
    def ids(self) -> Collection[TaskId]:
        """The tasks that are left alone just now."""
        return self._states.keys()

    def note_start(self, task_id: TaskId) -> None:
        """Notes what a job starts with: what is mended while it fails is no reason to leave its task alone."""
        self._begun[task_id] = self._run.rules

    def forget_changed(self, tasks: Mapping[TaskId, Task]) -> None:
        """Lets those be tried again that were changed since, or are gone, or whose time has come."""
        now = self._run.world.monotonic_seconds()
        self._states = {
            task_id: state
            for task_id, state in self._states.items()
            if task_id in tasks
            and self._state_of(tasks[task_id], self._run.rules) == state
            and self._again_at.get(task_id, math.inf) > now
        }
        self._again_at = {one: at for one, at in self._again_at.items() if one in self._states}
        reasons = {one: reason for one, reason in self._reasons.items() if one in self._states}
        if reasons != self._noted:
            write_skipped(self._run.repository.own_dir, reasons)
            self._noted = reasons

    def forget(self, task_ids: Iterable[TaskId]) -> None:
        """Lets tasks be tried again that a person asks for."""
        for task_id in task_ids:
            self._states.pop(task_id, None)

    def note_failure(self, task_id: TaskId, error: GitticksError) -> None:
        """Leaves a task alone whose job failed; one that was refused is looked at once more.

        Somebody may have moved it between the pick and the start.
        """
        if isinstance(error, RefusedError) and task_id not in self._refused:
            self._refused.add(task_id)
        else:
            self.add(task_id, error, self._begun.get(task_id))

    def note_end(self, task_id: TaskId, report: AgentReport | None = None) -> None:
        """Forgets that a task was refused; leaves it alone if its workspace could not be made ready."""
        self._refused.discard(task_id)
        if report is not None and report.ending is Ending.SANDBOX_FAILED:
            self.add(task_id, MachineError(report.detail), self._begun.get(task_id))

    def add(self, task_id: TaskId, error: GitticksError, begun: tuple[object, ...] | None = None) -> None:
        """Leaves a task alone until somebody changes it, and says why; `begun` are the rules that its job began with."""
        found = self._run.open_store().snapshot().all_tasks().get(task_id)
        rules = self._run.rules if begun is None else begun
        self._states[task_id] = None if found is None else self._state_of(found, rules)
        reason = f"{error.message} ({error.hint})" if error.hint else error.message
        before = self._reasons.get(task_id)
        self._reasons[task_id] = (str(found and found.updated), reason)
        is_under_way = isinstance(error, UnderWayError)
        how = "skipped in this run"
        if is_under_way:
            self._again_at[task_id] = self._run.world.monotonic_seconds() + _UNDER_WAY_SECONDS
            how = "looked at again while this run lasts"
        elif self._run.options.auto and isinstance(error, _PASSING):
            rest = self._run.settings.limits.rest
            self._again_at[task_id] = self._run.world.monotonic_seconds() + rest
            how = f"tried again in {rest} s"
        if not (is_under_way and before == self._reasons[task_id]):
            self._run.emit(Warned(task_id, f"{how}: {reason}"))

    def _state_of(self, task: Task, rules: tuple[object, ...]) -> tuple[object, ...]:
        """Returns what a person changes so that the next try may go better."""
        run = self._run
        return task.updated, has_base(task, run.settings, run.repository), rules
