"""Draws a dependency graph from left to right: a layer a column, the links in the gaps between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from gitticks.model.graph import Columns, Link, Stop, columns_of
from gitticks.model.ids import TaskId
from gitticks.tui.theme import STATUS_COLOUR, glyph, uses_ascii
from gitticks.tui.widgets.lines import Line, Span, line

NARROWEST = 18
"""Tasks that would get fewer cells than this are listed instead."""
MOST_DRAWN = 300
"""More tasks than this are listed: nobody reads such a drawing, and each step would draw all of it."""
_LEAST_GAP = 5
_SWEEPS = 4
_NORTH, _EAST, _SOUTH, _WEST = 1, 2, 4, 8
_ARROW = 16
_SIGNS = {
    _NORTH | _SOUTH: "│", _EAST | _WEST: "─", _NORTH | _EAST: "╰", _NORTH | _WEST: "╯", _SOUTH | _EAST: "╭",
    _SOUTH | _WEST: "╮", _NORTH | _EAST | _SOUTH: "├", _NORTH | _SOUTH | _WEST: "┤", _EAST | _WEST | _SOUTH: "┬",
    _EAST | _WEST | _NORTH: "┴", _NORTH | _EAST | _SOUTH | _WEST: "┼",
}  # fmt: skip
_ASCII = str.maketrans("│─╰╯╭╮├┤┬┴┼→", "|-++++++++->")


class Node(NamedTuple):
    """A task as the graph shows it; `mark` is its status, or `blocked`."""

    id: TaskId
    title: str
    mark: str


class Shape(NamedTuple):
    """What the graph shows: tasks in layers, what waits for what (from, to), and the links left out as they close cycles."""

    layers: tuple[tuple[Node, ...], ...]
    links: tuple[Link, ...]
    cut: tuple[Link, ...] = ()

    @property
    def nodes(self) -> dict[TaskId, Node]:
        """Returns all tasks, layer by layer."""
        return {node.id: node for layer in self.layers for node in layer}

    def sources(self, task_id: TaskId) -> list[TaskId]:
        """Returns what a task waits for."""
        return [source for source, target in (*self.links, *self.cut) if target == task_id]

    def targets(self, task_id: TaskId) -> list[TaskId]:
        """Returns what waits for a task."""
        return [target for source, target in (*self.links, *self.cut) if source == task_id]


class Drawing(NamedTuple):
    """The rows; and where the tasks stand, for moving among them: a list is one column.

    `boxes` are the first cell of each task and the one behind its last.
    """

    lines: list[Line]
    columns: list[list[TaskId]]
    rows: dict[TaskId, int]
    boxes: dict[TaskId, tuple[int, int]]
    is_list: bool = False

    def step(self, chosen: TaskId, across: int, down: int) -> TaskId:
        """Returns the task that is one step away from another: across the nearest of the next column."""
        at = next((number for number, column in enumerate(self.columns) if chosen in column), 0)
        if across:
            to = at + across
            if not 0 <= to < len(self.columns):
                return chosen
            return min(self.columns[to], key=lambda one: abs(self.rows[one] - self.rows[chosen]))
        column = self.columns[at] if self.columns else [chosen]
        return column[max(0, min(len(column) - 1, column.index(chosen) + down))]

    def task_at(self, x: int, y: int) -> TaskId | None:
        """Returns the task that is in a cell."""
        return next(
            (one for one, (first, end) in self.boxes.items() if self.rows[one] == y and first <= x < end),
            None,
        )


def draw_graph(view: Shape, width: int, height: int, chosen: TaskId | None) -> Drawing:
    """Returns the drawing, of links to the chosen task in their own colour; a list in words where columns get too narrow."""
    if sum(map(len, view.layers)) > MOST_DRAWN:
        return _as_list(view, chosen)
    columns = columns_of([[node.id for node in layer] for layer in view.layers], view.links)
    step = 2 if 2 * max(map(len, columns.stops), default=0) <= height else 1
    rows = _rows_of(columns, step)
    tracks = [_tracks(columns, rows, view.links, number) for number in range(len(columns.stops) - 1)]
    gaps = [_LEAST_GAP + 2 * max(found.values(), default=0) for found in tracks]
    widths = _widths(view, width - sum(gaps))
    if widths is None:
        return _as_list(view, chosen)
    canvas = _Canvas(_edges(widths, gaps), view, columns, rows)
    for link in view.links:
        canvas.draw(link, tracks, "busy" if chosen in link else "faint")
    stops = [
        [
            one
            for _, one in sorted(
                (rows[one, at], one) for one, depth in column if columns.depths[one] == at == depth
            )
        ]
        for at, column in enumerate(columns.stops)
    ]
    own = {task_id: rows[task_id, depth] for task_id, depth in columns.depths.items()}
    boxes = {
        one: (canvas.edges[depth][0], canvas.edges[depth][0] + min(_cells(canvas.nodes[one]), widths[depth]))
        for one, depth in columns.depths.items()
    }
    return Drawing(canvas.lines(widths, chosen), stops, own, boxes)


def _rows_of(columns: Columns, step: int) -> dict[Stop, int]:
    """Returns the row of each stop: as near as can be to those that it is linked with, so that lines run straight."""
    rows: dict[Stop, float] = {}
    for column in columns.stops:
        rows.update({stop: float(at * step) for at, stop in enumerate(column)})
    for sweep in range(_SWEEPS):
        neighbours = columns.after if sweep % 2 else columns.before
        for column in reversed(columns.stops) if sweep % 2 else columns.stops:
            wanted = [
                sum(rows[one] for one in found) / len(found)
                if (found := neighbours.get(stop))
                else rows[stop]
                for stop in column
            ]
            rows.update(zip(column, _spread(wanted, step), strict=True))
    whole: dict[Stop, int] = {}
    for column in columns.stops:
        least: int | None = None
        for stop in column:
            here = round(rows[stop])
            whole[stop] = here if least is None else max(here, least)
            least = whole[stop] + step
    top = min(whole.values(), default=0)
    return {stop: row - top for stop, row in whole.items()}


def _spread(wanted: Sequence[float], step: int) -> list[float]:
    """Returns places at least `step` apart, in the same order, as near to the wanted ones as the least squares are."""
    blocks: list[tuple[float, int]] = []
    for at, place in enumerate(wanted):
        mean, count = place - at * step, 1
        while blocks and blocks[-1][0] > mean:
            before, many = blocks.pop()
            mean, count = (before * many + mean * count) / (many + count), many + count
        blocks.append((mean, count))
    flat = [mean for mean, count in blocks for _ in range(count)]
    return [mean + at * step for at, mean in enumerate(flat)]


def _tracks(columns: Columns, rows: Mapping[Stop, int], links: Iterable[Link], gap: int) -> dict[Stop, int]:
    """Returns on which upright track the lines of each stop bend in a gap.

    Lines of one stop share theirs, and so do lines that meet at one task and go nowhere else.
    """
    spans: dict[Stop, tuple[int, int]] = {}
    ends: dict[Stop, set[Stop]] = {}
    for link in links:
        for left, right in _hops(columns, link):
            if left[1] == gap and rows[left] != rows[right]:
                first, last = sorted((rows[left], rows[right]))
                known = spans.get(left, (first, last))
                spans[left] = min(known[0], first), max(known[1], last)
                ends.setdefault(left, set()).add(right)
    taken: list[list[Stop]] = []
    found: dict[Stop, int] = {}
    for stop, (first, last) in sorted(spans.items(), key=lambda one: one[1]):

        def may_share(other: Stop, stop: Stop = stop, first: int = first, last: int = last) -> bool:
            is_apart = last < spans[other][0] or spans[other][1] < first
            return is_apart or (ends[other] == ends[stop] and len(ends[stop]) == 1)

        track = next((at for at, others in enumerate(taken) if all(map(may_share, others))), len(taken))
        if track == len(taken):
            taken.append([])
        taken[track].append(stop)
        found[stop] = track
    return found


def _hops(columns: Columns, link: Link) -> list[tuple[Stop, Stop]]:
    """Returns the stops that a link leads through, from one layer to the next."""
    source, target = link
    first, last = columns.depths[source], columns.last_stop(source, target)
    stops = [(source, number) for number in range(first, last + 1)]
    return list(zip(stops, [*stops[1:], (target, columns.depths[target])], strict=True))


def _widths(view: Shape, room: int) -> list[int] | None:
    """Returns the cells of each column; None where that would be too few for what has to stand there."""
    wanted = [max(_cells(node) for node in layer) for layer in view.layers]
    most = max(wanted, default=0)
    while sum(min(one, most) for one in wanted) > room and most > NARROWEST:
        most -= 1
    widths = [min(one, most) for one in wanted]
    return widths if sum(widths) <= room else None


def _cells(node: Node) -> int:
    return 6 + cell_len(node.id) + cell_len(node.title)


def _edges(widths: Sequence[int], gaps: Sequence[int]) -> list[tuple[int, int]]:
    """Returns the first cell of each column and the one behind its last."""
    edges, at = [], 0
    for number, wide in enumerate(widths):
        edges.append((at, at + wide))
        at += wide + (gaps[number] if number < len(gaps) else 0)
    return edges


class _Canvas:
    """The cells that lines go through, by what each joins, and the colour of the line that was drawn last."""

    def __init__(
        self, edges: list[tuple[int, int]], view: Shape, columns: Columns, rows: Mapping[Stop, int]
    ) -> None:
        self.edges, self.columns, self.rows = edges, columns, rows
        self.nodes = view.nodes
        self.in_cycle = {one for link in view.cut for one in link}
        self.joints: dict[tuple[int, int], int] = {}
        self.colours: dict[tuple[int, int], str] = {}

    def draw(self, link: Link, tracks: Sequence[Mapping[Stop, int]], colour: str) -> None:
        """Draws the line of a link, with its arrow."""
        for left, right in _hops(self.columns, link):
            begin, end = self.edges[left[1]][0], self.edges[right[1]][0]
            if left[1] == self.columns.depths[left[0]]:  # else a line that passes the layer
                begin += min(_cells(self.nodes[left[0]]), self.edges[left[1]][1] - begin)
            turn = self.edges[left[1]][1] + 1 + 2 * tracks[left[1]].get(left, 0)
            self._bend((begin, self.rows[left]), (end, self.rows[right]), turn, colour)
            if right[1] == self.columns.depths[right[0]]:
                self._put(end - 1, self.rows[right], _ARROW, colour)

    def _bend(self, start: tuple[int, int], stop: tuple[int, int], turn: int, colour: str) -> None:
        (begin, above), (end, below) = start, stop
        if above == below:
            for x in range(begin, end):
                self._put(x, above, _EAST | _WEST, colour)
            return
        for x in range(begin, turn):
            self._put(x, above, _EAST | _WEST, colour)
        self._put(turn, above, _WEST | (_SOUTH if below > above else _NORTH), colour)
        for y in range(min(above, below) + 1, max(above, below)):
            self._put(turn, y, _NORTH | _SOUTH, colour)
        self._put(turn, below, _EAST | (_NORTH if below > above else _SOUTH), colour)
        for x in range(turn + 1, end):
            self._put(x, below, _EAST | _WEST, colour)

    def _put(self, x: int, y: int, joint: int, colour: str) -> None:
        self.joints[x, y] = self.joints.get((x, y), 0) | joint
        if colour == "busy" or (x, y) not in self.colours:
            self.colours[x, y] = colour

    def lines(self, widths: Sequence[int], chosen: TaskId | None) -> list[Line]:
        """Returns the rows, tasks and lines together."""
        at = {
            (self.edges[depth][0], self.rows[task_id, depth]): self.nodes[task_id]
            for task_id, depth in self.columns.depths.items()
        }
        wide = {first: size for (first, _), size in zip(self.edges, widths, strict=True)}
        bottom = max(self.rows.values(), default=-1)
        right = self.edges[-1][1] if self.edges else 0
        lines = []
        for y in range(bottom + 1):
            spans: list[Span] = []
            x = 0
            while x < right:
                node = at.get((x, y))
                if node is not None:
                    taken = min(wide[x], _cells(node))
                    spans += _node(node, taken, is_chosen=node.id == chosen, is_bad=node.id in self.in_cycle)
                    x += taken
                    continue
                spans.append((self._sign(x, y), self.colours.get((x, y), "faint")))
                x += 1
            lines.append(Line(_joined(spans)))
        return lines

    def _sign(self, x: int, y: int) -> str:
        joint = self.joints.get((x, y), 0)
        sign = "→" if joint & _ARROW else _SIGNS.get(joint, " ")
        return sign.translate(_ASCII) if uses_ascii() else sign


def _joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Returns the spans with neighbours of one colour as one."""
    found: list[Span] = []
    for text, token in spans:
        if found and (found[-1][1] == token or not text.strip()):
            found[-1] = (found[-1][0] + text, found[-1][1])
        else:
            found.append((text, token))
    return tuple(found)


