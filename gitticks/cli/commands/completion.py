"""`gt completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from gitticks.cli.options import Command
from gitticks.cli.render import say

SHELLS = ("bash", "zsh", "fish")


@click.command(
    "completion",
    cls=Command,
    examples=('eval "$(gt completion bash)"', "gt completion fish > ~/.config/fish/completions/gt.fish"),
)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the completion script for a shell.

    It completes commands, options and the ids of tasks.
    """
    from gitticks.cli.app import gt

    found = get_completion_class(shell)
    assert found is not None, "click knows every shell of the choice"  # noqa: S101
    say(found(gt, {}, "gt", "_GT_COMPLETE").source())
