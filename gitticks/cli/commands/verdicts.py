"""`gt approve`, `gt reject`, `gt respond`, `gt cancel`, `gt close` and `gt reopen`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

import click

from gitticks.actions.context import Context
from gitticks.actions.lifecycle import cancel_task, close_task, is_worked_on, reopen_task
from gitticks.actions.task_lookup import CHARACTERS_TO_DECIDE, find_task_to_change, find_tasks_to_decide
from gitticks.actions.verdict import (
    approve_task,
    check_answerable,
    look_at_turn,
    prove_approval,
    reject_task,
    rework_of,
    waiting_for_answer,
    wants_feedback,
)
from gitticks.cli.decisions import Decided, decide_each, merge_now, split_named, tasks_and_text
from gitticks.cli.editor import (
    answer,
    answer_every_question,
    answer_in_editor,
    answered_words,
    feedback_sheet,
    is_typed_to,
    typed_word,
    written_below,
)
from gitticks.cli.options import Completes, command, task_argument
from gitticks.cli.writing import moved_words, print_change, read_text, returned_words
from gitticks.errors import Exit, UsageError
from gitticks.model.ids import TaskId
from gitticks.model.notes import Section


def signing(function: Callable[..., int]) -> Callable[..., int]:
    """Adds the options that sign an approval."""
    key = click.option(
        "--key",
        metavar="FILE",
        shell_complete=Completes("file"),
        help="Sign the approval with this SSH key.",
    )
    sign = click.option(
        "--sign", is_flag=True, help="Sign the approval with the SSH key that git signs with."
    )
    return sign(key(function))


@command("approve", "gt approve k7f2", 'gt approve k7f2 "nice, thank you"', 'gt approve k7f2 m3xq -m "nice"')
@tasks_and_text("NOTE", completes="awaiting")
@click.option("--no-wait", is_flag=True, help="Leave the merge to a run or to `gt merge`.")
@signing
def approve_command(
    context: Context,
    *,
    words: tuple[str, ...],
    message: str | None,
    no_wait: bool,
    sign: bool,
    key: str | None,
) -> int:
    """Approve tasks, and merge them.

    You approve what a task is waiting for now; if that changes in the meantime, it is not approved. If
    `approvals.minimum` requires more than a name, you are asked on the terminal (L1), or it is signed (L2, L3).
    """
    context.require_person("give a verdict")
    ids, typed = split_named(context, words, message)
    seen = {task_id: look_at_turn(context, task_id) for task_id in ids}
    text = read_text(typed, "the note")

    def decide(task_id: TaskId) -> Decided:
        proof = prove_approval(context, task_id, typed_word, signs=sign, key=key)
        judged = approve_task(context, task_id, text, seen[task_id], proof)
        before, after = judged.before, judged.after
        if before == after and not after.is_merging:
            when = f" since {after.closed:%Y-%m-%d %H:%M} UTC" if after.closed is not None else ""
            return Decided(
                after, (f"done already{when}, {'your note was added' if text else 'nothing was changed'}",)
            )
        words = moved_words(before, after)
        if after.is_open:
            turn = f"; {returned_words(context, after)}"
            turn = turn if after.awaiting is None else f", awaits {after.awaiting}"
            words = f"approved{turn}"
        return merge_now(context, after, words, is_left=no_wait)

    return decide_each(context, ids, decide)


@command("reject", 'gt reject k7f2 "the test does not fail without the fix"')
@tasks_and_text("FEEDBACK", completes="awaiting")
@click.option("--no-feedback", is_flag=True, help="Send them back without feedback.")
def reject_command(
    context: Context, *, words: tuple[str, ...], message: str | None, no_feedback: bool
) -> int:
    """Send tasks back with feedback.

    Without FEEDBACK, your editor opens with the hand-off if this is a terminal; `-` reads it from stdin. Rejecting a question or escalation cancels the task.
    """
    context.require_person("give a verdict")
    ids, typed = split_named(context, words, message)
    seen = {task_id: look_at_turn(context, task_id) for task_id in ids}
    given = read_text(typed, "the feedback")
    if given and no_feedback:
        raise UsageError("feedback and `--no-feedback` cannot be used together", hint="use one of the two")
    asking = () if given or no_feedback else _asking(context, ids, can_ask=typed is None)

    def decide(task_id: TaskId) -> Decided:
        with _written(context, task_id) if task_id in asking else nullcontext() as text:
            after = reject_task(context, task_id, text or given, seen[task_id]).after
        if not after.is_open:
            return Decided(after, ("cancelled",))
        if (rework := rework_of(context, after)) is not None:
            return Decided(after, (f"rejected; its new task {rework} has your feedback",))
        with_what = " with your feedback" if text or given else ""
        return Decided(after, (f"rejected; {returned_words(context, after)}{with_what}",))

    return decide_each(context, ids, decide)


def _asking(context: Context, ids: tuple[TaskId, ...], *, can_ask: bool) -> tuple[TaskId, ...]:
    wanting = tuple(one for one in ids if wants_feedback(context.store.task_file(one).task))
    if wanting and not (can_ask and is_typed_to()):
        raise _missing(wanting[0])
    return wanting


def _missing(task_id: TaskId) -> UsageError:
    return UsageError(
        f"there is no feedback for the agent of `{task_id}`",
        hint=f'`gt reject {task_id} "…"` says what to change, `gt reject {task_id} --no-feedback` sends it back without feedback',
    )


@contextmanager
def _written(context: Context, task_id: TaskId) -> Iterator[str]:
    file = context.store.task_file(task_id)
    sheet = feedback_sheet(file.task, file.section(Section.HANDOFF) or "")
    with written_below(context, sheet, "FEEDBACK.md") as written:
        if not written:
            raise _missing(task_id)
        yield written


@command("respond", 'gt respond m3xq "Friendly, no exclamation marks."', "gt respond --all")
@task_argument(required=False, completes="awaiting")
@click.argument("text", required=False)
@click.option("--edit", "with_editor", is_flag=True, help="Write in your editor, starting with TEXT.")
@click.option("--all", "every", is_flag=True, help="Go through all open questions.")
def respond_command(
    context: Context, *, task: str | None, text: str | None, with_editor: bool, every: bool
) -> int:
    """Answer a task's question.

    Without TEXT, your editor opens with the question and its context; `-` reads the answer from stdin. The answer
    gives the task back to its agent. With --all, each question is asked in turn on the terminal, or with --edit in
    your editor; an empty answer skips a question.
    """
    context.require_person("answer for a person")
    if every:
        if task is not None:
            raise UsageError("`--all` goes through all questions and takes no ID", hint="`gt respond --all`")
        if not with_editor and not is_typed_to():
            raise UsageError(
                "`--all` asks on a terminal, and stdin is not one",
                hint='`gt respond --all --edit` asks in your editor, `gt respond ID "…"` answers one',
            )
        return answer_every_question(context, with_editor=with_editor)
    if task is None:
        raise UsageError("no task was named", hint="`gt list --awaiting` shows which tasks ask")
    waiting = waiting_for_answer(context, find_task_to_change(context, task, least=CHARACTERS_TO_DECIDE))
    check_answerable(waiting.task)
    given = read_text(text, "the answer")
    if given is None or with_editor:
        after = answer_in_editor(context, waiting, (given or "").strip())
    else:
        after = answer(context, waiting, given)
    if after is None:
        hint = f'`gt respond {waiting.task.id} "…"`'
        raise UsageError("the answer is empty, nothing was changed", hint=hint)
    print_change(context, after.id, answered_words(context, after))
    return Exit.DONE


@command("cancel", 'gt cancel k7f2 "the page is gone"')
@tasks_and_text("REASON")
def cancel_command(context: Context, *, words: tuple[str, ...], message: str | None) -> int:
    """Give up on tasks.

    An agent that works on one is stopped. Their files and branches stay; `gt reopen` brings them back.
    """
    context.require_person("cancel a task")
    ids, typed = split_named(context, words, message)
    reason = read_text(typed, "the reason")

    def decide(task_id: TaskId) -> Decided:
        moved = cancel_task(context, task_id, reason)
        return Decided(moved.after, ("cancelled",))

    return decide_each(context, ids, decide)


@command("close", 'gt close k7f2 "fixed by hand in 3f2a91c"')
@tasks_and_text("REASON")
@click.option("--stop", is_flag=True, help="Stop an agent that is working on it.")
@click.option("--no-wait", is_flag=True, help="Leave the merge to a run or to `gt merge`.")
@signing
def close_command(
    context: Context,
    *,
    words: tuple[str, ...],
    message: str | None,
    stop: bool,
    no_wait: bool,
    sign: bool,
    key: str | None,
) -> int:
    """Close tasks that you completed yourself.

    Commits on their branches are merged as if they had been approved. If an agent is working on one, you are asked
    whether to stop it; without a terminal, use --stop.
    """
    context.require_person("close a task")
    ids, typed = split_named(context, words, message)
    reason = read_text(typed, "the reason")
    stopped = ids if stop else tuple(one for one in ids if _is_to_be_stopped(context, one))

    def decide(task_id: TaskId) -> Decided:
        moved = close_task(
            context,
            task_id,
            reason,
            stops_agent=task_id in stopped,
            proof=lambda: prove_approval(context, task_id, typed_word, signs=sign, key=key, closes=True),
        )
        return merge_now(context, moved.after, moved_words(moved.before, moved.after), is_left=no_wait)

    return decide_each(context, ids, decide)


def _is_to_be_stopped(context: Context, task_id: TaskId) -> bool:
    """Asks whether an agent that works on a task is to be stopped, where there is one and somebody to ask."""
    if not is_typed_to() or not is_worked_on(context, task_id):
        return False
    question = f"An agent is working on `{task_id}`. Stop it, and close the task with what it has committed?"
    return click.confirm(question, default=False, err=True)


@command("reopen", "gt reopen k7f2")
@task_argument(many=True, name="tasks", completes="closed")
def reopen_command(context: Context, *, tasks: tuple[str, ...]) -> int:
    """Reopen closed tasks.

    They start over as pending; their hand-offs and reviews are kept in `rounds/`.
    """
    context.require_person("reopen a task")

    def decide(task_id: TaskId) -> Decided:
        moved = reopen_task(context, task_id)
        return Decided(moved.after, (moved_words(moved.before, moved.after),))

    return decide_each(context, find_tasks_to_decide(context, tasks), decide)
