"""Brings a checkout in step file by file, where git refused to do it as a whole or was killed at it."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from gitticks.git.checkouts import Checkout
from gitticks.git.files import CheckoutFiles
from gitticks.git.follow import QUIET_SECONDS, Followed, Follower, Outcome, Version
from gitticks.git.indexfile import RESOLVED, IndexEntry, read_entries, write_entries
from gitticks.git.merges.overlaps import BaseMove, Step, steps_between
from gitticks.git.process import run_git
from gitticks.git.repository import Repository
from gitticks.git.settle import EXECUTABLE, Move, Settler
from gitticks.git.texts import merge_text
from gitticks.git.untrusted_config import fence_programs

_PATIENCE_SECONDS = 2.0
_ANY_MAY_RUN = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH


@dataclass(frozen=True, slots=True)
class Fixed:
    """What a checkout needed that could not simply be updated.

    Attributes:
        checkout: where it is.
        conflicts: paths with an edit that excludes the new version; git shows them as conflicts, and the files are as
            the person left them.
        rescued: where bytes were kept that had no other place.
    """

    checkout: Path
    conflicts: tuple[str, ...] = ()
    rescued: tuple[Path, ...] = ()


def fix(repository: Repository, checkout: Checkout, move: BaseMove, tip: str) -> Fixed:
    """Takes every path of `move` that the index has not followed yet to what `tip` says of it.

    To be called with the checkout's index locked.
    """
    moved = {step.path for step in steps_between(repository, move.old, move.new)}
    steps = [step for step in steps_between(repository, move.old, tip) if step.path in moved]
    entries = read_entries(checkout.git_dir, [step.path for step in steps])
    fixer = _Fixer.of(repository, checkout)
    for step in steps:
        present = entries.get(step.path, {})
        if not _is_followed(step, present):
            fixer.take(step, present)
    write_entries(checkout.git_dir, fixer.changed, tip)
    return Fixed(checkout.path, tuple(fixer.conflicts), tuple(fixer.rescued))


@dataclass(slots=True)
class _Fixer:
    """Takes one path after the other along, and gathers what the index is to say."""

    checkout: Checkout
    files: CheckoutFiles
    follower: Follower
    settler: Settler
    variables: Mapping[str, str]
    rescued: list[Path]
    changed: dict[str, tuple[IndexEntry, ...]] = field(default_factory=dict)
    conflicts: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, repository: Repository, checkout: Checkout) -> Self:
        objects = repository.objects
        files = CheckoutFiles.at(checkout.path, repository.own_dir, "base")
        return cls(
            checkout,
            files,
            Follower(files, merge_text),
            Settler(merge_text, objects.read_blob, objects.write_blob),
            fence_programs(checkout.git_dir).variables,
            list(files.sweep(lambda content: objects.has(objects.blob_id(content)))),
        )

    def take(self, step: Step, entries: Mapping[int, IndexEntry]) -> None:
        """Brings one path in step; of a symbolic link or a submodule only the index follows, `git status` shows it."""
        move = Move(step.path, step.base, step.new, step.new_mode)
        is_half_done = self._is_half_done(step, entries)
        followed = (
            self._follow(step, None if is_half_done else step.base)
            if step.is_plain
            else Followed(step.path, Outcome.SAME, None)
        )
        self.rescued += followed.rescued
        if followed.outcome is Outcome.CONFLICT:
            self.conflicts.append(step.path)
        settled = self.settler.settle(move, followed, entries, conflict_is_ours=False)
        if settled is None:
            return
        self.changed[step.path] = settled.entries
        if settled.unstaged is not None:
            self.rescued.append(self.files.keep_bytes(settled.unstaged, step.path))

    def _is_half_done(self, step: Step, entries: Mapping[int, IndexEntry]) -> bool:
        """True if the file is missing and nobody has staged that: git removes a file before it writes the new one."""
        staged = entries.get(RESOLVED)
        is_old = step.base is not None and staged is not None and staged.object_id == step.base
        return is_old and not os.path.lexists(self.checkout.path / step.path)

    def _follow(self, step: Step, base: str | None) -> Followed:
        version = Version(step.path, self._content(step, base), self._content(step, step.new))
        followed = self.follower.follow(version)
        end = time.monotonic() + _PATIENCE_SECONDS
        while followed.outcome is Outcome.DEFERRED and time.monotonic() < end:
            time.sleep(QUIET_SECONDS)
            followed = self.follower.follow(version)
        if followed.outcome is Outcome.DEFERRED:  # somebody never stops writing: let git show both sides
            return Followed(step.path, Outcome.CONFLICT, followed.present, followed.rescued)
        if followed.outcome is Outcome.TAKEN and step.new is not None:
            _set_mode(self.checkout.path / step.path, executable=step.new_mode == EXECUTABLE)
        return followed

    def _content(self, step: Step, object_id: str | None) -> bytes | None:
        """Returns a blob as the person's filters write it into a checkout."""
        if object_id is None:
            return None
        return run_git(
            ["cat-file", "--filters", f"--path={step.path}", object_id],
            repository_dir=self.checkout.git_dir,
            work_tree=self.checkout.path,
            directory=self.checkout.path,
            extra_environment=self.variables,
            trusted=True,
        ).stdout


def _is_followed(step: Step, entries: Mapping[int, IndexEntry]) -> bool:
    """True if the index is there already: files are always written before it."""
    resolved = entries.get(RESOLVED)
    return not entries if step.new is None else resolved is not None and resolved.object_id == step.new


def _set_mode(file: Path, *, executable: bool) -> None:
    mode = stat.S_IMODE(file.lstat().st_mode)
    readers = (mode & 0o444) >> 2
    file.chmod((mode | readers) if executable else (mode & ~_ANY_MAY_RUN))
