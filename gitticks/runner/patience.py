"""Tasks that are ready and yet have to wait: for a person who is still editing, or for an agent that rests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.model.status import Role, Status
from gitticks.model.task import Task
from gitticks.runner.events import Warned
from gitticks.runner.pauses import Pause, Pauses
from gitticks.runner.resting import Resting, read_resting, write_resting
from gitticks.runner.reviewing import choose_agent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitticks.runner.context import RunContext
    from gitticks.runner.session import SessionRun


class Patience:
    """What one run waits for; `is_short` says that something held back will be free within a minute."""

    def __init__(self, run: RunContext) -> None:
        self.is_short = False
        self._run = run
        self._clock = run.world.monotonic_seconds
        self._pauses = Pauses(self._clock, run.world.random_number)

    def forget_last_run(self) -> None:
        """Drops what rested only as long as an earlier run went on; a known end of a pause stays to be told."""
        self._write(read_resting(str(self._run.repository.own_dir), self._run.now, is_run_alive=False))

    def holds_back(self, task: Task) -> bool:
        """True if the task has to wait.

        Raises:
            GitticksError: its agent does not exist.
        """
        return self._is_being_edited(task) or self._is_resting(task)

    def note(self, session: SessionRun) -> None:
        """Lets an agent rest if its service failed it."""
        if session.report is None:
            return
        name = session.agent.name
        pause = self._pauses.note(name, session.report, self._run.now)
        if pause is not None:
            self._run.emit(Warned(None, f"`{name}` rests {pause.in_words(self._clock())}: {pause.reason}"))
        self._let_others_know(name, pause)

    def why_resting(self, task: Task) -> str | None:
        """Returns that the task's agent rests, until when and why; None if it does not."""
        name = self._agent_of(task)
        pause = self._pauses.of(name)
        if pause is None or pause.is_short(self._clock()):
            return None
        return f"`{name}` rests {pause.in_words(self._clock())}: {pause.reason}"

    def _let_others_know(self, name: str, pause: Pause | None) -> None:
        """Keeps a long pause where `gt status` finds it."""
        before = read_resting(str(self._run.repository.own_dir), self._run.now, is_run_alive=True)
        others = [one for one in before if one.agent != name]
        if pause is not None and not pause.is_short(self._clock()):
            until = pause.ends_at(self._clock(), self._run.now)
            self._write([*others, Resting(name, until, pause.reason)])
        elif len(others) < len(before):
            self._write(others)

    def _write(self, agents: Iterable[Resting]) -> None:
        write_resting(self._run.repository.own_dir, agents)

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

    def _is_resting(self, task: Task) -> bool:
        pause = self._pauses.of(self._agent_of(task))
        self.is_short |= pause is not None and pause.is_short(self._clock())
        return pause is not None

    def _agent_of(self, task: Task) -> str:
        asked = self._run.options.agent
        return choose_agent(self._run.registry, task, self._run.settings, role_for(task), asked=asked).name


def role_for(task: Task) -> Role:
    """Returns who is to be started on a task that is ready or to be reviewed."""
    return Role.REVIEWER if task.status is Status.AGENT_REVIEW else Role.WORKER
