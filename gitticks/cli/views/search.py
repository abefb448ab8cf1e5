"""Search results, with the matching words marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gitticks.cli.render import GAP, Screen, Style
from gitticks.cli.text import visible, width
from gitticks.cli.views.tasks import indent_of

if TYPE_CHECKING:
    from gitticks.actions.searching import Found, FoundBroken, Match, Needle

_SIGNS, _TWINS = ("»", "«"), ("[", "]")
_BEFORE = 3
"""A word far to the right is moved so that so much of the line, a third, is before it."""


def found_lines(on: Screen, found: Found, needles: Sequence[Needle]) -> Iterator[str]:
    """Yields a task's line, and below it the lines of its text that have the words."""
    task = found.standing.task
    head = f"{on.glyph(task.status)} {on.styled(task.id, Style.STRONG)}{GAP}"
    taken = 2 + len(task.id) + len(GAP)
    yield head + _marked(on, task.title, needles, on.columns - taken)
    yield from _match_lines(on, found.matches, needles)


def broken_lines(on: Screen, found: FoundBroken, needles: Sequence[Needle]) -> Iterator[str]:
    """Yields a line that names a task whose file cannot be read, and below it the lines that have the words."""
    yield f"! {on.styled(found.id, Style.STRONG)}{GAP}{on.styled('cannot be read', Style.FAINT)}"
    yield from _match_lines(on, found.matches, needles)


def _match_lines(on: Screen, matches: Sequence[Match], needles: Sequence[Needle]) -> Iterator[str]:
    indent = indent_of(on)
    for match in matches:
        label = _label(match)
        room = on.columns - len(indent) - width(label)
        yield f"{indent}{on.styled(label, Style.FAINT)}{_marked(on, match.text, needles, room)}"


def _label(match: Match) -> str:
    return f"{visible(match.section)}: " if match.section and not match.text.startswith("## ") else ""


def _marked(on: Screen, text: str, needles: Sequence[Needle], room: int) -> str:
    """Returns a text with its words marked; on a terminal cut to `room` so that the first of them is seen."""
    spans = _spans(text, needles)
    if on.is_terminal and spans and width(visible(text)) > room:
        begin = max(0, spans[0][0] - max(0, room // _BEFORE))
        if begin:
            begin = (
                text.find(" ", begin, spans[0][0]) + 1 or begin
            )  # not within a word, if it has a beginning near
            text = f"…{text[begin:]}"
            spans = [(start - begin + 1, end - begin + 1) for start, end in spans]
    before, after = ("", "") if on.has_colour or not on.is_terminal else (_SIGNS if on.has_glyphs else _TWINS)
    parts: list[str] = []
    place = 0
    for start, end in [*spans, (len(text), len(text))]:
        for piece, is_word in ((text[place:start], False), (text[start:end], True)):
            shown = visible(piece.expandtabs(1))
            if is_word and shown:
                shown = f"{before}{shown}{after}"
            more = text[end if is_word else start :] and "…"
            if on.is_terminal and width(shown + more) > room:
                parts.append(on.styled(on.fit(shown + more, room), Style.FOUND if is_word else Style.PLAIN))
                return "".join(parts)
            room -= width(shown)
            parts.append(on.styled(shown, Style.FOUND) if is_word else shown)
        place = end
    return "".join(parts)


def _spans(text: str, needles: Sequence[Needle]) -> list[tuple[int, int]]:
    """Returns where words stand in a text, in order; those that overlap are joined."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(match.span() for needle in needles for match in needle.pattern.finditer(text)):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
