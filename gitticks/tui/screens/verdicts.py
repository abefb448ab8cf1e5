"""Answering what awaits a person, from whatever place: a verdict carries what was shown, and holds for nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from gitticks.actions.inbox import Asked, with_changes
from gitticks.actions.permissions import answer_questions
from gitticks.cli.render import count_of
from gitticks.model.notes import Section
from gitticks.model.status import ANSWERED, Awaiting, Status
from gitticks.tui.screens import approving
from gitticks.tui.screens.approving import Policy
from gitticks.tui.screens.dialogs import DIALOG_WIDTH, Choice, Dialog
from gitticks.tui.theme import glyph
from gitticks.tui.widgets import tasks
from gitticks.tui.widgets.inbox import gist, review_words
from gitticks.tui.widgets.lines import Line, Lines, line
from gitticks.tui.widgets.markdown import wrapped
from gitticks.tui.widgets.review_rows import answers
from gitticks.workflow.permissions import rule_words

if TYPE_CHECKING:
    from gitticks.actions.changes import Changes
    from gitticks.actions.changing import Moved
    from gitticks.actions.context import Context
    from gitticks.actions.verdict import Waiting
    from gitticks.git.merges.history import DiffSummary
    from gitticks.model.ids import TaskId
    from gitticks.model.task import Task
    from gitticks.runner.questions import Question
    from gitticks.store.task_row import TaskRow
    from gitticks.tui.screens.base import View
    from gitticks.workflow.triggers import Seen

R = TypeVar("R")
_UNREAD_SECONDS = 0.7
"""A key so soon after a question came under the cursor was meant for what was there before."""


class Looked(NamedTuple):
    """What a task's work was when it was shown: a verdict holds for that alone."""

    seen: Seen
    changes: Changes | None
    handoff: str
    policy: Policy = Policy()

    @property
    def is_whole(self) -> bool:
        """False where code was handed off that was not compared in time."""
        return self.changes is not None or self.seen.head is None


def look_into(context: Context, entries: tuple[Asked, ...]) -> dict[str, Looked]:
    """Returns for entries of the inbox what a verdict would be about, and what the work changes."""
    from gitticks.actions.verdict import seen_of

    found: dict[str, Looked] = {}
    for one in with_changes(context, entries):
        file = context.store.task_file(one.standing.task.id)
        handoff, policy = file.section(Section.HANDOFF) or "", approving.policy_for(context, file.task)
        found[file.task.id] = Looked(seen_of(file), one.changes, handoff, policy)
    return found


def answer(view: View, asked: Asked, looked: Looked | None) -> None:
    """Lets a person answer an entry of the inbox, by the dialog or place that its kind needs.

    Where it was not looked into yet, that place reads it.
    """
    row = asked.standing.task
    is_stuck = row.status == Status.STUCK
    if row.awaiting is None or asked.standing.is_conflicted:
        view.gt.go("task", row.id)
    elif looked is None or (takes_verdict(asked) and not is_stuck) or view.gt.unsent.on(row.id):
        open_waiting(view, row.id)
    elif is_stuck:
        ask_direction(view, row, asked.said, lambda _: looked.seen)
    elif row.awaiting == Awaiting.WORK:
        ask_close(view, row, looked)
    else:
        ask_answer(view, asked, looked)


def open_waiting(view: View, task_id: str | None) -> None:
    """Opens the place or dialog where a task is answered or judged, if it waits for a person."""
    row = view.snapshot.find(task_id)
    asked = next((one for one in view.snapshot.inbox if one.standing.task.id == task_id), None)
    is_stuck = row is not None and row.awaiting is not None and row.status == Status.STUCK
    if row is not None and is_stuck and not view.gt.unsent.on(row.id):  # its page sends the comments
        from gitticks.actions.verdict import waiting_for_answer

        def ask(found: Waiting) -> None:
            if view.is_active:
                ask_direction(view, row, found.said, lambda _: found.seen)

        view.look_up(lambda context: waiting_for_answer(context, row.id), ask, view.gt.refuse)
    elif row is not None and row.awaiting is not None:
        view.gt.go("review", row.id)
    elif asked is not None:
        view.gt.go("task", asked.standing.task.id)
    elif row is not None:
        view.gt.say(f"{row.id} is not waiting for anyone")


def takes_verdict(asked: Asked) -> bool:
    """True if an entry is answered by yes or no, and not by words."""
    row = asked.standing.task
    return row.awaiting is not None and row.awaiting not in ANSWERED and row.awaiting != Awaiting.WORK


