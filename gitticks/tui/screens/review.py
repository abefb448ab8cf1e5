"""Is it good? What was done, who says so, the changes themselves, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import NamedTuple

from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from gitticks.actions import review
from gitticks.actions.context import Context
from gitticks.actions.review import ReviewView, comment_on, is_outdated
from gitticks.actions.task_lookup import find_task
from gitticks.actions.verdict import waiting_for_answer
from gitticks.cli.render import count_of
from gitticks.errors import RefusedError
from gitticks.model.notes import Entry
from gitticks.model.status import ANSWERED, Status, Verdict
from gitticks.model.task import Task
from gitticks.tui import editing
from gitticks.tui.screens import approving
from gitticks.tui.screens.approving import Policy
from gitticks.tui.screens.base import Loaded
from gitticks.tui.screens.dialogs import Dialog
from gitticks.tui.screens.verdicts import Judged, ask_no, ask_yes, counts
from gitticks.tui.theme import glyph
from gitticks.tui.widgets import review_rows
from gitticks.tui.widgets.chrome import KeyBar
from gitticks.tui.widgets.diff import Diff, DiffPane, Place, coloured, comment_words, read_patch
from gitticks.tui.widgets.lines import Lines, Span, line
from gitticks.workflow.council import Voice
from gitticks.workflow.people import outcome_of
from gitticks.workflow.triggers import Seen

_MOST_CHECKS = 7


class Work(NamedTuple):
    """What was read: the page, open questions, the patch with its colours, commits, and what a merge will do."""

    view: ReviewView
    questions: tuple[Entry, ...]
    diff: Diff
    colours: dict[tuple[int, int], tuple[list[Span], ...]]
    commits: dict[str, str]
    policy: Policy


class Review(Loaded[Work]):
    """One piece of work, or one question, before it is answered."""

    place = "review"
    refuses_in = "story"

    def __init__(self, subject: str | None = None) -> None:
        super().__init__(subject)
        self.is_stale = False

    @property
    def comments(self) -> dict[str, str]:
        """Returns the comments that were not sent yet, by the line's key."""
        return self.gt.unsent.on(self.task_id)

    @property
    def labels(self) -> Mapping[str, str]:
        found = ("", "") if self.loaded is None else review_rows.answers(self.loaded.view.task)
        return dict(zip("yn", found, strict=True))

    def body(self) -> Iterable[Widget]:
        with Horizontal():
            with Vertical(classes="left sized-width", id="left"):
                yield Lines("Hand-off", id="story", empty="Nothing has been handed off yet.")
                yield Lines("Checks", id="checks", empty="No checks have run.", classes="pane sized-height")
                yield Lines("Council", id="council")
            yield DiffPane("Changes", id="diff")
        yield Lines(id="verdict", focusable=False)

    def on_mount(self) -> None:
        """Begins in the changes; in the question where one waits."""
        row = self.snapshot.find(self.subject)
        is_question = row is not None and row.awaiting in ANSWERED
        self.set_focus(self.pane("story" if is_question else "diff"))

    @property
    def mark(self) -> object:
        """Returns nothing that differs: what was shown stays, and `draw` says when it is not the newest."""
        return self.subject

    def read(self, context: Context) -> Work:
        view = review.view(context, find_task(context, self.task_id))
        patch = review.diff(context, view.task) if view.changes is not None else b""
        diff = read_patch(patch.decode("utf-8", "replace"), f"gt review {view.task.id}")
        return Work(
            view=view,
            questions=waiting_for_answer(context, view.task.id).questions,
            diff=diff,
            colours=coloured(diff.files),
            commits=review.commits(context, view.task),
            policy=approving.policy_for(context, view.task),
        )

    def draw(self) -> None:
        """Fills the panes; what was shown stays where the task has changed meanwhile, which the verdict row says."""
        super().draw()
        row = self.snapshot.find(self.subject)
        if self.loaded is not None and row is not None:
            task = self.loaded.view.task
            shown = (task.status.value, task.awaiting.value if task.awaiting else None, task.is_merging)
            is_other = (row.status, row.awaiting, row.is_merging) != shown or row.title != task.title
            is_asked_anew = row.asked_at != task.asked_at and row.asked_at and task.asked_at
            if is_other or (row.awaiting and is_asked_anew):
                self.is_stale = True
            elif self.loaded.view.conflicts is not None:
                self.look_up(lambda context: (task, is_outdated(context, task)), self._take_outdated)
            self._fill_verdict()

    def _take_loaded(self, found: Work) -> None:
        # What was drawn while it was read may have found changes of the work as it was before.
        self.loaded, self.is_stale = found, False
        self.draw()

    def _take_outdated(self, found: tuple[Task, bool]) -> None:
        task, is_outdated = found
        # What was found of the task as it was before it was read again says nothing of what is shown now.
        if self.loaded is not None and self.loaded.view.task is task:
            self.is_stale = self.is_stale or is_outdated
        self._fill_verdict()

    def refuse(self, message: str, hint: str | None) -> None:
        super().refuse(message, hint)
        self.pane("verdict").show([line((message, "bad"))])
        self.query(KeyBar).refresh()

    def fill(self, loaded: Work) -> None:
        view, now = loaded.view, self.snapshot.around.now
        is_question = view.task.awaiting in ANSWERED
        story, checks, council = self.pane("story"), self.pane("checks"), self.pane("council")
        story.title = "Question" if is_question else "Hand-off"
        story.show(
            review_rows.story_rows(view, loaded.questions if is_question else (), now, story.inner_width - 1)
        )
        story.say(f"{loaded.policy.agent}, round {view.task.review_round}" if view.task.review_round else "")
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
        if self.loaded is None:
            return
        pane, work = self.query_one(DiffPane), self.loaded
        changes = work.view.changes
        pane.empty = (
            "No code was handed off."
            if changes is None
            else "No change to the code: approving closes the task without a merge."
        )
        pane.show_diff(work.diff, self.comments, work.colours)
        if changes is not None and changes.files:
            head = (work.view.task.end_sha or "")[:7]
            pane.say(f"{count_of(changes.files, 'file')} {counts(changes)} {glyph('dot')} {head}")

    def _fill_verdict(self) -> None:
        if self.loaded is not None:
            pane, work = self.pane("verdict"), self.loaded
            follows = approving.in_short(work.policy, work.view.conflicts or (), len(work.commits))
            row = review_rows.verdict_row(work.view, self.comments, follows, is_stale=self.is_stale)
            pane.show([row])
            self.query(KeyBar).refresh()

    # moving in the changes

    def action_file(self, step: int) -> None:
        self.query_one(DiffPane).jump(step)

    def action_hunk(self, step: int) -> None:
        self.query_one(DiffPane).jump(step, to_hunks=True)

    # what a reviewer does

    def action_reload(self) -> None:
        self.load()

    def action_edit(self) -> None:
        editing.edit_task(self, self.task_id)

    def action_shell(self) -> None:
        editing.open_shell(self, self.task_id)

    def action_comment(self) -> None:
        key = self.query_one(DiffPane).key
        place = Place.of(key)
        if place is None or key is None or self.loaded is None:
            self.gt.say("only lines of the changes can be commented")
            return

        def said(text: str) -> None:
            self.gt.unsent.change(self.task_id, {key: text})
            self.fill_diff()
            self._fill_verdict()

        before = self.comments.get(key, "")
        rows = [line(("It goes to the agent with your verdict.", "muted"))]
        if before:
            rows.append(line(("Empty removes it.", "muted")))
        self.gt.ask(
            Dialog(
                place.where,
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
            self.gt.say(self.refused[0] if self.refused else "still loading; try again in a moment")
            return None
        if self.is_stale:
            self.gt.refuse(f"{self.task_id} changed since you looked", "r reloads")
            return None
        task = self.loaded.view.task
        is_sent_back_early = task.status is Status.AGENT_REVIEW and verdict is Verdict.REJECTED
        if not (task.is_merging or is_sent_back_early):
            try:
                outcome_of(task, verdict)
            except RefusedError as error:
                self.gt.refuse(error.message, error.hint)
                return None
        return self.loaded

    def action_approve(self) -> None:
        """Asks, with what will happen, and approves; answers where a question waits."""
        if (work := self._ready(Verdict.APPROVED)) is not None:
            ask_yes(self, self._judged(work))

    def action_reject(self) -> None:
        """Asks for a sentence, and sends the work back with it and the comments."""
        if (work := self._ready(Verdict.REJECTED)) is not None:
            ask_no(self, self._judged(work))

    def _judged(self, work: Work) -> Judged:
        view, comments = work.view, dict(self.comments)
        places = ((Place.of(key), text) for key, text in comments.items())
        return Judged(
            view.task,
            work.policy,
            view.seen,
            work.questions,
            view.said,
            view.changes,
            view.conflicts or (),
            [line((f"{glyph('cancelled')} {name} blocks", "bad")) for name in review_rows.blocking(view)],
            partial(_send, work=work, comments=comments),
            partial(self.gt.unsent.change, self.task_id, dict.fromkeys(comments, "")),
            self._sent,
            [line((f"{place.where}  ", "muted"), text) for place, text in places if place is not None],
        )

    def _sent(self) -> None:
        if self.is_active:  # a reader who has gone elsewhere stays there
            self.gt.back()


def _send(context: Context, work: Work, comments: dict[str, str]) -> Seen:
    """Adds the comments as notes, if the task is still what was shown, and returns it with them."""
    task_id, notes = work.view.task.id, [comment_words(work.diff, *one) for one in comments.items()]
    seen = comment_on(context, task_id, notes, seen=work.view.seen)
    if seen is None:
        raise RefusedError(f"{task_id} changed since you looked", hint="r reloads")
    return seen
