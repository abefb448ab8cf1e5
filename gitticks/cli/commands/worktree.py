"""`gt worktree`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.actions.worktrees import clean_worktrees, list_worktrees
from gitticks.cli.json import print_object
from gitticks.cli.options import Command, Completes, Group, json_option, pass_context
from gitticks.cli.render import say, screen
from gitticks.cli.table import table
from gitticks.cli.text import visible
from gitticks.errors import Exit


@click.group(
    "worktree",
    cls=Group,
    examples=("gt worktree list", "gt worktree clean"),
    help="List and clean workspaces.",
)
def command() -> None:
    """List and clean workspaces."""


@command.command("list", cls=Command, examples=("gt worktree list",))
@json_option
@pass_context
def list_command(context: Context, *, as_json: bool) -> None:
    """List the workspaces of this clone with their tasks."""
    states = list_worktrees(context)
    if as_json:
        print_object(
            workspaces=[
                {
                    "name": state.workspace.name,
                    "path": state.workspace.path,
                    "branch": state.workspace.branch,
                    "head": state.workspace.head,
                    "live": state.is_live,
                    "status": state.task.status if state.task else None,
                }
                for state in states
            ]
        )
        return
    if not states:
        say("no workspaces: `gt start ID` and `gt run` make them", err=True)
        return
    rows = [
        (
            state.workspace.name,
            "live" if state.is_live else state.task.status.value if state.task else "no task",
            (state.workspace.head or "")[:7],
            str(state.workspace.path),
        )
        for state in states
    ]
    say(*table(screen(), ("name", "task", "head", "path"), rows, flexible="path"))


@command.command("clean", cls=Command, examples=("gt worktree clean", "gt worktree clean k7f2 --force"))
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=Completes("task*"))
@click.option(
    "--force", is_flag=True, help="Also with uncommitted work, which is kept under refs/gitticks/rescued."
)
@json_option
@pass_context
def clean_command(context: Context, *, names: tuple[str, ...], force: bool, as_json: bool) -> int:
    """Remove the workspaces of closed tasks, or those named."""
    cleaned = clean_worktrees(context, names, force=force)
    if as_json:
        print_object(workspaces=cleaned)
    for one in [] if as_json else cleaned:
        kept = f", uncommitted work kept as {one.rescued}" if one.rescued else ""
        words = f"stays: {one.problem}" if one.problem else f"removed{kept}"
        say(f"{visible(one.name)}  {visible(words)}")
    if not cleaned and not as_json:
        say("nothing to clean", err=True)
    return Exit.FAILED if any(one.problem for one in cleaned) else Exit.DONE
