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
from gitticks.tui.widgets.inbox import review_words
from gitticks.tui.widgets.lines import Line, Lines, line
from gitticks.tui.widgets.markdown import wrapped
from gitticks.tui.widgets.review_rows import answers
from gitticks.workflow.permissions import rule_words

if TYPE_CHECKING:
    from gitticks.actions.changes import Changes
    from gitticks.actions.changing import Moved
    from gitticks.actions.context import Context
    from gitticks.git.merges.history import DiffSummary
    from gitticks.model.ids import TaskId
    from gitticks.model.notes import Entry
    from gitticks.model.task import Task
    from gitticks.model.task_row import TaskRow
    from gitticks.runner.questions import Question
    from gitticks.tui.screens.base import View
    from gitticks.workflow.triggers import Proof, Seen

R = TypeVar("R")
_SEE_COMMENTS = "see the comments"
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

    def with_told(self, seen: Seen) -> Looked | None:
        """Returns the same with what people have written by now; None where other work is `seen` than was shown."""
        return self._replace(seen=seen) if seen._replace(told=self.seen.told) == self.seen else None


def look_into(context: Context, entries: tuple[Asked, ...]) -> dict[str, Looked]:
    """Returns for entries of the inbox what a verdict would be about, and what the work changes."""
    from gitticks.actions.verdict import seen_of

    found: dict[str, Looked] = {}
    # Read before the comparison, which takes its time: a verdict is refused where the work is another by then.
    files = [context.store.task_file(one.standing.task.id) for one in entries]
    for one, file in zip(with_changes(context, entries), files, strict=True):
        handoff, policy = file.section(Section.HANDOFF) or "", approving.policy_for(context, file.task)
        found[file.task.id] = Looked(seen_of(file), one.changes, handoff, policy)
    return found


class Judged(NamedTuple):
    """A task as it was shown to the person who decides: a verdict holds for that alone.

    `more` are rows about the work, `comments` those of what goes along. `send` sends that and returns what the verdict
    is about then; `forget` drops it here once the verdict is given, and `sent` is called if the interface is still open.
    """

    task: Task | TaskRow
    policy: Policy
    seen: Seen
    questions: Sequence[Entry]
    said: str
    changes: DiffSummary | None
    conflicts: Sequence[str]
    more: Sequence[Line]
    send: Callable[[Context], Seen]
    forget: Callable[[], None] = lambda: None
    sent: Callable[[], None] = lambda: None
    comments: Sequence[Line] = ()

    def give(self, context: Context, verdict: Callable[[Seen], R]) -> R:
        """Sends what goes along, gives a verdict on what there is to see then, and returns what came of it."""
        given = verdict(self.send(context))
        self.forget()
        return given


def judged_in(asked: Asked, looked: Looked) -> Judged:
    """Returns an entry of the inbox as it was shown there."""
    changes = looked.changes
    more = [] if asked.review is None else [line(review_words(asked.review))]
    if changes is not None and not changes.conflicts and changes.outlook is not None:
        more.append(line(changes.outlook))
    return Judged(
        asked.standing.task,
        looked.policy,
        looked.seen,
        asked.questions,
        asked.said,
        None if changes is None else changes.summary,
        () if changes is None else changes.conflicts or (),
        more,
        lambda _: looked.seen,
    )


def answer(view: View, asked: Asked, looked: Looked | None) -> None:
    """Lets a person answer an entry of the inbox, by the dialog or place that its kind needs.

    Where it was not looked into yet, that place reads it.
    """
    row = asked.standing.task
    is_judged = takes_verdict(asked) and row.status != Status.STUCK
    if row.awaiting is None or asked.standing.is_conflicted:
        view.gt.go("task", row.id)
    elif looked is None or is_judged or view.gt.unsent.on(row.id):
        view.gt.go("review", row.id)
    else:
        ask_yes(view, judged_in(asked, looked))


def open_waiting(view: View, task_id: str | None) -> None:
    """Opens the place where a task is answered or judged, if it waits for a person."""
    row = view.snapshot.find(task_id)
    is_asked = any(one.standing.task.id == task_id for one in view.snapshot.inbox)
    if row is not None and row.awaiting is not None:
        view.gt.go("review", row.id)
    elif is_asked:
        view.gt.go("task", task_id)
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
        lambda text: view.gt.act(
            lambda context: give(context, text), done, task=task_id, text=text, kept_as=dialog.kept_as
        ),
    )


