"""Lists what changes between two commits, entry by entry, with modes, links and submodules."""

from __future__ import annotations

import os
from dataclasses import dataclass

from gitticks.git.process import run_git
from gitticks.git.refs import is_nothing
from gitticks.git.repository import Repository
from gitticks.model.tree_change import LINK, TreeChange

_LONGEST_TARGET = 4096
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


def tree_changes(repository: Repository, old: str, new: str) -> tuple[TreeChange, ...]:
    """Returns the same with what a rule about trees asks for: where links lead, and what `.gitmodules` says."""
    return tuple(_tree_change(repository, step) for step in steps_between(repository, old, new))


def _tree_change(repository: Repository, step: Step) -> TreeChange:
    target: str | None = None
    settings: tuple[tuple[str, str], ...] | None = None
    if step.new is not None and step.new_mode == LINK:
        asked = ["cat-file", "blob", step.new]
        found = run_git(asked, repository_dir=repository.common_dir).stdout
        target = os.fsdecode(found[:_LONGEST_TARGET])
    elif step.new is not None and step.path == ".gitmodules" and step.new_mode in _FILE_MODES:
        asked = ["config", f"--blob={step.new}", "--no-includes", "--null", "--list"]
        listed = run_git(asked, repository_dir=repository.common_dir, check=False)
        entries = (entry.partition("\n") for entry in os.fsdecode(listed.stdout).split("\0") if entry)
        settings = tuple((key, value) for key, _, value in entries) if listed.code == 0 else None
    return TreeChange(step.path, step.base_mode, step.new_mode, target, settings)


def _step(line: str, path: str) -> Step:
    base_mode, new_mode, base, new, _ = line.removeprefix(":").split(" ")
    return Step(path, _id(base), _id(new), base_mode, new_mode)


def _id(object_id: str) -> str | None:
    return None if is_nothing(object_id) else object_id
