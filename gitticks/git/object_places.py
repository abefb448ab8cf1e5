"""Where objects are besides the repository's own folder: alternates, or a hook's quarantine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gitticks.git.objects import Objects, open_objects
from gitticks.git.repository import Repository

_INCOMING, _BESIDES = "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"


def alternates(repository: Repository) -> tuple[Path, ...]:
    """Returns the folders that a repository borrows objects from."""
    objects = repository.common_dir / "objects"
    try:
        text = os.fsdecode((objects / "info" / "alternates").read_bytes())
    except OSError:
        return ()
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return tuple(Path(os.path.normpath(objects / line)) for line in lines)


@dataclass(frozen=True, slots=True)
class ObjectPlaces:
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
