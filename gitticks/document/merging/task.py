"""Merges three versions of a TASK.md; the state of one side is kept as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gitticks.document.frontmatter import refuse_excess
from gitticks.document.merging.body import merge_body, with_other_text
from gitticks.document.merging.fields import Later, merge_frontmatter
from gitticks.document.merging.marks import conflict_line
from gitticks.document.sections import same_name
from gitticks.document.taskfile import TaskFile
from gitticks.document.values import format_time


@dataclass(frozen=True, slots=True)
class MergedFile:
    """A merged TASK.md.

    `conflicts` are the sections that stand there twice, marked; `overridden` are the keys that both sides changed, of
    which only the later value stands.
    """

    data: bytes
    conflicts: tuple[str, ...] = ()
    overridden: tuple[str, ...] = ()


def merge_files(
    base: TaskFile | None,
    frame: TaskFile,
    guest: TaskFile,
    *,
    fields: frozenset[str],
    sections: Iterable[str],
    guest_is_later: bool | None,
    later: Later = lambda _: None,
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
    )
    front = merged.frontmatter
    whole = TaskFile.parse((front.opening + front.yaml + front.closing).encode(), frame.path)
    joined = whole.with_body(body.text)
    refuse_excess(joined.frontmatter.text, frame.path)
    return MergedFile(joined.data, body.conflicts, merged.overridden)


def with_second_birth(file: TaskFile, other: TaskFile) -> bytes:
    """Returns a task's file with the whole file of another one below its frontmatter, marked and in a fence."""
    return file.with_body(with_other_text(file.body, other.frontmatter.text, _time(other))).data


def is_conflicted(file: TaskFile) -> bool:
    """True if the file holds a conflict that nobody has settled."""
    return conflict_line(file.body.source) is not None


def _time(file: TaskFile) -> str:
    return format_time(file.task.updated) if file.task.updated else "unknown time"
