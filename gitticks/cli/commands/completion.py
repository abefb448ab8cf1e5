"""`gt completion`."""

from __future__ import annotations

from pathlib import Path

import click

from gitticks.cli import completion
from gitticks.cli.completion.answer import SHELLS
from gitticks.cli.options import Command


@click.command(
    "completion",
    cls=Command,
    examples=(
        'eval "$(gt completion bash)"',
        'eval "$(gt completion zsh)"',
        "gt completion fish | source",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the completion script for a shell.

    It completes commands, options, statuses, agents and labels in use, and the ids of tasks with their titles.
    """
    click.echo(Path(completion.__file__).with_name(f"gt.{shell}").read_text("utf-8"), nl=False)
