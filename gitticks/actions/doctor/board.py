"""Checks the board: that it exists, is on its branch and up to date, and has no files that cannot be applied."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import quote

from gitticks.actions.context import Context
from gitticks.actions.doctor import Finding, Repair, fault, note, warning
from gitticks.actions.doctor.machine import long_holder, showing_rights
from gitticks.actions.saved_edits import refusal_of
from gitticks.board.checkout_state import REFUSED, board_elsewhere, waiting_on_board
from gitticks.board.edits import renamed_folders, saved_edits
from gitticks.board.hooks import are_hooks_off, board_hooks_state, checkout_hooks_state, server_hooks_state
from gitticks.board.journal import PendingKind, is_inside
from gitticks.board.judge_edit import SavedEdit
from gitticks.board.lost_pull import left_by_pull
from gitticks.board.place import (
    BoardError,
    board_checkout,
    is_on_state_branch,
    unwritable_folder,
)
from gitticks.board.skip_reasons import BACK, joining, on_board
from gitticks.board.step import WORKTREE_BOARD, is_in_step, pending
from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout, changed_paths, current_branch, is_in_place, linked_checkouts
from gitticks.git.config import find_own_hooks
from gitticks.git.disk import move_to_free_place
from gitticks.git.files import CheckoutFiles, NotPlainError
from gitticks.git.indexfile import RESOLVED, IndexEntry, hold_index_lock, read_entries, write_entries
from gitticks.git.locks import WAIT_SECONDS
from gitticks.git.process import GitError
from gitticks.git.refs import is_object_id, read_symbolic_ref
from gitticks.model.ids import BOARD_FOLDER
from gitticks.safe_read import read_plain_text
from gitticks.store import layout
from gitticks.store.hook_files import HooksState
from gitticks.store.layout import HISTORY_FILE, TASK_FILE, task_around

_is_about_index = re.compile(r"/index: |index file|bad signature|bad index").search


def is_never_removed(path: str) -> bool:
    """True for the files of which a task consists; whoever wants a task gone cancels it."""
    return task_around(path) is not None and path.split("/")[3:] in ([TASK_FILE], [HISTORY_FILE])


def put_back_removed(context: Context) -> None:
    """Moves renamed folders of tasks back, and writes the files of tasks that are gone as the branch has them."""
    checkout = board_checkout(context.repository)
    if checkout is None:
        return
    for wrong, home in renamed_folders(saved_edits(context.repository)).items():
        _move_files(checkout.path / wrong, checkout.path / home)
        _move_staged(context, checkout, wrong, home)
    _write_gone(context, checkout, saved_edits(context.repository))
    WORKTREE_BOARD.bring_in_step(context.repository)


def _move_files(wrong: Path, home: Path) -> None:
    for file in sorted(one for one in wrong.rglob("*") if not _is_folder(one)):
        target = home / file.relative_to(wrong)
        target.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            move_to_free_place(file, str(target))
    for folder in sorted((one for one in wrong.rglob("*") if _is_folder(one)), reverse=True):
        with contextlib.suppress(OSError):
            folder.rmdir()
    with contextlib.suppress(OSError):  # something stays in it
        wrong.rmdir()


def _move_staged(context: Context, checkout: Checkout, wrong: str, home: str) -> None:
    """Lets the index have in a task's own folder what was staged in the renamed one, unless something else is there."""
    listed = checkout.git(["--literal-pathspecs", "ls-files", "-z", "--", wrong])
    homes = {path: home + path.removeprefix(wrong) for path in os.fsdecode(listed.stdout).split("\0")[:-1]}
    with hold_index_lock(checkout.git_dir) as is_held:
        entries = read_entries(checkout.git_dir, [*homes, *homes.values()])
        moved: dict[str, tuple[IndexEntry, ...]] = {}
        for path, place in homes.items():
            staged, there = (entries.get(one, {}).get(RESOLVED) for one in (path, place))
            committed = context.store.read(place)
            is_free = there is None or (
                committed is not None and there.object_id == context.store.objects.blob_id(committed)
            )
            if staged is not None and is_free:
                moved |= {path: (), place: (staged._replace(path=place),)}
        if is_held:
            write_entries(checkout.git_dir, moved, context.store.tip())


