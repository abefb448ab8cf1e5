"""`gt watch`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.actions.watching import (
    EditLeft,
    EditTaken,
    Happening,
    Trouble,
    Watcher,
    keep_watching,
)
from gitticks.cli.json import plain, print_event
from gitticks.cli.live import is_reader_gone, until_interrupted
from gitticks.cli.options import command
from gitticks.cli.render import GAP, say, warn
from gitticks.cli.text import from_here, visible
from gitticks.cli.views.history import clock
from gitticks.cli.views.tasks import BOARD_PREFIX
from gitticks.git.log import LoggedCommit
from gitticks.model.ids import BOARD_FOLDER
from gitticks.store.layout import STATE_BRANCH


@command("watch", "gt watch", "gt watch --once", "gt watch --json", with_json=False)
@click.option("--once", is_flag=True, help="Commit what is saved now, and exit.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def watch_command(context: Context, *, once: bool) -> None:
    """Commit what you save on the board, and print what happens.

    Keeps running until Ctrl-C, or until nobody reads its output any more.
    """
    context.require_person("watch the board")
    watcher = Watcher(context, _print_json if context.as_json else lambda happening: _say(context, happening))
    watcher.begin()
    has_board = context.repository.project_dir is not None
    if once:
        watcher.look()
        return
    say(f"watching {BOARD_FOLDER if has_board else STATE_BRANCH}; Ctrl-C quits", err=True)
    with until_interrupted() as over:
        keep_watching(watcher, over, is_reader_gone)


def _say(context: Context, happening: Happening) -> None:
    if isinstance(happening, Trouble):
        warn(happening.message)
        return
    now = clock(context.now, context.now)
    if isinstance(happening, LoggedCommit):
        at = clock(happening.at, context.now)
        say(f"{at}{GAP}{visible(happening.subject)}{GAP}{visible(happening.author)}")
    elif isinstance(happening, EditLeft):
        say(f"{now}{GAP}{BOARD_PREFIX}{visible(happening.path)}{GAP}{visible(from_here(happening.reason))}")


def _print_json(happening: Happening) -> None:
    if isinstance(happening, LoggedCommit):
        print_event("commit", **plain(happening))
    elif isinstance(happening, EditTaken):
        print_event("edit.taken", path=happening.path)
    elif isinstance(happening, EditLeft):
        print_event("edit.left", path=happening.path, reason=happening.reason)
    else:
        print_event("warning", message=happening.message)
