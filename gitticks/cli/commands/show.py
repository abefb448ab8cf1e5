"""`gt show`."""

from __future__ import annotations

from gitticks.actions.showing import show_task
from gitticks.cli.flags import JSON, Argument, ReadingCommand
from gitticks.cli.json_output import entry_object, event_object, print_task, task_text
from gitticks.cli.render import say, screen, warn
from gitticks.cli.task_page import page
from gitticks.errors import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitticks.actions.context import Context
    from gitticks.actions.showing import ShownTask


def answer(context: Context, *, task: str | None, as_json: bool) -> int:
    """Show one task with its hand-off, review and history.

    Without ID: the task whose workspace this is.
    """
    shown = show_task(context, task)
    for warning in shown.warnings:
        warn(warning)
    if as_json:
        print_task(_text(shown))
    else:
        say(*page(screen(), shown, context.now))
    return Exit.DONE


def _text(shown: ShownTask) -> str:
    return task_text(
        shown.standing,
        summary=shown.summary,
        sections=shown.sections,
        notes=[entry_object(entry) for entry in shown.notes],
        questions=[
            {
                "question": entry_object(pair.question),
                "answer": entry_object(pair.answer) if pair.answer else None,
            }
            for pair in shown.questions
        ],
        history=[event_object(event) for event in shown.history],
    )


command = ReadingCommand("show", answer, (Argument("task", "[ID]"), JSON), examples=("gt show k7f2",))
