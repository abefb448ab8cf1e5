"""Takes up what a person put beside a task on the board, and says of other files there why they stay.

Files in a task's folder are committed as the person's. Settings and templates decide what runs and who is asked, so,
like a verdict, they count once they are committed. What gitticks does not know belongs to somebody else.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.board.edits import LARGEST_BYTES
from gitticks.board.skip_reasons import (
    BACK,
    LEFT_ALONE,
    REFUSED,
    Left,
    committing,
    conflict,
    on_board,
    refused,
)
from gitticks.errors import DocumentError, GitticksError, LostRaceError
from gitticks.model.ids import BOARD_FOLDER, TaskId, task_folder, task_path
from gitticks.store.layout import (
    CHECKPOINTS_FOLDER,
    CONFIG_PATH,
    PROMPTS_FOLDER,
    ROUNDS_FOLDER,
    TASK_FILE,
    WORKLOG_FILE,
    task_around,
)

if TYPE_CHECKING:
    from gitticks.board.edits import SavedEdit
    from gitticks.store.transaction import Transaction

_MOST_NAMED = 3
_HALF_DONE = (".tmp", ".bak", ".orig", ".rej", ".part", ".crdownload", ".refused")
_RECORDS = (f"{ROUNDS_FOLDER}/", f"{CHECKPOINTS_FOLDER}/", WORKLOG_FILE)
"""What gitticks writes of a task's past."""


def place_of(path: str) -> str:
    """Returns how a file that is nobody's here is named: by the hidden folder that it lies in, else by its path."""
    names = path.split("/")
    hidden = next((at for at, name in enumerate(names[:-1], 1) if name.startswith(".")), None)
    return path if hidden is None else "/".join(names[:hidden]) + "/"


def why_left(edit: SavedEdit) -> Left | None:
    """Returns why a file that is no task's own stays as it is; None for one that is to be taken up."""
    if edit.is_conflict:
        return conflict(edit)
    if is_team_file(edit.path):
        return _why_not_yet(edit)
    task_id = task_around(edit.path)
    if not edit.is_plain:
        return Left(f"{LEFT_ALONE}it is no plain file")
    if task_id is None or _is_foreign(edit.path):
        return _foreign(edit)
    if edit.content is None and not edit.is_large:
        return _gone(edit.path)
    if edit.path.removeprefix(f"{task_folder(task_id)}/").startswith(_RECORDS):
        back = "" if edit.base is None else f"; `{on_board(BACK, edit.path)}` puts it back"
        return Left(f"{LEFT_ALONE}gitticks writes that itself, {_shared(edit)}{back}")
    if edit.is_large:
        return Left(f"{LEFT_ALONE}it is larger than {LARGEST_BYTES // 1_000_000} MB, {_shared(edit)}")
    return Left(f"{LEFT_ALONE}it is executable, {_shared(edit)}") if edit.is_executable else None


def _is_foreign(path: str) -> bool:
    names = path.split("/")
    return any(name.startswith(".") for name in names) or path.endswith(_HALF_DONE)


def _foreign(edit: SavedEdit) -> Left:
    if edit.content is None and not edit.is_large:
        return _gone(edit.path)
    return Left(f"{LEFT_ALONE}it is no file of gitticks, {_shared(edit)}")


def _shared(edit: SavedEdit) -> str:
    if edit.base is not None:
        return f"{committing(edit.path, is_new=False)} shares it"
    return f"`{on_board('add', place_of(edit.path))}` and a commit share it"


def _gone(path: str) -> Left:
    return Left(
        f"removed, not committed: `{on_board(BACK, path)}` brings it back, "
        f"{committing(path, is_new=False)} removes it"
    )


def _why_not_yet(edit: SavedEdit) -> Left:
    """Returns that settings and templates count once they are committed, or what is wrong with them."""
    if not edit.is_plain or edit.is_large:
        return Left(f"{REFUSED}it is {'too large' if edit.is_plain else 'no plain file'}")
    if edit.content is None:
        return _gone(edit.path)
    try:
        check_team_file(edit.path, edit.content)
    except GitticksError as error:
        return refused(error, edit.path)
    return Left(f"edited, counts once it is committed: {committing(edit.path, is_new=edit.base is None)}")


