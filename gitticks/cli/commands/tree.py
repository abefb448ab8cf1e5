"""`gt tree`."""

from __future__ import annotations

from collections.abc import Iterator

from gitticks.actions.context import Context
from gitticks.actions.tree import Tree, grow_tree
from gitticks.cli.at_once import JSON, Argument, ReadingCommand, Switch
from gitticks.cli.json import entry_object, print_tasks, task_text
from gitticks.cli.render import NO_TASKS, say, screen
from gitticks.cli.views.tasks import warn_of_broken
from gitticks.cli.views.tree import closed_line, tree_lines
from gitticks.errors import Exit


def answer(context: Context, *, task: str | None, with_closed: bool, as_json: bool) -> int:
    """Show epics and the tasks below them.

    With what each task waits for, and the question of each that asks. What is alone comes last; closed tasks are
    only counted. With ID: that task and what is below it.
    """
    found = grow_tree(context, task, with_closed=with_closed, with_json=as_json)
    warn_of_broken(found.broken)
    if as_json:
        print_tasks(_texts(found))
        return Exit.DONE
    if not found.groups:
        say(_nothing(found), err=True)
        return Exit.DONE
    say(*tree_lines(screen(), found, context.now))
    rest = closed_line(found) if task is None else None
    if rest:
        say(rest, err=True)
    return Exit.DONE


def _nothing(found: Tree) -> str:
    if not found.has_tasks:
        return NO_TASKS
    return "no open tasks: `gt tree --all` shows the closed ones"


def _texts(found: Tree) -> Iterator[str]:
    for name, places in found.groups:
        for place in places:
            if place.task is not None and not place.is_again:
                task_id = place.task.id
                yield task_text(
                    found.standings[task_id],
                    group=name,
                    depth=place.depth,
                    closed_children=found.all_closed.get(task_id, 0),
                    open_questions=[entry_object(one) for one in found.questions.get(task_id, ())],
                )


tree_command = ReadingCommand(
    "tree",
    answer,
    (
        Argument("task", "[ID]"),
        Switch("with_closed", ("-a", "--all"), "Include closed tasks."),
        JSON,
    ),
    examples=("gt tree", "gt tree e0pc --all"),
)
