"""Merges what a person saved on the board with what gitticks wrote since.

This is no merge of two clones: the state that gitticks wrote stands, and what the person asks for is only a wish until
it is applied. Where both wrote the same, the person's file stays as it is and is named.
"""

from __future__ import annotations

from dataclasses import fields

from gitticks.errors import DocumentError
from gitticks.git.texts import merge_text
from gitticks.model.task import HUMAN_FIELDS, Task
from gitticks.store.layout import task_of_path

_WRITTEN_BY_PEOPLE = HUMAN_FIELDS | {"status"}


def merge_saved(path: str, base: bytes, saved: bytes, ours: bytes) -> bytes | None:
    """Returns the file with the person's edit and our change; None if both wrote the same.

    Lines are joined first, as people know it from git. What is on neighbouring lines, and notes that both added, only
    the meaning can tell apart.
    """
    merged = merge_text(path, base, saved, ours)
    if task_of_path(path) is None or (merged is not None and _is_sound(merged, path)):
        return merged
    return _merged_by_meaning(path, base, saved, ours) or merged


def _is_sound(data: bytes, path: str) -> bool:
    from gitticks.document.taskfile import read_task

    try:
        read_task(data, path)
    except DocumentError:
        return False
    return True


def _is_of_another_base(before: Task, edited: Task) -> bool:
    """True if a field differs that no person writes: an editor saved what it had shown for long."""
    return any(
        getattr(before, field.name) != getattr(edited, field.name)
        for field in fields(before)
        if field.name not in _WRITTEN_BY_PEOPLE
    )


def _merged_by_meaning(path: str, base: bytes, saved: bytes, ours: bytes) -> bytes | None:
    from gitticks.document.merging.task import merge_files
    from gitticks.document.taskfile import TaskFile
    from gitticks.workflow.bundle import BUNDLE_FIELDS

    try:
        before, edited, current = (TaskFile.parse(data, path) for data in (base, saved, ours))
        if _is_of_another_base(before.task, edited.task):
            return None
        merged = merge_files(
            before,
            current,
            edited,
            fields=BUNDLE_FIELDS - _WRITTEN_BY_PEOPLE,
            sections=(),
            guest_is_later=False,
        )
    except DocumentError:
        return None
    if merged.overridden or merged.conflicts:
        return None
    return merged.data