def _node(node: Node, width: int, *, is_chosen: bool, is_bad: bool) -> list[Span]:
    colour = "bad" if is_bad else STATUS_COLOUR[node.mark]
    room = max(0, width - 6 - cell_len(node.id))
    title = node.title
    if cell_len(title) > room:
        title = set_cell_size(title, room - 1).rstrip() + glyph("more")
    is_quiet = node.mark in ("done", "cancelled", "blocked")
    return [
        (glyph("bar") if is_chosen else " ", "focus"),
        (f"{glyph(node.mark)} ", f"*{colour}"),
        (f"{node.id}  ", "muted"),
        (set_cell_size(title, room), "*strong" if is_chosen else "muted" if is_quiet else "fg"),
        (" ", "fg"),
    ]


def _as_list(view: Shape, chosen: TaskId | None) -> Drawing:
    """Returns the tasks in words: each below what it waits for."""
    lines: list[Line] = []
    rows: dict[TaskId, int] = {}
    in_cycle = {one for link in view.cut for one in link}
    for layer in view.layers:
        for node in layer:
            rows[node.id] = len(lines)
            colour = "bad" if node.id in in_cycle else STATUS_COLOUR[node.mark]
            title = (node.title, "*strong" if node.id == chosen else "fg")
            lines.append(
                line((f"{glyph(node.mark)} ", f"*{colour}"), (f"{node.id}  ", "muted"), title, key=node.id)
            )
            sources = view.sources(node.id)
            if sources:
                lines.append(line(("    after ", "faint"), (", ".join(sources), "muted"), key=node.id))
    return Drawing(lines, [list(rows)], rows, {}, is_list=True)
