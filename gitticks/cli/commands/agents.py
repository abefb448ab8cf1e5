"""`gt agents` and `gt skill`: which coding agents there are, and the instructions for them."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote

import click

from gitticks.actions import agents
from gitticks.actions.agents import DEFAULT_FILE, KnownAgent, known_agents
from gitticks.actions.context import Context
from gitticks.cli.json import print_answer
from gitticks.cli.options import Completes, command
from gitticks.cli.render import Style, say, screen
from gitticks.cli.table import Cell, table
from gitticks.errors import NotFoundError, UsageError
from gitticks.model.ids import BOARD_FOLDER


@command("agents", "gt agents", "gt config agent claude")
def agents_command(context: Context) -> None:
    """List the agents that can be started here.

    Lists the agents from the settings and those found on PATH, with their permission modes and what they can do. The
    default works on tasks that name no agent.
    """
    found = known_agents(context)
    rows: list[list[Cell | str]] = [
        [
            Cell(agent.name, Style.STRONG),
            "default" if agent.is_default else "",
            agent.version or "",
            ", ".join(agent.modes),
            _abilities(agent),
            agent.path or "not found",
        ]
        for agent in found
    ]
    names = ["name", "", "version", "modes", "can", "path"]
    print_answer(context, table(screen(), names, rows, flexible="path"), agents=found)


def _abilities(agent: KnownAgent) -> str:
    able = {"resume": agent.resumes, "report usage": agent.tells_usage, "report cost": agent.tells_cost}
    return ", ".join(word for word, can in able.items() if can)


@command("skill", "gt skill", "gt skill --install", "gt skill --check docs/AGENTS.md", with_json=False)
@click.argument("file", metavar="[FILE]", required=False, shell_complete=Completes("file"))
@click.option("--install", "wish", flag_value="install", help="Add or update a marked block in FILE.")
@click.option("--remove", "wish", flag_value="remove", help="Remove the block from FILE.")
@click.option("--check", "wish", flag_value="check", help="Fail if FILE has no block, or an outdated one.")
def skill_command(context: Context, *, file: str | None, wish: str | None) -> None:
    """Print instructions for coding agents, or add them to AGENTS.md.

    FILE defaults to AGENTS.md at the top of this checkout. Text outside the block is not changed.
    """
    if wish is None:
        if file is not None:
            raise UsageError(
                "a file was named, but not what to do with it", hint=f"`gt skill --install {quote(file)}`"
            )
        say(agents.instructions().rstrip("\n"))
        return
    place = _default(context) if file is None else Path(file)
    if wish == "check":
        agents.check(place)
        return
    done = agents.install(place) if wish == "install" else agents.remove(place)
    say(f"{place}: {done.value}")


def _default(context: Context) -> Path:
    """Returns AGENTS.md of this checkout, on the board that of the checkout around it, outside of a repository here."""
    try:
        main, top = context.repository.main_worktree, context.repository.here_worktree
    except NotFoundError:
        main, top = None, None
    if main is not None and top == main / BOARD_FOLDER:
        top = main
    return Path(os.path.relpath((top or context.directory) / DEFAULT_FILE, context.directory))
