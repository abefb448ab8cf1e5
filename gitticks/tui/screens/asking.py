"""What is asked before tasks are made or linked, before agents begin with much, and before they are stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gitticks.actions.run_requests import stop_one, stop_run
from gitticks.errors import GitticksError
from gitticks.model.ids import TaskId
from gitticks.tui.remembered import IN_DIALOGS
from gitticks.tui.run_settings import flags_of
from gitticks.tui.running import start_run
from gitticks.tui.screens.dialogs import DIALOG_WIDTH, Choice, Dialog, Search
from gitticks.tui.theme import STATUS_COLOUR, glyph
from gitticks.tui.widgets import tasks
from gitticks.tui.widgets.lines import Span, line

if TYPE_CHECKING:
    from gitticks.actions.context import Context
    from gitticks.model.task import Task
    from gitticks.model.task_row import TaskRow
    from gitticks.tui.app import GitticksApp
    from gitticks.tui.screens.base import View

_MOST_SHOWN = 8
_NEW_TASK = "new task"
"""The name by which a title that was typed is there again."""


def start(app: GitticksApp, ids: Sequence[str], done: Callable[[str], str] = str) -> None:
    """Starts a run of some tasks, or of all, as it was chosen for the next run; says what `done` makes of its words."""
    names, flags = [TaskId(one) for one in ids], flags_of(app.run_choices)
    app.act(lambda context: start_run(context, names, flags), done, task="run")


def ask_to_start(
    app: GitticksApp, title: str, says: str, rows: Sequence[TaskRow], start: Callable[[], None]
) -> None:
    """Asks, and starts; what it is about is listed, of much the first and how many more."""
    shown = [line((says, "muted")), line(), *tasks.listed(app.snapshot, rows[:_MOST_SHOWN], DIALOG_WIDTH)]
    if len(rows) > _MOST_SHOWN:
        shown.append(line((f"and {len(rows) - _MOST_SHOWN} more", "muted")))
    app.ask(Dialog(title, shown, do="start"), lambda _: start())


def ask_to_leave(app: GitticksApp) -> None:
    """Asks, and does what was chosen."""
    rows = [
        line("leave", right=[("the run continues", "muted")], key="leave"),
        line(
            "stop after this iteration", right=[("agents finish what they are doing", "muted")], key="after"
        ),
        line("stop now", right=[("agents are stopped, their work is kept", "muted")], key="now"),
    ]

    def chosen(key: str) -> None:
        if key == "leave":
            app.exit(0)
        elif key == "after":
            app.act(stop_run, "the run stops after the current iterations")
        else:
            live = list(app.snapshot.sessions)

            def stop(context: Context) -> None:
                stop_run(context)
                failed = None
                for task_id in live:
                    try:
                        stop_one(context, task_id, at_once=True)
                    except GitticksError as error:  # the others are stopped all the same
                        failed = error
                if failed is not None:
                    raise failed

            app.act(stop, "stopping the run and its agents")

    app.ask(Choice("A run is active", rows, do="choose"), chosen)


def ask_to_stop(app: GitticksApp, row: TaskRow) -> None:
    """Asks how to stop an epic or a task."""
    rows = [
        line("after this iteration", right=[("its agents finish what they are doing", "muted")], key="after"),
        line("now", right=[("its agents are stopped, their work is kept", "muted")], key="now"),
    ]

    def chosen(key: str) -> None:
        how = "is being stopped" if key == "now" else "stops after this iteration"
        said = f"{row.id} {how}; + starts it again"
        app.act(lambda context: stop_one(context, row.id, at_once=key == "now"), said, task=row.id)

    app.ask(Choice(f"Stop {row.id}  {row.title}", rows, do="stop"), chosen)


def ask_to_block(view: View, task_id: str) -> None:
    """Asks for the task that another is to wait for."""
    row = view.snapshot.find(task_id)
    if row is None:
        return

    dialog = Search(f"{task_id} waits for", do="block", without={task_id, *row.blocked_by})
    view.gt.ask(dialog, lambda other: _change(view, task_id, f"+{other}"))


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

    dialog = Choice(f"{task_id} no longer waits for", rows, do="unblock")
    view.gt.ask(dialog, lambda other: _change(view, task_id, f"-{other}"))


def _change(view: View, task_id: str, wish: str) -> None:
    from gitticks.actions.task_lookup import find_task_to_change
    from gitticks.actions.update import set_field

    def change(context: Context) -> str:
        updated = set_field(context, find_task_to_change(context, task_id), "blocked_by", (wish,))
        return f"{task_id} waits for {', '.join(updated.after.blocked_by) or 'nothing'}"

    view.gt.act(change, str, task=task_id)


def ask_for_task(view: View, parent: TaskRow | None, created: Callable[[Task], str]) -> None:
    """Asks for the title of a new task or epic, creates it, a task below `parent`, and says what `created` returns."""
    from gitticks.actions.update import NewTask, create_task

    def said(title: str) -> None:
        is_epic = title.startswith("!")
        wishes = {"type": "epic"} if is_epic else {"parent": parent.id} if parent else {}
        new = NewTask(title.removeprefix("!").strip(), wishes)

        def create(context: Context) -> Task:
            try:
                return create_task(context, new)
            except (GitticksError, OSError):
                view.gt.unsent.change(IN_DIALOGS, {_NEW_TASK: title})
                raise

        view.gt.act(create, created)

    below: list[Span | str] = (
        [("below ", "muted"), f"{parent.id}  {parent.title}", ("; ", "muted")] if parent else []
    )
    rows = [line(*below, ("start with ! for an epic", "muted"))]
    view.gt.ask(Dialog("New task", rows, ask="title", do="create", kept_as=_NEW_TASK), said)
