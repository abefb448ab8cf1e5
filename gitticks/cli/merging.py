"""What commands say of a task that they decided on, with the merge in the foreground that an approval asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.cli.render import hint
from gitticks.cli.writing import print_change
from gitticks.errors import Exit
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gitticks.model.ids import TaskId


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a task: `lines` of words that follow its id, the next command, and the exit code."""

    task: Task
    lines: tuple[str, ...]
    hint: str | None = None
    code: int = Exit.DONE


def finish_approval(context: Context, task: Task, words: str, *, is_left: bool, as_json: bool) -> int:
    """Merges a task now if it is approved, and says what became of it, as `merge_now`; returns the exit code."""
    return print_decided(context, merge_now(context, task, words, is_left=is_left), as_json=as_json)


def merge_now(context: Context, task: Task, words: str, *, is_left: bool) -> Decided:
    """Merges a task if it is approved, unless a run does, and returns what became of it.

    Args:
        context: where we are.
        task: the task after the verdict.
        words: what became of it, if there is nothing to merge.
        is_left: leave a merge to a run or `gt merge`.
    """
    if not task.is_merging:
        is_by_hand = task.status is Status.REVIEWING and task.awaiting is Awaiting.WORK
        by_hand = (
            f"`git merge {task.branch}` on `{task.base}` is yours to do, and `gt status` then closes the task"
        )
        return Decided(task, (words,), by_hand if is_by_hand else None)
    from gitticks.actions.verdict import merge_approved

    merged = None if is_left else merge_approved(context, task.id)
    if merged is None:
        later = f"`gt merge {task.id}` merges it, or the next `gt run`" if is_left else "`gt status` shows it"
        return Decided(task, ("approved; merging",), later)
    if merged.is_done:
        return Decided(task, merged.lines)
    again = f"`gt merge {task.id}` tries again" if merged.is_waiting else f"`gt show {task.id}`"
    return Decided(task, merged.lines, again, Exit.FAILED)


def print_decided(context: Context, decided: Decided, *, as_json: bool) -> int:
    """Prints what became of a task, with its title, and returns the exit code."""
    if as_json:
        print_change(context, decided.task.id, "", as_json=True)
        return decided.code
    *before, last = decided.lines
    for line in (*before, f"{last} · {decided.task.title}"):
        print_change(context, decided.task.id, line, as_json=False)
    if decided.hint is not None:
        hint(decided.hint)
    return decided.code


def decide_each(
    context: Context, ids: Sequence[TaskId], decide: Callable[[TaskId], Decided], *, as_json: bool
) -> int:
    """Decides on tasks one after the other, each a change of its own, and says what became of each.

    One that fails keeps none of the others back; the exit code is that of the first failure.
    """
    if len(ids) == 1:
        return print_decided(context, decide(ids[0]), as_json=as_json)
    from gitticks.cli.failures import tell
    from gitticks.cli.render import PrintingError
    from gitticks.errors import GitticksError

    code: int = Exit.DONE
    unprinted: PrintingError | None = None
    done: list[TaskId] = []
    for task_id in ids:
        try:
            decided = decide(task_id)
            done.append(task_id)
            failed = decided.code if as_json else print_decided(context, decided, as_json=False)
        except PrintingError as error:
            unprinted = error  # the others are to be decided on all the same
            failed = decided.code
        except GitticksError as error:
            message = error.message if task_id in error.message else f"`{task_id}`: {error.message}"
            failed = tell(["--json"] if as_json else [], message, error.hint, error.exit_code)
        code = code or failed
    if unprinted is not None:
        raise unprinted
    if as_json:
        from gitticks.actions.derived_state import standing_now
        from gitticks.cli.json_output import print_tasks, task_text

        print_tasks(task_text(standing_now(context, task_id)) for task_id in done)
    return code
