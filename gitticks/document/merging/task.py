"""Merges three versions of a TASK.md: the state of one side is kept as a whole, the text section by section.

What is put together is read again: a text that hides what follows it, by an open code fence for instance, is fenced
in, and in the last resort both whole texts are kept, marked.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final, NamedTuple

from gitticks.document.merging.entries import merge_entries, split_entries
from gitticks.document.merging.fields import Later, merge_frontmatter
from gitticks.document.merging.three_way import (
    WORD,
    Version,
    conflict_line,
    joined_order,
    marked,
    merge_text,
    numbered,
    times_of_versions,
    versions_of,
)
from gitticks.document.sections import Body, same_name
from gitticks.document.taskfile import TaskFile
from gitticks.document.texts import Source, refuse_excess, trimmed, with_newlines
from gitticks.document.values import format_time, parse_time
from gitticks.model.notes import Entry, Section

SUMMARY: Final = "summary"
WHOLE: Final = "the whole text"
_ENTRY_SECTIONS = {same_name(section): section for section in (Section.NOTES, Section.QUESTIONS)}

Key = tuple[tuple[int, str], int]


class MergedFile(NamedTuple):
    """A merged file of the state branch, and what a person should know of it.

    Attributes:
        data: its bytes.
        conflicts: the parts that stand there twice, marked, until a person settles it; of settings the keys that both
            sides changed.
        overridden: the fields that both sides changed, of which only the later value stands.
        superseded: the sections of the side whose state does not stand, as name and text.
        born_twice: both sides made a task of this id; the later one is in the file of the earlier.
        beside: what could not be joined, by the paths where it is kept.
    """

    data: bytes
    conflicts: tuple[str, ...] = ()
    overridden: tuple[str, ...] = ()
    superseded: tuple[tuple[str, str], ...] = ()
    born_twice: bool = False
    beside: tuple[tuple[str, bytes], ...] = ()


def merge_files(
    base: TaskFile | None,
    frame: TaskFile,
    guest: TaskFile,
    *,
    fields: frozenset[str],
    sections: Sequence[str],
    guest_is_later: bool | None,
    later: Later = lambda _: None,
    guest_stands: bool = False,
) -> MergedFile:
    """Returns the frame's file with what the guest changed.

    Args:
        base: what both began with; None if each was made by itself.
        frame: the side whose `fields` and `sections` stand.
        guest: the other side.
        fields: the keys that move together.
        sections: the sections that move with them.
        guest_is_later: the guest's value stands where both changed another key; None if both are of one time.
        later: when a key got its value in the frame and in the guest, where that is known better.
        guest_stands: where both changed a text, only the guest's is kept.
    """
    merged = merge_frontmatter(
        base.frontmatter if base else None,
        frame.frontmatter,
        guest.frontmatter,
        bundle=fields,
        guest_is_later=guest_is_later,
        later=later,
    )
    body = merge_body(
        base.body if base else None,
        frame.body,
        guest.body,
        bundle=frozenset(map(same_name, sections)),
        times=(_time(frame), _time(guest)),
        guest_stands=guest_stands,
    )
    front = merged.frontmatter
    whole = TaskFile.parse((front.opening + front.yaml + front.closing).encode(), frame.path)
    joined = _later_than_its_versions(whole.with_body(body.text))
    refuse_excess(joined.frontmatter.text, frame.path)
    superseded = tuple(
        (section, text)
        for section in sections
        if (text := guest.all_text(section)) is not None
        and text not in (frame.all_text(section), base.all_text(section) if base else None)
    )
    return MergedFile(joined.data, body.conflicts, merged.overridden, superseded)


def _later_than_its_versions(file: TaskFile) -> TaskFile:
    """Returns a file with marked versions as written after them all, so that none of these has its time.

    An edit then tells by its `updated` whether it settles the conflict, or was begun before there was one.
    """
    newest = max(filter(None, map(parse_time, times_of_versions(file.body.text))), default=None)
    if newest is None or file.task.updated is None or file.task.updated > newest:
        return file
    return file.with_task(replace(file.task, updated=newest + timedelta(seconds=1)))


def with_second_birth(file: TaskFile, other: TaskFile) -> bytes:
    """Returns a task's file with the whole file of another one below its frontmatter, marked and in a fence."""
    return file.with_body(with_other_text(file.body, other.frontmatter.text, _time(other))).data


