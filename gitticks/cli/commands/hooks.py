"""`gt hooks`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.actions.hooks import (
    HooksStatus,
    Place,
    PlaceOfHooks,
    hooks_status,
    install_hooks,
    uninstall_hooks,
)
from gitticks.cli.json import print_answer
from gitticks.cli.options import Group, command
from gitticks.cli.render import screen, warn
from gitticks.cli.table import table
from gitticks.cli.text import as_called, visible
from gitticks.errors import UsageError
from gitticks.git.config import OwnHooks
from gitticks.store.hook_files import HooksState

_WHY = {
    HooksState.HIDDEN: "`core.hooksPath` was set since",
    HooksState.OUTDATED: "from another version",
    HooksState.BROKEN: "incomplete",
}


@click.group("hooks", cls=Group, examples=("gt hooks install", "gt hooks status"))
def hooks_command() -> None:
    """Install, remove and check git hooks."""


@command(
    "install",
    "gt hooks install",
    "gt hooks install --checkout",
    "gt hooks install --server",
    of=hooks_command,
)
@click.option(
    "--checkout",
    is_flag=True,
    help="Also in your main checkout: `pre-push` checks the state branch, `post-merge` updates the board.",
)
@click.option(
    "--server",
    is_flag=True,
    help="In a bare repository: `pre-receive` rejects illegal changes of the state branch.",
)
def install_command(context: Context, *, checkout: bool, server: bool) -> None:
    """Install or update the hooks of the board and the workspaces.

    Your own hooks stay and run first, also with `core.hooksPath` and hook managers.
    """
    if checkout and server:
        raise UsageError("a server has no checkout", hint="use either `--checkout` or `--server`")
    _show(context, install_hooks(context, checkout=checkout, server=server))


@command("uninstall", "gt hooks uninstall", "gt hooks uninstall --checkout", of=hooks_command)
@click.option("--checkout", is_flag=True, help="Remove only those of your main checkout.")
def uninstall_command(context: Context, *, checkout: bool) -> None:
    """Remove all hooks, and restore your own as they were.

    They are not reinstalled until `gt hooks install`.
    """
    for warning in uninstall_hooks(context, checkout=checkout):
        warn(visible(warning))
    _show(context, hooks_status(context))


@command("status", "gt hooks status", of=hooks_command)
def status_command(context: Context) -> None:
    """Show where hooks are installed, and whether they and your own can run."""
    _show(context, hooks_status(context))


def _show(context: Context, status: HooksStatus) -> None:
    rows = [(place.place.value, _count(place), _advice(place)) for place in status.places]
    rows.append(("your own", *_own(status.own)))
    own = {"folder": status.own.folder, "named": status.own.named, "missing": status.own.is_missing}
    lines = table(screen(), ("where", "hooks", ""), rows, flexible="")
    print_answer(context, lines, hooks=status.places, own=own)


def _own(own: OwnHooks) -> tuple[str, str]:
    if own.are_off:
        return "none runs", f"{visible(own.named or '')}, by `core.hooksPath`: they are switched off"
    if own.is_missing:
        return "none runs", f"{visible(own.named or '')}, which `core.hooksPath` names, is missing"
    return "run first", visible(str(own.folder))


def _count(place: PlaceOfHooks) -> str:
    if place.all_count is not None:
        return f"{place.count} of {place.all_count}" if place.all_count else "none there"
    return place.state.value


def _advice(place: PlaceOfHooks) -> str:
    if place.state is HooksState.INSTALLED or place.all_count == 0:
        return ""
    if place.state is HooksState.NO_BOARD:
        return as_called("`gt init` creates it")
    option = {Place.CHECKOUT: " --checkout", Place.SERVER: " --server"}.get(place.place, "")
    if place.state is HooksState.ABSENT:
        return as_called(f"`gt hooks install{option}`")
    return as_called(f"{_WHY[place.state]}: `gt hooks install{option}`")
