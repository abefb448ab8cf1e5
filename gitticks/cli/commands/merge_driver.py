"""`gt merge-driver`; a separate module that loads little, since git calls it for each file."""

from __future__ import annotations

import os
from pathlib import Path

import click

from gitticks.actions.merge_driver import merge_in_place
from gitticks.cli.options import Command
from gitticks.cli.render import say
from gitticks.cli.text import visible
from gitticks.errors import Exit, GitticksError

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("merge-driver", cls=Command, examples=("gt merge-driver %O %A %B %L %P",))
@click.argument("base", type=_FILE)
@click.argument("ours", type=_FILE)
@click.argument("theirs", type=_FILE)
@click.argument("size", metavar="MARKER-SIZE")
@click.argument("path")
def merge_driver_command(base: Path, ours: Path, theirs: Path, size: str, path: str) -> int:  # noqa: ARG001 (git's, not needed)
    """Merge a task's file for git.

    `gt init` makes git call it if both sides changed a task. The result replaces OURS. What both sides changed
    differently is kept twice, marked; the task is then in conflict until a person chooses.
    """
    try:
        notes = merge_in_place(base, ours, theirs, path, os.environ)
    except GitticksError as error:
        say(f"gitticks: {visible(error.message)}", err=True)
        return Exit.FAILED
    for note in notes:
        say(f"gitticks: {visible(f'{path}: {note}')}", err=True)
    return Exit.DONE
