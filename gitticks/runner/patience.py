"""Tasks that are ready and yet have to wait: for a person who is still editing, or for an agent that rests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.model.status import Role, Status
from gitticks.model.task import Task
from gitticks.runner.events import Warned
from gitticks.runner.pauses import Pauses
from gitticks.runner.reviewing import choose_agent

if TYPE_CHECKING:
    from gitticks.runner.context import RunContext
    from gitticks.runner.session import SessionRun


class Patience:
    """What one run waits for; `is_short` says that something held back will be free within a minute."""

    def __init__(self, run: RunContext) -> None:
        self.is_short = False
        self._run = run
        self._clock = run.world.monotonic_seconds
        self._pauses = Pauses(self._clock, run.world.random_number)

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
        agent = choose_agent(
            self._run.registry, task, self._run.settings, role_for(task), asked=self._run.options.agent
        )
        pause = self._pauses.of(agent.name)
        self.is_short |= pause is not None and pause.is_short(self._clock())
        return pause is not None


def role_for(task: Task) -> Role:
    """Returns who is to be started on a task that is ready or to be reviewed."""
    return Role.REVIEWER if task.status is Status.AGENT_REVIEW else Role.WORKER
