"""Parallel: all epics that are under way, side by side."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from textual.widget import Widget

from gitticks.actions.context import Context
from gitticks.actions.run_requests import pause_runs, unpause_runs
from gitticks.cli.render import count_of
from gitticks.model.status import Status
from gitticks.tui.messages import Batch
from gitticks.tui.screens import approving
from gitticks.tui.screens.asking import ask_to_stop, start
from gitticks.tui.screens.base import View
from gitticks.tui.screens.dialogs import Search
from gitticks.tui.theme import dotted
from gitticks.tui.widgets import epics, inbox, meters
from gitticks.tui.widgets.chrome import cost_words
from gitticks.tui.widgets.epics import Running
from gitticks.tui.widgets.lines import Line, Lines, Span, line

_SECONDS_BETWEEN_LINES = 0.25
"""The agents' last lines are drawn so often, however fast they print."""


class Parallel(View):
    """Who is where?"""

    place = "parallel"

    def __init__(self, subject: str | None = None) -> None:
        super().__init__(subject)
        self._epics: list[Running] = []
        self._conflicts: tuple[str, ...] | None = None
        self._looked_at: object = None
        self._is_to_draw = False

    def body(self) -> Iterable[Widget]:
        yield Lines("In progress", id="epics", empty="Nothing is in progress. + starts an epic or a task.")
        yield Lines("In all", id="total", focusable=False, classes="pane only-wide")

    def on_mount(self) -> None:
        self.set_interval(_SECONDS_BETWEEN_LINES, self._draw_lines)

    def draw(self) -> None:
        self._epics = epics.running(self.snapshot)
        self._draw_epics()
        self._look_for_conflicts()
        self._draw_total()

    def take(self, batch: Batch) -> None:
        self._is_to_draw |= bool(batch.said)

    def _draw_lines(self) -> None:
        if self._is_to_draw and self.is_open and self.is_current:
            self._is_to_draw = False
            self._draw_epics()

    def _draw_epics(self) -> None:
        pane = self.pane("epics")
        said = {
            task_id: self.gt.outputs[task_id].last
            for task_id in self.snapshot.sessions
            if task_id in self.gt.outputs
        }
        size = pane.inner_width, pane.size.height
        pane.show(epics.rows(self.snapshot, self._epics, said, self.gt.now, size))
        agents = len(self.snapshot.sessions)
        pane.say(f"{count_of(agents, 'agent')} at work" if self._epics else "")

    def _look_for_conflicts(self) -> None:
        """Asks git which unmerged work conflicts, whenever work was handed off or merged."""
        state = tuple((row.id, row.status) for one in self._epics for row in one.below if row.is_begun)
        if state != self._looked_at:
            self._looked_at = state
            if state:
                self.look_up(_conflicts, self._take_conflicts)

    def _take_conflicts(self, found: tuple[str, ...]) -> None:
        self._conflicts = found
        if self.is_current:
            self._draw_total()

    def _draw_total(self) -> None:
        pane, snapshot = self.pane("total"), self.snapshot
        width = pane.inner_width
        budgets = [one for one in snapshot.budgets if one.task is None]
        of_cost = next((one for one in budgets if one.metric == "cost"), None)
        iterations = sum(one.iterations for one in snapshot.details.values())
        left: list[Span | str] = [cost_words(snapshot) or "$0.00", "  "]
        if of_cost is not None:
            left += [*meters.meter(of_cost.percent, 100, max(8, min(24, width // 5))), "  "]
        left.append((dotted(count_of(iterations, "iteration"), f"{len(self._epics)} in progress"), "muted"))
        rows: list[Line] = [line(*left)]
        if self._conflicts:
            rows.append(line(("conflicts: ", "muted"), ("; ".join(self._conflicts), "bad")))
        elif self._conflicts is not None:
            rows.append(line(("conflicts: ", "muted"), ("none foreseen", "good")))
        pane.show(rows)
        pane.say(*meters.nearly_spent(budgets))

    def on_lines_chosen(self, event: Lines.Chosen) -> None:
        self.gt.go("run", event.key)

    @property
    def about(self) -> str | None:
        return self.pane("epics").key

    # keys

    def action_focus_epic(self, number: int) -> None:
        if 0 < number <= len(self._epics):
            self.pane("epics").go_to(self._epics[number - 1].row.id)

    def action_merge(self) -> None:
        """Merges what is approved below the epic under the cursor, or says what is missing."""
        one = next((each for each in self._epics if each.row.id == self.about), None)
        if one is None:
            return
        approved = [row for row in (one.row, *one.below) if row.is_merging]
        if not approved:
            self.gt.say(_missing(one), warns=True)
            return
        for row in dict.fromkeys(approved):
            self.gt.wait_for(partial(approving.merge, task_id=row.id), task=f"merge {row.id}")

    def action_stop(self) -> None:
        if (row := self.snapshot.find(self.about)) is not None:
            ask_to_stop(self.gt, row)

    def action_add(self) -> None:
        busy = {one.row.id for one in self._epics if one.sessions}
        free = {
            row.id
            for row in self.snapshot.roots
            if row.id not in busy and row.awaiting is None and row.status != Status.STUCK
        }
        if not free:
            self.gt.say("every open epic and task is running already or waits for you")
            return
        others = {row.id for row in self.snapshot.rows} - free
        dialog = Search("Add to the run", do="add it", without=others, at=self.about)
        self.gt.ask(dialog, lambda key: start(self.gt, [key]))

    def action_pause(self) -> None:
        if self.snapshot.is_paused:
            self.gt.act(unpause_runs, "runs continue")
        else:
            self.gt.act(pause_runs, "paused: running agents finish, nothing new starts")


def _missing(one: Running) -> str:
    if one.asked:
        asked = one.asked[0]
        verdict = "" if asked.review is None else "waits for your verdict; "
        return f"{asked.standing.task.id} comes first: {verdict}{inbox.gist(asked)}"
    waits = len(one.below) - one.done
    return f"{one.row.id} has nothing to merge: {waits} of {len(one.below)} tasks are open"


def _conflicts(context: Context) -> tuple[str, ...]:
    from gitticks.actions.run import list_conflicts

    return tuple(
        f"{one.name} with {one.other or 'its base'} in {', '.join(one.paths[:2])}"
        for one in list_conflicts(context)
    )