def ask_yes(view: View, judged: Judged) -> None:
    """Asks for what a task awaits: a decision, an answer, or its approval."""
    if judged.task.status == Status.STUCK:
        _ask_direction(view, judged)
    elif judged.task.awaiting in ANSWERED:
        _ask_answer(view, judged)
    else:
        _ask_approve(view, judged)


def _ask_answer(view: View, judged: Judged) -> None:
    """Asks for the answer to a question, below the question."""
    from gitticks.actions import verdict

    task = judged.task
    rows: list[Line] = []
    for entry in judged.questions:
        rows += wrapped(entry.text, DIALOG_WIDTH, "*strong")
        rows += [line((f"{entry.name}, {tasks.age(entry.at, view.gt.now)} ago", "muted")), line()]
    if not judged.questions:
        rows += wrapped(judged.said or f"waits for your {task.awaiting}", DIALOG_WIDTH, most=12)
    rows += _along(judged)

    def answered(_: Moved) -> str:
        judged.sent()
        return f"{task.id} answered; back to {judged.policy.agent}"

    ask_text(
        view,
        task.id,
        Dialog(f"{task.id}  {task.title}", rows, ask="your answer", do="answer", is_prose=True),
        lambda context, text: judged.give(
            context, lambda seen: verdict.respond_to(context, task.id, text, seen)
        ),
        answered,
    )


def _ask_direction(view: View, judged: Judged) -> None:
    """Asks what is to become of a task that no agent gets on with."""
    from gitticks.actions import verdict

    task = judged.task
    rows = [
        *wrapped(judged.said or "It is stuck.", DIALOG_WIDTH, most=8),
        line(),
        line("try again", right=[("back to its agent", "muted")], key="again"),
        line("try again, with a note", right=[("the agent reads it first", "muted")], key="note"),
        line("open it", right=[("its text and history", "muted")], key="look"),
        line("cancel it", right=[("its commits stay on its branch", "muted")], key="cancel"),
    ]

    def given(moved: Moved) -> str:
        judged.sent()
        return f"{task.id} {'will be tried again' if moved.after.is_open else 'is cancelled'}"

    def chosen(key: str) -> None:
        if key == "look":
            view.gt.go("task", task.id)
        elif key == "note":
            ask_text(
                view,
                task.id,
                _note_dialog(task, [], "try again"),
                lambda context, text: judged.give(
                    context, lambda seen: verdict.respond_to(context, task.id, text, seen)
                ),
                given,
            )
        else:
            give = verdict.approve_task if key == "again" else verdict.reject_task
            view.gt.act(
                lambda context: judged.give(context, lambda seen: give(context, task.id, None, seen)),
                given,
                task=task.id,
            )

    view.gt.ask(Choice(f"{task.id}  {task.title}", rows, do="choose"), chosen)


def _note_dialog(task: Task | TaskRow, rows: Sequence[Line], do: str) -> Dialog:
    return Dialog(f"Note on {task.id}  {task.title}", rows, ask="your note", do=do, is_prose=True)


def ask_note(view: View, row: TaskRow) -> None:
    """Asks for a note for the next prompt."""
    from gitticks.actions.update import note_task

    rows = [line(("It goes into its agent's next prompt, and people see it on its page.", "muted"))]
    ask_text(
        view,
        row.id,
        _note_dialog(row, rows, "add"),
        lambda context, text: note_task(context, row.id, text),
        lambda _: f"noted for {row.id}",
    )


