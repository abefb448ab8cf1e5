"""`gt version`."""

from __future__ import annotations

import click

from gitticks.actions.versions import versions
from gitticks.cli.json import print_object
from gitticks.cli.options import Command, json_option
from gitticks.cli.render import say, screen
from gitticks.cli.table import table


@click.command("version", cls=Command, examples=("gt version --json",))
@json_option
def command(as_json: bool) -> None:
    """Print the versions of gitticks and its libraries."""
    found = versions()
    if as_json:
        print_object(versions=found)
    else:
        say(*table(screen(), ["", "version"], list(found.items()), flexible="version", with_heading=False))
