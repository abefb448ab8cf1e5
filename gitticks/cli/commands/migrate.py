"""`gt migrate`."""

from __future__ import annotations

import click

from gitticks.actions import migrating
from gitticks.actions.context import Context
from gitticks.cli.json import print_object
from gitticks.cli.options import Command, json_option, pass_context
from gitticks.cli.render import count_of, say
from gitticks.errors import UsageError


@click.command("migrate", cls=Command, examples=("gt migrate --manual-to-awaiting",))
@click.option("--manual-to-awaiting", is_flag=True, help="Write `manual: true` as `awaiting: work`.")
@json_option
@pass_context
def command(context: Context, *, manual_to_awaiting: bool, as_json: bool) -> None:
    """Upgrade old task files."""
    if not manual_to_awaiting:
        raise UsageError("nothing was asked for", hint="`gt migrate --manual-to-awaiting`")
    changed = migrating.manual_to_awaiting(context)
    if as_json:
        print_object(migrated=changed)
        return
    say(*(f"{task_id}  awaits work" for task_id in changed), f"{count_of(len(changed), 'task')} changed")
