"""What waits for what: layers from left to right, and the chosen task's own links below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.widget import Widget

from gitticks.actions.context import Context
from gitticks.actions.dependencies import Cycle, cycles_of, find_dependencies
from gitticks.model.ids import TaskId
from gitticks.tui.screens.base import Loaded
from gitticks.tui.theme import STATUS_COLOUR, glyph
from gitticks.tui.widgets.graph_layout import Drawing, Node, Shape, draw_graph
from gitticks.tui.widgets.lines import Line, Lines, Span, clean, line
from gitticks.tui.widgets.tasks import note_of

_LEGEND = ("working", "agent-review", "reviewing", "clarification", "stuck", "pending", "blocked", "done")
"""The marks in the order in which they matter where not all have room."""
_WORDS = {"reviewing": "for you", "clarification": "asks you"}
"""What marks are called that tell whose turn it is, whatever the status."""
_WIDE, _AROUND_LEGEND = 76, 4


class Graph(NamedTuple):
    """What was read: the graph, its cycles, and how many tasks without links are not in it."""

    shape: Shape
    cycles: tuple[Cycle, ...]
    left_out: int


class GraphPane(Lines):
    """A drawing with a cursor on one of its tasks."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "across(-1)", "Left", show=False),
        Binding("right,l", "across(1)", "Right", show=False),
    ]

    drawing = Drawing([], [], {}, {}, is_list=True)
    chosen: str | None = None
    _above = 0

    @property
    def under_cursor(self) -> str | None:
        """Returns the task that the cursor is on, which the screen may not have drawn yet."""
        return self.key if self.drawing.is_list else self.chosen

    def show_drawing(self, drawing: Drawing, above: Sequence[Line]) -> None:
        """Shows a drawing, below some rows of words."""
        self.drawing, self._above = drawing, len(above)
        self.key = self.chosen if drawing.is_list else None
        self.show([*above, *drawing.lines])

    def action_move(self, step: int) -> None:
        if self.drawing.is_list:
            super().action_move(step)
        else:
            self._step(0, step)

    def action_across(self, step: int) -> None:
        """Moves to the layer beside; in a list, which has them one below the other, to the next row."""
        if self.drawing.is_list:
            super().action_move(step)
        else:
            self._step(step, 0)

    def _step(self, across: int, down: int) -> None:
        if self.chosen is not None:
            self._choose(self.drawing.step(TaskId(self.chosen), across, down))

    def _choose(self, key: str) -> None:
        if key != self.chosen:
            self.chosen = key
            self.post_message(self.Moved(self, key))

    def show_chosen(self) -> None:
        """Scrolls to where the chosen task stands."""
        if self.chosen in self.drawing.rows:
            row = self.drawing.rows[TaskId(self.chosen)] + self._above
            self.scroll_to_region(Region(0, row, 1, 1), animate=False, immediate=True)

    def action_choose(self) -> None:
        if self.chosen is not None:
            self.post_message(self.Chosen(self, self.chosen))

    def on_click(self, event: events.Click) -> None:
        """Moves to the task that was clicked; a double click on the chosen one opens it."""
        if self.drawing.is_list:
            super().on_click(event)
            return
        event.prevent_default()
        place = event.get_content_offset_capture(self)
        found = self.drawing.task_at(place.x - 1, place.y + self.scroll_offset.y - self._above)
        if found is not None and found != self.chosen:
            self._choose(found)
        elif found is not None and event.chain == self.clicks:
            self.action_choose()


