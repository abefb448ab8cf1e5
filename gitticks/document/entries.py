"""Escapes text so that it is safe inside an entry, and unescapes it.

A backslash goes before what would begin a heading of level 1 to 3, an underline that makes one, an HTML block or
a code fence that never ends; CommonMark shows such a line as it was written. Both directions look at lines in
the same way and each changed line gains or loses exactly one backslash, so every text comes back as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gitticks.document.section_edits import append_to_section
from gitticks.document.sections import ENTRY_LEVEL, Body, Heading, is_empty
from gitticks.document.texts import encodable, line_starts, trimmed, with_newlines
from gitticks.document.values import format_time, parse_time
from gitticks.errors import DocumentError
from gitticks.model.notes import Entry, Section
from gitticks.model.status import ActorKind

_HEADING = re.compile(r" {0,3}(\\*)#{1,3}(?:[ \t]|\Z)")
_HTML = re.compile(r" {0,3}(\\*)<(?![A-Za-z][A-Za-z0-9+.-]*:)")
_UNDERLINE = re.compile(r" {0,3}(\\*)(?:=+|-+)[ \t]*\Z")
_CLOSER = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*\Z")
_FENCE = re.compile(r" {0,3}(\\*)(?:(`{3,})[^`]*\Z|(~{3,}))")

SEPARATOR = " · "
NAMELESS = "unknown"
_KINDS = {kind.value: kind for kind in ActorKind}
_CLOSING_HASHES = re.compile(r"(?:(?<= )|\A)(\\*)(?=#+\Z)")
_CLOSED_HASHES = re.compile(r"(?:(?<= )|\A)\\(\\*)(?=#+\Z)")


def escape(text: str, *, keep_fences: bool = True) -> str:
    """Returns `text`, whose line breaks are LF, with backslashes before what would make structure.

    With `keep_fences` closed code fences and the lines inside them stay as they are.
    """
    return _mapped(
        text,
        lambda line, match: f"{line[: match.start(1)]}\\{line[match.start(1) :]}",
        keep_fences=keep_fences,
    )


def unescape(text: str) -> str:
    """Returns the text that `escape` was given, with whatever choice about fences."""
    return _mapped(
        text,
        lambda line, match: line[: match.start(1)] + line[match.start(1) + bool(match[1]) :],
        keep_fences=True,
    )


def _mapped(text: str, change: Callable[[str, re.Match[str]], str], *, keep_fences: bool) -> str:
    lines = text.split("\n")
    changed = list(lines)
    for index, match in _structural_lines(lines, keep_fences=keep_fences):
        changed[index] = change(lines[index], match)
    return "\n".join(changed)


def _structural_lines(lines: list[str], *, keep_fences: bool) -> Iterator[tuple[int, re.Match[str]]]:
    """Yields the lines outside code fences that would make structure, with or without backslashes before it."""
    longest = _longest_closers(lines)
    index = 0
    while index < len(lines):
        fence = _FENCE.match(lines[index])
        if fence is not None and not fence[1] and keep_fences:
            closing = _closing(lines, index, fence, longest)
            if closing is not None:
                index = closing + 1
                continue
        match = fence or _structure(lines, index)
        if match is not None:
            yield index, match
        index += 1


def _structure(lines: list[str], index: int) -> re.Match[str] | None:
    line = lines[index]
    found = _HEADING.match(line) or _HTML.match(line)
    if found is None and index > 0 and lines[index - 1].strip(" \t"):
        return _UNDERLINE.match(line)
    return found


def _longest_closers(lines: list[str]) -> list[dict[str, int]]:
    """Returns for each line how long the longest closing fence below it is, which spares searches in vain."""
    result: list[dict[str, int]] = []
    longest: dict[str, int] = {}
    for line in reversed(lines):
        result.append(longest)
        closer = _CLOSER.match(line)
        if closer is not None and len(closer[1]) > longest.get(closer[1][0], 0):
            longest = longest | {closer[1][0]: len(closer[1])}
    return result[::-1]


def _closing(lines: list[str], index: int, fence: re.Match[str], longest: list[dict[str, int]]) -> int | None:
    mark = fence[2] or fence[3]
    if longest[index].get(mark[0], 0) < len(mark):
        return None
    for at in range(index + 1, len(lines)):
        closer = _CLOSER.match(lines[at])
        if closer is not None and closer[1][0] == mark[0] and len(closer[1]) >= len(mark):
            return at
    return None


class PlacedEntry(NamedTuple):
    """An entry, its text as it is in the body, and where its heading and its text begin."""

    entry: Entry
    raw: str
    start: int
    text_start: int


def read_entries(body: Body, section: Section) -> tuple[Entry, ...]:
    """Returns the entries of the section in file order."""
    return tuple(placed.entry for placed in place_entries(body, section))


def place_entries(body: Body, section: Section) -> tuple[PlacedEntry, ...]:
    """Returns the entries of the section in file order, with their places."""
    found = body.find(section)
    if not found:
        return ()
    block = found[-1]
    headings = [
        (heading, entry)
        for heading in body.headings
        if block.text_start <= heading.start < block.end and (entry := _parsed_heading(heading)) is not None
    ]
    ends = [*(heading.start for heading, _ in headings[1:]), block.end]
    return tuple(
        _placed(body, heading, entry, end) for (heading, entry), end in zip(headings, ends, strict=False)
    )


def add_entry(body: Body, section: Section, entry: Entry) -> Body:
    """Returns the body with the entry added below the section's others.

    Raises:
        DocumentError: what is in the section already would swallow it.
    """
    wanted = normalised(entry)
    before = read_entries(body, section)
    for keep_fences in (True, False):
        text = f"{heading_line(wanted)}\n\n{escape(wanted.text, keep_fences=keep_fences)}"
        try:
            result = append_to_section(body, section, text)
        except DocumentError:
            if not keep_fences:
                raise
            continue
        if read_entries(result, section) == (*before, wanted):
            return result
    fence = body.unclosed_fence_line
    raise DocumentError(
        f"an entry added to `## {section}` would be part of the text above it",
        path=body.source.path,
        line=fence,
        hint="close the code fence or comment that never ends",
    )


def heading_line(entry: Entry) -> str:
    """Returns the heading of an entry."""
    name = _CLOSING_HASHES.sub(r"\\\1", entry.name)
    return "### " + SEPARATOR.join([format_time(entry.at), entry.kind.value, name])


def normalised(entry: Entry) -> Entry:
    """Returns the entry as a file can hold it: whole seconds, a name on one line, LF line breaks."""
    at = parse_time(format_time(entry.at)) or entry.at
    name = " ".join(encodable(entry.name).split()) or NAMELESS
    return Entry(at, entry.kind, name, with_newlines(trimmed(encodable(entry.text)), "\n"))


class LooseText(NamedTuple):
    """What was written below a section's entries without a heading of its own, and the section without it."""

    text: str
    rest: str


