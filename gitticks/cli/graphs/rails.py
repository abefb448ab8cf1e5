"""The picture of a graph on a terminal: one line a task, and beside the lines a rail from each to all that wait for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from gitticks.model.ids import TaskId

_ENDS, _MEETS, _BEGINS = ("╰", "┴"), ("├", "┼"), ("╭", "┬")
"""A rail that ends, is met or begins at a task: as the leftmost one of its line, and as any other."""
_PASSES, _ALONG, _NOTHING = "│", "─", " "
_ASCII = str.maketrans("╰┴├┼╭┬│─", "++++++|-")


def draw_rails(
    rows: Sequence[TaskId], waits_for: Mapping[TaskId, Collection[TaskId]], *, has_glyphs: bool, widest: int
) -> list[str]:
    """Returns what stands before each row, all equally wide; empty texts where that would be wider than `widest`.

    Each row's task stands below all that it waits for.
    """
    left: dict[TaskId, int] = dict.fromkeys(rows, 0)
    for row in rows:
        for source in waits_for[row]:
            left[source] += 1
    lines: list[str] = []
    rails: list[TaskId | None] = []
    for row in rows:
        lines.append(_line(row, rails, waits_for[row], left))
        if len(lines[-1]) > widest:
            return [""] * len(rows)
    columns = max(map(len, lines), default=0)
    filled = [line.ljust(columns, _ALONG if line and line[-1] == _ALONG else _NOTHING) for line in lines]
    return filled if has_glyphs else [line.translate(_ASCII) for line in filled]


def _line(
    row: TaskId, rails: list[TaskId | None], sources: Collection[TaskId], left: dict[TaskId, int]
) -> str:
    """Returns the rails of one row, and brings them to where they are below it."""
    met = {place for place, rail in enumerate(rails) if rail is not None and rail in sources}
    for source in sources:
        left[source] -= 1
    begins = None
    if left[row]:
        begins = rails.index(None) if None in rails else len(rails)
        rails[begins : begins + 1] = [row]
    first = min(met | ({begins} if begins is not None else set()), default=len(rails))
    line = ""
    for place, rail in enumerate(rails):
        is_later = place > first
        if place in met:
            sign = (_MEETS if rail is not None and left[rail] else _ENDS)[is_later]
        elif place == begins:
            sign = _BEGINS[is_later]
        elif rail is not None:
            sign = _PASSES
        else:
            sign = _ALONG if is_later else _NOTHING
        line += sign + (_ALONG if place >= first else _NOTHING)
    for place in met:
        rail = rails[place]
        if rail is not None and not left[rail]:
            rails[place] = None
    while rails and rails[-1] is None:
        rails.pop()
    return line
