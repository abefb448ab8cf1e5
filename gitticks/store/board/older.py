"""The earlier versions of one file of the state branch: what an editor that was open for long may have begun from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitticks.git.objects import Objects

MOST_VERSIONS = 40
MOST_COMMITS = 400


def older_versions(objects: Objects, tip: str, path: str) -> Iterator[bytes]:
    """Yields the distinct contents that the file had, the newest first, along the branch's own line of commits."""
    seen: set[str] = set()
    commit: str | None = tip
    for _ in range(MOST_COMMITS):
        if commit is None or len(seen) == MOST_VERSIONS:
            return
        entry = objects.find(objects.tree_of(commit), path)
        if entry is not None and entry.is_file and entry.object_id not in seen:
            seen.add(entry.object_id)
            yield objects.read_blob(entry.object_id)
        commit = next(iter(objects.parents_of(commit)), None)
