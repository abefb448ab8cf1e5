"""Follows a live session of this clone from another terminal, and starts one in which a person talks to a clarifier.

A session that is followed does not notice: its transcript is read, and nothing of it is held or written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.agents.base import Front, Request
from gitticks.agents.registry import invoke
from gitticks.errors import GitticksError, NotFoundError, UsageError
from gitticks.file_watch import wakes_in
from gitticks.model.ids import TaskId
from gitticks.model.queries import Surroundings
from gitticks.model.status import Awaiting, Role, Status
from gitticks.model.task import SessionRecord, Task
from gitticks.runner.events import RunEvent
from gitticks.runner.liveness import SESSIONS_FOLDER
from gitticks.runner.options import RunOptions
from gitticks.runner.records import Sessions
from gitticks.runner.reviewing import registry_for, require_program
from gitticks.runner.transcripts import TranscriptReader
from gitticks.store.index import open_index

MOST_BYTES = 256_000
"""So much of what a session printed before is read again."""
_LOOK_SECONDS = 0.5


class NoSessionError(GitticksError):
    """No agent works on the task in this clone; `clarifies` names it if it asks a person something."""

    def __init__(self, message: str, *, hint: str, clarifies: TaskId | None = None) -> None:
        super().__init__(message, hint=hint)
        self.clarifies = clarifies


class Heard(NamedTuple):
    """One line of an agent's client, and what of it is worth showing: None for most of a protocol."""

    line: str
    shown: str | None


class SessionOver(NamedTuple):
    """The session that was followed ended; `ending` is None if its runner was killed and the session not judged yet."""

    task: TaskId
    agent: str
    ending: str | None
    detail: str | None
    status: Status
    awaiting: Awaiting | None


def find_session(context: Context, text: str | None) -> SessionRecord:
    """Returns the live session of the task that was named, or of the only one that has any.

    Raises:
        NoSessionError: none lives there; the hint says what to do for this task.
        NotFoundError: there is no such task.
        UsageError: none was named, and several have a session.
    """
    sessions = Sessions(context.repository.own_dir)
    if text is None and context.task_here() is None:
        live = sorted(sessions.live().values(), key=lambda record: record.started)
        if len(live) == 1:
            return live[0]
        if live:
            raise UsageError(
                f"{len(live)} agents are at work: {', '.join(f'`{record.task}`' for record in live)}",
                hint=f"`gt attach {live[0].task}` follows one",
            )
        raise NoSessionError("no agent is working in this clone", hint="`gt run` starts what is ready")
    task_id = context.resolve(text)
    record = sessions.find(task_id)
    if record is not None:
        return record
    with open_index(context.repository) as index:
        task = index.task(task_id)
        children = [one.id for one in index.tasks(open_only=True) if one.parent == task_id]
    at_work = [one for one in children if sessions.find(one) is not None]
    if at_work:
        raise NoSessionError(
            f"`{task_id}` is an epic: agents work on its tasks, not on the epic itself",
            hint=f"`gt attach {at_work[0]}` follows one of them",
        )
    raise NoSessionError(
        f"no agent is working on `{task_id}` in this clone: {_instead(task, context.surroundings())}",
        hint=_next(task),
        clarifies=task_id if task.status is Status.CLARIFICATION else None,
    )


def _instead(task: Task, around: Surroundings) -> str:
    if task.claim is not None and not task.claim.is_by_hand:
        return f"it is claimed by {task.claim.host}"
    if task.id in around.elsewhere:
        return "another clone is working on it"
    if task.is_workable or task.is_to_review:
        if task.id in around.left:
            return f"its session was {around.left[task.id]}"
        if task.claim is not None and task.status is Status.WORKING:
            return f"a person is working on it on {task.claim.host}"
        if task.status is Status.WORKING:
            return "it waits for its next session"
    awaits = f" and awaits {task.awaiting}" if task.awaiting else ""
    return f"it is {task.status.words}{awaits}"


