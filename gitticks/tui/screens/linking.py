"""Dialogs that create a task, and make one wait for another, or no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.errors import GitticksError
from gitticks.tui.screens.dialogs import Choice, Dialog, Search
from gitticks.tui.theme import STATUS_COLOUR, glyph
from gitticks.tui.widgets.lines import Span, line

if TYPE_CHECKING:
    from collections.abc import Callable

    from gitticks.actions.context import Context
    from gitticks.model.task import Task
    from gitticks.store.task_row import TaskRow
    from gitticks.tui.screens.base import View

_NEW_TASK = "new task"
"""The name by which a title that was typed is there again."""


def ask_to_block(view: View, task_id: str) -> None:
    """Asks for the task that another is to wait for."""
    row = view.snapshot.find(task_id)
    if row is None:
        return

    def answered(other: str | None) -> None:
        if other:
            _change(view, task_id, f"+{other}")

    dialog = Search(f"{task_id} waits for", do="block", without={task_id, *row.blocked_by})
    view.app.push_screen(dialog, answered)


def ask_to_unblock(view: View, task_id: str) -> None:
    """Asks which of the tasks that another waits for it shall not wait for any more."""
    row = view.snapshot.find(task_id)
    if row is None or not row.blocked_by:
        view.gt.say(f"{task_id} has no blockers of its own")
        return
    rows = []
    for one in row.blocked_by:
        other = view.snapshot.find(one)
        mark = view.snapshot.mark(other) if other else "cancelled"
        title = other.title if other else "is not there"
        rows.append(line((f"{glyph(mark)} ", STATUS_COLOUR[mark]), (one, "muted"), "  ", title, key=one))

    def chosen(other: str | None) -> None:
        if other:
            _change(view, task_id, f"-{other}")

    view.app.push_screen(Choice(f"{task_id} no longer waits for", rows, do="unblock"), chosen)


def _change(view: View, task_id: str, wish: str) -> None:
    from gitticks.actions.task_lookup import find_task_to_change
    from gitticks.actions.update import set_field

    def change(context: Context) -> str:
        updated = set_field(context, find_task_to_change(context, task_id), "blocked_by", (wish,))
        return f"{task_id} waits for {', '.join(updated.after.blocked_by) or 'nothing'}"

    view.gt.act("", change, lambda words: words, task=task_id)


def ask_for_task(view: View, parent: TaskRow | None, created: Callable[[Task], str]) -> None:
    """Asks for the title of a new task or epic, creates it, a task below `parent`, and says what `created` returns."""
    from gitticks.actions.update import NewTask, create_task

    def said(title: str | None) -> None:
        if title:
            is_epic = title.startswith("!")
            wishes = {"type": "epic"} if is_epic else {"parent": parent.id} if parent else {}
            new = NewTask(title.removeprefix("!").strip(), wishes)

            def create(context: Context) -> Task:
                try:
                    return create_task(context, new)
                except (GitticksError, OSError):
                    view.gt.left_in_dialogs[_NEW_TASK] = title
                    raise

            view.gt.act("", create, created)

    below: list[Span | str] = (
        [("below ", "muted"), f"{parent.id}  {parent.title}", ("; ", "muted")] if parent else []
    )
    rows = [line(*below, ("start with ! for an epic", "muted"))]
    view.app.push_screen(Dialog("New task", rows, ask="title", do="create", kept_as=_NEW_TASK), said)
