"""`gt show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.actions.showing import ShownTask, show_round, show_task
from gitticks.cli.at_once import JSON, Argument, Option, ReadingCommand, Switch
from gitticks.cli.filters import parse_count
from gitticks.cli.json import entry_object, event_object, pair_object, print_object, print_task, task_text
from gitticks.cli.render import say, screen, warn
from gitticks.cli.views.task import page, round_page
from gitticks.errors import Exit

if TYPE_CHECKING:
    from gitticks.store.rounds import Round


def answer(
    context: Context, *, task: str | None, number: int | None, with_changes: bool, as_json: bool
) -> int:
    """Show one task with its hand-off, review and history.

    Without ID: the task whose workspace this is. On a terminal also what its work changes.
    """
    if number is not None:
        _show_round(context, task, number, as_json=as_json)
        return Exit.DONE
    on = screen()
    shown = show_task(context, task, with_changes=with_changes or (on.is_terminal and not as_json))
    for warning in shown.warnings:
        warn(warning)
    if as_json:
        print_task(_text(shown, with_changes=with_changes))
    else:
        say(*page(on, shown, context.now))
    return Exit.DONE


def _show_round(context: Context, task: str | None, number: int, *, as_json: bool) -> None:
    task_id, found = show_round(context, task, number)
    if as_json:
        print_object(round={"id": task_id, **_round(found)})
    else:
        say(*round_page(screen(), task_id, found))


def _round(found: Round) -> dict[str, object]:
    return {
        "number": found.number,
        "handoff": found.handoff,
        "review": found.review,
        "reviews": found.councillors,
    }


def _text(shown: ShownTask, *, with_changes: bool) -> str:
    more: dict[str, object] = {}
    if with_changes:
        from gitticks.cli.views.inbox import changes_object

        more["changes"] = changes_object(shown.changes) if shown.changes else None
    return task_text(
        shown.standing,
        summary=shown.summary,
        sections=shown.sections,
        notes=[entry_object(entry) for entry in shown.notes],
        questions=[pair_object(pair) for pair in shown.questions],
        history=[event_object(event) for event in shown.history.events],
        rounds=[_round(one) for one in shown.rounds],
        mentions=[standing.task.id for standing in shown.mentions],
        **more,
    )


show_command = ReadingCommand(
    "show",
    answer,
    (
        Argument("task", "[ID]"),
        Option(
            "number",
            ("--round",),
            "Show the hand-off and review of an earlier round.",
            metavar="N",
            read=parse_count,
        ),
        Switch("with_changes", ("--stat",), "Show what the work changes, even if the output is piped."),
        JSON,
    ),
    examples=("gt show k7f2", "gt show k7f2 --round 1"),
)
