"""Is it good? What was done, who says so, the changes themselves, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from gitticks.cli.render import count_of
from gitticks.model.ids import TaskId
from gitticks.model.status import ANSWERED, Awaiting, Status, Verdict
from gitticks.tui.screens import approving
from gitticks.tui.screens.approving import Policy
from gitticks.tui.screens.base import Loaded
from gitticks.tui.screens.dialogs import Dialog
from gitticks.tui.screens.verdicts import NOT_YET, ask_direction, ask_text, counts, rejection
from gitticks.tui.theme import glyph
from gitticks.tui.widgets import review_rows
from gitticks.tui.widgets.chrome import KeyBar
from gitticks.tui.widgets.diff import Diff, Place, coloured, diff_rows, file_key, hunk_key, read_patch
from gitticks.tui.widgets.lines import Line, Lines, Span, line, words
from gitticks.tui.widgets.markdown import markdown_rows, wrapped
from gitticks.workflow.council import Voice

if TYPE_CHECKING:
    from gitticks.actions.context import Context
    from gitticks.actions.review import ReviewView
    from gitticks.actions.verdict import Judged
    from gitticks.model.notes import Entry
    from gitticks.workflow.triggers import Proof, Seen

_MOST_SHOWN, _MOST_CHECKS = 12, 7
_SCROLL = 8


@dataclass(frozen=True, slots=True)
class Work:
    """What was read: the page, open questions, the patch with its colours, commits, and what a merge will do."""

    view: ReviewView
    questions: tuple[Entry, ...]
    diff: Diff
    colours: dict[tuple[str, int], tuple[list[Span], ...]]
    commits: dict[str, str]
    agent: str
    policy: Policy

    @property
    def merges(self) -> bool:
        """True if approving brings code into the base."""
        return self.view.changes is not None and bool(self.view.changes.files)


class DiffPane(Lines):
    """The changes; the code scrolls sideways under its numbers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "across(-1)", "Left", show=False),
        Binding("right", "across(1)", "Right", show=False),
    ]
    offset_columns = 0

    def action_across(self, step: int) -> None:
        """Scrolls the code sideways, as far as its longest line goes on."""
        code = (cell_len(words(row)) for row in self.rows if Place.of(row.key) is not None)
        if step > 0 and max(code, default=0) <= self.inner_width:
            return
        self.offset_columns = max(0, self.offset_columns + step * _SCROLL)
        screen = self.screen
        if isinstance(screen, Review):
            screen.fill_diff()


