"""Lists what changes between two commits, entry by entry, with modes."""

from __future__ import annotations

import os
from dataclasses import dataclass

from gitticks.git.process import run_git
from gitticks.git.refs import NO_OBJECT
from gitticks.git.repository import Repository

_FILE_MODES = frozenset({"100644", "100755", "000000"})


@dataclass(frozen=True, slots=True)
class Step:
    """What a path was and becomes; an id is None where there is nothing. Modes are git's, `000000` for nothing."""

    path: str
    base: str | None
    new: str | None
    base_mode: str
    new_mode: str

    @property
    def is_plain(self) -> bool:
        """True if both sides are files, not symbolic links or submodules."""
        return {self.base_mode, self.new_mode} <= _FILE_MODES


def steps_between(repository: Repository, old: str, new: str) -> tuple[Step, ...]:
    """Returns every path that differs between two commits, sorted; a rename is two paths."""
    options = ["-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none"]
    listed = run_git(
        ["diff-tree", *options, "--end-of-options", old, new], repository_dir=repository.common_dir
    )
    words = os.fsdecode(listed.stdout).split("\0")
    return tuple(_step(line, path) for line, path in zip(words[::2], words[1::2], strict=False))


def _step(line: str, path: str) -> Step:
    base_mode, new_mode, base, new, _ = line.removeprefix(":").split(" ")
    return Step(path, _id(base), _id(new), base_mode, new_mode)


def _id(object_id: str) -> str | None:
    return None if object_id == NO_OBJECT else object_id
