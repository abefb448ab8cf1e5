"""Entries of `## Notes` and `## Questions`: read, and added so that their text can make no entry or section."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from gitticks.document.escapes import escape, unescape
from gitticks.document.lines import encodable, line_starts, trimmed, with_newlines
from gitticks.document.section_edits import append_to_section, set_section
from gitticks.document.sections import ENTRY_LEVEL, Body, Heading, is_empty
from gitticks.document.times import format_time, parse_time
from gitticks.errors import DocumentError
from gitticks.model.notes import Entry, Section
from gitticks.model.status import ActorKind

SEPARATOR = " · "
NAMELESS = "unknown"
_KINDS = {kind.value: kind for kind in ActorKind}
_CLOSING_HASHES = re.compile(r"(?:(?<= )|\A)(\\*)(?=#+\Z)")
_CLOSED_HASHES = re.compile(r"(?:(?<= )|\A)\\(\\*)(?=#+\Z)")


@dataclass(frozen=True, slots=True)
class PlacedEntry:
    """An entry, its text as it stands in the body, and where its heading and its text begin."""

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
        DocumentError: what stands in the section already would swallow it.
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


def loose_text_after_last_entry(
    body: Body, section: Section, known: tuple[Entry, ...], known_text: str = ""
) -> str | None:
    """Returns what a person wrote below the last entry without a heading of its own, or None.

    An entry's text reaches to the next heading, so only the entries as they were before tell what is new.

    Args:
        body: the text as it is now.
        section: where to look.
        known: the section's entries as they were last recorded.
        known_text: the section's text as it was last recorded; matters where it has no entry.
    """
    split = _split_last(body, section, known, known_text)
    return None if split is None else split[1]


def take_loose_text(body: Body, section: Section, known: tuple[Entry, ...], known_text: str = "") -> Body:
    """Returns the body without the text that `loose_text_after_last_entry` returns."""
    split = _split_last(body, section, known, known_text)
    if split is None:
        return body
    offset, _ = split
    block = body.find(section)[-1]
    return set_section(body, section, body.text[block.text_start : offset])


def _split_last(
    body: Body, section: Section, known: tuple[Entry, ...], known_text: str
) -> tuple[int, str] | None:
    """Returns where the loose text begins, and that text."""
    placed, found = place_entries(body, section), body.find(section)
    if len(placed) != len(known) or not found:
        return None
    if placed:
        raw, recorded, place = placed[-1].raw, known[-1].text, placed[-1].text_start
    else:
        raw, recorded, place = (
            body.text[found[-1].text_start : found[-1].end],
            known_text,
            found[-1].text_start,
        )
    start = _end_of_recorded(raw, recorded)
    above = with_newlines(trimmed(raw[:start]), "\n")
    is_unchanged = (unescape(above) if placed else above) == recorded
    loose = with_newlines(trimmed(raw[start:]), "\n")
    return (place + start, loose) if is_unchanged and not is_empty(loose) else None


def _end_of_recorded(raw: str, recorded: str) -> int:
    """Returns where the lines below those end that were recorded; blank ones above them do not count."""
    starts = line_starts(raw)
    blank = len(raw) - len(raw.lstrip(" \t\r\n"))
    first = max(number for number, start in enumerate(starts) if start <= blank)
    below = first + (recorded.count("\n") + 1 if recorded else 0)
    return starts[min(below, len(starts) - 1)]


def _parsed_heading(heading: Heading) -> Entry | None:
    """Returns an entry without its text, or None for another heading."""
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
    return PlacedEntry(replace(entry, text=text), raw, heading.start, heading.end)
