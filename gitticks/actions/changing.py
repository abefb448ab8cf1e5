"""What the use cases that change a task have in common: finding it, its branch's head, and writing a field's change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from gitticks.actions.context import Context
from gitticks.errors import DocumentError, RefusedError, UsageError
from gitticks.model.event import Actor, Event
from gitticks.model.ids import BOARD_FOLDER, TaskId, task_path
from gitticks.model.task import Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitticks.store.decisions import Circumstances
    from gitticks.store.hand_edits import HandEdit
    from gitticks.store.transaction import Transaction


def find_task(context: Context, text: str | None) -> TaskId:
    """Returns the task that a person named, and lets go of the index, which would keep the write that follows waiting.

    Raises:
        NotFoundError: there is no such task, or several begin so.
        UsageError: none was named and we are in no workspace.
    """
    with _released_index(context):
        return context.resolve(text)


def find_or_take_up_task(context: Context, text: str | None, *, least: int = 1) -> TaskId:
    """Returns the task that a person named as `find_task` does; one that is only saved on the board is taken up.

    Not to be called within a transaction.

    Raises:
        NotFoundError: there is no such task, or several begin so.
        UsageError: none was named and we are in no workspace.
        GitticksError: it is on the board, and what is saved there is refused.
    """
    with _released_index(context):
        return _resolve_to_change(context, text, least)


CHARACTERS_TO_DECIDE = 3
"""So many characters of an id have to be typed for what cannot be taken back, such as a merge."""


def find_task_to_change(
    context: Context, text: str | None, *, may_be_broken: bool = False, least: int = 1
) -> TaskId:
    """Returns the task that a person named, after what was saved by hand in its file was taken up.

    What could not be taken up becomes a warning.

    Raises:
        NotFoundError: there is no such task, or several begin so.
        UsageError: none was named and we are in no workspace, or fewer than the `least` characters of its id.
        GitticksError: its file cannot be read, and `may_be_broken` was not given.
    """
    from gitticks.actions.task_files import find_broken

    with _released_index(context):
        task_id = _resolve_to_change(context, text, least)
        broken = None if may_be_broken else find_broken(context.index, task_id)
    left = None if context.world.in_session else _take_up(context, task_id)
    if broken is not None and not _is_readable(context, task_id):
        raise broken
    if left is not None:
        context.warnings.append(f"`{BOARD_FOLDER}/{task_path(task_id)}` is {left}")
    return task_id


def _take_up(context: Context, task_id: TaskId) -> str | None:
    """Takes up what was saved in a task's file, and returns why it stays where it does; a damaged board is a warning."""
    from gitticks.board.checkout_state import may_have_been_saved
    from gitticks.board.place import BoardError

    try:
        if not may_have_been_saved(context.store, task_path(task_id)):
            return None
        from gitticks.actions.saved_edits import take_up_saved

        return take_up_saved(context, task_id)
    except BoardError as error:
        context.warnings.append(error.message)
        return None


def find_tasks_to_decide(context: Context, texts: Sequence[str]) -> tuple[TaskId, ...]:
    """Returns the tasks that a person named, each once, in that order; all are looked up before anything is taken up.

    Raises:
        NotFoundError: one of them is unknown, or several begin so.
        UsageError: one was named by too few characters.
        GitticksError: the file of one cannot be read.
    """
    from gitticks.actions.saved_tasks import SavedTaskError

    with _released_index(context):
        for text in texts:
            with suppress(SavedTaskError):
                context.resolve(text, least=CHARACTERS_TO_DECIDE)
    found = (find_task_to_change(context, text, least=CHARACTERS_TO_DECIDE) for text in texts)
    return tuple(dict.fromkeys(found))


def _resolve_to_change(context: Context, text: str | None, least: int = 1) -> TaskId:
    from gitticks.actions.saved_tasks import SavedTaskError, take_up_task

    try:
        return context.resolve(text, least=least)
    except SavedTaskError as saved:
        with _released_index(context):  # it does not know the task
            pass
        return take_up_task(context, saved)


def _is_readable(context: Context, task_id: TaskId) -> bool:
    try:
        context.store.task_file(task_id)
    except DocumentError:
        return False
    return True


@contextmanager
def _released_index(context: Context) -> Iterator[None]:
    try:
        yield
    finally:
        index = context.__dict__.pop("index", None)
        if index is not None:
            index.close()


def work_head(context: Context, task: Task) -> str | None:
    """Returns the commit that the task's branch is at; None where it has no branch."""
    from gitticks.git.refs import BRANCHES, read_ref

    return None if task.branch is None else read_ref(context.repository.common_dir, BRANCHES + task.branch)


def circumstances_of(context: Context, task: Task, *, checks_failure: str | None = None) -> Circumstances:
    """Returns what a decision about a task is made under, with the head of its branch."""
    from gitticks.store.decisions import Circumstances

    head = work_head(context, task)
    if context.store.read(task_path(task.id)) is None:
        # It comes into being in this very commit, so there is nothing yet that an agent could review.
        return Circumstances(context.now, context.settings, context.world.random_number, head, checks_failure)
    return context.circumstances(task, head=head, checks_failure=checks_failure)


def carry_out_edit(context: Context, transaction: Transaction, edit: HandEdit, actor: Actor) -> None:
    """Writes what somebody made of a task's file into the transaction, with the decisions that it asks for.

    Raises:
        RefusedError: a status, verdict or link is refused.
        NotFoundError: it names a parent or blocker that does not exist.
    """
    from gitticks.store.hand_edits import apply_hand_edit

    apply_hand_edit(transaction, edit, actor, context.now, lambda task: circumstances_of(context, task))


def require_words(text: str, what: str, example: str) -> str:
    """Returns a text without the white space around it.

    Raises:
        UsageError: nothing is left; the message names `what`, the hint holds `example`.
    """
    words = text.strip()
    if not words:
        raise UsageError(f"the {what} is empty", hint=f"`{example}`")
    return words


def refuse_closed(task: Task) -> None:
    """Refuses to change what only open tasks have.

    Raises:
        RefusedError: the task is done or cancelled.
    """
    if not task.is_open:
        raise RefusedError(f"`{task.id}` is {task.status} already", hint=f"`gt reopen {task.id}`")


class Record(NamedTuple):
    """Events that are no decision's, and how the commit's subject names them."""

    subject: str
    events: tuple[Event, ...]


def describe_records(
    transaction: Transaction, task_id: TaskId, records: Iterable[Record], actor: Actor
) -> None:
    """Says in the commit what was recorded; to be called after a decision, whose transition is the better subject."""
    for record in records:
        trailers = [("Task", str(task_id)), *(("Event", event.type.value) for event in record.events)]
        transaction.describe(
            f"{task_id}: {record.subject}", [*trailers, ("Actor", f"{actor.kind.value} {actor.name}")]
        )


def record(
    transaction: Transaction, task_id: TaskId, subject: str, events: Sequence[Event], actor: Actor
) -> None:
    """Appends events that are no decision's to the history, and says in the commit what they were."""
    transaction.append_events(task_id, events)
    describe_records(transaction, task_id, [Record(subject, tuple(events))], actor)
