"""`gt hook` and `gt merge-driver`, which git starts at each commit and for each file: each loads little."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from gitticks.actions.context import Context
from gitticks.board.step import WORKTREE_BOARD
from gitticks.cli.options import Command, command
from gitticks.cli.render import say
from gitticks.cli.text import as_called, visible
from gitticks.errors import Exit, GitticksError
from gitticks.git.repository_lookup import find_place_of_hook
from gitticks.model.ids import BOARD_FOLDER
from gitticks.model.status import Verdict
from gitticks.runner.liveness import takes_work_at

if TYPE_CHECKING:
    from gitticks.actions.hook_followup import FollowedUp
    from gitticks.board.skip_reasons import Problem

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_CHECKS = ("pre-commit", "pre-merge-commit", "pre-applypatch")
_PUSHES = ("pre-push", "pre-receive")
_PERMISSION = "permission"
_ON_BOARD = f"git -C {BOARD_FOLDER} "
_NAMES = (_PERMISSION, *_CHECKS, *_PUSHES, "post-commit", "post-merge", "post-checkout", "post-rewrite")


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
        from gitticks.cli.permission_hook import answer_hook

        return answer_hook(list(arguments))
    context = _where_git_works(context)
    if name in _CHECKS:
        from gitticks.actions.hook_checks import check_commit, check_merge

        problems = check_commit(context) if name == "pre-commit" else check_merge(context)
        # Git calls its hooks in the board, wherever the commit was typed: only a whole path is right there too.
        board = f"git -C {quote(str(context.directory))} "
        return _refuse(
            tuple(one._replace(hint=(one.hint or "").replace(_ON_BOARD, board)) for one in problems)
        )
    if name in _PUSHES:
        from gitticks.actions.hook_history import check_push, check_receive

        lines = sys.stdin.buffer.read()
        return _refuse(check_push(context, lines) if name == "pre-push" else check_receive(context, lines))
    try:
        _follow(context, is_commit=name == "post-commit")
        if name == "post-rewrite" and arguments[:1] == ("amend",):
            from gitticks.actions.hook_followup import restore_trailers

            restore_trailers(context, sys.stdin.buffer.read())
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
    for problem in problems:
        place = f"{problem.path}: " if problem.path not in ("", ".") else ""
        say(f"error: {visible(place + problem.message)}", err=True)
        if problem.hint:
            say(f"  hint: {visible(problem.hint)}", err=True)
    return Exit.REFUSED if problems else Exit.DONE


def _follow(context: Context, *, is_commit: bool) -> None:
    if not is_commit:
        WORKTREE_BOARD.bring_in_step(context.repository)
        return
    from gitticks.actions.hook_followup import follow_commit
    from gitticks.actions.hook_history import check_pick, put_back_reverted

    put_back = put_back_reverted(context)
    _refuse(check_pick(context))  # it is made, so that this only tells
    for done in (*put_back, *follow_commit(context)):
        words = visible(_followed(context, done))
        say(f"{done.after.id}  {words}", err=done.refusal is not None)


def _followed(context: Context, done: FollowedUp) -> str:
    from gitticks.cli.writing import moved_words, returned_words

    after = done.after
    if done.refusal is not None:
        return done.refusal
    if done.before is None:
        return "created"
    if after.is_merging and not done.before.is_merging:
        how = as_called(
            "merging (`gt status` shows it)"
            if takes_work_at(context.repository.own_place)
            else f"`gt merge {after.id}` merges it"
        )
        return f"approved by {done.person}; {how}"
    if done.before.awaiting is not None and after.awaiting is None and after.is_open:
        what = "rejected" if done.verdict is Verdict.REJECTED else "answered"
        return f"{what} by {done.person}; {returned_words(context, after)}"
    return f"{moved_words(done.before, after)}, by {done.person}"


@click.command("merge-driver", cls=Command, examples=("gt merge-driver %O %A %B %L %P",))
@click.argument("base", type=_FILE)
@click.argument("ours", type=_FILE)
@click.argument("theirs", type=_FILE)
@click.argument("size", metavar="MARKER-SIZE")
@click.argument("path")
def merge_driver_command(base: Path, ours: Path, theirs: Path, size: str, path: str) -> int:  # noqa: ARG001 (git's, not needed)
    """Merge a task's file for git.

    `gt init` makes git call it if both sides changed a task. The result replaces OURS. What both sides changed
    differently is kept twice, marked; the task is then in conflict until a person chooses.
    """
    from gitticks.actions.merge_driver import merge_in_place

    try:
        notes = merge_in_place(base, ours, theirs, path, os.environ)
    except GitticksError as error:
        say(f"gitticks: {visible(error.message)}", err=True)
        return Exit.FAILED
    for note in notes:
        say(f"gitticks: {visible(f'{path}: {note}')}", err=True)
    return Exit.DONE
