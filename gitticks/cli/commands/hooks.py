"""`gt hooks`, and `gt hook` that the git hooks call."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gitticks.actions.context import Context
from gitticks.actions.hook_checks import check_commit, check_merge
from gitticks.actions.hooks import (
    HooksStatus,
    Place,
    PlaceOfHooks,
    hooks_status,
    install_hooks,
    uninstall_hooks,
)
from gitticks.board.skip_reasons import Problem
from gitticks.cli.json import print_object
from gitticks.cli.options import Group, command
from gitticks.cli.permission_hook import answer_hook
from gitticks.cli.render import say, screen, warn
from gitticks.cli.table import table
from gitticks.cli.text import as_called, visible
from gitticks.cli.writing import agent_name, moved_words
from gitticks.errors import Exit, GitticksError, UsageError
from gitticks.git.config import OwnHooks
from gitticks.git.repository_lookup import find_place_of_hook
from gitticks.store.hook_files import HooksState

if TYPE_CHECKING:
    from gitticks.actions.hook_followup import FollowedUp
_CHECKS = ("pre-commit", "pre-merge-commit", "pre-applypatch")
_PUSHES = ("pre-push", "pre-receive")
_PERMISSION = "permission"
_NAMES = (_PERMISSION, *_CHECKS, *_PUSHES, "post-commit", "post-merge", "post-checkout", "post-rewrite")


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
def install_command(context: Context, *, checkout: bool, server: bool, as_json: bool) -> None:
    """Install or update the hooks of the board and the workspaces.

    Your own hooks stay and run first, also with `core.hooksPath` and hook managers.
    """
    if checkout and server:
        raise UsageError("a server has no checkout", hint="use either `--checkout` or `--server`")
    _show(install_hooks(context, checkout=checkout, server=server), as_json=as_json)


@command("uninstall", "gt hooks uninstall", "gt hooks uninstall --checkout", of=hooks_command)
@click.option("--checkout", is_flag=True, help="Remove only those of your main checkout.")
def uninstall_command(context: Context, *, checkout: bool, as_json: bool) -> None:
    """Remove all hooks, and restore your own as they were.

    They are not reinstalled until `gt hooks install`.
    """
    for warning in uninstall_hooks(context, checkout=checkout):
        warn(visible(warning))
    _show(hooks_status(context), as_json=as_json)


@command("status", "gt hooks status", of=hooks_command)
def status_command(context: Context, *, as_json: bool) -> None:
    """Show where hooks are installed, and whether they and your own can run."""
    _show(hooks_status(context), as_json=as_json)


def _show(status: HooksStatus, *, as_json: bool) -> None:
    if as_json:
        own = status.own
        found = {"folder": own.folder, "named": own.named, "missing": own.is_missing}
        print_object(hooks=status.places, own=found)
        return
    rows = [(place.place.value, _count(place), _advice(place)) for place in status.places]
    rows.append(("your own", *_own(status.own)))
    say(*table(screen(), ("where", "hooks", ""), rows, flexible=""))


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
    why = "`core.hooksPath` was set since" if place.state is HooksState.HIDDEN else "incomplete or old"
    return as_called(f"{why}: `gt hooks install{option}`")


@command("hook", "gt hook pre-commit", with_json=False)
@click.argument("name", type=click.Choice(_NAMES))
@click.argument("arguments", nargs=-1)
def hook_command(context: Context, *, name: str, arguments: tuple[str, ...]) -> int:
    """Called by the git hooks.

    On the board: files and status changes are checked before a commit, and carried out after it. Where
    state branches are pushed from or to: what is pushed is judged as `gt doctor --range` does. `permission` is what
    the clients of agents call before they use a tool: it asks the run that started them.
    """
    if name == _PERMISSION:
        return answer_hook(list(arguments))
    context = _where_git_works(context)
    if name in _CHECKS:
        return _refuse(check_commit(context) if name == "pre-commit" else check_merge(context))
    if name in _PUSHES:
        from gitticks.actions.hook_history import check_push, check_receive

        lines = sys.stdin.buffer.read()
        return _refuse(check_push(context, lines) if name == "pre-push" else check_receive(context, lines))
    try:
        _follow(context, is_commit=name == "post-commit")
        if name == "post-merge":
            from gitticks.actions.merges_by_hand import notice_merges
            from gitticks.cli.views.tasks import merged_lines

            say(*merged_lines(notice_merges(context)))
    except GitticksError as error:
        # The commit is made; whatever is wrong is said, and fixed by the next command.
        say(f"gitticks: {visible(error.message)}", err=True)
    return Exit.DONE


def _where_git_works(context: Context) -> Context:
    """Returns the context of the worktree that git called the hook for, wherever it was called."""
    place = find_place_of_hook(str(context.directory), context.world.environment)
    if place is None:
        return context
    there = Context(context.world.elsewhere(), Path(place), context.overrides)
    there.warnings = context.warnings  # which are told at the end
    return there


def _refuse(problems: tuple[Problem, ...]) -> int:
    """Says what speaks against it, and returns the exit code."""
    for problem in problems:
        place = f"{problem.path}: " if problem.path not in ("", ".") else ""
        say(f"error: {visible(place + problem.message)}", err=True)
        if problem.hint:
            say(f"  hint: {visible(problem.hint)}", err=True)
    return Exit.REFUSED if problems else Exit.DONE


def _follow(context: Context, *, is_commit: bool) -> None:
    from gitticks.actions.hook_followup import follow_commit, refresh_board
    from gitticks.actions.hook_history import check_pick, put_back_reverted

    if not is_commit:
        refresh_board(context)
        return
    put_back = put_back_reverted(context)
    _refuse(check_pick(context))  # it is made, so that this only tells
    for done in (*put_back, *follow_commit(context)):
        words = visible(_followed(context, done))
        say(f"{done.after.id}  {words}", err=done.refusal is not None)


def _followed(context: Context, done: FollowedUp) -> str:
    after = done.after
    if done.refusal is not None:
        return done.refusal
    if done.before is None:
        return "created"
    if after.is_merging and not done.before.is_merging:
        from gitticks.actions.run import is_run_alive

        how = as_called(
            "merging (`gt status` shows it)"
            if is_run_alive(context.repository)
            else f"`gt merge {after.id}` merges it"
        )
        return f"approved by {done.person}; {how}"
    if done.before.awaiting is not None and after.awaiting is None and after.is_open:
        return f"answered by {done.person}; back to {agent_name(context, after)}"
    return f"{moved_words(done.before, after)}, by {done.person}"