def is_team_file(path: str) -> bool:
    """True for settings and templates."""
    return path == CONFIG_PATH or path.startswith(f"{PROMPTS_FOLDER}/")


def check_team_file(path: str, content: bytes, old: bytes | None = None) -> None:
    """Refuses settings that cannot be read, or that are for a newer gitticks, and a template that is broken.

    Args:
        path: the file's path on the state branch.
        content: what it holds.
        old: what it held before; then a setting that nothing acts on yet is refused as well if it is new.

    Raises:
        GitticksError: they are.
    """
    if path == CONFIG_PATH:
        from gitticks.document.frontmatter import decode
        from gitticks.document.settings import file_layer, require_writable

        layer = file_layer(decode(content, path))
        require_writable(layer)
        if old is not None and layer.unavailable:
            _refuse_new_unavailable(layer.unavailable, decode(old, path))
    elif path.endswith(".md"):
        from gitticks.document.frontmatter import decode
        from gitticks.runner.templates import check_template

        check_template(path.removeprefix(f"{PROMPTS_FOLDER}/"), decode(content, path))


def _refuse_new_unavailable(found: Mapping[tuple[str, ...], DocumentError], old: str) -> None:
    from gitticks.document.settings import file_layer

    try:
        known = frozenset(file_layer(old).unavailable)
    except DocumentError:
        known = frozenset[tuple[str, ...]]()
    for keys, error in found.items():
        if keys not in known:
            error.hint = "take it out of the file, then commit"
            raise error


def take_up_files(context: Context, edits: Iterable[SavedEdit]) -> Mapping[str, Left | None]:
    """Commits files in the folders of tasks that are on the branch, in one commit for each task.

    Returns:
        why each stays, by path; None for one that is committed.
    """
    from gitticks.board import board_checkout
    from gitticks.git.checkouts import converted_paths

    waiting = {edit.path: edit for edit in edits}
    checkout = board_checkout(context.repository)
    if not waiting or checkout is None:
        return {}
    results: dict[str, Left | None] = {
        path: Left(f"{LEFT_ALONE}git converts it, {_shared(waiting.pop(path))}")
        for path in converted_paths(checkout, list(waiting))
    }
    of_tasks: dict[TaskId, list[SavedEdit]] = {}
    for edit in waiting.values():
        task_id = task_around(edit.path)
        if task_id is not None:
            of_tasks.setdefault(task_id, []).append(edit)
    for task_id, files in of_tasks.items():
        results |= _take_up(context, task_id, files)
    return results


def _take_up(context: Context, task_id: TaskId, files: list[SavedEdit]) -> Mapping[str, Left | None]:
    def write(transaction: Transaction) -> list[str]:
        if transaction.read(task_path(task_id)) is None:
            return []
        taken = [edit for edit in files if transaction.read(edit.path) == edit.base]
        for edit in taken:
            transaction.write(edit.path, edit.content or b"")
        names = [edit.path.removeprefix(f"{task_folder(task_id)}/") for edit in taken]
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        actor = context.actor
        transaction.describe(
            f"{task_id}: {', '.join(names[:_MOST_NAMED])}{more}",
            [("Task", str(task_id)), ("Actor", f"{actor.kind.value} {actor.name}")],
        )
        return [edit.path for edit in taken]

    is_there = context.store.read(task_path(task_id)) is not None
    try:
        taken = context.store.transact(write, author=context.author)
    except LostRaceError:
        taken = []
    except GitticksError as error:
        return {edit.path: Left(refused(error, edit.path).words) for edit in files}
    return {
        edit.path: None if edit.path in taken else _not_now(edit, task_id, is_there=is_there)
        for edit in files
    }


def _not_now(edit: SavedEdit, task_id: TaskId, *, is_there: bool) -> Left:
    if is_there:
        return Left(f"{LEFT_ALONE}it has just changed; it is looked at again")
    named = task_path(task_id)
    if edit.path.lower() == named.lower():
        move = f"mv -n {BOARD_FOLDER}/{shlex.quote(edit.path)} {BOARD_FOLDER}/{named}"
        return Left(f"{REFUSED}a task's file is called `{TASK_FILE}`: `{move}`")
    return Left(f"{LEFT_ALONE}there is no task `{task_id}` yet; it is taken up with `{BOARD_FOLDER}/{named}`")
