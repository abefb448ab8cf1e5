"""`gt demo`."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import click

from gitticks.actions import demo
from gitticks.actions.context import Context
from gitticks.actions.demo import Demo, demo_context
from gitticks.actions.listing import Filter, list_tasks
from gitticks.actions.run import execute, prepare_run
from gitticks.actions.trust import no_sandbox_warning
from gitticks.cli.options import Completes, command
from gitticks.cli.render import say, say_all, screen, warn
from gitticks.cli.text import called, visible
from gitticks.cli.views.run import RunLines
from gitticks.cli.views.tasks import task_table
from gitticks.errors import UsageError
from gitticks.model.status import Awaiting
from gitticks.model.task import Task
from gitticks.runner.options import RunOptions
from gitticks.tui import may_show_interface, open_interface

_MOST_ROUNDS = 20


@command("demo", "gt demo --yes", "gt demo --open", "gt demo --dir /tmp/till", with_json=False)
@click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path),
    shell_complete=Completes("folder"),
    help="The folder for it, new or empty.",
)
@click.option("--yes", is_flag=True, help="Answer and approve automatically.")
@click.option("--open", "opens", is_flag=True, help="Open the interface in it instead of running the tasks.")
def demo_command(context: Context, *, directory: Path | None, yes: bool, opens: bool) -> int:
    """Create a small project and run its tasks while you watch.

    The project is real, with tests that fail; the tasks carry shell scripts that stand in for agents, so no model is
    needed. Without --yes it stops where a person is asked and says what to type; with --open you do it all in the
    interface. The folder is kept.
    """
    if opens and yes:
        raise UsageError(
            "`--open` leaves the answers to you, and `--yes` gives them", hint="give one of the two"
        )
    if opens and not may_show_interface():
        raise UsageError(
            "there is no terminal here to open the interface on", hint="`gt demo --yes` runs it without you"
        )
    made = demo.make_demo(directory, context.world)
    lines = RunLines(screen(), context.world)
    say(f"the demo's repository: {made.directory}", "")
    bare = no_sandbox_warning(_at(context, made))
    if bare is not None:
        warn(bare)
    if opens:
        code = open_interface(demo_context(made.directory, context.world))
        say(f"it is all in {made.directory}")
        return code
    for _ in range(_MOST_ROUNDS):
        code = _run(_at(context, made), lines)
        waiting = demo.awaiting_tasks(_at(context, made))
        if not waiting:
            break
        if not yes:
            _say_what_to_type(made, waiting)
            return code
        for typed, act in demo.answer(_at(context, made), lines):
            say(f"$ {called()}{typed[2:]}")
            act()
        say("")
    say("$ git log --graph --oneline", *map(visible, demo.graph(_at(context, made))))
    say("", f"it is all in {made.directory}")
    return code


def _at(context: Context, made: Demo) -> Context:
    """Returns a call inside the demo's repository, started over."""
    return demo_context(made.directory, context.world)


def _run(here: Context, lines: RunLines) -> int:
    say(f"$ {called()} run")
    code = execute(here, prepare_run(here, RunOptions(parallel=2, debounce=0.0), lines))
    say("", f"$ {called()} list --all")
    fresh = here.renewed()
    listed = list_tasks(fresh, Filter(with_closed=True)).standings
    fresh.index.close()  # an open index keeps the writes that follow waiting
    say_all(task_table(screen(), listed), "no tasks")
    say("")
    return int(code)


def _say_what_to_type(made: Demo, waiting: list[Task]) -> None:
    gt = called()
    say("it is your turn:", "", f"  cd {quote(str(made.directory))}")
    for task in waiting:
        is_question = task.awaiting is Awaiting.INPUT
        typed = f'gt respond {task.id} "comma"' if is_question else f"gt approve {task.id}"
        say(f"  {gt}{typed[2:]:28}  # {visible(task.title)}")
    say(f"  {gt} run", "", f"`{gt}` alone opens the interface, which does all of this too.")
