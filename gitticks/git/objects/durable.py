"""Brings stored objects to the disk, many at once: neither git nor libgit2 lets several writers share that wait."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from gitticks.errors import GitticksError
from gitticks.git.disk import sync_files
from gitticks.git.objects.failures import errors_of_writing


class LostObjectError(GitticksError):
    """An object that was stored is gone; somebody pruned the repository."""


def sync_objects(common_dir: Path, object_ids: Iterable[str], is_stored: Callable[[str], bool]) -> None:
    """Waits until the objects and the names of their files are on disk.

    Args:
        common_dir: the git directory.
        object_ids: which; one that has no file of its own lies in a pack, which was synced as it was made.
        is_stored: says of one without a file whether it is stored all the same.

    Raises:
        LostObjectError: one is no longer stored.
        GitticksError: something could not be written; none of them may be relied on.
    """
    folder = common_dir / "objects"
    paths = []
    for object_id in dict.fromkeys(object_ids):
        path = f"{folder}/{object_id[:2]}/{object_id[2:]}"
        if os.path.exists(path):  # noqa: PTH110 - asked often
            paths.append(path)
        elif not is_stored(object_id):
            raise _lost(folder, object_id)
    folders = dict.fromkeys(os.path.dirname(path) for path in paths)  # noqa: PTH120 - strings all the way
    with errors_of_writing(common_dir):
        try:
            sync_files(paths, [*folders, str(folder)] if paths else [])
        except FileNotFoundError as error:
            raise _lost(folder, str(error.filename)) from error


def _lost(folder: Path, name: str) -> LostObjectError:
    return LostObjectError(f"`{name}` was removed from `{folder}` while it was being committed")
