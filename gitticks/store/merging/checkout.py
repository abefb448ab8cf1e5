"""Merges of single files in checkouts: of what a person saved on the board with what the branch has.

A saved edit is no merge of two clones: the state that gitticks wrote stands, and what the person asks for is only a
wish until it is applied. Where both wrote the same, the person's file stays as it is and is named. What git has merged
and nobody has committed yet is such a merge, and is joined by the same rules as a pull.

Git itself merges tasks by our driver. Only the state branch names it in its attributes, so no other branch is merged by
it. A clone whose gitticks is gone still merges by text: `git merge-file` stands behind it.
"""

from __future__ import annotations

import shlex
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.document.section_edits import append_to_section
from gitticks.document.taskfile import TaskFile, read_task
from gitticks.errors import DocumentError
from gitticks.git.config import read_common_setting, write_common_setting
from gitticks.git.follow import Merge, merge_text
from gitticks.git.repository import Repository
from gitticks.model.notes import Section
from gitticks.model.status import ActorKind
from gitticks.model.task import HUMAN_FIELDS, Task
from gitticks.store.layout import CONFIG_PATH, task_of_path

if TYPE_CHECKING:
    from gitticks.document.merging.task import MergedFile

_DRIVER = "merge.gitticks.driver"
_NAME = "merge.gitticks.name"
_WORDS = "tasks of gitticks, merged by meaning"
_BY_TEXT = "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"

_WRITTEN_BY_PEOPLE = HUMAN_FIELDS | {"status"}
_WRITTEN_BY_GITTICKS = frozenset(field.name for field in fields(Task)) - _WRITTEN_BY_PEOPLE


def merge_saved(path: str, base: bytes, saved: bytes, ours: bytes) -> bytes | None:
    """Returns the file with the person's edit and our change; None if both wrote the same.

    Lines are joined first, as people know it from git. What is on neighbouring lines, and notes that both added, only
    the meaning can tell apart.
    """
    if _is_late(path, base, saved, ours):
        return None
    merged = merge_text(path, base, saved, ours)
    if path == CONFIG_PATH and merged is not None:
        from gitticks.store.merging.files import is_yaml

        if is_yaml(saved) and is_yaml(ours) and not is_yaml(merged):
            return merge_waiting(path, base, saved, ours)
    if task_of_path(path) is None or (merged is not None and is_sound(merged, path)):
        return merged
    return _merged_by_meaning(path, base, saved, ours) or merged


def merge_waiting(path: str, base: bytes, waiting: bytes, ours: bytes) -> bytes | None:
    """Returns what git merged, where that waits for its commit, with our change since; None if only a person can join them."""
    if first_marker(waiting) is not None:
        return merge_text(path, base, waiting, ours)
    if task_of_path(path) is None:
        from gitticks.store.merging.files import merge_file

        found = merge_file(path, base, ours, waiting)
        return None if found.conflicts else found.data
    from gitticks.store.merging.task import merge_task, with_superseded

    merged = merge_task(base, ours, waiting, path, lambda _: (1, 0))  # ours is later
    return None if merged is None else with_superseded(merged, path)


def merge_resolution(
    path: str, base: bytes, resolved: bytes, ours: bytes, *, against: bytes, merge: Merge
) -> bytes | None:
    """Returns what a person made of their edit from `base` and of ours `against` it, merged with what we wrote since.

    What they left as it was at the base takes nothing back of what we changed. None if both wrote the same since, and
    for what was written for a turn or a round that is over: adding the file as it is would make it count for the next.
    """
    made = _with_ours(path, base, resolved, against)
    return made if made is None or ours == against else merge(path, against, made, ours)


def _with_ours(path: str, base: bytes, resolved: bytes, ours: bytes) -> bytes | None:
    """Returns a task as a person resolved it, with what they left as it was at the base, and we changed."""
    from gitticks.store.merging.task import side_of
    from gitticks.workflow.bundle import is_late

    if task_of_path(path) is None or base == ours:
        return resolved
    try:
        before, made, current = (TaskFile.parse(data, path) for data in (base, resolved, ours))
        if is_late(*map(side_of, (before, made, current))):
            return None
        return _merged_edit(before, made, current, _WRITTEN_BY_GITTICKS, is_resolved=True).data
    except DocumentError:
        return resolved


def is_sound(data: bytes, path: str) -> bool:
    """True if a task's file can be read; also for any other file."""
    if task_of_path(path) is None:
        return True
    try:
        read_task(data, path)
    except DocumentError:
        return False
    return True


