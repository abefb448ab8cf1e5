"""Packs loose objects: every change of a task leaves some, and nobody else may run git's own housekeeping for weeks.

Only loose objects are looked at, so it takes the same short time in a large repository; no object is ever removed that
is not in a pack. Git's own `gc` goes on from there whenever the person's commands start it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from gitticks.git.process import run_git
from gitticks.git.repository import Repository

LONGEST_SECONDS = 300.0
_SAMPLE = "17"
_FOLDERS = 256
_DEFAULT_AUTO = 6700
_NAME = re.compile(r"[0-9a-f]{38}(?:[0-9a-f]{24})?")


def has_many_loose_objects(repository: Repository) -> bool:
    """True if there are more than git's `gc.auto` allows, judged as git does by one folder of 256.

    False where the person switched that off, by `gc.auto` 0 or by `maintenance.auto`.
    """
    sample = sum(1 for _ in _names(repository, _SAMPLE))
    if sample == 0:
        return False
    allowed = _allowed(repository)
    return allowed is not None and sample > -(-allowed // _FOLDERS)


def pack_loose_objects(repository: Repository) -> int:
    """Moves all loose objects into one pack and returns how many there were.

    To be called with the store's lock held: a writer who has just found an object loose relies on its file.

    Raises:
        GitError: git could not; everything is as it was, but perhaps for a new pack.
    """
    ids = [
        folder + name for folder in (f"{number:02x}" for number in range(_FOLDERS))
        for name in _names(repository, folder)
    ]  # fmt: skip
    if not ids:
        return 0
    pack = repository.common_dir / "objects" / "pack" / "pack"
    run_git(
        ["pack-objects", "--quiet", str(pack)],
        repository_dir=repository.common_dir,
        input="".join(f"{one}\n" for one in ids).encode(),
        timeout_seconds=LONGEST_SECONDS,
    )
    run_git(["prune-packed", "--quiet"], repository_dir=repository.common_dir)
    return len(ids)


def _names(repository: Repository, folder: str) -> Iterator[str]:
    try:
        entries = os.listdir(repository.common_dir / "objects" / folder)  # noqa: PTH208 - names are enough
    except FileNotFoundError:
        return
    yield from (name for name in entries if _NAME.fullmatch(name))


def _allowed(repository: Repository) -> int | None:
    """Returns how many loose objects the person allows; None if git is to leave them alone."""
    if _setting(repository, "maintenance.auto", "bool") == "false":
        return None
    told = _setting(repository, "gc.auto", "int")
    allowed = int(told) if told else _DEFAULT_AUTO
    return allowed if allowed > 0 else None


def _setting(repository: Repository, name: str, kind: str) -> str:
    """Returns a setting of git, empty if it is not set or makes no sense; as the person has it, unfenced."""
    asked = ["config", f"--type={kind}", "--get", name]
    return run_git(asked, repository_dir=repository.common_dir, check=False, trusted=True).text