class Review(Loaded[Work]):
    """One piece of work, or one question, before it is answered."""

    place = "review"
    refuses_in = "story"

    def __init__(self, subject: str | None = None) -> None:
        super().__init__(subject)
        self.is_stale = False

    @property
    def task_id(self) -> TaskId:
        """Returns the task."""
        return TaskId(self.subject or "")

    @property
    def comments(self) -> dict[str, str]:
        """Returns the comments that were not sent yet, by the line's key."""
        return self.gt.unsent.on(self.task_id)

    @property
    def labels(self) -> Mapping[str, str]:
        """Returns what `y` and `n` do with the task, as the verdict row says."""
        found = ("", "") if self.loaded is None else review_rows.answers(self.loaded.view.task)
        return dict(zip("yn", found, strict=True))

    def body(self) -> Iterable[Widget]:
        """Yields the panes."""
        with Horizontal():
            with Vertical(classes="left sized-width", id="left"):
                yield Lines("Hand-off", id="story", empty="Nothing has been handed off yet.")
                yield Lines("Checks", id="checks", empty="No checks have run.", classes="pane sized-height")
                yield Lines("Council", id="council")
            yield DiffPane("Changes", id="diff")
        yield Lines(id="verdict", focusable=False)

    def on_mount(self) -> None:
        """Begins in the changes; in the question where one waits."""
        super().on_mount()
        row = self.snapshot.find(self.subject)
        is_question = row is not None and row.awaiting in ANSWERED
        self.set_focus(self.pane("story" if is_question else "diff"))

    @property
    def mark(self) -> object:
        """Returns nothing that differs: what was shown stays, and `draw` says when it is not the newest."""
        return self.subject

    def read(self, context: Context) -> Work:
        """Returns the page and the patch."""
        from gitticks.actions import review
        from gitticks.actions.task_lookup import find_task
        from gitticks.actions.verdict import waiting_for_answer
        from gitticks.cli.writing import agent_name

        view = review.view(context, find_task(context, self.task_id))
        patch = review.diff(context, view.task) if view.changes is not None else b""
        diff = read_patch(patch.decode("utf-8", "replace"))
        return Work(
            view=view,
            questions=waiting_for_answer(context, view.task.id).questions,
            diff=diff,
            colours=coloured(diff.files),
            commits=review.commits(context, view.task),
            agent=agent_name(context, view.task),
            policy=approving.policy_for(context, view.task),
        )

    def draw(self) -> None:
        """Fills the panes; what was shown stays where the task has changed meanwhile, which the verdict row says."""
        super().draw()
        row = self.snapshot.find(self.subject)
        if self.loaded is not None and row is not None:
            task = self.loaded.view.task
            shown = (task.status.value, task.awaiting.value if task.awaiting else None, task.is_merging)
            asked = (task.asked_at.isoformat() if task.asked_at else None) if row.awaiting else None
            is_other = (row.status, row.awaiting, row.is_merging) != shown or row.title != task.title
            if is_other or (row.awaiting and asked and row.asked_at and row.asked_at != task.asked_at):
                self.is_stale = True
            self._fill_verdict()

    def fill(self, loaded: Work) -> None:
        """Fills the panes."""
        view, now = loaded.view, self.snapshot.around.now
        is_question = view.task.awaiting in ANSWERED
        story, checks, council = self.pane("story"), self.pane("checks"), self.pane("council")
        story.title = "Question" if is_question else "Hand-off"
        story.show(
            review_rows.story_rows(view, loaded.questions if is_question else (), now, story.inner_width - 1)
        )
        story.say(f"{loaded.agent}, round {view.task.review_round}" if view.task.review_round else "")
        found = review_rows.check_rows(view, checks.inner_width)
        checks.show(found)
        self.fit_height(checks, min(len(found), _MOST_CHECKS))
        blocks, voices = review_rows.blocking(view), list(review_rows.voices(view).values())
        approve = voices.count(Voice.APPROVED)
        council.display = bool(view.reviews)
        council.show(review_rows.council_rows(view, council.inner_width))
        council.say(
            f"{len(blocks)} of {len(voices)} block" if blocks else f"{approve} of {len(voices)} approve",
            "bad" if blocks else "good",
        )
        self.fill_diff()
        self._fill_verdict()

    def fill_diff(self) -> None:
        """Fills the pane of changes."""
        if self.loaded is None:
            return
        pane, work = self.query_one(DiffPane), self.loaded
        changes = work.view.changes
        pane.empty = (
            "No code was handed off."
            if changes is None
            else "No change to the code: approving closes the task without a merge."
        )
        width, offset = pane.inner_width, pane.offset_columns
        pane.show(diff_rows(work.diff, self.comments, work.colours, width, offset))
        if changes is not None and changes.files:
            head = (work.view.task.end_sha or "")[:7]
            pane.say(f"{count_of(changes.files, 'file')} {counts(changes)} {glyph('dot')} {head}")

    def _fill_verdict(self) -> None:
        if self.loaded is not None:
            pane = self.pane("verdict")
            row = review_rows.verdict_row(
                self.loaded.view,
                self.comments,
                len(self.loaded.commits),
                pane.inner_width,
                is_stale=self.is_stale,
            )
            pane.show([row])
            self.query(KeyBar).refresh()

    # moving in the changes

    def action_file(self, step: int) -> None:
        """Goes to the file before or after."""
        if self.loaded is not None:
            self._jump([file_key(one) for one in self.loaded.diff.files], step)

    def action_hunk(self, step: int) -> None:
        """Goes to the hunk before or after."""
        if self.loaded is not None:
            keys = []
            for one in self.loaded.diff.files:
                keys += [file_key(one), *(hunk_key(one, number) for number in range(1, len(one.hunks)))]
            self._jump(keys, step)

    def _jump(self, wanted: list[str], step: int) -> None:
        pane = self.query_one(DiffPane)
        places = {key: at for at, key in enumerate(pane.keys)}
        here = places.get(pane.key or "", 0)
        stops = sorted(places[key] for key in wanted if key in places)
        beyond = [at for at in stops if (at > here if step > 0 else at < here)]
        if beyond:
            pane.go_to(pane.keys[beyond[0] if step > 0 else beyond[-1]])
        self.set_focus(pane)

    # what a reviewer does

    def action_reload(self) -> None:
        """Shows the work as it is now."""
        self.is_stale = False
        self.load()

    def action_task(self) -> None:
        """Opens the task's page."""
        self.gt.go("task", self.subject)

    def action_edit(self) -> None:
        """Opens the editor: for the answer to a question, else for the task."""
        from gitticks.tui import editing

        if self.loaded is not None and self.loaded.view.task.awaiting in ANSWERED:
            editing.answer_in_editor(self, self.task_id)
        else:
            editing.edit_task(self, self.task_id)

    def action_shell(self) -> None:
        """Opens a shell in the workspace."""
        from gitticks.tui.editing import open_shell

        open_shell(self, self.task_id)

    def action_comment(self) -> None:
        """Asks what is to be said of the line under the cursor."""
        key = self.query_one(DiffPane).key
        place = Place.of(key)
        if place is None or key is None or self.loaded is None:
            self.gt.say("only lines of the changes can be commented")
            return

        def said(text: str | None) -> None:
            if text is not None:
                self.gt.unsent.change(self.task_id, {key: text})
                self.fill_diff()
                self._fill_verdict()

        where = f"{place.path}:{place.number}"
        before = self.comments.get(key, "")
        rows = [line(("It goes to the agent with your verdict.", "muted"))]
        if before:
            rows.append(line(("Empty removes it.", "muted")))
        self.app.push_screen(
            Dialog(
                where,
                rows,
                ask="comment",
                do="comment",
                text=before,
                may_be_empty=bool(before),
                is_prose=True,
                kept_as=f"{self.task_id} {key}",
            ),
            said,
        )

    def _ready(self, verdict: Verdict) -> Work | None:
        """Returns what is shown if this verdict can be given on it; else says why not."""
        if self.loaded is None:
            self.gt.say(NOT_YET)
            return None
        if self.is_stale:
            self.gt.refuse(f"{self.task_id} changed since you looked", "r reloads")
            return None
        task = self.loaded.view.task
        is_sent_back_early = task.status is Status.AGENT_REVIEW and verdict is Verdict.REJECTED
        if not (task.is_merging or is_sent_back_early):
            from gitticks.errors import RefusedError
            from gitticks.workflow.people import outcome_of

            try:
                outcome_of(task, verdict)
            except RefusedError as error:
                self.gt.refuse(error.message, error.hint)
                return None
        return self.loaded

    def action_approve(self) -> None:
        """Asks, with what will happen, and approves; answers where a question waits."""
        work = self._ready(Verdict.APPROVED)
        if work is None:
            return
        task = work.view.task
        row = self.snapshot.find(task.id)
        if task.status is Status.STUCK and row is not None:
            ask_direction(self, row, work.view.said, work.view.seen, self._leave)
            return
        if task.awaiting in ANSWERED:
            self._ask_for_answer(work)
            return
        merges = work.merges and not work.policy.is_manual
        title = f"Merge {task.id} into {task.base}?" if merges else f"Approve {task.id}?"
        dialog = (title, self._consequences(work), "merge" if merges else "approve")
        comments = dict(self.comments)

        def give(context: Context, prove: Callable[[], Proof]) -> Judged:
            from gitticks.actions.verdict import approve_task

            proof = prove()
            return approve_task(context, task.id, None, _send(context, work, comments), proof)

        approving.confirm(
            self, task.id, dialog, work.policy.strength, give, done=partial(self._sent, comments)
        )

    def _consequences(self, work: Work) -> list[Line]:
        view, task = work.view, work.view.task
        rows = [line((task.title, "*strong"))]
        if view.changes is not None and work.merges:
            many = count_of(len(work.commits), "commit")
            rows.append(
                line(
                    ((task.end_sha or "")[:7], "fg"),
                    (f", {many} by {work.agent}, {counts(view.changes)}", "muted"),
                )
            )
        blocks = review_rows.blocking(view)
        rows += [line((f"{glyph('cancelled')} {name} blocks", "bad")) for name in blocks]
        if view.conflicts:
            rows += wrapped(
                f"{glyph('cancelled')} conflicts in {', '.join(view.conflicts)}",
                approving.DIALOG_WIDTH,
                "bad",
            )
        rows += approving.note_rows(view.seen)
        if self.comments:
            rows.append(line((f"with your {count_of(len(self.comments), 'comment')} as notes", "waits")))
        return [*rows, line(), *wrapped(self._what_follows(work), approving.DIALOG_WIDTH, "muted")]

    def _what_follows(self, work: Work) -> str:
        task = work.view.task
        if task.awaiting is Awaiting.WORK:
            return "This closes the task as done."
        if not work.merges:
            return "No change to the code: nothing is merged, and the task is closed as done."
        is_run_alive, conflicts = self.snapshot.is_run_alive, work.view.conflicts
        base, branch = task.base or "", task.branch or ""
        return approving.what_follows(
            work.policy, base, branch, conflicts, work.agent, is_run_alive=is_run_alive
        )

    def _ask_for_answer(self, work: Work) -> None:
        from gitticks.actions.verdict import respond_to

        task = work.view.task
        asked = "\n\n".join(one.text for one in work.questions) or work.view.said or f"awaits {task.awaiting}"
        rows = markdown_rows(asked, approving.DIALOG_WIDTH)
        if len(rows) > _MOST_SHOWN:
            rows = [*rows[:_MOST_SHOWN], line((f"{glyph('more')} the rest is in the pane behind", "muted"))]

        def answered(_judged: Judged) -> str:
            self._leave()
            return f"{task.id} answered; back to {work.agent}"

        title = f"{task.id} asks" if work.questions else f"{task.id}: {task.awaiting}"
        dialog = Dialog(title, rows, ask="your answer", do="answer", is_prose=True)
        ask_text(
            self,
            task.id,
            dialog,
            lambda context, text: respond_to(context, task.id, text, work.view.seen),
            answered,
        )

    def action_reject(self) -> None:
        """Asks for a sentence, and sends the work back with it and the comments."""
        work = self._ready(Verdict.REJECTED)
        if work is None:
            return
        task, comments = work.view.task, dict(self.comments)
        rows = [line((f"{key.removesuffix('-')}  ", "muted"), text) for key, text in comments.items()]

        def rejected(after: str) -> str:
            self._sent(comments)
            return after

        ask_text(
            self,
            task.id,
            rejection(task, work.agent, rows),
            lambda context, text: _reject(context, work, comments, text),
            rejected,
        )

    def _sent(self, comments: dict[str, str]) -> None:
        self.gt.unsent.change(self.task_id, dict.fromkeys(comments, ""))
        self._leave()

    def _leave(self) -> None:
        """Goes back to where the reader came from, if this place is still the one on top."""
        if self.is_current:
            self.gt.back()