def can_refuse(asked: Asked) -> bool:
    """True if `n` has a meaning of its own for an entry, be it that there is nothing to reject."""
    return asked.standing.task.awaiting is not None and not asked.standing.is_conflicted


def ask_text(
    view: View,
    task_id: TaskId,
    dialog: Dialog,
    give: Callable[[Context, str], R],
    done: Callable[[R], str],
) -> None:
    """Asks for a text and gives it; the text is kept where it is refused. `done` returns what to say."""
    view.gt.ask(
        dialog,
        lambda text: view.gt.act(lambda context: give(context, text), done, task=task_id, text=text),
    )


def ask_answer(view: View, asked: Asked, looked: Looked) -> None:
    """Asks for the answer to a question, below the question."""
    from gitticks.actions.verdict import respond_to

    row = asked.standing.task
    rows: list[Line] = []
    for entry in asked.questions:
        rows += wrapped(entry.text, DIALOG_WIDTH, "*strong")
        rows += [line((f"{entry.name}, {tasks.age(entry.at, view.gt.now)} ago", "muted")), line()]
    if not asked.questions:
        rows += wrapped(asked.said or gist(asked), DIALOG_WIDTH, most=12)
    dialog = Dialog(f"{row.id}  {row.title}", rows, ask="your answer", do="answer", is_prose=True)
    ask_text(
        view,
        row.id,
        dialog,
        lambda context, text: respond_to(context, row.id, text, looked.seen),
        lambda _: f"{row.id} answered; back to {looked.policy.agent}",
    )


def ask_close(view: View, row: TaskRow, looked: Looked) -> None:
    """Asks whether the work that a person does is done."""
    from gitticks.actions.lifecycle import close_task

    policy = looked.policy
    follows = " and merges the commits in its workspace."
    if policy.branch and not policy.merges:
        follows = f". {approving.what_follows(policy, (), is_run_alive=view.snapshot.is_run_alive)}"
    rows = [
        line((f"{row.id} is waiting for your work.", "fg")),
        *wrapped(f"Closing it marks it as done{follows}", DIALOG_WIDTH, "muted"),
    ]
    dialog = (f"{row.id}  {row.title}", rows, "close as done")
    approving.confirm(
        view,
        row.id,
        dialog,
        policy.strength,
        lambda context, prove: close_task(context, row.id, None, seen=looked.seen, proof=prove),
    )


def ask_direction(
    view: View,
    row: TaskRow,
    said: str,
    seen: Callable[[Context], Seen],
    done: Callable[[], None] = lambda: None,
) -> None:
    """Asks what is to become of a task that no agent gets on with; calls `done` once that is decided.

    `seen` is called with the decision and returns what it is about.
    """
    from gitticks.actions import verdict

    rows = [
        *wrapped(said or "It is stuck.", DIALOG_WIDTH, most=8),
        line(),
        line("try again", right=[("back to its agent", "muted")], key="again"),
        line("try again, with a note", right=[("the agent reads it first", "muted")], key="note"),
        line("open it", right=[("its text and history", "muted")], key="look"),
        line("cancel it", right=[("its commits stay on its branch", "muted")], key="cancel"),
    ]

    def given(judged: Moved) -> str:
        done()
        return f"{row.id} {'will be tried again' if judged.after.is_open else 'is cancelled'}"

    def chosen(key: str) -> None:
        if key == "look":
            view.gt.go("task", row.id)
        elif key == "again":
            view.gt.act(
                lambda context: verdict.approve_task(context, row.id, None, seen(context)), given, task=row.id
            )
        elif key == "note":
            note = Dialog(
                f"Note on {row.id}  {row.title}", [], ask="your note", do="try again", is_prose=True
            )
            ask_text(
                view,
                row.id,
                note,
                lambda context, text: verdict.respond_to(context, row.id, text, seen(context)),
                given,
            )
        else:
            view.gt.act(
                lambda context: verdict.reject_task(context, row.id, None, seen(context)), given, task=row.id
            )

    view.gt.ask(Choice(f"{row.id}  {row.title}", rows, do="choose"), chosen)


