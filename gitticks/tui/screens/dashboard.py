"""Run: the tasks of an epic or of all, what the agent at one of them is doing, what it costs, and what happened before."""

from __future__ import annotations

from collections.abc import Iterable

from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from gitticks.actions.run_requests import pause_runs, unpause_runs
from gitticks.cli.render import count_of
from gitticks.cli.text import clock
from gitticks.model.ids import TaskId
from gitticks.model.task_row import TaskRow
from gitticks.tui import iterations, run_settings
from gitticks.tui.feed import last_words
from gitticks.tui.messages import Batch
from gitticks.tui.screens.asking import ask_to_start, start
from gitticks.tui.screens.base import View
from gitticks.tui.theme import dotted
from gitticks.tui.transcript import Piece
from gitticks.tui.widgets import meters, tasks
from gitticks.tui.widgets.lines import Lines
from gitticks.tui.widgets.markdown import wrapped
from gitticks.tui.widgets.output import Output

_MOST_DONE = 30
"""So many of the tasks that are done are listed where no epic was named, the newest."""
_ROOM_FOR_FIGURES = 52
_LEAST_BUDGET_ROWS = 4


class Dashboard(View):
    """What is it doing?"""

    place = "run"

    def __init__(self, subject: str | None = None) -> None:
        super().__init__(subject)
        self._output: Output | None = None
        self._shown: str | None = None
        self._looked_back: object = None
        self._iterations: list[iterations.Iteration] = []
        self._read_at: object = None
        self._has_begun = False

    @property
    def about(self) -> str | None:
        return self.pane("tasks").key

    def body(self) -> Iterable[Widget]:
        with Horizontal(id="upper"):
            with Vertical(classes="left sized-width", id="left"):
                yield Lines("Tasks", id="tasks", empty="No tasks here yet. Press + on Home to create one.")
                yield Lines(
                    "Budget",
                    id="budget",
                    focusable=False,
                    classes="pane only-wide sized-height",
                )
            yield Lines(
                "",
                id="output",
                follow=True,
                clicks=1,
                empty="No agent is running. r resumes.",
                classes="pane right",
            )
        yield Lines("Iterations", id="iterations", empty="No iterations yet.", classes="pane sized-height")

    def draw(self) -> None:
        self._draw_tasks()
        self._draw_budget()
        self._read_iterations()
        self._draw_output(refresh=True)

    def _rows(self) -> list[TaskRow]:
        """Returns the tasks in the order of the work: what is done, what runs, what comes."""
        snapshot = self.snapshot
        if self.subject is not None:
            found = snapshot.work_of(self.subject)
        else:
            found = [row for row in snapshot.rows if not row.is_epic and not row.is_cancelled]
        done = sorted((row for row in found if not row.is_open), key=lambda row: row.closed)
        if self.subject is None:
            done = done[-_MOST_DONE:]
        ordered = snapshot.graph.in_picking_order([row for row in found if row.is_open])
        return [*done, *sorted(ordered, key=lambda row: (row.id not in snapshot.sessions, not row.is_begun))]

    def _draw_tasks(self) -> None:
        pane, rows = self.pane("tasks"), self._rows()
        if not self._has_begun and rows:
            self._has_begun = True
            pane.key = next((row.id for row in rows if row.is_open), rows[-1].id)
        pane.show(tasks.listed(self.snapshot, rows, pane.inner_width))
        done = sum(row.status == "done" for row in rows)
        pane.title = f"Tasks of {self.subject}" if self.subject else "Tasks"
        pane.say(f"{done} of {len(rows)} done" if rows else "")

    def _draw_budget(self) -> None:
        pane, spending = self.pane("budget"), self.snapshot.spending
        budgets = [one for one in self.snapshot.budgets if one.task in (None, self.subject, self.about)]
        if self.snapshot.is_run_alive:
            run = spending.run if spending is not None else None
            spent = {}
            if run is not None:
                took = clock((self.gt.now - run.began).total_seconds())
                spent = {"iterations": f"{run.iterations} so far", "duration": took}
            rows = [*meters.budget_rows(budgets, pane.inner_width), *meters.unlimited_rows(budgets, spent)]
            pane.title = "Budget"
        else:
            rows = run_settings.rows(self.read_defaults(), self.gt.run_choices, run_settings.LIMITS)
            pane.title = "Limits of the next run"
        rows = [*wrapped(self.snapshot.run_note, pane.inner_width, "waits"), *rows]
        self.fit_height(pane, max(_LEAST_BUDGET_ROWS, len(rows)))
        pane.show(rows)
        pane.say(*meters.nearly_spent(budgets))

    def _read_iterations(self) -> None:
        """Reads what the sessions came to again when any of the tasks has changed."""
        rows = [row for row in self._rows() if row.is_begun or not row.is_open]
        state = tuple((row, self.snapshot.details.get(row.id)) for row in rows)
        ids = [row.id for row in rows]
        if state == self._read_at:
            self._draw_iterations()
            return
        self._read_at = state
        self.look_up(lambda context: iterations.iterations_of(context, ids), self._take_iterations)

    def _take_iterations(self, found: list[iterations.Iteration]) -> None:
        self._iterations = found
        if self.is_current:
            self._draw_iterations()

    def _draw_iterations(self) -> None:
        pane = self.pane("iterations")
        titles = {row.id: row.title for row in self.snapshot.rows}
        pane.show(iterations.rows(self._iterations, titles, pane.inner_width))
        cost = sum(one.cost for one in self._iterations)
        pane.say(f"${cost:.2f}" if cost else "")

    # output

    def take(self, batch: Batch) -> None:
        """Appends what the agent of the task under the cursor said."""
        if self.is_current and any(said.task == self._shown for said in batch.said):
            self._draw_output(refresh=True)

    def _draw_output(self, *, refresh: bool = False) -> None:
        key = self.about
        pane = self.pane("output")
        if key is None:
            pane.show(())
            return
        heard = self.gt.outputs.get(key)
        if key != self._shown:
            self._shown, refresh = key, True
            self._output = heard or Output()
            pane.key = None
            pane.anchor()
            self._looked_back = None
        elif heard is not None and heard is not self._output:  # a new session began
            self._output, refresh = heard, True
        if heard is None and TaskId(key) not in self.snapshot.sessions:
            self._look_back(key)
        self._draw_output_border(pane, key)
        if refresh and self._output is not None:
            pane.show(self._output.rows(pane.inner_width))

    def _look_back(self, key: str) -> None:
        """Reads what the last session on the task said, where none is alive, and again after one that was not heard.

        A session may begin and end between two looks of the feed.
        """
        task_id = TaskId(key)
        row, details = self.snapshot.find(key), self.snapshot.details.get(task_id)
        agent = (details.agent if details else None) or ""
        state = (row.status if row else None, details.iterations if details else 0)
        if state == self._looked_back:
            return
        self._looked_back = state

        def found(pieces: tuple[Piece, ...]) -> None:
            if self._shown == key and key not in self.gt.outputs:
                self._output = Output()
                self._output.take(pieces)
                self._draw_output(refresh=True)

        self.look_up(lambda context: last_words(context, task_id, agent), found)

    def _draw_output_border(self, pane: Lines, key: str) -> None:
        row, session = self.snapshot.find(key), self.snapshot.sessions.get(TaskId(key))
        pane.title = f"{key}  {row.title}" if row is not None else key
        details = self.snapshot.details.get(TaskId(key))
        number = details.iterations if details else 0
        if session is not None:
            pane.empty = "No output yet."
        elif self.snapshot.is_run_alive:
            pane.empty = "No agent is working on this."
        else:
            pane.empty = "No agent is running. r resumes."
        if session is None:
            ended = f"{number} iterations" if number > 1 else "1 iteration" if number else ""
            pane.say(ended if row is None or row.awaiting is None else tasks.note_of(self.snapshot, row, ""))
            return
        since = clock((self.gt.now - session.started).total_seconds())
        said = (
            [session.agent, f"iteration {number + 1}", since]
            if pane.inner_width > _ROOM_FOR_FIGURES
            else [session.agent]
        )
        if not pane.at_tail:
            said.append("f follows")
        pane.say(dotted(*said), "busy")

    def on_lines_resized(self) -> None:
        """Breaks the output anew too, and leaves the cursor and the scrolling as they are."""
        super().on_lines_resized()
        if self.is_open:
            self._draw_output(refresh=self.is_current)

    def on_lines_moved(self, event: Lines.Moved) -> None:
        if event.lines.id == "tasks":
            self.call_after_refresh(self._follow_cursor)  # the cursor itself is drawn first

    def _follow_cursor(self) -> None:
        if self.is_open:
            self._draw_output()
            self._draw_budget()

    def on_lines_chosen(self, event: Lines.Chosen) -> None:
        if event.lines.id == "output":
            if self._output is not None:
                self._output.turn(event.key)
                event.lines.release_anchor()
                self._draw_output(refresh=True)
                self.call_after_refresh(event.lines.show_entry)
        else:
            self.gt.go("task", event.key.partition(" ")[0])

    # keys

    def action_verbose(self) -> None:
        if self._output is not None:
            self._output.is_verbose = not self._output.is_verbose
            self._draw_output(refresh=True)

    def action_follow(self) -> None:
        self.pane("output").anchor()
        self._draw_output()

    def action_pause(self) -> None:
        self.gt.act(pause_runs, "paused: running agents finish, nothing new starts")

    def action_resume(self) -> None:
        """Lets runs continue; without one, starts it, of everything only when that was asked."""
        if self.snapshot.is_run_alive or self.snapshot.is_paused:
            self.gt.act(unpause_runs, "runs continue")
        if not self.snapshot.is_run_alive:
            if self.subject:
                start(self.gt, [self.subject])
            else:
                self._ask_for_all()

    def _ask_for_all(self) -> None:
        snapshot = self.snapshot
        ready = [
            row
            for row in snapshot.rows
            if snapshot.graph.is_ready(row, snapshot.around)
            or (snapshot.standing(row).left and row.id not in snapshot.around.held)
        ]
        now = f"work on {count_of(len(ready), 'task')}, and" if ready else "have nothing to do now, and work"
        says = f"Agents {now} on what becomes ready."
        ask_to_start(self.gt, "Start a run of everything?", says, ready, lambda: start(self.gt, []))