def is_conflicted(file: TaskFile) -> bool:
    """True if the file holds a conflict that nobody has settled."""
    return conflict_line(file.body.source) is not None


def _time(file: TaskFile) -> str:
    return format_time(file.task.updated) if file.task.updated else "unknown time"


class MergedBody(NamedTuple):
    """The text, and the names of what both sides wrote differently and is there twice, marked."""

    text: str
    conflicts: tuple[str, ...]


class _Part(NamedTuple):
    """A heading and the text below it; LF line breaks, and `raw` as the file has both."""

    title: str
    heading: str
    text: str
    raw: str

    @property
    def core(self) -> str:
        return trimmed(self.text)


@dataclass(slots=True)
class _Merge:
    base: Mapping[Key, _Part]
    frame: Mapping[Key, _Part]
    guest: Mapping[Key, _Part]
    bundle: frozenset[str]
    times: tuple[str, str]
    newline: str
    is_careful: bool
    guest_stands: bool
    conflicts: list[str] = field(default_factory=list)
    order: list[Key] = field(default_factory=list)
    entries: dict[Key, list[Entry]] = field(default_factory=dict)

    def joined(self) -> str:
        """Returns the sections in the frame's order, with blank lines where one follows another again."""
        order = list(self.frame)
        after = dict(itertools.pairwise(order))
        found = [
            (key, text)
            for key in joined_order(order, list(self.guest))
            if (text := self._text(key)) is not None
        ]
        self.order = [key for key, _ in found]
        result = ""
        for place, (key, text) in enumerate(found):
            following = found[place + 1][0] if place + 1 < len(found) else None
            is_as_was = key in self.frame and text == self.frame[key].raw and after.get(key) == following
            result += text if following is None or is_as_was else self._ended(text)
        return result

    def _ended(self, text: str) -> str:
        if not text.strip():
            return text
        kept = text.rstrip(" \t\r\n")
        return kept + self.newline * 2

    def _text(self, key: Key) -> str | None:
        base, frame, guest = self.base.get(key), self.frame.get(key), self.guest.get(key)
        if key[0][1] in self.bundle and key[0][0] > 1:
            return frame.raw if frame else None
        old, mine, theirs = (part.core if part else None for part in (base, frame, guest))
        if theirs in (mine, old):
            return frame.raw if frame else None
        if mine == old or frame is None:
            return self._taken(frame, guest)
        if guest is None:
            return frame.raw
        return self._merged(key, base, frame, guest)

    def _taken(self, frame: _Part | None, guest: _Part | None) -> str | None:
        if guest is None:
            return None
        if frame is None:
            return with_newlines(guest.raw, "\n").replace("\n", self.newline)
        return self._with_core(frame, guest.core)

    def _merged(self, key: Key, base: _Part | None, frame: _Part, guest: _Part) -> str:
        section = _ENTRY_SECTIONS.get(key[0][1]) if key[0][0] > 1 else None
        if section is None:
            return self._with_core(
                frame, self._joined(frame.title, base.core if base else "", frame.core, guest.core)
            )
        old, known = split_entries(base.text, section) if base else ("", [])
        mine, pieces = split_entries(frame.text, section)
        theirs, others = split_entries(guest.text, section)
        above = self._joined(frame.title, trimmed(old), trimmed(mine), trimmed(theirs))
        merged = merge_entries(known, pieces, others, section)
        self.entries[key] = [piece.entry for piece in merged]
        if above == trimmed(mine) and merged == pieces:
            return frame.raw
        texts = [piece.safe if self.is_careful and piece not in pieces else piece.raw for piece in merged]
        return self._with_core(frame, "\n\n".join([*([above] if above else []), *texts]))

    def _joined(self, title: str, base: str, frame: str, guest: str) -> str:
        """Returns a text of which both sides may have changed the same; then both stand there, marked."""
        if guest in (frame, base):
            return frame
        if frame == base or not (frame and guest):
            return guest or (frame if frame != base else "")
        if not any(WORD in text for text in (base, frame, guest)):
            merged = merge_text(f"{base}\n" if base else "", f"{frame}\n", f"{guest}\n")
            if merged is not None:
                return trimmed(merged)
        if self.guest_stands:
            return guest
        self.conflicts.append(title or SUMMARY)
        versions = [
            version
            for text, time in zip((frame, guest), self.times, strict=True)
            for version in versions_of(text) or (Version(time, text),)
        ]
        return marked(versions, fenced=self.is_careful).rstrip("\n")

    def _with_core(self, frame: _Part, core: str) -> str:
        """Returns the frame's section with another text between its blank lines."""
        if core == frame.core:
            return frame.raw
        place = frame.text.find(frame.core) if frame.core else -1
        lead = frame.text[:place] if place >= 0 else "\n"
        tail = frame.text[place + len(frame.core) :] if place >= 0 else ""
        heading = frame.heading if frame.heading.endswith("\n") or not frame.heading else f"{frame.heading}\n"
        return (heading + lead + core + (tail or "\n")).replace("\n", self.newline)