def find_loose_text(body: Body, section: Section, before: Body | None) -> LooseText | None:
    """Returns what a person wrote in the section since `before` that is no entry; None if there is nothing.

    An entry's text reaches to the next heading, so only the entries as they were before tell what is new. All of a body
    without one before was written since.
    """
    placed, found = place_entries(body, section), body.find(section)
    known = () if before is None else read_entries(before, section)
    if len(placed) != len(known) or not found:
        return None
    block = found[-1]
    old = () if before is None else before.find(section)
    whole = before.content(old[-1]) if before and old else ""
    pieces = [(one.text_start, one.raw, entry.text) for one, entry in zip(placed, known, strict=True)]
    texts, rest, place = [], [], block.text_start
    for start, raw, recorded in pieces or [(place, body.text[place : block.end], whole)]:
        end = _end_of_recorded(raw, recorded)
        above, text = (with_newlines(trimmed(part), "\n") for part in (raw[:end], raw[end:]))
        if (unescape(above) if placed else above) == recorded and not is_empty(text):
            texts.append(text)
            rest.append(body.text[place : start + end])
            place = start + len(raw)
    rest.append(body.text[place : block.end])
    return LooseText("\n\n".join(texts), body.newline.join(rest)) if texts else None


def _end_of_recorded(raw: str, recorded: str) -> int:
    """Returns where the lines below those end that were recorded; blank ones above them do not count."""
    starts = line_starts(raw)
    blank = len(raw) - len(raw.lstrip(" \t\r\n"))
    first = max(number for number, start in enumerate(starts) if start <= blank)
    below = first + (recorded.count("\n") + 1 if recorded else 0)
    return starts[min(below, len(starts) - 1)]


def _parsed_heading(heading: Heading) -> Entry | None:
    parts = heading.title.split(SEPARATOR, 2)
    if heading.level != ENTRY_LEVEL or len(parts) != len(("time", "kind", "name")):
        return None
    time, kind = parse_time(parts[0]), _KINDS.get(parts[1])
    return (
        None if time is None or kind is None else Entry(time, kind, _CLOSED_HASHES.sub(r"\1", parts[2]), "")
    )


def _placed(body: Body, heading: Heading, entry: Entry, end: int) -> PlacedEntry:
    raw = body.text[heading.end : end]
    text = unescape(with_newlines(trimmed(raw), "\n"))
    return PlacedEntry(entry._replace(text=text), raw, heading.start, heading.end)
