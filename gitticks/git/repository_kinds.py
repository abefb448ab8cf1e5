"""What is special about how a repository keeps its objects: cut off, borrowed, left with a remote, quarantined."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gitticks.git.objects import Objects, open_objects
from gitticks.git.process import run_git
from gitticks.git.repository import Repository
from gitticks.git.repository_settings import TRUE_WORDS

_INCOMING, _BESIDES = "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"


@dataclass(frozen=True, slots=True)
class Kinds:
    """What a repository is besides plain.

    Attributes:
        superproject: the checkout that it is a submodule of; None if it is none.
        is_shallow: its history is cut off.
        promisor: the remote that it leaves objects with; None if it has all of them.
        alternates: the object folders that it borrows from.
    """

    superproject: Path | None
    is_shallow: bool
    promisor: str | None
    alternates: tuple[Path, ...]


def kinds_of(repository: Repository) -> Kinds:
    """Returns what is special about the repository."""
    superproject = ""
    if repository.main_worktree is not None and "modules" in repository.common_dir.parts:
        asked = ["rev-parse", "--show-superproject-working-tree"]
        superproject = run_git(asked, directory=repository.main_worktree, check=False).text
    return Kinds(
        Path(superproject) if superproject else None,
        (repository.common_dir / "shallow").is_file(),
        _promisor(repository),
        _alternates(repository),
    )


def _promisor(repository: Repository) -> str | None:
    asked = ["config", "-z", "--get-regexp", r"^remote\..*\.promisor$|^extensions\.partialclone$"]
    found = run_git(asked, repository_dir=repository.common_dir, check=False).text
    for entry in found.split("\0"):
        key, _, value = entry.partition("\n")
        if key == "extensions.partialclone":
            return value
        if key and (not value or value.lower() in TRUE_WORDS):
            return key.removeprefix("remote.").removesuffix(".promisor")
    return None


def _alternates(repository: Repository) -> tuple[Path, ...]:
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
