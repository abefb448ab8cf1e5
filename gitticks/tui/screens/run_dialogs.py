"""What is asked before agents begin with much, and before a run or an epic is stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gitticks.actions.run_requests import stop_one, stop_run
from gitticks.errors import GitticksError
from gitticks.tui.screens.dialogs import Choice, Dialog
from gitticks.tui.widgets import tasks
from gitticks.tui.widgets.lines import line

if TYPE_CHECKING:
    from gitticks.actions.context import Context
    from gitticks.store.task_row import TaskRow
    from gitticks.tui.app import GitticksApp

_WIDTH, _MOST_SHOWN = 68, 8


def ask_to_start(
    app: GitticksApp, title: str, says: str, rows: Sequence[TaskRow], start: Callable[[], None]
) -> None:
    """Asks, and starts; what it is about is listed, of much the first and how many more."""
    shown = [line((says, "muted")), line(), *tasks.listed(app.snapshot, rows[:_MOST_SHOWN], _WIDTH)]
    if len(rows) > _MOST_SHOWN:
        shown.append(line((f"and {len(rows) - _MOST_SHOWN} more", "muted")))
    app.push_screen(Dialog(title, shown, do="start"), lambda yes: start() if yes else None)


def ask_to_leave(app: GitticksApp) -> None:
    """Asks, and does what was chosen."""
    rows = [
        line("leave", right=[("the run continues", "muted")], key="leave"),
        line(
            "stop after this iteration", right=[("agents finish what they are doing", "muted")], key="after"
        ),
        line("stop now", right=[("agents are stopped, their work is kept", "muted")], key="now"),
    ]

    def chosen(key: str | None) -> None:
        if key == "leave":
            app.exit(0)
        elif key == "after":
            app.act("the run stops after the current iterations", stop_run)
        elif key == "now":
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

            app.act("stopping the run and its agents", stop)

    app.push_screen(Choice("A run is active", rows, do="choose"), chosen)


def ask_to_stop(app: GitticksApp, row: TaskRow) -> None:
    """Asks how to stop an epic or a task."""
    rows = [
        line("after this iteration", right=[("its agents finish what they are doing", "muted")], key="after"),
        line("now", right=[("its agents are stopped, their work is kept", "muted")], key="now"),
    ]

    def chosen(key: str | None) -> None:
        if key is not None:
            how = "is being stopped" if key == "now" else "stops after this iteration"
            said = f"{row.id} {how}; + starts it again"
            app.act(said, lambda context: stop_one(context, row.id, at_once=key == "now"), task=row.id)

    app.push_screen(Choice(f"Stop {row.id}  {row.title}", rows, do="stop"), chosen)
