"""A person's verdict on what a task is waiting for: approved, rejected, or an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitticks.actions.changing import describe_records, require_words, work_head
from gitticks.actions.context import Context
from gitticks.actions.update import add_note
from gitticks.errors import RefusedError
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry, Section, open_questions
from gitticks.model.status import ANSWERED, Awaiting, Status, Verdict
from gitticks.model.task import Task
from gitticks.store.index import open_index
from gitticks.workflow.triggers import NO_PROOF, Proof, Seen, VerdictGiven
from gitticks.workflow.verdicts import VERDICTS, Outcome

if TYPE_CHECKING:
    from gitticks.store.transaction import Transaction
    from gitticks.workflow.decision import Decision


@dataclass(frozen=True, slots=True)
class Judged:
    """A task before and after a verdict; `is_repeated` if the same approval was there already."""

    before: Task
    after: Task
    is_repeated: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """A task that waits for an answer, with the questions that nobody has answered.

    `said` is why it is stuck, or else what its agent said when it stopped; empty where questions say it.
    """

    task: Task
    questions: tuple[Entry, ...]
    said: str = ""


def look_at(context: Context, task_id: TaskId) -> Seen:
    """Returns what the giver of a verdict looks at now; a verdict holds for nothing else."""
    return seen_of(context.store.task_file(task_id).task)


def seen_of(task: Task) -> Seen:
    """Returns what there is to see of a task for the giver of a verdict."""
    return Seen(task.awaiting, task.asked_at, task.end_sha)


def approve_task(
    context: Context, task_id: TaskId, note: str | None, seen: Seen, proof: Proof = NO_PROOF
) -> Judged:
    """Approves what the task awaits; code is not merged by this, see `merge_approved`.

    An approval that is being or was carried out may be repeated; a note that comes with it is kept.
    """
    context.require_person("give a verdict")

    def write(transaction: Transaction) -> Judged:
        before = transaction.task_file(task_id).task
        if before.is_merging or before.status is Status.DONE:
            if note and note.strip():
                noted = add_note(context, transaction, task_id, note.strip())
                describe_records(transaction, task_id, [noted], context.actor)
            return Judged(before, before, is_repeated=True)
        given = VerdictGiven(context.actor, Verdict.APPROVED, note, seen=seen, proof=proof)
        return _give(context, transaction, before, given)

    return context.store.transact(write, author=context.author)


def wants_feedback(task: Task) -> bool:
    """True if a rejection returns the task to an agent, which needs to know what to change."""
    return task.awaiting is not None and VERDICTS[task.awaiting, Verdict.REJECTED] is Outcome.RETURN


def reject_task(context: Context, task_id: TaskId, feedback: str | None, seen: Seen) -> Judged:
    """Rejects what the task awaits."""
    context.require_person("give a verdict")
    given = VerdictGiven(context.actor, Verdict.REJECTED, feedback, seen=seen)
    return context.store.transact(
        lambda transaction: _give(context, transaction, transaction.task_file(task_id).task, given),
        author=context.author,
    )


def respond_to(context: Context, task_id: TaskId, text: str, seen: Seen) -> Judged:
    """Answers a task's question and gives it back to the agent, in one commit."""
    context.require_person("answer for a person")
    answer = require_words(text, "answer", f'gt respond {task_id} "…"')
    given = VerdictGiven(context.actor, Verdict.APPROVED, answer, is_response=True, seen=seen)

    def write(transaction: Transaction) -> Judged:
        before = transaction.task_file(task_id).task
        check_answerable(before)
        return _give(context, transaction, before, given)

    return context.store.transact(write, author=context.author)


def check_answerable(task: Task) -> None:
    """Refuses to answer where no answer is awaited."""
    if task.awaiting is Awaiting.WORK:
        raise RefusedError(f"`{task.id}` awaits work, not an answer", hint=f"`gt close {task.id}` closes it")
    if task.awaiting is None:
        hint = f'`gt note {task.id} "…"` adds a note' if task.is_open else f"`gt reopen {task.id}`"
        raise RefusedError(f"`{task.id}` is not waiting for an answer: it is {task.status}", hint=hint)
    if task.awaiting not in ANSWERED:
        raise RefusedError(
            f"`{task.id}` awaits {task.awaiting}, not an answer",
            hint=f'`gt approve {task.id} "…"` or `gt reject {task.id} "…"`',
        )


def waiting_for_answers(context: Context) -> tuple[Waiting, ...]:
    """Returns every task that waits for an answer, most urgent and oldest question first."""
    with open_index(context.repository) as index:
        tasks = [task for task in index.awaiting() if task.awaiting in ANSWERED]
    tasks.sort(key=lambda task: (task.priority, task.asked_at.isoformat() if task.asked_at else "", task.id))
    return tuple(waiting_for_answer(context, task.id) for task in tasks)


def waiting_for_answer(context: Context, task_id: TaskId) -> Waiting:
    """Returns one task with its open questions, whatever it awaits."""
    file = context.store.task_file(task_id)
    questions = open_questions(file.entries(Section.QUESTIONS))
    return Waiting(file.task, questions, "" if questions else _said(context, task_id))


def _said(context: Context, task_id: TaskId) -> str:
    from gitticks.actions.stop_reasons import said_of

    with open_index(context.repository) as index:
        task = index.find(task_id)
        return "" if task is None else said_of(index, task)


def _give(context: Context, transaction: Transaction, before: Task, given: VerdictGiven) -> Judged:
    from gitticks.store.decisions import Circumstances, carry_out

    # No agent reviews what a person has judged, so nobody asks which agents there are.
    head = work_head(context, before)
    circumstances = Circumstances(context.now, context.settings, context.world.random_number, head)
    carry_out(transaction, before.id, given, circumstances)
    return Judged(before, transaction.task_file(before.id).task)


@dataclass(frozen=True, slots=True)
class MergedNow:
    """The result of a merge in the foreground: done, waiting with nothing changed, or sent back; `lines` describe it."""

    lines: tuple[str, ...]
    is_done: bool
    is_waiting: bool = False


def merge_approved(context: Context, task_id: TaskId) -> MergedNow | None:
    """Merges an approved task in the foreground; None where a run is alive, which merges it."""
    from gitticks.actions.run import merge_task, merged_words, runner_merges

    if runner_merges(context):
        return None
    try:
        result = merge_task(context, task_id)
    except RefusedError:
        task = context.store.task_file(task_id).task
        if task.status is not Status.DONE or task.merged_sha is None:
            raise
        # a run merged it, and ended meanwhile
        return MergedNow((merged_words(task.base, task.merged_sha, ""), "done"), is_done=True)
    task = context.store.task_file(task_id).task
    if result.waits is not None:
        return MergedNow((f"approved; the merge waits: {result.waits}",), is_done=False, is_waiting=True)
    if result.offered is not None:
        return MergedNow((f"approved; its pull request: {result.offered}",), is_done=True)
    if task.status is Status.DONE:
        merged = (merged_words(task.base, result.sha, result.tested),) if result.sha else ()
        return MergedNow((*merged, "done"), is_done=True)
    return MergedNow((f"not merged, {task.status} again: {_reason(result.decision)}",), is_done=False)


def _reason(decision: Decision | None) -> str:
    events = () if decision is None else decision.events
    reasons = [event.reason for event in events if event.reason and event.to_status is None]
    return reasons[0] if reasons else "its history says why"