class GraphView(Loaded[Graph]):
    """What waits for what?"""

    place = "graph"
    refuses_in = "graph"

    def __init__(self, subject: str | None = None) -> None:
        super().__init__(subject)
        self.chosen: str | None = subject
        self.hides_done = True

    @property
    def about(self) -> str | None:
        return self.chosen

    @property
    def mark(self) -> object:
        return self.snapshot.number, self.hides_done

    def body(self) -> Iterable[Widget]:
        yield GraphPane("Graph", id="graph", empty="")
        yield Lines("Selected", id="about", focusable=False, classes="pane sized-height")

    def read(self, context: Context) -> Graph:
        """Returns the links of all tasks, or of those around the one that the place was opened on."""
        found = find_dependencies(context, self.subject, with_closed=not self.hides_done)
        mark = self.snapshot.mark
        layers = tuple(
            tuple(Node(one.task.id, clean(one.task.title), mark(one.task)) for one in layer)
            for layer in found.layers
        )
        links = tuple((edge.source, edge.target) for edge in found.edges if not edge.is_circular)
        cut = tuple((edge.source, edge.target) for edge in found.edges if edge.is_circular)
        cycles = tuple(cycles_of(self.snapshot.graph)) if cut else ()
        return Graph(Shape(layers, links, cut), cycles, found.left_out)

    def fill(self, loaded: Graph) -> None:
        """Draws the graph with the chosen task's links in their own colour, and says what they are below."""
        pane, nodes = self.query_one(GraphPane), loaded.shape.nodes
        self.chosen = pane.under_cursor or self.chosen
        if self.chosen not in nodes:
            self.chosen = _first(nodes.values())
        above = [
            line(
                (f"{glyph('stuck')} cycle ", "*bad"),
                (cycle.words, "bad"),
                right=[(cycle.fix.strip("`"), "muted")],
            )
            for cycle in loaded.cycles
        ]
        above = [*above, line()] if above else []
        room = pane.size.height - len(above)
        pane.empty = "" if nodes else _empty(loaded.left_out, hides_done=self.hides_done)
        chosen = None if self.chosen is None else TaskId(self.chosen)
        pane.chosen = self.chosen
        pane.show_drawing(draw_graph(loaded.shape, pane.inner_width, room, chosen), above if nodes else [])
        pane.title = "Graph" if self.hides_done else "Graph, with done tasks"
        pane.say(
            _legend(nodes.values(), loaded.left_out, pane.inner_width - len(pane.title) - _AROUND_LEGEND)
        )
        self._tell(loaded.shape, nodes.get(chosen) if chosen else None)
        self.call_after_refresh(pane.show_chosen)

    def _tell(self, shape: Shape, node: Node | None) -> None:
        about = self.pane("about")
        row = self.snapshot.find(node.id if node else None)
        if node is None or row is None:
            about.show([])
            return
        colour = STATUS_COLOUR[node.mark]
        note = note_of(self.snapshot, row, node.mark)
        about.show(
            [
                line(
                    (f"{glyph(node.mark)} {_WORDS.get(node.mark, node.mark)}", colour),
                    (f"  P{row.priority}  ", "muted"),
                    (row.title, "*strong"),
                    right=[(note, "muted")] if about.inner_width > _WIDE else [],
                ),
                line(("waits for  ", "muted"), *self._named(shape, shape.sources(node.id))),
                line(("frees      ", "muted"), *self._named(shape, shape.targets(node.id))),
            ]
        )

    def _named(self, shape: Shape, ids: Iterable[TaskId]) -> list[Span | str]:
        spans: list[Span | str] = []
        for one in dict.fromkeys(ids):
            mark = shape.nodes[one].mark
            spans += [(", " if spans else "", "muted"), (f"{glyph(mark)} ", STATUS_COLOUR[mark]), one]
        return spans or [("nothing", "muted")]

    def on_lines_moved(self) -> None:
        if self.chosen != self.query_one(GraphPane).under_cursor and self.loaded is not None:
            self.fill(self.loaded)

    def on_lines_chosen(self, event: Lines.Chosen) -> None:
        self.gt.go("task", event.key)

    def action_hide_done(self) -> None:
        self.hides_done = not self.hides_done
        self.redraw()


def _legend(nodes: Iterable[Node], left_out: int, room: int) -> str:
    """Returns what the marks of these tasks mean, and how many tasks are not drawn, as far as there is room."""
    marks = {node.mark for node in nodes}
    found = [f"{glyph(one)} {_WORDS.get(one, one)}" for one in _LEGEND if one in marks]
    if left_out:
        found.insert(0, f"{left_out} without links")
    while found and len("  ".join(found)) > room:
        found.pop()
    return "  ".join(found)


def _first(nodes: Iterable[Node]) -> str | None:
    """Returns the task that a reader most likely looks for: one that runs, or waits for a person, or the first."""
    order = ("working", "agent-review", "reviewing", "clarification", "stuck", "pending")
    found = sorted(nodes, key=lambda node: order.index(node.mark) if node.mark in order else len(order))
    return found[0].id if found else None


def _empty(left_out: int, *, hides_done: bool) -> str:
    if not left_out and not hides_done:
        return "No tasks yet."
    more = " d shows done ones too." if hides_done else ""
    return f"No task waits for another.{more} b in a task makes it wait for another."
