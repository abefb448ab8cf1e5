"""The public Python API: open a repository's tasks, ask about them, decide, run.

Everything here stands on the same use cases as the `gt` command. Methods raise `GitticksError` with the message and
the hint that the command would print. Times are UTC, ids are text, tasks are frozen values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from gitticks.actions.context import Context
from gitticks.errors import GitticksError, UsageError
from gitticks.model.event import Event
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph, by_urgency
from gitticks.model.settings import MOST_PARALLEL
from gitticks.model.task import HUMAN_FIELDS, Task
from gitticks.runner.events import RunEvent
from gitticks.runner.options import RunOptions
from gitticks.runner.outcome import RunExit
from gitticks.world import World

_LISTS = ("labels", "blocked_by")
_OF_NEW_TASKS = HUMAN_FIELDS - {"verdict", "title"}

__all__ = ["GitticksError", "RunEvent", "RunExit", "RunOptions", "Task", "Tasks", "open_tasks"]


def open_tasks(directory: Path | str = ".") -> Tasks:
    """Returns the tasks of the repository around `directory`.

    Where several people share one, by `core.sharedRepository`, the mask for new files of this process follows that.

    Raises:
        NotFoundError: there is no repository, or it has no tasks yet.
    """
    context = Context(World().elsewhere(), Path(directory).absolute(), does_much=True)
    context.store.tip()
    return Tasks(context)


class Tasks:
    """The tasks of one repository, read again at each call; not to be shared between threads."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def all(self) -> list[Task]:
        """Returns every readable task, open or closed, sorted by id."""
        tasks = self._context.store.snapshot().all_tasks()
        return [tasks[task_id] for task_id in sorted(tasks)]

    def get(self, task_id: str) -> Task:
        """Returns one task by its id or a unique beginning of it.

        Raises:
            NotFoundError: there is none, or several begin so.
        """
        return self._context.store.task_file(self._resolve(task_id)).task

    def ready(self) -> list[Task]:
        """Returns what an agent can be started on now, in the order in which it would be picked."""
        unreadable = self._context.store.snapshot().unreadable_ids()
        return TaskGraph.of(self.all(), unreadable).ready(self._context.surroundings())

    def awaiting(self) -> list[Task]:
        """Returns what awaits a person, most urgent first."""
        return sorted((task for task in self.all() if task.awaiting is not None), key=by_urgency)

    def history(self, task_id: str) -> tuple[Event, ...]:
        """Returns a task's events, oldest first."""
        return self._context.store.history(self._resolve(task_id))

    def create(self, title: str, description: str = "", fields: Mapping[str, str] | None = None) -> Task:
        """Creates a task and returns it.

        Args:
            title: one line.
            description: markdown.
            fields: other fields by their names in the file, written as on the command line, lists with commas.

        Raises:
            UsageError: a name is not that of a field that people write, or a value cannot be read.
        """
        from gitticks.actions.update import NewTask, create_task

        return create_task(self._context, NewTask(title, _wishes(fields or {}), description))

    def note(self, task_id: str, text: str) -> Task:
        """Adds a note that the next agent reads."""
        from gitticks.actions.update import note_task

        return note_task(self._context, self._resolve(task_id), text)

    def respond(self, task_id: str, answer: str) -> Task:
        """Answers a task's question and gives it back to its agent.

        Raises:
            RefusedError: it asks nothing.
        """
        from gitticks.actions.verdict import look_at_turn, respond_to

        one = self._resolve(task_id)
        return respond_to(self._context, one, answer, look_at_turn(self._context, one)).after

    def approve(self, task_id: str, note: str | None = None) -> Task:
        """Approves what a task awaits, merges it if there is code, and returns it as it then stands.

        Raises:
            RefusedError: it is not waiting for anyone.
        """
        from gitticks.actions.verdict import approve_task, look_at_turn, merge_approved

        one = self._resolve(task_id)
        judged = approve_task(self._context, one, note, look_at_turn(self._context, one))
        if judged.after.is_merging:
            merge_approved(self._context, one)
        return self.get(one)

    def reject(self, task_id: str, feedback: str | None = None) -> Task:
        """Sends a task back to its agent.

        Raises:
            RefusedError: it is not waiting for anyone.
        """
        from gitticks.actions.verdict import look_at_turn, reject_task

        one = self._resolve(task_id)
        return reject_task(self._context, one, feedback, look_at_turn(self._context, one)).after

    def run(
        self, options: RunOptions | None = None, listener: Callable[[RunEvent], None] | None = None
    ) -> RunExit:
        """Runs agents until nothing else is ready, and returns how that ended.

        Args:
            options: what to run, as the flags of `gt run` say it.
            listener: called with each event, from several threads but never concurrently.

        Raises:
            NotFoundError: there is no task of an id that the options name.
            UsageError: so many agents cannot work at once, or a limit is not above 0.
        """
        from gitticks.actions.run import execute, prepare_run

        asked = options or RunOptions()
        if not 1 <= asked.parallel <= MOST_PARALLEL:
            raise UsageError(f"`parallel` is {asked.parallel}, and is to be from 1 to {MOST_PARALLEL}")
        for name in ("max_iterations", "max_seconds", "max_cost", "max_tokens"):
            limit = getattr(asked, name)
            if limit is not None and not limit > 0:  # so that NaN is refused as well
                raise UsageError(f"`{name}` is {limit}, and is to be above 0")
        given: object = asked.ids  # a single id is what is easily written instead
        ids = (given,) if isinstance(given, str) else asked.ids
        asked = asked._replace(ids=tuple(map(self._resolve, ids)))
        loop = prepare_run(self._context, asked, listener or (lambda _event: None))
        return execute(self._context, loop)

    def _resolve(self, task_id: str) -> TaskId:
        from gitticks.actions.task_lookup import find_task

        return find_task(self._context, task_id)


def _wishes(fields: Mapping[str, str]) -> dict[str, str | tuple[str, ...]]:
    unknown = sorted(set(fields) - _OF_NEW_TASKS)
    if unknown:
        raise UsageError(
            f"`{unknown[0]}` is not a field that people write into a new task",
            hint=f"one of {', '.join(sorted(_OF_NEW_TASKS))}",
        )
    for name, value in fields.items():
        if not isinstance(value, str):
            raise UsageError(f"`{name}` is to be text as on the command line, and is {value!r}")
    return {name: (text,) if name in _LISTS else text for name, text in fields.items()}