def _ask_approve(view: View, judged: Judged) -> None:
    """Asks before anything is approved that merges code, or closed that a person did."""
    from gitticks.actions import lifecycle, verdict

    task, policy, changes = judged.task, judged.policy, judged.changes
    rows = [line((task.title, "*strong"), right=[((judged.seen.head or "")[:7], "muted")])]
    if changes is not None and changes.files:
        rows.append(line(f"{count_of(changes.files, 'file')}, {counts(changes)}"))
    if judged.conflicts:
        paths = ", ".join(judged.conflicts)
        rows += wrapped(f"conflicts with {policy.base} in {paths}", DIALOG_WIDTH, "bad", most=4)
    rows += [*judged.more, *approving.note_rows(judged.seen), *_along(judged), line()]
    rows += wrapped(_what_follows(view, judged), DIALOG_WIDTH, "muted")
    is_closed = task.awaiting == Awaiting.WORK
    base = f" into {policy.base}" if changes is not None and changes.files and policy.merges else ""
    title = f"Close {task.id} as done?" if is_closed else f"Approve {task.id}{base}?"

    def give(context: Context, prove: Callable[[], Proof]) -> Moved:
        proof = prove()
        if is_closed:
            return judged.give(
                context,
                lambda seen: lifecycle.close_task(context, task.id, None, seen=seen, proof=lambda: proof),
            )
        return judged.give(context, lambda seen: verdict.approve_task(context, task.id, None, seen, proof))

    dialog = (title, rows, "close as done" if is_closed else "approve")
    approving.confirm(view, task.id, dialog, policy.strength, give, done=judged.sent)


def _what_follows(view: View, judged: Judged) -> str:
    policy, changes = judged.policy, judged.changes
    follows = approving.what_follows(policy, judged.conflicts, is_run_alive=view.snapshot.is_run_alive)
    if judged.task.awaiting == Awaiting.WORK:
        is_left = policy.branch and not policy.merges
        return f"This closes the task as done{f'. {follows}' if is_left else ' and merges the commits in its workspace.'}"
    if changes is None or not changes.files:
        return "No change to the code: nothing is merged, and the task is closed as done."
    return follows


def _along(judged: Judged) -> list[Line]:
    count = len(judged.comments)
    return [line((f"with your {count_of(count, 'comment')} as notes", "waits"))] if count else []


def ask_no(view: View, judged: Judged) -> None:
    """Asks for the sentence that goes back to the agent with the comments, or for the reason to cancel what was asked."""
    from gitticks.actions import review, verdict

    task, agent = judged.task, judged.policy.agent
    no = answers(task)[1]
    if not no:
        view.gt.say(f"{task.id} waits for your work: there is nothing to reject")
        return
    title, ask, do = f"Send {task.id} back to {agent}", "what is missing", "send back"
    says = "Its agent reads your feedback first."
    if no == "cancel":
        title, ask, do = f"Cancel {task.id}?", "the reason", "cancel the task"
        says = "The task is closed as cancelled; gt reopen brings it back."
    rows = [line((says, "muted")), *judged.comments]

    def reject(context: Context, text: str) -> str:
        feedback = text or _SEE_COMMENTS
        if task.status == Status.AGENT_REVIEW:
            judged.give(context, lambda seen: review.reject_work(context, task.id, feedback, seen))
            return f"{task.id} sent back to {agent}"
        after = judged.give(context, lambda seen: verdict.reject_task(context, task.id, feedback, seen)).after
        return f"{task.id} sent back to {agent}" if after.is_open else f"{task.id} cancelled"

    def rejected(words: str) -> str:
        judged.sent()
        return words

    may_be_empty = bool(judged.comments)
    dialog = Dialog(title, rows, ask=ask, do=do, is_prose=True, may_be_empty=may_be_empty)
    ask_text(view, task.id, dialog, reject, rejected)


def counts(summary: DiffSummary) -> str:
    """Returns how many lines are added and removed."""
    return f"+{summary.added} {glyph('minus')}{summary.removed}"


def answer_permission(view: View, pane: Lines, number: int | None, *, allows: bool, always: bool) -> None:
    """Answers an agent's question about a permission, which `pane` has under its cursor."""
    if number is None:
        view.gt.say("no request is open")
        return
    if time.monotonic() - pane.moved_at < _UNREAD_SECONDS:
        view.gt.say("this request has only just come; read it first", warns=True)
        return
    if allows and not pane.shows_end:
        view.gt.say("move to the request's end before you allow it", warns=True)
        return

    def give(context: Context) -> tuple[Question, ...]:
        return answer_questions(context, [number], allows=allows, always=always)

    def answered(questions: tuple[Question, ...]) -> str:
        one = questions[0]
        remembered = f"; from now on {rule_words(one.rule)}" if always else ""
        return f"{'allowed' if allows else 'denied'}: {one.access.operation} {one.access.target}{remembered}"

    view.gt.act(give, answered, task="permissions")
