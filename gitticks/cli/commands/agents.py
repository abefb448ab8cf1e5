"""`gt agents`."""

from __future__ import annotations

import click

from gitticks.actions.agents import KnownAgent, known_agents
from gitticks.actions.context import Context
from gitticks.cli.json import print_object
from gitticks.cli.options import Command, json_option, pass_context
from gitticks.cli.render import Style, say, screen
from gitticks.cli.table import Cell, table


@click.command("agents", cls=Command, examples=("gt agents", "gt config agent claude"))
@json_option
@pass_context
def command(context: Context, as_json: bool) -> None:
    """List the agents that can be started here.

    Those of the settings and those found on PATH, with the permission modes of each and what it can do. The one
    marked default works on tasks that name none.
    """
    found = known_agents(context)
    if as_json:
        print_object(agents=found)
        return
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
    say(*table(screen(), ["name", "", "version", "modes", "can", "path"], rows, flexible="path"))


def _abilities(agent: KnownAgent) -> str:
    able = {"resume": agent.resumes, "tell usage": agent.tells_usage, "tell cost": agent.tells_cost}
    return ", ".join(word for word, can in able.items() if can)
