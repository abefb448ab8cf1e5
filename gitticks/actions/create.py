"""Creates a task: its id, its file and the first line of its history, in one commit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from gitticks.actions.changing import circumstances_of, record
from gitticks.actions.context import Context
from gitticks.actions.field_values import Wishes, read_title, read_wishes
from gitticks.actions.update import reading_for
from gitticks.document.taskfile import TaskFile, new_task_file
from gitticks.model.event import Event, EventType
from gitticks.model.notes import Section
from gitticks.model.task import Task
from gitticks.store.links import changes_links, check_links
from gitticks.store.task_ids import free_id
from gitticks.store.transaction import Transaction


class NewTask(NamedTuple):
    """A task to be made: its title, its other fields as they were typed, and its text.

    `script` is markdown with `sh` blocks, or a bare shell script.
    """

    title: str
    wishes: Wishes
    description: str = ""
    script: str | None = None


def require_creator(context: Context) -> None:
    """Refuses to create a task in an agent's session."""
    context.require_person("create a task", '`gt note "…"` leaves a note about what else should be done')


def create_task(context: Context, new: NewTask) -> Task:
    """Commits a new task and returns it."""
    require_creator(context)
    title = read_title(new.title)
    values = read_wishes(new.wishes, reading_for(context))

    def write(transaction: Transaction) -> Task:
        return _commit_file(context, transaction, _make_file(context, transaction, title, values, new))

    task = context.store.transact(write, author=context.author)
    if task.agent is not None:
        from gitticks.actions.agents import warn_of_unknown

        warn_of_unknown(context, task.id, task.agent)
    return task


def _make_file(
    context: Context, transaction: Transaction, title: str, values: dict[str, Any], new: NewTask
) -> TaskFile:
    task_id = free_id(transaction, context.world.random_number)
    asked_at = context.now if values.get("awaiting") else None
    task = Task(task_id, title, asked_at=asked_at, **values)
    task = replace(task, created=context.now, created_by=context.actor.name, updated=context.now)
    file = new_task_file(task, new.description)
    return file if new.script is None else file.with_section(Section.SCRIPT, script_text(new.script))


def _commit_file(context: Context, transaction: Transaction, file: TaskFile) -> Task:
    task = file.task
    if changes_links(None, task):
        check_links(transaction.all_tasks(), None, task)
    transaction.put_task(file)
    event = Event(EventType.CREATED, context.now, context.actor)
    record(transaction, task.id, f"created: {task.title}", event, context.actor)
    if task.parent is not None:
        from gitticks.store.hand_edits import follow_parents

        follow_parents(transaction, task, None, lambda parent: circumstances_of(context, parent))
    return task


def script_text(script: str) -> str:
    """Returns the text of `## Script` for what a person handed over: markdown as it is, a bare script in a block."""
    if any(line.lstrip().startswith(("```", "~~~")) for line in script.splitlines()):
        return script
    return f"```sh\n{script.rstrip()}\n```"
