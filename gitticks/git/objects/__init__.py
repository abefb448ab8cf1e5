"""The object database, and the one place that chooses its backend: libgit2 or git's own processes."""

from __future__ import annotations

import os
from pathlib import Path

from gitticks.git.objects.database import Change, Objects, StoredCommit
from gitticks.git.repository_settings import read_settings

__all__ = ["Change", "Objects", "StoredCommit", "open_objects"]

BACKEND_VARIABLE = "GITTICKS_GIT_BACKEND"
"""`libgit2` or `processes`, for tests and to look into a problem; a format that libgit2 cannot read stays with git."""


def open_objects(common_dir: Path, *, does_much: bool = False) -> Objects:
    """Opens the objects of the repository with that common directory.

    Libgit2 takes longer to load than git to start a few times, so it serves processes that live long or look at much,
    as `does_much` says; and it reads neither SHA-256 nor refs in a reftable.
    """
    settings = _settings(common_dir)
    object_format = settings.get("extensions.objectformat", "sha1").lower()
    is_known_to_libgit2 = (
        object_format == "sha1" and settings.get("extensions.refstorage", "files") == "files"
    )
    wanted = os.environ.get(BACKEND_VARIABLE, "libgit2" if does_much else "processes")
    if is_known_to_libgit2 and wanted == "libgit2":
        from gitticks.git.objects.libgit2 import Libgit2Objects

        return Libgit2Objects(common_dir, object_format)
    from gitticks.git.objects.processes import ProcessObjects

    return ProcessObjects(common_dir, object_format)


def _settings(common_dir: Path) -> dict[str, str]:
    try:
        return read_settings(common_dir / "config")
    except ValueError:
        return {}
