"""How did it get here? One task: its text, where it stands, what happened, its rounds and commits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from gitticks.actions.context import Context
from gitticks.actions.review import commits
from gitticks.actions.showing import ShownTask, show_task
from gitticks.cli.render import count_of
from gitticks.model.event import Event
from gitticks.model.task import Task
from gitticks.tui.editing import edit_task
from gitticks.tui.screens.asking import ask_for_task
from gitticks.tui.screens.base import Loaded
from gitticks.tui.widgets import task_rows
from gitticks.tui.widgets.lines import Lines

_MOST_FACTS = 9


class Page(NamedTuple):
    """What was read: the page of `gt show`, the history's events, and the commits."""

    shown: ShownTask
    events: tuple[Event, ...]
    commits: dict[str, str]


class TaskView(Loaded[Page]):
    """How did it get here?"""

    place = "task"
    refuses_in = "text"

    def __init__(self, subject: str | None = None) -> None:
        super().__init__(subject)
        self.round: int | None = None

    def body(self) -> Iterable[Widget]:
        with Horizontal():
            yield Lines(
                "TASK.md",
                id="text",
                classes="pane left sized-width",
                empty="No text yet. e opens it in your editor.",
            )
            with Vertical(classes="right"):
                yield Lines("Now", id="facts", focusable=False, classes="pane sized-height")
                yield Lines("History", id="history", empty="It has not moved yet; gt log has every change.")
                yield Lines(
                    "Rounds and commits", id="work", empty="No commits yet.", classes="pane sized-height"
                )

    def on_mount(self) -> None:
        self.set_focus(self.pane("text"))

    def read(self, context: Context) -> Page:
        shown = show_task(context, self.task_id)
        task = context.store.task_file(self.task_id).task
        return Page(shown, shown.history.events, commits(context, task))

    def refuse(self, message: str, hint: str | None) -> None:
        super().refuse(message, f"{hint}\n\ne opens it in your editor" if hint else None)

    def fill(self, loaded: Page) -> None:
        shown, now = loaded.shown, self.snapshot.around.now
        text, facts, history = self.pane("text"), self.pane("facts"), self.pane("history")
        chosen = next((one for one in shown.rounds if one.number == self.round), None)
        text.title = "TASK.md" if chosen is None else f"Round {chosen.number}"
        text.show(
            task_rows.text_rows(shown, now, text.inner_width)
            if chosen is None
            else task_rows.round_rows(chosen, text.inner_width)
        )
        text.say("e edits it" if chosen is None else "] shows the current one")
        row = self.snapshot.find(self.subject)
        found = task_rows.fact_rows(self.snapshot, row, shown) if row is not None else []
        facts.show(found[:_MOST_FACTS])
        self.fit_height(facts, min(len(found), _MOST_FACTS))
        is_at_end = history.key not in history.keys[:-1]
        history.show(task_rows.history_rows(loaded.events, now, history.inner_width))
        if is_at_end and history.keys:
            history.key = history.keys[-1]
            history.scroll_end(animate=False, immediate=True)
        work = self.pane("work")
        work.show(task_rows.work_rows(shown.rounds, loaded.commits))
        work.say(count_of(len(loaded.commits), "commit") if loaded.commits else "")

    def on_lines_chosen(self, event: Lines.Chosen) -> None:
        kind, _, name = event.key.partition(" ")
        if kind == "round":
            self._show_round(int(name))
        elif kind == "commit":
            self.action_review()

    def action_round(self, step: int) -> None:
        """Shows the round before or after; after the last one the task as it is."""
        if self.loaded is None:
            return
        numbers: list[int | None] = [*(one.number for one in self.loaded.shown.rounds), None]
        at = numbers.index(self.round) if self.round in numbers else len(numbers) - 1
        self._show_round(numbers[max(0, min(len(numbers) - 1, at + step))])

    def _show_round(self, number: int | None) -> None:
        self.round = number
        if self.loaded is not None:
            self.fill(self.loaded)

    def action_edit(self) -> None:
        edit_task(self, self.task_id)

    def action_child(self) -> None:
        row = self.snapshot.find(self.subject)
        if row is not None:
            ask_for_task(self, self.snapshot.find(row.id if row.is_epic else row.parent), self._created)

    def _created(self, new: Task) -> str:
        if not self.is_active:
            return f"{new.id}  {new.title}"
        self.gt.go("task", new.id)
        return f"{new.id} created; e opens it in your editor"

    def action_review(self) -> None:
        self.gt.go("review", self.subject)

    def action_graph(self) -> None:
        self.gt.go("graph", self.subject)
