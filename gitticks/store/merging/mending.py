"""Joins by meaning what git has merged by lines, where its markers still tell both sides apart."""

from __future__ import annotations

from dataclasses import replace

from gitticks.document.merging.markers import find_hunks, split_sides
from gitticks.store.merging.task import Merged, merge_task, with_superseded


def join_marked(data: bytes, path: str, base: bytes | None = None) -> Merged | None:
    """Returns the task's file that the two sides of git's markers make.

    Args:
        data: a task's file with markers, of git's style `merge`, `diff3` or `zdiff3`.
        path: where it lies on the branch.
        base: what both sides began with, if that is known; else what the markers tell of it.

    Returns:
        None where no marker is complete, or where a side cannot be read.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    sides = split_sides(text)
    if sides is None:
        return None
    is_told = all(hunk.base is not None for hunk in find_hunks(text))
    old = base if base is not None else sides.base.encode() if is_told else None
    merged = merge_task(old, sides.ours.encode(), sides.theirs.encode(), path)
    return None if merged is None else replace(merged, data=with_superseded(merged, path))


def first_marker(data: bytes) -> int | None:
    """Returns the line, from 1, of the first complete conflict that git left; None if there is none."""
    if b"<<<<<<<" not in data:
        return None
    text = data.decode("utf-8", "replace")
    hunks = find_hunks(text)
    return text.count("\n", 0, hunks[0].start) + 1 if hunks else None
