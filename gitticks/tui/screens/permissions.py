"""What did they ask? Open questions first, then what was decided and by which rule."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from textual.widget import Widget

from gitticks.actions.audit import Recorded, as_csv, as_objects, counts_of, find_decisions
from gitticks.actions.context import Context
from gitticks.actions.permissions import ChangedMode, Policy, change_mode, policy
from gitticks.cli.render import count_of
from gitticks.model.settings import PermissionMode
from gitticks.store.audit import stamps_of_pending, tasks_with_pending
from gitticks.tui.screens import verdicts
from gitticks.tui.screens.base import Loaded
from gitticks.tui.screens.dialogs import DIALOG_WIDTH, Choice, Dialog
from gitticks.tui.theme import dotted
from gitticks.tui.widgets import inbox, permission_rows
from gitticks.tui.widgets.lines import Lines, line
from gitticks.workflow.permissions import is_looser

_EVERY_SECONDS = 1.0
_MOST_TASKS = 50
_MOST_DECISIONS = 500


class Asked(NamedTuple):
    """What was read: the mode, and the newest decisions, the newest first."""

    mode: PermissionMode
    decisions: tuple[Recorded, ...]


class Permissions(Loaded[Asked]):
    """What did they ask?"""

    place = "permissions"
    refuses_in = "decisions"
    requests_in = "asked"

    def __init__(self, subject: str | None = None) -> None:
        super().__init__(subject)
        self._noted: object = ()

    @property
    def mark(self) -> object:
        """Returns what differs with each change of the branch, and with each decision that is not on it yet."""
        return self.snapshot.number, self._noted

    def body(self) -> Iterable[Widget]:
        yield Lines("Requests", id="asked", empty="No open requests.", classes="pane sized-height")
        yield Lines("Decisions", id="decisions", empty="No decisions yet.")

    def on_mount(self) -> None:
        """Begins in the questions, and lets the time that is left run."""
        self.set_focus(self.pane("asked"))
        self.set_interval(_EVERY_SECONDS, self._tick)

    def _tick(self) -> None:
        if self.is_open and self.is_current:
            self._fill_questions()
            self.look_up(lambda context: stamps_of_pending(context.repository.own_dir), self._take_noted)

    def _take_noted(self, noted: object) -> None:
        if noted != self._noted:
            self._noted = noted
            self.redraw()

    def read(self, context: Context) -> Asked:
        return Asked(context.settings.permissions.mode, _decisions(context))

    def draw(self) -> None:
        self._fill_questions()
        super().draw()

    def _fill_questions(self) -> None:
        pane, now = self.pane("asked"), self.gt.now
        rows = permission_rows.question_rows(self.snapshot.questions, now, pane.inner_width)
        self.fit_height(pane, len(rows))
        pane.show(rows)

    def fill(self, loaded: Asked) -> None:
        self.pane("asked").say(f"mode {loaded.mode}")
        pane = self.pane("decisions")
        pane.show(permission_rows.decision_rows(loaded.decisions, self.gt.now, pane.inner_width))
        pane.say(dotted(*counts_of(loaded.decisions)) if loaded.decisions else "")

    def on_lines_chosen(self, event: Lines.Chosen) -> None:
        if event.lines.id == "asked":
            question = next((one for one in self.snapshot.questions if str(one.number) == event.key), None)
            if question is not None:
                title, rows = inbox.permission_preview(question, self.gt.now, DIALOG_WIDTH)
                self.app.push_screen(Dialog(title, rows, do="close"))
        elif self.loaded is not None:
            for decision in self.loaded.decisions:
                if permission_rows.decision_key(decision) == event.key:
                    rows = permission_rows.decision_detail(decision, DIALOG_WIDTH)
                    self.app.push_screen(Dialog(f"{decision.task}  decision", rows, do="close"))
                    break

    def action_answer(self, allows: bool, always: bool) -> None:
        pane = self.pane("asked")
        number = int(pane.key) if pane.key is not None and pane.key.isdecimal() else None
        verdicts.answer_permission(self, pane, number, allows=allows, always=always)

    def action_mode(self) -> None:
        """Asks for the mode; what loosens it is asked once more."""
        now = self.loaded.mode if self.loaded is not None else None
        rows = [
            line((f"{mode.value:<12}", "*strong" if mode is now else "fg"), (says, "muted"), key=mode.value)
            for mode, says in permission_rows.MODES.items()
        ]
        at = now.value if now is not None else None
        dialog = Choice("What agents may do without asking", rows, do="set", at=at)
        self.gt.ask(dialog, lambda name: self._set_mode(PermissionMode(name), now))

    def _set_mode(self, mode: PermissionMode, now: PermissionMode | None) -> None:
        def change() -> None:
            self.gt.act(lambda context: change_mode(context, mode), _mode_words, task="permissions")

        if now is None or not is_looser(mode, now):
            change()
            return
        rows = [
            line(
                ("From the next iteration, an agent ", "muted"), permission_rows.MODES[mode], (".", "muted")
            ),
            line(("Deny rules still apply.", "muted")),
        ]
        self.gt.ask(Dialog(f"Loosen {now} to {mode}?", rows, do="loosen"), lambda _: change())

    def action_policy(self) -> None:
        def show(found: Policy) -> None:
            if self.is_active:
                self.app.push_screen(Dialog("Policy", permission_rows.policy_rows(found), do="close"))

        self.gt.act(policy, show, task="permissions")

    def action_export(self) -> None:
        rows = [
            line(
                (
                    "One JSON object per line, or a table if the name ends in .csv; gt audit filters and verifies.",
                    "muted",
                )
            )
        ]

        def said(name: str) -> None:
            home = os.path.expanduser(name)
            self.gt.act(
                lambda context: _export(context, context.directory / home),
                lambda count: f"{count_of(count, 'decision')} written to {name}",
                task="permissions",
            )

        dialog = Dialog("Export the decisions", rows, ask="a new file", do="write", text="audit-export.jsonl")
        self.gt.ask(dialog, said)


def _mode_words(changed: ChangedMode) -> str:
    if changed.holds is not changed.asked:
        return f"{changed.holds} holds, by {changed.origin}, which is stricter"
    when = "from the next iteration on" if changed.is_looser else "at once"
    return f"mode {changed.holds}, {when}"


def _decisions(context: Context) -> tuple[Recorded, ...]:
    """Returns the newest decisions about tasks that are begun or were closed lately, the newest first."""
    rows = list(context.index.listed())
    begun = [row for row in rows if row.is_open and row.is_begun]
    closed = sorted((row for row in rows if not row.is_open), key=lambda row: row.closed, reverse=True)
    near = [row.id for row in (*begun, *closed)][:_MOST_TASKS]
    tasks = dict.fromkeys((*tasks_with_pending(context.repository.own_dir), *near))
    return find_decisions(context, tasks)[::-1][:_MOST_DECISIONS] if tasks else ()


def _export(context: Context, path: Path) -> int:
    """Writes all decisions to a new file, the oldest first, and returns how many there are."""
    decisions = find_decisions(context)
    with path.open("x", encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            file.writelines(f"{one.rstrip()}\n" for one in as_csv(decisions))
        else:
            file.writelines(f"{json.dumps(one)}\n" for one in as_objects(decisions))
    return len(decisions)