def _send(context: Context, work: Work, comments: dict[str, str]) -> Seen:
    """Adds the comments as notes, if the task is still what was shown, and returns it with them."""
    from gitticks.actions.review import comment_on
    from gitticks.actions.verdict import look_at
    from gitticks.errors import RefusedError

    task = work.view.task
    if look_at(context, task.id) != work.view.seen:
        raise RefusedError(f"{task.id} changed since you looked", hint="r reloads")
    if not comments:
        return work.view.seen
    comment_on(context, task.id, [_comment(work, key, text) for key, text in comments.items()])
    return look_at(context, task.id)


def _comment(work: Work, key: str, text: str) -> str:
    """Returns a comment as `gt review --comment` takes it; a removed line is quoted, as it is not in the work."""
    place = Place.of(key)
    if place is None:
        return text
    lines = (
        one.text
        for file in work.diff.files
        if file.path == place.path
        for hunk in file.hunks
        for one in hunk.lines
        if (one.side == "-") is place.is_gone and (one.old if place.is_gone else one.new) == place.number
    )
    quoted = next(lines, None)
    if quoted is None:
        return f"On `{place.path}`, line {place.number} of an earlier version:\n\n{text}"
    if not place.is_gone:
        return f"{place.path}:{place.number} {text}"
    return f"On `{place.path}`, the removed line {place.number}:\n\n    {quoted}\n\n{text}"


def _reject(context: Context, work: Work, comments: dict[str, str], text: str) -> str:
    from gitticks.actions.review import reject_work
    from gitticks.actions.verdict import reject_task

    task = work.view.task
    seen = _send(context, work, comments)
    if task.status is Status.AGENT_REVIEW:
        reject_work(context, task.id, text)
        return f"{task.id} sent back to {work.agent}"
    after = reject_task(context, task.id, text, seen).after
    return f"{task.id} sent back to {work.agent}" if after.is_open else f"{task.id} cancelled"