def ask_note(view: View, row: TaskRow) -> None:
    """Asks for a note for the next prompt."""
    from gitticks.actions.update import note_task

    rows = [line(("It goes into its agent's next prompt, and people see it on its page.", "muted"))]
    dialog = Dialog(f"Note on {row.id}  {row.title}", rows, ask="your note", do="add", is_prose=True)
    ask_text(
        view,
        row.id,
        dialog,
        lambda context, text: note_task(context, row.id, text),
        lambda _: f"noted for {row.id}",
    )


def ask_approve(view: View, asked: Asked, looked: Looked) -> None:
    """Asks before anything is approved that merges code."""
    from gitticks.actions.verdict import approve_task

    row, changes = asked.standing.task, looked.changes
    head = (looked.seen.head or "")[:7]
    rows: list[Line] = [line((row.title, "*strong"), right=[(head, "muted")])]
    rows += [line(part) for part in facts(asked, changes)]
    rows += approving.note_rows(looked.seen)
    if changes is None or not changes.summary.files:
        follows = "There is no code to merge: approving closes the task."
    else:
        follows = approving.what_follows(
            looked.policy, changes.conflicts or (), is_run_alive=view.snapshot.is_run_alive
        )
    rows += [line(), *wrapped(follows, DIALOG_WIDTH, "muted")]
    base = f" into {changes.base}" if changes is not None and changes.base and looked.policy.merges else ""
    approving.confirm(
        view,
        row.id,
        (f"Approve {row.id}{base}?", rows, "approve"),
        looked.policy.strength,
        lambda context, prove: approve_task(context, row.id, None, looked.seen, prove()),
    )


def ask_reject(view: View, asked: Asked, looked: Looked) -> None:
    """Asks for the sentence that goes back to the agent, or for the reason to cancel what was asked."""
    from gitticks.actions.verdict import reject_task

    row = asked.standing.task
    no = answers(row)[1]
    if not no:
        view.gt.say(f"{row.id} waits for your work: there is nothing to reject")
        return
    ask_text(
        view,
        row.id,
        rejection(row, looked.policy.agent),
        lambda context, text: reject_task(context, row.id, text, looked.seen),
        lambda _: f"{row.id} {'is cancelled' if no == 'cancel' else 'is sent back'}",
    )


def rejection(task: Task | TaskRow, agent: str, more: Sequence[Line] = ()) -> Dialog:
    """Returns the question that `n` asks of a task: why its work goes back, or why it is cancelled."""
    title, ask, do = f"Send {task.id} back to {agent}", "what is missing", "send back"
    says = "Its agent reads your feedback first."
    if answers(task)[1] == "cancel":
        title, ask, do = f"Cancel {task.id}?", "the reason", "cancel the task"
        says = "The task is closed as cancelled; gt reopen brings it back."
    rows = [line((says, "muted")), *more]
    return Dialog(title, rows, ask=ask, do=do, is_prose=True, may_be_empty=bool(more))


def counts(summary: DiffSummary) -> str:
    """Returns how many lines are added and removed."""
    return f"+{summary.added} {glyph('minus')}{summary.removed}"


def facts(asked: Asked, changes: Changes | None) -> list[str]:
    """Returns what is known of a piece of work, a fact a row."""
    found = []
    if asked.review is not None:
        found.append(review_words(asked.review))
    if changes is not None:
        summary = changes.summary
        found.append(f"{count_of(summary.files, 'file')}, {counts(summary)}")
        if changes.conflicts:
            found.append(f"conflicts with {changes.base} in {', '.join(changes.conflicts[:3])}")
        elif changes.outlook is not None:
            found.append(changes.outlook)
    return found or [gist(asked)]


def answer_permission(view: View, pane: Lines, number: int | None, *, allows: bool, always: bool) -> None:
    """Answers an agent's question about a permission, which `pane` has under its cursor."""
    if number is None:
        view.gt.say("no request is open")
        return
    if time.monotonic() - pane.moved_at < _UNREAD_SECONDS:
        view.gt.say("this request has only just come; read it first", warns=True)
        return
    if allows and not pane.shows_end:
        view.gt.say("move down to the request's end before you allow it", warns=True)
        return

    def give(context: Context) -> tuple[Question, ...]:
        return answer_questions(context, [number], allows=allows, always=always)

    def answered(questions: tuple[Question, ...]) -> str:
        one = questions[0]
        remembered = f"; from now on {rule_words(one.rule)}" if always else ""
        return f"{'allowed' if allows else 'denied'}: {one.access.operation} {one.access.target}{remembered}"

    view.gt.act(give, answered, task="permissions")
