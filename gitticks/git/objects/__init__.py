"""The object database, where else objects are, and the one place that chooses the backend: libgit2 or git itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gitticks.git.objects.database import Change, Objects, StoredCommit
from gitticks.git.repository_settings import read_settings

if TYPE_CHECKING:
    from gitticks.git.repository import Repository

__all__ = ["Change", "Objects", "StoredCommit", "objects_for_many", "open_objects"]

BACKEND_VARIABLE = "GITTICKS_GIT_BACKEND"
"""`libgit2` or `processes`, for tests and to look into a problem; a format that libgit2 cannot read stays with git."""
_KNOWN_TO_LIBGIT2 = frozenset(
    f"extensions.{name}"
    for name in [
        "noop",
        "objectformat",
        "preciousobjects",
        "refstorage",
        "relativeworktrees",
        "worktreeconfig",
    ]
)
_INCOMING, _BESIDES = "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"


def open_objects(common_dir: Path, *, does_much: bool = False) -> Objects:
    """Opens the objects of the repository with that common directory.

    Libgit2 takes longer to load than git to start a few times, so it serves processes that live long or look at much,
    as `does_much` says; and it reads neither SHA-256 nor refs in a reftable.
    """
    settings = _settings(common_dir)
    object_format = settings.get("extensions.objectformat", "sha1").lower()
    named = {key for key in settings if key.startswith("extensions.")}
    is_known_to_libgit2 = (
        object_format == "sha1"
        and settings.get("extensions.refstorage", "files") == "files"
        and named <= _KNOWN_TO_LIBGIT2
    )
    wanted = os.environ.get(BACKEND_VARIABLE, "libgit2" if does_much else "processes")
    if is_known_to_libgit2 and wanted == "libgit2":
        from gitticks.git.objects.libgit2 import Libgit2Objects

        return Libgit2Objects(common_dir, object_format)
    from gitticks.git.objects.processes import ProcessObjects

    return ProcessObjects(common_dir, object_format)


def objects_for_many(objects: Objects) -> Objects:
    """Returns what reads thousands of the same objects fastest; those that are borrowed stay with who borrowed them."""
    return objects if objects.borrows else open_objects(objects.common_dir, does_much=True)


def _settings(common_dir: Path) -> dict[str, str]:
    """Returns the repository's own settings of its formats; git reads a file that includes others or has odd values."""
    try:
        return read_settings(common_dir / "config")
    except ValueError:
        from gitticks.git.process import run_git

        asked = ["config", "--null", "--get-regexp", r"^extensions\."]
        found = run_git(asked, repository_dir=common_dir, check=False).text
        return dict(line.split("\n", 1) for line in found.split("\0") if "\n" in line)


def alternates(repository: Repository) -> tuple[Path, ...]:
    """Returns the folders that a repository borrows objects from."""
    objects = repository.common_dir / "objects"
    try:
        text = os.fsdecode((objects / "info" / "alternates").read_bytes())
    except OSError:
        return ()
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return tuple(Path(os.path.normpath(objects / line)) for line in lines)


class ObjectPlaces(NamedTuple):
    """Where objects lie besides the repository's own folder: as git's variables, and as folders."""

    variables: Mapping[str, str]
    folders: tuple[Path, ...]

    def open(self, repository: Repository) -> Objects:
        """Opens the repository's objects together with those that lie elsewhere."""
        objects = open_objects(repository.common_dir, does_much=repository.does_much)
        objects.borrow_from(self.folders)
        return objects


def object_places(environment: Mapping[str, str], directory: Path) -> ObjectPlaces:
    """Returns what a hook's environment says; `directory` is where the hook was started."""
    named = {name: environment[name] for name in (_INCOMING, _BESIDES) if environment.get(name)}
    paths = [named[_INCOMING]] if _INCOMING in named else []
    paths += [path for path in named.get(_BESIDES, "").split(os.pathsep) if path]
    folders = [directory / path for path in paths]
    if _INCOMING in named:
        named[_INCOMING] = str(folders[0])
    return ObjectPlaces(named, tuple(folder for folder in folders if folder.is_dir()))
