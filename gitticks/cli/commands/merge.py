"""`gt merge`."""

from __future__ import annotations

import click

from gitticks.actions.changing import CHARACTERS_TO_DECIDE, find_or_take_up_task
from gitticks.actions.context import Context
from gitticks.cli.json import print_object
from gitticks.cli.options import Command, json_option, pass_context, task_argument
from gitticks.cli.render import say, screen
from gitticks.cli.text import visible
from gitticks.errors import Exit

_NOTHING = "nothing is approved and waiting for its merge"


@click.command("merge", cls=Command, examples=("gt merge", "gt merge --dry-run k7f2"))
@task_argument(required=False, many=True, name="tasks")
@click.option("--dry-run", is_flag=True, help="Only show what would conflict.")
@json_option
@pass_context
def command(context: Context, *, tasks: tuple[str, ...], dry_run: bool, as_json: bool) -> int:
    """Merge what is approved.

    Each task is merged in memory, tested aside, and only then moves the base. What fails goes back to its agent.
    """
    from gitticks.actions.merge import merge_all, merge_task, try_out
    from gitticks.cli.views.run import RunLines, printed

    ids = [find_or_take_up_task(context, task, least=CHARACTERS_TO_DECIDE) for task in tasks]
    if dry_run:
        tried = try_out(context, ids)
        if as_json:
            print_object(merges=[{"id": one.task.id, "conflicts": one.conflicts} for one in tried])
        for one in [] if as_json else tried:
            words = f"conflicts in {', '.join(one.conflicts)}" if one.conflicts else "merges cleanly"
            say(f"{one.task.id}  {visible(words)}")
        if not tried and not as_json:
            say(_NOTHING, err=True)
        return Exit.FAILED if any(one.conflicts for one in tried) else Exit.DONE
    listener = (lambda _event: None) if as_json else printed(RunLines(screen(), context.world))
    results = (
        {one: merge_task(context, one, listener) for one in ids}
        if ids
        else {task.id: result for task, result in merge_all(context, listener)}
    )
    if as_json:
        print_object(
            merges=[
                {"id": task_id, "done": one.is_done, "sha": one.sha, "waits": one.waits}
                for task_id, one in results.items()
            ]
        )
    elif not results:
        say(_NOTHING, err=True)
    return Exit.DONE if all(one.is_done for one in results.values()) else Exit.FAILED