def _is_folder(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()


def _write_gone(context: Context, checkout: Checkout, edits: Iterable[SavedEdit]) -> None:
    files = CheckoutFiles.at(checkout.path, context.repository.own_dir, "doctor")
    written = []
    for edit in edits:
        content = context.store.read(edit.path) if edit.content is None else None
        if content is not None and is_never_removed(edit.path):
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
    if left_by_pull(repository, checkout):
        yield warning(
            "a pull on the board lost a race to a command and left files behind, which block the next pull",
            "`gt doctor --fix` removes them; then pull again",
            Repair.PULL,
        )
    waiting = pending(repository)
    for path, one in sorted(waiting.items()):
        what, place = (
            f"{BOARD_FOLDER}/{path} is not in step with the state branch ({one.kind})",
            checkout.path / path,
        )
        if one.kind is PendingKind.DEFERRED:
            yield warning(what, None, Repair.STEP)
        elif one.kind is PendingKind.CONFLICT and place.is_file() and not place.is_symlink():
            # What is gone is named with what was saved.
            yield warning(what, joining(path))
    if not waiting and not is_in_step(repository):
        yield warning("the board is behind the state branch", "`gt doctor --fix`", Repair.STEP)


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
        changes = changed_paths(checkout)
    except GitError as error:
        yield _unusable(checkout, error)
        return
    for path in changes.untracked:
        match path.split("/"):
            case [layout.TASKS_FOLDER, between, name] if layout.is_task_folder(between, name):
                place = quote(f"{BOARD_FOLDER}/{path}")
                yield warning(
                    f"{BOARD_FOLDER}/{path} is not a folder, but is where a task's folder belongs",
                    f"`mv {place} {place}.old && {on_board(BACK, path)}` restores the committed one",
                )
    waiting = waiting_on_board(checkout)
    if waiting is not None:
        yield warning(*waiting)
        return
    yield from _refused(context)
    for path in changes.changed:
        if is_inside(path):
            yield from _saved(context, checkout, path)
        else:
            yield warning(f"`{path}` is not a valid file name, but the board has it")


def _refused(context: Context) -> Iterator[Finding]:
    """Yields the tasks' files on the board that cannot be applied for what they say, and folders that were renamed."""
    try:
        wait_seconds = 0.0 if long_holder(context) else WAIT_SECONDS
        edits = saved_edits(context.repository, wait_seconds=wait_seconds)
    except BoardError:  # objects are damaged, which is found elsewhere
        return
    folders = renamed_folders(edits)
    for wrong, home in folders.items():
        what = f"{BOARD_FOLDER}/{wrong} is a renamed task folder: {BOARD_FOLDER}/{home} is missing"
        yield warning(what, "`gt doctor --fix` puts it back", Repair.FILES)
    renamed = tuple(f"{folder}/" for folder in folders)
    for edit in edits:
        left = None if edit.path.startswith(renamed) else refusal_of(context, edit)
        if left is not None and not edit.is_conflict:
            back = f"`{on_board(BACK, edit.path)}` restores the committed one"
            yield warning(
                f"a saved edit on the board was refused: {BOARD_FOLDER}/{edit.path}: "
                f"{left.words.removeprefix(REFUSED)}",
                f"fix it there, or {back}" if edit.base is not None else "fix it there",
            )


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
    try:
        head = (checkout.git_dir / "HEAD").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        head = ""
    if is_object_id(head) or (named or "").startswith("refs/"):
        return fault(what, fix)
    put = f"printf 'ref: {layout.STATE_REF}\\n' > {quote(str(checkout.git_dir / 'HEAD'))}"
    return fault(f"{what}: its HEAD is damaged", f"`{put}` puts it back")


def _unusable(checkout: Checkout, error: GitticksError) -> Finding:
    if "config.worktree" in error.message:
        file = checkout.git_dir / "config.worktree"
        fix = f"`mv {quote(str(file))} {quote(f'{file}.damaged')} && gt doctor --fix` recreates it"
        return fault(f"the settings of the board are damaged: {error.message}", fix)
    if not _is_about_index(error.message):
        return fault(error.message, error.hint)
    index = checkout.git_dir / "index"
    aside = quote(f"{index}.damaged")
    return fault(
        f"git cannot tell what was edited in {BOARD_FOLDER}/: {error.message}",
        f"`mv {quote(str(index))} {aside} && git -C {BOARD_FOLDER} reset --quiet` recreates the index, and keeps "
        "every file",
    )


def _saved(context: Context, checkout: Checkout, path: str) -> Iterator[Finding]:
    shown, back = f"{BOARD_FOLDER}/{path}", on_board(BACK, path)
    try:
        content = CheckoutFiles.at(checkout.path, context.repository.own_dir, "board").read(path)
    except (NotPlainError, OSError):
        place = checkout.path
        for name in path.split("/"):  # the first part that is no folder is what is odd
            place /= name
            if not stat.S_ISDIR(place.lstat().st_mode):
                break
        odd = f"{BOARD_FOLDER}/{place.relative_to(checkout.path)}"
        fix = f"`mv {quote(odd)} {quote(f'{odd}.old')} && {back}` restores the committed one"
        yield warning(f"{shown} is not a regular file", fix)
        return
    # What the branch has no file of either is a link or the like.
    if content is None and context.store.read(path) is not None:
        is_ours = is_never_removed(path)
        what = f"{shown} was deleted on the board, which was not committed"
        what += ": tasks are cancelled, not deleted" if is_ours else ""
        yield warning(what, f"`{back}` puts it back", Repair.FILES if is_ours else None)


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