def _next(task: Task) -> str:
    if not task.is_open:
        return f"`gt log {task.id}` shows what was done"
    if task.status is Status.CLARIFICATION:
        return f'`gt respond {task.id} "…"` answers it; on a terminal, `gt attach {task.id}` starts an agent to discuss it with'
    if task.is_epic:
        return f"`gt tree {task.id}` shows its tasks"
    if task.status is Status.REVIEWING:
        return f"`gt merge {task.id}`" if task.is_merging else f"`gt review {task.id}`"
    if task.awaiting is not None or task.status is Status.STUCK:
        return f"`gt show {task.id}`"
    return f"`gt run {task.id}` {'starts one' if task.status is Status.PENDING else 'continues'}"


class Follower:
    """One look after the other at a session, until it is over or `over` is set; for one thread."""

    def __init__(self, context: Context, record: SessionRecord, *, most_bytes: int = MOST_BYTES) -> None:
        self.context = context
        self.record = record
        self._sessions = Sessions(context.repository.own_dir)
        self._reader = TranscriptReader(context.repository.own_dir, record, most_bytes)
        self._shown = shown_by(context, record.agent)

    @property
    def left_out(self) -> int:
        """Returns how many bytes of what came before were left out."""
        return self._reader.left_out

    def follow(self, over: threading.Event) -> Iterator[list[Heard]]:
        """Yields what is new, first what came before, and nothing about once a second; ends with the session."""
        for _ in wakes_in(
            lambda: [self._reader.folder, self.context.repository.own_file(SESSIONS_FOLDER)], over
        ):
            is_alive = self.is_alive()
            found = self._reader.read() if is_alive else self._reader.close()
            yield [Heard(line, self._shown(line)) for line in found]
            if not is_alive:
                return

    def is_alive(self) -> bool:
        """True while the session lasts."""
        now = self._sessions.find(self.record.task)
        return now is not None and (now.started, now.role, now.pid) == (
            self.record.started,
            self.record.role,
            self.record.pid,
        )

    def ended(self) -> SessionOver:
        """Returns how the session ended, once `follow` has."""
        record, store = self.record, self.context.renewed().store
        last = next(
            (
                event
                for event in reversed(store.history(record.task))
                if event.ends(record.role) and event.at >= record.started
            ),
            None,
        )
        ending = None if last is None else str(last.data.get("ending"))
        task = store.task_file(record.task).task
        detail = None if last is None else last.reason
        return SessionOver(record.task, record.agent, ending, detail, task.status, task.awaiting)


def shown_by(context: Context, agent: str) -> Callable[[str], str | None]:
    """Returns what shows a line of an agent's client; an agent that the settings no longer name is shown line by line."""
    try:
        spec = registry_for(context.settings, context.world.environment).spec(agent)
        reader = invoke(spec, Request("", prompt_file="", script=("",))).new_reader()
    except (GitticksError, NotFoundError):
        return lambda line: line
    return reader.feed


def clarify(
    context: Context, task_id: TaskId, listener: Callable[[RunEvent], None], *, agent: str | None = None
) -> Task:
    """Lets a person talk to the clarifier in the task's workspace, and returns the task as it stands then.

    What the clarifier notes is kept; the answer is the person's, by `gt respond`.

    Raises:
        GitticksError: the agent is not installed, or nobody can talk to it.
        RefusedError: an agent works on the task already, or it asks nothing.
    """
    from gitticks.actions.run import run_context  # loads the runner
    from gitticks.actions.watching import in_background
    from gitticks.agents.interactive import require_interactive
    from gitticks.agents.process import StopRequest
    from gitticks.runner.session import SessionRun

    context.require_person("talk to a clarifier")
    run = run_context(context, listener, RunOptions(agent=agent, front=Front.TERMINAL))
    stop = StopRequest()
    session = SessionRun(run, task_id, Role.CLARIFIER, stop)
    require_interactive(session.agent)
    require_program(session.agent, run.registry)

    was_held = task_id in run.holds.held()
    run.holds.release(task_id)  # so that a stop from now on is seen; the session keeps runs away

    def watch(over: threading.Event) -> None:
        while not over.wait(_LOOK_SECONDS):
            if task_id in run.holds.held() and run.holds.ends_session(task_id):
                stop.request()
                return

    try:
        with in_background(watch, f"stop of {task_id}"):
            return session.execute().task
    finally:
        if was_held:
            run.holds.hold(task_id)
