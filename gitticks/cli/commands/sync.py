"""`gt sync`."""

from __future__ import annotations

from collections.abc import Iterator

import click

from gitticks.actions.context import Context
from gitticks.actions.sync import Moved, Reached, Synced, sync
from gitticks.actions.sync_auto import watch
from gitticks.actions.sync_words import merge_warnings, words_of_renamed
from gitticks.actions.trust import untrusted_settings
from gitticks.cli.json import print_object
from gitticks.cli.options import command, seconds_of
from gitticks.cli.render import GAP, Screen, Style, count_of, hint, say, screen, warn
from gitticks.cli.text import visible
from gitticks.cli.views.tasks import BOARD_PREFIX, merged_lines
from gitticks.errors import GitticksError
from gitticks.store.layout import task_of_path

MOST_LISTED = 20


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
) -> None:
    """Share tasks with a remote: pull, merge and push.

    Both sides' changes are merged by meaning; nothing is ever pushed by force. Being offline is not an error. REMOTE
    defaults to the upstream of gitticks/state, else origin, else the only remote there is.
    """
    seconds = seconds_of("--timeout", timeout)
    if watch:
        _watch(context, remote, seconds_of("--every", every), seconds)
        return
    _show(context, sync(context, remote, restore=restore, timeout_seconds=seconds))


def _watch(context: Context, remote: str | None, every: float, timeout: float) -> None:
    told: list[Synced] = []

    def tell(done: Synced) -> None:
        _show(context, done, is_first_of_many=not told)
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


def _show(context: Context, done: Synced, *, is_first_of_many: bool = False) -> None:
    if context.as_json:
        print_object(sync=done)
        return
    for warning in _warnings_of(done):
        warn(warning)
    say(*sync_lines(screen(), done, is_watching=is_first_of_many))
    step = _next_step(done)
    if step is None and done.came.files and untrusted_settings(context.renewed()):
        step = "`gt trust` shows what is waiting, and asks"
    if step:
        hint(step)


def sync_lines(on: Screen, done: Synced, *, is_watching: bool = False) -> Iterator[str]:
    """Yields what came and went, or that there was nothing; `is_watching` for the first sync of many."""
    goes_on = "; watching, Ctrl-C ends it" if is_watching else ""
    for path in done.taken_up:
        yield f"committed your edit of {BOARD_PREFIX}{visible(path)}"
    yield from merged_lines(done.merged)
    for move in done.followed:
        turn = f", awaits {move.awaiting}" if move.awaiting else ""
        why = (move.reason or "").partition("\n")[0]
        yield f"{move.task}  {move.target}{turn}: {visible(why)}"
    if done.reached is Reached.NO_REMOTE:
        yield f"there is no remote to share tasks with{goes_on}"
        return
    remote = visible(done.remote or "")
    yield from _moved(on, f"received from {remote}", done.came)
    yield from _moved(on, f"sent to {remote}", done.went)
    for one in done.renamed:
        yield visible(words_of_renamed(one))
    if done.reached is Reached.OFFLINE:
        yield f"{remote} cannot be reached; your tasks are safe here and are pushed by the next sync{goes_on}"
    elif is_watching or not (done.came or done.went):
        yield f"up to date with {remote}{goes_on}"


def _warnings_of(done: Synced) -> Iterator[str]:
    yield from merge_warnings(done)
    for path, reason in done.left.items():
        yield f"{BOARD_PREFIX}{path}: {reason}"
    if done.reached is Reached.OFFLINE and done.words:
        yield f"git says: {done.words}"


def _next_step(done: Synced) -> str | None:
    if done.conflicts:
        path = next(iter(done.conflicts))
        task = task_of_path(path)
        return f"`gt edit {task}` and keep what is right" if task else "`gt doctor` says how to resolve it"
    if done.reached is Reached.NO_REMOTE:
        return "`git remote add origin URL` names one"
    return None


def _moved(on: Screen, heading: str, moved: Moved) -> Iterator[str]:
    if not moved:
        return
    parts = [count_of(len(moved.tasks), "task")] if moved.tasks else []
    parts += [visible(path) for path in moved.files]
    yield on.styled(f"{heading}: {', '.join(parts)}", Style.STRONG)
    widest = max((len(one.id) for one in moved.tasks[:MOST_LISTED]), default=0)
    for one in moved.tasks[:MOST_LISTED]:
        words = "new" if one.is_new else "gone" if one.is_gone else one.status or "not readable: `gt doctor`"
        yield on.fit(f"{GAP}{one.id:{widest}}{GAP}{words:12}{GAP}{visible(one.title or '')}".rstrip())
    if len(moved.tasks) > MOST_LISTED:
        yield f"{GAP}… {len(moved.tasks) - MOST_LISTED} more"
