"""What a task's work changes, in a few words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gitticks.cli.render import count_of
from gitticks.cli.text import visible

if TYPE_CHECKING:
    from gitticks.actions.changes import Changes

_MOST_PATHS = 3


def changes_words(changes: Changes) -> Iterator[str]:
    """Yields how much is changed, and whether it merges cleanly, as far as that is known."""
    summary = changes.summary
    if not summary.files:
        yield "no changes"
        return
    yield f"{count_of(summary.files, 'file')}, +{summary.added} -{summary.removed}"
    base = visible(changes.base or "")
    if changes.conflicts:
        shown = ", ".join(map(visible, changes.conflicts[:_MOST_PATHS]))
        left = len(changes.conflicts) - _MOST_PATHS
        yield f"conflicts with {base} in {shown}{f' and {left} more' if left > 0 else ''}"
    elif changes.conflicts is not None:
        yield f"merges cleanly into {base}"


def changes_object(changes: Changes) -> dict[str, Any]:
    """Returns the same as JSON has it."""
    return {
        "files": changes.summary.files,
        "added": changes.summary.added,
        "removed": changes.summary.removed,
        "conflicts": None if changes.conflicts is None else list(changes.conflicts),
    }
