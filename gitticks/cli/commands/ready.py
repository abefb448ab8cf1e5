"""`gt ready`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.actions.picking import ready_tasks
from gitticks.cli.at_once import JSON, ReadingCommand
from gitticks.cli.json import print_tasks, task_text
from gitticks.cli.render import NOTHING_READY, screen
from gitticks.cli.views.tasks import print_tasks_or
from gitticks.errors import Exit

if TYPE_CHECKING:
    from gitticks.actions.context import Context


def answer(context: Context, *, as_json: bool) -> int:
    """List what can be worked on now.

    In the order in which a run would begin them: nothing that awaits a person, is blocked, put off or in work.
    """
    found = ready_tasks(context, with_json=as_json)
    if as_json:
        print_tasks(map(task_text, found))
    else:
        print_tasks_or(screen(), found, NOTHING_READY, context.now)
    return Exit.DONE


command = ReadingCommand("ready", answer, (JSON,), examples=("gt ready",))