def merge_body(
    base: Body | None,
    frame: Body,
    guest: Body,
    *,
    bundle: frozenset[str],
    times: tuple[str, str],
    guest_stands: bool = False,
) -> MergedBody:
    """Returns the body of `frame` with what `guest` changed; the sides are those of `merge_files`.

    `bundle` are the sections that come from the frame alone, in lower case; `times` says when frame and guest were last
    written, in words; `guest_stands` is that of `merge_files`.
    """
    old, mine, theirs = {} if base is None else _parts(base), _parts(frame), _parts(guest)
    for is_careful in (False, True):
        merge = _Merge(old, mine, theirs, bundle, times, frame.newline, is_careful, guest_stands)
        text = merge.joined()
        result = MergedBody(text, tuple(dict.fromkeys(merge.conflicts)))
        source = Source(text, frame.source.path, frame.source.first_line)
        if _is_sound(Body(source, frame.newline), merge):
            return result
    return MergedBody(with_other_text(frame, guest.text, times[1]), (WHOLE,))


def _is_sound(body: Body, merge: _Merge) -> bool:
    """True if the result reads as what was put together: its sections, its entries, its marks."""
    read = _parts(body)
    if list(read) != merge.order or (merge.conflicts and conflict_line(body.source) is None):
        return False
    return all(
        [piece.entry for piece in split_entries(read[key].text, _ENTRY_SECTIONS[key[0][1]])[1]] == entries
        for key, entries in merge.entries.items()
    )


def with_other_text(body: Body, text: str, time: str) -> str:
    """Returns the body below another text, marked and in a fence: nothing of it counts, and nothing is lost."""
    other = Version(time, with_newlines(trimmed(text), "\n"))
    block = marked([other], fenced=True).replace("\n", body.newline)
    lead = "" if body.text.startswith(("\n", "\r")) else body.newline
    return body.newline + block + lead + body.text


def _parts(body: Body) -> dict[Key, _Part]:
    blocks = body.blocks
    first = blocks[0].start if blocks else len(body.text)
    above = body.text[:first]
    names: list[tuple[int, str]] = [(0, "")]
    parts = [_Part("", "", with_newlines(above, "\n"), above)]
    for block in blocks:
        names.append((block.heading.level, same_name(block.title)))
        heading, text = (
            with_newlines(piece, "\n")
            for piece in (
                body.text[block.start : block.text_start],
                body.text[block.text_start : block.end],
            )
        )
        parts.append(_Part(f"## {block.title}", heading, text, body.text[block.start : block.end]))
    return dict(zip(numbered(names), parts, strict=True))
