"""Checks the board: that it exists, is on its branch and up to date, and has no files that cannot be applied."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from shlex import quote

from gitticks.actions.context import Context
from gitticks.actions.doctor import Finding, Repair, fault, note, warning
from gitticks.actions.doctor.machine import long_holder, showing_rights
from gitticks.actions.saved_edits import why_stuck
from gitticks.board.checkout_state import board_elsewhere, waiting_on_board
from gitticks.board.edits import renamed_folders, saved_edits
from gitticks.board.hooks import are_hooks_off, board_hooks_state, checkout_hooks_state, server_hooks_state
from gitticks.board.journal import PendingKind
from gitticks.board.judge_edit import Ruling, SavedEdit, judge_edit
from gitticks.board.place import (
    BoardError,
    board_checkout,
    is_on_state_branch,
    unwritable_folder,
)
from gitticks.board.skip_reasons import BACK, on_board
from gitticks.board.step import WORKTREE_BOARD, is_in_step, pending
from gitticks.errors import GitticksError, first_of
from gitticks.git.checkouts import Checkout, current_branch, is_in_place, linked_checkouts
from gitticks.git.config import find_own_hooks
from gitticks.git.disk import move_to_free_place
from gitticks.git.files import CheckoutFiles, NotPlainError
from gitticks.git.indexfile import read_entries
from gitticks.git.locks import WAIT_SECONDS
from gitticks.git.refs import read_ref, read_symbolic_ref
from gitticks.model.ids import BOARD_FOLDER
from gitticks.safe_read import read_plain_text
from gitticks.store import layout
from gitticks.store.hook_files import HooksState
from gitticks.store.merging.checkout import has_merge_driver

_MOST_NAMED = 3
_is_about_index = re.compile(r"/index: |index file|bad signature|bad index").search


def _is_of_task(edit: SavedEdit) -> bool:
    """True for a removed file of which a task consists, also in conflict; whoever wants a task gone cancels it."""
    return judge_edit(replace(edit, is_conflict=False)) in (Ruling.TASK_REMOVED, Ruling.ENGINE)


def put_back_removed(context: Context) -> None:
    """Moves renamed folders of tasks back, and writes the files of tasks that are gone as the branch has them."""
    checkout = board_checkout(context.repository)
    if checkout is None:
        return
    for wrong, home in renamed_folders(saved_edits(context.repository)).items():
        # What is staged alone has no other place.
        staged = checkout.git(["--literal-pathspecs", "ls-files", "-z", "--deleted", "--", wrong]).stdout
        checkout.git(["checkout-index", "--quiet", "-z", "--stdin"], input=staged, fenced=True)
        _move_files(checkout.path / wrong, checkout.path / home)
        removed = ["diff", "--cached", "--name-only", "-z", "--diff-filter=D", "--", home]
        gone = os.fsdecode(checkout.git(["--literal-pathspecs", *removed]).stdout).split("\0")[:-1]
        checkout.git(["--literal-pathspecs", "reset", "--quiet", "--", wrong, *gone])
    _write_gone(context, checkout, saved_edits(context.repository))
    WORKTREE_BOARD.bring_in_step(context.repository)


def _move_files(wrong: Path, home: Path) -> None:
    for folder, folders, names in os.walk(wrong, topdown=False):
        place = home / Path(folder).relative_to(wrong)
        place.mkdir(parents=True, exist_ok=True)
        for name in (*names, *(one for one in folders if Path(folder, one).is_symlink())):
            with contextlib.suppress(FileNotFoundError):
                move_to_free_place(Path(folder, name), str(place / name))
        with contextlib.suppress(OSError):  # something stays in it
            Path(folder).rmdir()


def _write_gone(context: Context, checkout: Checkout, edits: Iterable[SavedEdit]) -> None:
    files = CheckoutFiles.at(checkout.path, context.repository.own_dir, "doctor")
    written = []
    for edit in edits:
        content = context.store.read(edit.path) if edit.is_gone else None
        if content is not None and _is_of_task(edit):
            with contextlib.suppress(NotPlainError):  # a link to elsewhere stands in the place of its folder
                files.replace(edit.path, None, content)
                written.append(edit.path)
    known = read_entries(checkout.git_dir, written)
    staged = [path for path in written if not known.get(path)]  # was staged as gone
    if staged:
        checkout.git(["--literal-pathspecs", "reset", "--quiet", "--", *staged])


def check_board(context: Context) -> Iterator[Finding]:
    """Yields what is wrong with the board."""
    repository = context.repository
    if repository.project_dir is None:
        return
    checkout = board_checkout(repository)
    if checkout is None:
        yield _missing(context)
        return
    elsewhere = board_elsewhere(checkout)
    if elsewhere is not None:
        yield _elsewhere(checkout, *elsewhere)
        return
    folder = _unwritable(context, checkout)
    if folder is not None:
        what = f"`{folder}` cannot be written to, so the board cannot follow the state branch"
        yield warning(what, showing_rights(folder))
        return
    waiting = pending(repository)
    deferred = [f"`{path}`" for path, one in waiting.items() if one.kind is PendingKind.DEFERRED]
    if deferred or not (waiting or is_in_step(repository)):
        where = f" in {first_of(deferred, _MOST_NAMED)}" if deferred else ""
        yield warning(f"the board is behind the state branch{where}", "`gt doctor --fix`", Repair.STEP)


def _unwritable(context: Context, checkout: Checkout) -> Path | None:
    """Returns a folder that keeps the board alone from being written to; of the whole repository another check tells."""
    is_all = not os.access(context.repository.common_dir, os.W_OK)
    return None if is_all else unwritable_folder(checkout)


def check_saved(context: Context) -> Iterator[Finding]:
    """Yields what was done to files of the board by hand and cannot be applied: deleted, unreadable, no files.

    While a merge waits there, its files are no edits, and bringing the committed ones back would drop the other side.
    """
    checkout = board_checkout(context.repository)
    if checkout is None or not is_on_state_branch(checkout) or _unwritable(context, checkout):
        return  # what could not be written is no edit
    try:
        wait_seconds = 0.0 if long_holder(context) else WAIT_SECONDS
        edits = saved_edits(context.repository, wait_seconds=wait_seconds)
    except BoardError as error:
        yield _unusable(checkout, error)
        return
    waiting = waiting_on_board(checkout)
    if waiting is not None:
        yield warning(*waiting)
        return
    folders = renamed_folders(edits)
    for wrong, home in folders.items():
        what = f"{BOARD_FOLDER}/{wrong} is a renamed task folder: {BOARD_FOLDER}/{home} is missing"
        yield warning(what, "`gt doctor --fix` puts it back", Repair.FILES)
    said = tuple(f"{folder}/" for both in folders.items() for folder in both)
    odd = {_odd_place(checkout, edit.path) for edit in edits if not edit.is_plain and edit.base is not None}
    for place in sorted(odd):
        fix = f"`mv {BOARD_FOLDER}/{quote(place)} {BOARD_FOLDER}/{quote(f'{place}.old')} && {on_board(BACK, place)}`"
        what = f"{BOARD_FOLDER}/{place} stands in the place of what was committed"
        yield warning(what, f"{fix} restores that")
    yield from (
        one
        for edit in edits
        if edit.is_plain and not edit.path.startswith(said)
        for one in _saved(context, edit)
    )


def _odd_place(checkout: Checkout, path: str) -> str:
    """Returns the first part of a path that is no folder."""
    place = checkout.path
    for name in path.split("/"):
        place /= name
        if not stat.S_ISDIR(place.lstat().st_mode):
            break
    return str(place.relative_to(checkout.path))


def _saved(context: Context, edit: SavedEdit) -> Iterator[Finding]:
    """Yields why an edit is not applied, if a person has to do something about it."""
    left = why_stuck(context, edit)
    if left is None:
        return
    what, _, fix = left.words.partition("; ")
    if left.note is not None:  # something in the file is wrong
        back = "" if edit.base is None else f", or `{on_board(BACK, edit.path)}` restores the committed one"
        what, fix = left.words, f"fix it there{back}"
    repair = Repair.FILES if edit.is_gone and _is_of_task(edit) else None
    yield warning(f"{BOARD_FOLDER}/{edit.path}: {what}", fix or None, repair)


def _missing(context: Context) -> Finding:
    folder = context.repository.require_project_dir("the board") / BOARD_FOLDER
    what = f"there is no board at {BOARD_FOLDER}/"
    if not os.path.lexists(folder):
        moved = _moved_to(context, folder)
        if moved is not None:
            return fault(f"{what}: it was moved to `{moved[0]}`", f"`{moved[1]}`")
        return fault(what, "`gt doctor --fix`", Repair.BOARD)
    aside = Path(f"{folder}.old")
    steps = [f"mv {quote(str(folder))} {quote(str(aside))}"]
    if (folder / ".git").is_file():  # else it would be a board that was moved
        steps.append(f"rm {quote(str(aside / '.git'))}")
    return fault(
        f"{what}: what is there is not a board, or its links to `{context.repository.common_dir}` are damaged",
        f"`{' && '.join([*steps, 'gt doctor --fix'])}` moves it aside and creates a new one",
    )


def _moved_to(context: Context, folder: Path) -> tuple[Path, str] | None:
    """Returns where a board went that a person moved, by git or not, and what moves it back; None if it is nowhere.

    Moved without git, it is looked for beside its old place only.
    """
    for one in linked_checkouts(context.repository):
        if current_branch(one) != layout.STATE_BRANCH:
            continue
        if one.path != folder and is_in_place(one):
            return one.path, f"git worktree move {quote(str(one.path))} {quote(str(folder))}"
        for pointer in sorted(folder.parent.glob("*/.git")):
            with contextlib.suppress(OSError, ValueError):
                text = read_plain_text(str(pointer)).strip()
                if Path(text.removeprefix("gitdir: ")) == one.git_dir:
                    return pointer.parent, f"mv {quote(str(pointer.parent))} {quote(str(folder))}"
    return None


def _elsewhere(checkout: Checkout, what: str, fix: str) -> Finding:
    named = read_symbolic_ref(checkout.git_dir, "HEAD")
    with contextlib.suppress(GitticksError):
        if (named or "").startswith("refs/") or (named is None and read_ref(checkout.git_dir, "HEAD")):
            return fault(what, fix)
    put = f"printf 'ref: {layout.STATE_REF}\\n' > {quote(str(checkout.git_dir / 'HEAD'))}"
    return fault(f"{what}: its HEAD is damaged", f"`{put}` puts it back")


def _unusable(checkout: Checkout, error: BoardError) -> Finding:
    if not _is_about_index(error.message):
        return fault(error.message)
    index = checkout.git_dir / "index"
    return fault(
        f"git cannot tell what was edited in {BOARD_FOLDER}/: {error.message}",
        f"`mv {quote(str(index))} {quote(f'{index}.damaged')} && git -C {BOARD_FOLDER} reset --quiet` "
        "recreates the index, and keeps every file",
    )


def check_hooks(context: Context) -> Iterator[Finding]:
    """Yields an error if a `git commit` on the board would not be checked, or what it asks for not be done."""
    own = find_own_hooks(context.repository)
    if own.is_missing:
        what = f"none of your own hooks run: `{own.named}`, which `core.hooksPath` names, is missing"
        yield warning(what, "create it (hook managers have a command for that), or unset it")
    state = board_hooks_state(context.repository)
    if state is HooksState.ABSENT and are_hooks_off(context.repository):
        what = "the board's hooks were uninstalled: commits there are not checked"
        yield note(what, "`gt hooks install` reinstalls them")
    elif state is HooksState.ABSENT:
        what = "the board has no hooks: commits there are not checked, and verdicts in them do nothing"
        yield fault(what, "`gt doctor --fix`", Repair.HOOKS)
    elif state is HooksState.BROKEN:
        what = "the board's hooks are incomplete, or their Python is missing"
        yield fault(what, "`gt doctor --fix`", Repair.HOOKS)
    elif state is HooksState.OUTDATED:
        yield warning("the board's hooks are from another version", "`gt doctor --fix`", Repair.HOOKS)
    elif state is HooksState.INSTALLED and not has_merge_driver(context.repository):
        what = "git merges tasks line by line in this clone, and may leave its markers in them"
        yield note(what, "`gt doctor --fix` makes it merge them by meaning", Repair.HOOKS)
    is_server = context.repository.project_dir is None
    others = server_hooks_state(context.repository) if is_server else checkout_hooks_state(context.repository)
    whose = "this server" if is_server else "your checkout"
    if others in (HooksState.BROKEN, HooksState.HIDDEN):
        yield warning(f"the hooks of {whose} do not work", "`gt hooks status` says why, and how to fix it")
    elif others is HooksState.OUTDATED:
        what = f"the hooks of {whose} are from another version"
        if is_server:
            yield warning(what, "`gt hooks install --server`")
        else:
            yield warning(what, "`gt doctor --fix`", Repair.HOOKS)
