"""Finds the task that a person named, after applying what they saved of it on the board."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from gitticks.actions.context import Context
from gitticks.actions.task_files import SavedTaskError, find_broken
from gitticks.board.checkout_state import may_have_been_saved
from gitticks.board.place import BoardError, board_path
from gitticks.errors import DocumentError, GitticksError
from gitticks.model.ids import BOARD_FOLDER, TaskId, task_path

CHARACTERS_TO_DECIDE = 3
"""So many characters of an id have to be typed for what cannot be taken back, such as a merge."""


def find_task(context: Context, text: str | None) -> TaskId:
    """Returns the task that a person named, and lets go of the index, which would keep the write that follows waiting.

    Raises:
        NotFoundError: there is no such task, or several begin so.
        UsageError: none was named and we are in no workspace.
    """
    with _released_index(context):
        return context.resolve(text)


def find_or_take_up_task(context: Context, text: str | None, *, least: int = 1) -> TaskId:
    """Returns the task that a person named as `find_task` does; one that is only saved on the board is applied.

    Not to be called within a transaction. What is saved there may be refused.
    """
    with _released_index(context):
        return _resolve_to_change(context, text, least)


def find_task_to_change(
    context: Context, text: str | None, *, may_be_broken: bool = False, least: int = 1
) -> TaskId:
    """Returns the task that a person named, after what was saved by hand in its file was applied.

    What could not be applied becomes a warning; a file that cannot be read an error, unless it `may_be_broken`.
    """
    with _released_index(context):
        task_id = _resolve_to_change(context, text, least)
        broken = None if may_be_broken else find_broken(context.index, task_id)
    left = None if context.world.in_session else _take_up(context, task_id)
    if broken is not None:
        try:
            context.store.task_file(task_id)
        except DocumentError:
            raise broken from None
    if left is not None:
        context.warnings.append(f"`{BOARD_FOLDER}/{task_path(task_id)}` is {left}")
    return task_id


def _take_up(context: Context, task_id: TaskId) -> str | None:
    """Applies what was saved in a task's file, and returns why it stays where it does; a damaged board is a warning."""
    try:
        if not may_have_been_saved(context.store, board_path(context.repository), task_path(task_id)):
            return None
        from gitticks.actions.saved_edits import take_up_saved

        return take_up_saved(context, task_id)
    except BoardError as error:
        context.warnings.append(error.message)
        return None


def find_tasks_to_decide(context: Context, texts: Sequence[str]) -> tuple[TaskId, ...]:
    """Returns the tasks that a person named, each once, in that order; all are looked up before anything is applied."""
    with _released_index(context):
        for text in texts:
            with suppress(SavedTaskError):
                context.resolve(text, least=CHARACTERS_TO_DECIDE)
    found = (find_task_to_change(context, text, least=CHARACTERS_TO_DECIDE) for text in texts)
    return tuple(dict.fromkeys(found))


def _resolve_to_change(context: Context, text: str | None, least: int = 1) -> TaskId:
    try:
        return context.resolve(text, least=least)
    except SavedTaskError as saved:
        with _released_index(context):  # it does not know the task
            pass
        return _take_up_new(context, saved.task_id)


def _take_up_new(context: Context, task_id: TaskId) -> TaskId:
    """Applies all that is saved, as one new task may name another, and returns the task that was meant."""
    from gitticks.actions.taking_up import take_up  # which loads what seldom is needed

    path = task_path(task_id)
    taken = take_up(context)
    if path in taken.left:
        raise GitticksError(
            f"`{BOARD_FOLDER}/{path}` is {taken.left[path]}", hint="fix the file, then run the command again"
        )
    return context.resolve(task_id)


@contextmanager
def _released_index(context: Context) -> Iterator[None]:
    try:
        yield
    finally:
        index = context.__dict__.pop("index", None)
        if index is not None:
            index.close()
