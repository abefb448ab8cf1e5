"""`gt search`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitticks.actions.context import Context
from gitticks.actions.listing import Filter
from gitticks.actions.searching import Found, FoundBroken, Match, Needle, search_tasks
from gitticks.cli.at_once import JSON, Argument, ReadingCommand, Switch
from gitticks.cli.filters import COUNT, LABEL, STATUS
from gitticks.cli.json import plain, print_tasks, task_text
from gitticks.cli.render import GAP, Screen, Style, say, screen
from gitticks.cli.text import visible, width
from gitticks.cli.views.tasks import indent_of
from gitticks.errors import Exit
from gitticks.model.status import Status

_SIGNS, _TWINS = ("»", "«"), ("[", "]")
_BEFORE = 3
"""A word far to the right is moved so that so much of the line, a third, is before it."""


def answer(
    context: Context,
    *,
    words: tuple[str, ...],
    statuses: tuple[frozenset[Status], ...],
    labels: tuple[str, ...],
    with_closed: bool,
    count: int | None,
) -> int:
    """Find tasks by words in titles and texts.

    Finds open tasks that contain all the words. A word with a capital letter is case-sensitive, others are not. Exits
    with 1 if nothing is found.
    """
    wanted = Filter(
        statuses=frozenset().union(*statuses) if statuses else None, labels=labels, with_closed=with_closed
    )
    search = search_tasks(context, words, wanted, count=count)
    found_broken = search.found_broken
    broken = [{**plain(one), "matches": _matches(one.matches)} for one in found_broken]
    if context.as_json:
        print_tasks(
            map(_text, search.found),
            **({"broken": broken} if broken else {}),
        )
    elif search.found or found_broken:
        on = screen()
        say(*(line for one in search.found for line in found_lines(on, one, search.needles)))
        say(*(line for one in found_broken for line in broken_lines(on, one, search.needles)))
        if search.left_out:
            say(f"… {search.left_out} more: without `-n` all are shown", err=True)
    else:
        more = "" if wanted.needs_closed else ": `--all` searches closed tasks too"
        say(f"no matches{more}", err=True)
    return Exit.DONE if search.found or found_broken else Exit.FAILED


def _text(found: Found) -> str:
    return task_text(
        found.standing,
        in_title=found.in_title,
        matches=_matches(found.matches),
    )


def _matches(matches: tuple[Match, ...]) -> list[dict[str, object]]:
    return [{"line": match.line, "section": match.section or None, "text": match.text} for match in matches]


search_command = ReadingCommand(
    "search",
    answer,
    (
        Argument("words", "WORD...", is_repeated=True, completes="-"),
        STATUS,
        LABEL,
        Switch("with_closed", ("-a", "--all"), "Include closed tasks."),
        COUNT,
        JSON,
    ),
    examples=("gt search login redirect", 'gt search "return URL" --status in_review'),
)


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
        is_named = match.section and not match.text.startswith("## ")
        label = f"{visible(match.section)}: " if is_named else ""
        room = on.columns - len(indent) - width(label)
        yield f"{indent}{on.styled(label, Style.FAINT)}{_marked(on, match.text, needles, room)}"


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
    joined: list[tuple[int, int]] = []
    for start, end in sorted(match.span() for needle in needles for match in needle.pattern.finditer(text)):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
