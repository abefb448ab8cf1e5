"""`gt demo`."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from gitticks.actions.context import Context
from gitticks.actions.listing import Filter, list_tasks
from gitticks.cli.options import Command, pass_context
from gitticks.cli.render import say, screen
from gitticks.cli.text import visible
from gitticks.cli.views.tasks import print_tasks_or
from gitticks.model.status import Awaiting
from gitticks.runner.options import RunOptions

if TYPE_CHECKING:
    from gitticks.actions.demo import Demo

_MOST_ROUNDS = 20


@click.command("demo", cls=Command, examples=("gt demo --yes", "gt demo --dir /tmp/till"))
@click.option(
    "--dir", "directory", type=click.Path(path_type=Path), help="An empty or new folder to make it in."
)
@click.option("--yes", is_flag=True, help="Answer and approve for the person.")
@pass_context
def demo_command(context: Context, *, directory: Path | None, yes: bool) -> int:
    """Make a small project and run its tasks while you watch.

    The project is real, with tests that fail; the tasks carry shell scripts that stand in for agents, so no model is
    needed. Without --yes it stops where a person is asked and says what to type. The folder is kept.
    """
    from gitticks.actions.demo import make_demo

    demo = make_demo(directory, context.world)
    say(f"the demo's repository: {demo.directory}", "")
    for _ in range(_MOST_ROUNDS):
        code = _run(context, demo)
        if not _is_waiting(context, demo):
            break
        if not yes:
            _say_what_to_type(context, demo)
            return code
        _answer(context, demo)
    _show_graph(context, demo)
    return code


def _run(context: Context, demo: Demo) -> int:
    from gitticks.actions.demo import demo_context
    from gitticks.actions.run import execute, prepare_run
    from gitticks.cli.views.run import RunLines

    lines = RunLines(screen(), context.world)
    say("$ gt run")
    here = demo_context(demo.directory, context.world)
    code = execute(here, prepare_run(here, RunOptions(parallel=2, debounce=0.0), lines))
    say("", "$ gt list --all")
    _show_board(demo_context(demo.directory, context.world))
    return int(code)


def _show_board(here: Context) -> None:
    listed = list_tasks(here, Filter(with_closed=True)).standings
    here.index.close()  # an open index keeps the writes that follow waiting
    print_tasks_or(screen(), listed, "no tasks")
    say("")


def _is_waiting(context: Context, demo: Demo) -> bool:
    from gitticks.actions.demo import awaiting_tasks, demo_context

    return bool(awaiting_tasks(demo_context(demo.directory, context.world)))


def _say_what_to_type(context: Context, demo: Demo) -> None:
    from gitticks.actions.demo import awaiting_tasks, demo_context

    say("it is your turn:", "", f"  cd {quote(str(demo.directory))}")
    for task in awaiting_tasks(demo_context(demo.directory, context.world)):
        answers = task.awaiting is Awaiting.INPUT
        typed = f'gt respond {task.id} "comma"' if answers else f"gt approve {task.id}"
        say(f"  {typed:28}  # {visible(task.title)}")
    say("  gt run")


def _answer(context: Context, demo: Demo) -> None:
    from gitticks.actions.demo import answer, demo_context
    from gitticks.cli.views.run import RunLines

    lines = RunLines(screen(), context.world)
    for typed, act in answer(demo_context(demo.directory, context.world), lines):
        say(f"$ {typed}")
        act()
    say("")


def _show_graph(context: Context, demo: Demo) -> None:
    from gitticks.actions.demo import demo_context, graph

    say("$ git log --graph --oneline")
    for line in graph(demo_context(demo.directory, context.world)):
        say(visible(line))
    say("", f"it is all in {demo.directory}")
