"""`gt sync`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.actions.sync import Synced, sync
from gitticks.actions.trust import are_settings_trusted
from gitticks.cli.json import print_object
from gitticks.cli.options import command, seconds_of
from gitticks.cli.render import hint, say, screen, warn
from gitticks.cli.views.sync import next_step, sync_lines, warnings_of
from gitticks.errors import GitticksError


@command("sync", "gt sync", "gt sync --watch", "gt sync --restore")
@click.argument("remote", required=False, metavar="[REMOTE]")
@click.option(
    "--watch",
    is_flag=True,
    help="Keep running until Ctrl-C: sync at every change here, and as often as --every says.",
)
@click.option("--every", default="30s", metavar="TIME", help="How often --watch asks the remote (30s).")
@click.option(
    "--timeout", default="60s", metavar="TIME", help="How long the remote may take to answer (60s)."
)
@click.option("--restore", is_flag=True, help="Restore what the remote's branch lost, and continue.")
def sync_command(
    context: Context,
    *,
    remote: str | None,
    watch: bool,
    every: str,
    timeout: str,
    restore: bool,
    as_json: bool,
) -> None:
    """Share tasks with a remote: pull, merge and push.

    Both sides' changes are merged by meaning; nothing is ever pushed by force. Being offline is not an error. REMOTE
    defaults to the upstream of gitticks/state, else origin, else the only remote there is.
    """
    seconds = seconds_of("--timeout", timeout)
    if watch:
        _watch(context, remote, seconds_of("--every", every), seconds, as_json=as_json)
        return
    _show(context, sync(context, remote, restore=restore, timeout_seconds=seconds), as_json=as_json)


def _watch(context: Context, remote: str | None, every: float, timeout: float, *, as_json: bool) -> None:
    """Syncs again and again; what goes wrong once is reported and retried."""
    from gitticks.actions.sync_auto import watch

    told: list[Synced] = []

    def tell(done: Synced) -> None:
        _show(context, done, as_json=as_json, is_first_of_many=not told)
        told[:] = [done]

    def failed(error: GitticksError) -> None:
        warn(error.message)
        if error.hint:
            hint(error.hint)

    watch(
        context,
        remote,
        every_seconds=every,
        timeout_seconds=timeout,
        told=tell,
        failed=failed,
    )


def _show(context: Context, done: Synced, *, as_json: bool, is_first_of_many: bool = False) -> None:
    if as_json:
        print_object(sync=done)
        return
    for warning in warnings_of(done):
        warn(warning)
    say(*sync_lines(screen(), done, is_watching=is_first_of_many))
    step = next_step(done) or _to_trust(context, done)
    if step:
        hint(step)


def _to_trust(context: Context, done: Synced) -> str | None:
    """Returns what to type where settings or templates came that run nothing here yet."""
    if not done.came.files:
        return None

    fresh = context.renewed()
    return None if are_settings_trusted(fresh) else "`gt trust` shows what would run here, and asks"
