"""`gt skill`."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import click

from gitticks.actions import agents_file
from gitticks.actions.agents_file import DEFAULT_FILE
from gitticks.actions.context import Context
from gitticks.cli.options import Command, Completes, pass_context
from gitticks.cli.render import say
from gitticks.errors import NotFoundError, UsageError
from gitticks.model.ids import BOARD_FOLDER


@click.command(
    "skill",
    cls=Command,
    examples=("gt skill", "gt skill --install", "gt skill --check docs/AGENTS.md"),
)
@click.argument("file", metavar="[FILE]", required=False, shell_complete=Completes("file"))
@click.option("--install", "wish", flag_value="install", help="Keep a marked block with them in FILE.")
@click.option("--remove", "wish", flag_value="remove", help="Take the block out of FILE again.")
@click.option(
    "--check", "wish", flag_value="check", help="Fail if FILE has no block, or one of another version."
)
@pass_context
def command(context: Context, *, file: str | None, wish: str | None) -> None:
    """Print instructions for coding agents, or keep them in AGENTS.md.

    FILE is AGENTS.md at the top of this checkout if you name no other. What stands outside of the block stays as it
    is.
    """
    if wish is None:
        if file is not None:
            raise UsageError(
                "a file is named, and not what to do with it", hint=f"`gt skill --install {quote(file)}`"
            )
        say(agents_file.instructions().rstrip("\n"))
        return
    place = _default(context) if file is None else Path(file)
    if wish == "check":
        agents_file.check(place)
        return
    done = agents_file.install(place) if wish == "install" else agents_file.remove(place)
    say(f"{place}: {done.value}")


def _default(context: Context) -> Path:
    """Returns AGENTS.md of this checkout, on the board that of the checkout around it, outside of a repository here."""
    import os

    try:
        main, top = context.repository.main_worktree, context.repository.here_worktree
    except NotFoundError:
        main, top = None, None
    if main is not None and top == main / BOARD_FOLDER:
        top = main
    return Path(os.path.relpath((top or context.directory) / DEFAULT_FILE, context.directory))
