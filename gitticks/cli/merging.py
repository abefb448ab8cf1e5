"""What commands do after a person approved: the merge in the foreground, unless a run does it, told line by line."""

from __future__ import annotations

from gitticks.actions.context import Context
from gitticks.cli.render import hint
from gitticks.cli.writing import print_change
from gitticks.errors import Exit
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Task


def finish_approval(context: Context, task: Task, words: str, *, is_left: bool, as_json: bool) -> int:
    """Says what became of a task, and merges it now if it is approved; returns the exit code.

    Args:
        context: where we are.
        task: the task after the verdict.
        words: what became of it, if there is nothing to merge.
        is_left: leave a merge to a run or `gt merge`.
        as_json: print the task as JSON, once, at the end.
    """
    if not task.is_merging:
        print_change(context, task.id, words, as_json=as_json)
        if task.status is Status.REVIEWING and task.awaiting is Awaiting.WORK and not as_json:
            hint(
                f"`git merge {task.branch}` on `{task.base}` is yours to do, and `gt status` then closes the task"
            )
        return Exit.DONE
    from gitticks.actions.verdict import merge_approved

    merged = None if is_left else merge_approved(context, task.id)
    if merged is None:
        print_change(context, task.id, "approved; merging", as_json=as_json)
        if not as_json:
            hint(
                "`gt status` shows it"
                if not is_left
                else f"`gt merge {task.id}` merges it, or the next `gt run`"
            )
        return Exit.DONE
    if as_json:
        print_change(context, task.id, "", as_json=True)
        return Exit.DONE if merged.is_done else Exit.FAILED
    for line in merged.lines:
        print_change(context, task.id, line, as_json=False)
    if not merged.is_done:
        hint(f"`gt merge {task.id}` tries again" if merged.is_waiting else f"`gt show {task.id}`")
    return Exit.DONE if merged.is_done else Exit.FAILED