def _merged_by_meaning(path: str, base: bytes, saved: bytes, ours: bytes) -> bytes | None:
    from gitticks.workflow.bundle import BUNDLE_FIELDS

    try:
        before, edited, current = (TaskFile.parse(data, path) for data in (base, saved, ours))
        if any(getattr(before.task, name) != getattr(edited.task, name) for name in _WRITTEN_BY_GITTICKS):
            return None  # an editor saved what it had shown for long
        merged = _merged_edit(before, edited, current, BUNDLE_FIELDS - _WRITTEN_BY_PEOPLE)
    except DocumentError:
        return None
    if merged.overridden or merged.conflicts:
        return None
    return merged.data


def _is_late(path: str, base: bytes, saved: bytes, ours: bytes) -> bool:
    """True if an edit of a task would count for what it was not made for.

    A typed answer would answer a question that came meanwhile too. A hand-off or review whose round is over, and that
    comes back corrected, would open the gates of the next round.
    """
    from gitticks.store.merging.task import side_of
    from gitticks.workflow.bundle import is_late

    if task_of_path(path) is None:
        return False
    try:
        before, edited, current = (TaskFile.parse(data, path) for data in (base, saved, ours))
    except DocumentError:
        return False
    asked = {*current.entries(Section.QUESTIONS)} - {*before.entries(Section.QUESTIONS)}
    is_asked = any(entry.kind is not ActorKind.HUMAN for entry in asked)
    if is_asked and edited.loose_text(Section.QUESTIONS, before) is not None:
        return True
    sides = [side_of(file) for file in (before, edited, current)]
    texts = zip(*(side.artifacts for side in sides), strict=True)
    return is_late(*sides) or any(
        old and new and old != new and now not in (old, new) for old, new, now in texts
    )


def _merged_edit(
    before: TaskFile, edited: TaskFile, current: TaskFile, ours: frozenset[str], *, is_resolved: bool = False
) -> MergedFile:
    """Returns the current file, whose fields `ours` stand, with a person's edit of the one before.

    What they typed below the last entry is no entry yet, so it stays below the last one: in another it would be taken
    for its author's words.
    """
    from gitticks.document.merging.task import merge_files

    typed: list[tuple[Section, str]] = []
    for section in (Section.NOTES, Section.QUESTIONS):
        loose = edited.loose_text(section, before)
        if loose is not None and current.all_text(section) != before.all_text(section):
            typed.append((section, loose.text))
            edited = edited.with_section(section, loose.rest)
    merged = merge_files(
        before,
        current,
        edited,
        fields=ours,
        sections=(),
        guest_is_later=is_resolved,
        guest_stands=is_resolved,
    )
    file = TaskFile.parse(merged.data, current.path)
    for section, text in typed:
        file = file.with_body(append_to_section(file.body, section, text).text)
    return merged._replace(data=file.data)


def join_marked(data: bytes, path: str, base: bytes | None = None) -> MergedFile | None:
    """Returns the task's file that the two sides of git's markers make.

    None where no marker is complete or a side cannot be read. Without `base` the markers tell of it.
    """
    from gitticks.document.merging.three_way import split_sides
    from gitticks.store.merging.task import merge_task, with_superseded

    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    sides = split_sides(text)
    if sides is None:
        return None
    if base is None and sides.base is not None:
        base = sides.base.encode()
    merged = merge_task(base, sides.ours.encode(), sides.theirs.encode(), path)
    return None if merged is None else merged._replace(data=with_superseded(merged, path))


def first_marker(data: bytes) -> int | None:
    """Returns the line, from 1, of the first complete conflict that git left; None if there is none."""
    if b"<<<<<<<" not in data:
        return None
    from gitticks.document.merging.three_way import HUNK

    text = data.decode("utf-8", "replace")
    found = HUNK.search(text)
    return None if found is None else text.count("\n", 0, found.start()) + 1


def install_merge_driver(repository: Repository) -> None:
    """Sets what is not set like that already; the name comes last, as git dies of a named driver without a command."""
    for key, value in ((_DRIVER, driver_command()), (_NAME, _WORDS)):
        if read_common_setting(repository.common_dir, key) != value:
            write_common_setting(repository.common_dir, key, value)


def has_merge_driver(repository: Repository) -> bool:
    """True if git calls a driver for tasks, of whichever installation."""
    return read_common_setting(repository.common_dir, _DRIVER) is not None


def driver_command() -> str:
    """Returns the command line: `gt` of this installation, as other programs are called `gt` too."""
    own = Path(sys.executable).parent / "gt"
    gt = shlex.quote(str(own)) if own.is_file() else "gt"
    return f"{gt} merge-driver %O %A %B %L %P || {_BY_TEXT}"
