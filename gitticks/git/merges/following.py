"""What changes between two commits, and how a checkout follows without losing uncommitted changes."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Self

from gitticks.errors import first_of
from gitticks.git.checkouts import Checkout, changed_paths, filters_of, refuse_filters
from gitticks.git.files import CheckoutFiles, set_mode
from gitticks.git.follow import (
    EXECUTABLE,
    QUIET_SECONDS,
    Followed,
    Follower,
    Move,
    Outcome,
    Settler,
    Version,
    merge_text,
)
from gitticks.git.indexfile import RESOLVED, IndexEntry, read_entries, second_name, write_entries
from gitticks.git.process import GitError, GitResult, printable, run_git
from gitticks.git.refs import is_nothing
from gitticks.git.repository import Repository
from gitticks.git.untrusted_config import fence_programs, read_all
from gitticks.model.tree_change import LINK, TreeChange

_LONGEST_TARGET = 4096
_SHOWN_PATHS = 5
_FILE_MODES = frozenset({"100644", "100755", "000000"})

_PATIENCE_SECONDS = 2.0


class Step(NamedTuple):
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
    """Returns every path that differs between two commits, given by their ids, sorted; a rename is two paths."""
    return steps_of_trees(repository.common_dir, *map(repository.objects.tree_of, (old, new)))


@functools.lru_cache(maxsize=64)  # the work, its merge, and that merge made again often have the same trees
def steps_of_trees(common_dir: Path, old: str, new: str) -> tuple[Step, ...]:
    """Returns the same for two trees, or what has one, given by their ids."""
    options = ["-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none"]
    listed = run_git(["diff-tree", *options, "--end-of-options", old, new], repository_dir=common_dir)
    words = os.fsdecode(listed.stdout).split("\0")
    steps = []
    for line, path in zip(words[::2], words[1::2], strict=False):
        base_mode, new_mode, base, new_id, _ = line.removeprefix(":").split(" ")
        was, becomes = (None if is_nothing(one) else one for one in (base, new_id))
        steps.append(Step(path, was, becomes, base_mode, new_mode))
    return tuple(steps)


def tree_changes(repository: Repository, old: str, new: str) -> tuple[TreeChange, ...]:
    """Returns the same with what a rule about trees asks for: where links lead, and what `.gitmodules` says."""
    return tuple(_tree_change(repository, step) for step in steps_between(repository, old, new))


def _tree_change(repository: Repository, step: Step) -> TreeChange:
    target: str | None = None
    settings: tuple[tuple[str, str], ...] | None = None
    if step.new is not None and step.new_mode == LINK:
        target = os.fsdecode(repository.objects.read_blob(step.new)[:_LONGEST_TARGET])
    elif step.new is not None and step.path == ".gitmodules" and step.new_mode in _FILE_MODES:
        asked = ["config", f"--blob={step.new}", "--no-includes", "--null", "--list"]
        listed = run_git(asked, repository_dir=repository.common_dir, check=False)
        entries = (entry.partition("\n") for entry in os.fsdecode(listed.stdout).split("\0") if entry)
        settings = tuple((key, value) for key, _, value in entries) if listed.code == 0 else None
    return TreeChange(step.path, step.base_mode, step.new_mode, target, settings)


class BaseMove(NamedTuple):
    """A branch, without `refs/heads/`, and the commits it goes between."""

    branch: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class FollowingCheckout:
    """A checkout that is about to follow a move of its branch, its index locked; git works on the copy `index`.

    `steps` are what changes, by path, `variables` the fence around the repository's own programs.
    """

    checkout: Checkout
    move: BaseMove
    index: Path
    steps: Mapping[str, Step]
    variables: Mapping[str, str]

    @classmethod
    def prepare(cls, repository: Repository, checkout: Checkout, move: BaseMove, index: Path) -> Self:
        """Returns the checkout with its index refreshed, so that only real edits count as such."""
        fence = fence_programs(checkout.git_dir)
        steps = {step.path: step for step in steps_between(repository, move.old, move.new)}
        following = cls(checkout, move, index, steps, fence.variables)
        following.git("update-index", "-q", "--refresh")
        if fence.filters:
            following.refuse_filters()
        return following

    def git(self, *arguments: str, input: bytes = b"") -> GitResult:  # noqa: A002
        """Runs git on the checkout and the copy of its index, and returns the result."""
        return self.checkout.git(
            arguments,
            input=input,
            variables={**self.variables, "GIT_INDEX_FILE": str(self.index)},
            check=False,
            trusted=True,
        )

    def update(self) -> bool:
        """Updates files and index; False if git refused because of what was written since it was asked."""
        return self.git("read-tree", "-m", "-u", self.move.old, self.move.new).code == 0

    def refuse_filters(self) -> None:
        """Raises if a filter that is not run would have to write a changed file."""
        with self._new_index() as index:
            refuse_filters(self.checkout, self._present, index=index)

    def failing_filter(self, folder: Path) -> str | None:
        """Returns in git's words why a filter cannot write the new version, as git's dry run runs none.

        All that changes is written into `folder`, which nothing else uses.
        """
        if not any(key.startswith("filter.") for _, key, _ in read_all(self.checkout.git_dir)):
            return None
        with self._new_index() as index:
            if not any(filters_of(self.checkout, self._present, index=index)):
                return None
        shutil.rmtree(folder, ignore_errors=True)  # of a call that was killed
        folder.mkdir()
        try:
            with second_name(self.checkout.git_dir, self.index.name, "gitticks-index-tried") as index:
                tried = replace(self, checkout=self.checkout._replace(path=folder), index=index)
                done = tried.git("read-tree", "-m", "-u", self.move.old, self.move.new)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return printable(done.stderr) if done.code else None

    @property
    def _present(self) -> list[str]:
        return [path for path, step in self.steps.items() if step.new is not None]

    @contextlib.contextmanager
    def _new_index(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="gitticks-") as folder:
            ahead = replace(self, index=Path(folder, "index"))
            ahead.git("read-tree", self.move.new)
            yield ahead.index


def overlapping_paths(following: FollowingCheckout) -> tuple[str, ...]:
    """Returns where uncommitted edits or files of the person's are in the way, sorted; empty if nothing is.

    Git's own dry run decides; what it would overwrite (ignored files) or bring back (deleted ones) is looked at besides.
    """
    hidden = tuple(sorted({*_untracked_in_the_way(following), *_deleted(following)}))
    if hidden:
        return hidden
    tried = following.git("read-tree", "-m", "-u", "--dry-run", following.move.old, following.move.new)
    if tried.code == 0:
        return ()
    changes = changed_paths(following.checkout)
    named = [path for path in (*changes.changed, *changes.untracked) if _touches(path, following.steps)]
    return tuple(sorted(named)) or changes.changed or (printable(tried.stderr),)


def _untracked_in_the_way(following: FollowingCheckout) -> Iterator[str]:
    """Yields the untracked files, ignored ones too, that stand where the new version has a file or a folder."""
    for path, step in following.steps.items():
        if step.base is not None or step.new is None:
            continue
        place = following.checkout.path / path
        if place.is_dir() and not place.is_symlink():
            yield from _untracked_below(place, following)
        elif os.path.lexists(place) and not _is_tracked(following, path):
            yield path
        for parent in Path(path).parents[:-1]:
            if _is_untracked_file(following, parent.as_posix()):
                yield parent.as_posix()


def _deleted(following: FollowingCheckout) -> Iterator[str]:
    """Yields the files that a person deleted and that the new version has; those left out by a sparse checkout not."""
    top = following.checkout.path
    missing = {
        path
        for path, step in following.steps.items()
        if step.base is not None and step.new is not None and not os.path.lexists(top / path)
    }
    if missing:
        deleted = following.git("ls-files", "--deleted", "-z").stdout
        yield from missing.intersection(os.fsdecode(deleted).split("\0"))


def _is_untracked_file(following: FollowingCheckout, path: str) -> bool:
    place = following.checkout.path / path
    is_file = os.path.lexists(place) and (place.is_symlink() or not place.is_dir())
    return is_file and path not in following.steps and not _is_tracked(following, path)


def _untracked_below(folder: Path, following: FollowingCheckout) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name).relative_to(following.checkout.path).as_posix()
            if path not in following.steps:
                yield path


def _is_tracked(following: FollowingCheckout, path: str) -> bool:
    return bool(following.git("--literal-pathspecs", "ls-files", "-z", "--", path).stdout)


def _touches(path: str, steps: Mapping[str, Step]) -> bool:
    """True if `path` is one of the changed ones, is below one, or is a folder that one needs."""
    parents = {parent.as_posix() for parent in Path(path).parents}
    return (
        path in steps or not parents.isdisjoint(steps) or any(step.startswith(f"{path}/") for step in steps)
    )


class Fixed(NamedTuple):
    """What a checkout needed that could not simply be updated.

    `conflicts` are paths with an edit that excludes the new version: git shows them as conflicts, and the files are as
    the person left them. `rescued` are bytes that had no other place. `unwritten` are paths whose new version a filter
    could not write.
    """

    checkout: Path
    conflicts: tuple[str, ...] = ()
    rescued: tuple[Path, ...] = ()
    unwritten: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Returns what was done, and what a person has to look at."""
        told = [f"`{self.checkout}` was brought up to date with its branch"]
        if self.conflicts:
            told.append(f"your edits conflict with it: {first_of(self.conflicts, _SHOWN_PATHS)}")
        if self.rescued:
            told.append(f"what had no place is kept: {first_of([*map(str, self.rescued)], _SHOWN_PATHS)}")
        if self.unwritten:
            told.append(
                f"a filter failed to write {first_of(self.unwritten, _SHOWN_PATHS)}; `git restore` tries again"
            )
        return "; ".join(told)


def fix(repository: Repository, checkout: Checkout, move: BaseMove, tip: str) -> Fixed:
    """Takes every path of `move` that the index has not followed yet to what `tip` says of it.

    To be called with the checkout's index locked.
    """
    moved = {step.path for step in steps_between(repository, move.old, move.new)}
    steps = [step for step in steps_between(repository, move.old, tip) if step.path in moved]
    entries = read_entries(checkout.git_dir, [step.path for step in steps])
    fixer = _Fixer(repository, checkout)
    for step in steps:
        present = entries.get(step.path, {})
        resolved = present.get(RESOLVED)
        # Files are always written before the index.
        is_followed = (
            not present if step.new is None else resolved is not None and resolved.object_id == step.new
        )
        if not is_followed:
            fixer.take(step, present)
    write_entries(checkout.git_dir, fixer.changed, tip)
    return Fixed(checkout.path, tuple(fixer.conflicts), tuple(fixer.rescued), tuple(fixer.unwritten))


class _Fixer:
    """Takes one path after the other along, and gathers what the index is to say."""

    def __init__(self, repository: Repository, checkout: Checkout) -> None:
        objects = repository.objects
        self.checkout = checkout
        self.files = CheckoutFiles.at(checkout.path, repository.own_dir, "base")
        self.follower = Follower(self.files, merge_text)
        self.settler = Settler(merge_text, objects.read_blob, objects.write_blob)
        self.variables = fence_programs(checkout.git_dir).variables
        self.rescued = list(self.files.sweep(lambda content: objects.has(objects.blob_id(content))))
        self.changed: dict[str, tuple[IndexEntry, ...]] = {}
        self.conflicts: list[str] = []
        self.unwritten: list[str] = []

    def take(self, step: Step, entries: Mapping[int, IndexEntry]) -> None:
        """Brings one path in step; of a symbolic link or a submodule only the index follows, `git status` shows it."""
        move = Move(step.path, step.base, step.new, step.new_mode)
        staged = entries.get(RESOLVED)
        is_old = step.base is not None and staged is not None and staged.object_id == step.base
        # Missing, and nobody has staged that: git removes a file before it writes the new one.
        is_half_done = is_old and not os.path.lexists(self.checkout.path / step.path)
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

    def _follow(self, step: Step, base: str | None) -> Followed:
        try:
            version = Version(step.path, self._content(step, base), self._content(step, step.new))
        except GitError:  # only the index follows, so that no commit takes the merge back
            self.unwritten.append(step.path)
            return Followed(step.path, Outcome.SAME, None)
        followed = self.follower.follow(version)
        end = time.monotonic() + _PATIENCE_SECONDS
        while followed.outcome is Outcome.DEFERRED and time.monotonic() < end:
            time.sleep(QUIET_SECONDS)
            followed = self.follower.follow(version)
        if followed.outcome is Outcome.DEFERRED:  # somebody never stops writing: let git show both sides
            return Followed(step.path, Outcome.CONFLICT, followed.present, followed.rescued)
        if followed.outcome is Outcome.TAKEN and step.new is not None:
            set_mode(self.checkout.path / step.path, executable=step.new_mode == EXECUTABLE)
        return followed

    def _content(self, step: Step, object_id: str | None) -> bytes | None:
        """Returns a blob as the person's filters write it into a checkout."""
        if object_id is None:
            return None
        return self.checkout.git(
            ["cat-file", "--filters", f"--path={step.path}", object_id],
            variables=self.variables,
            trusted=True,
        ).stdout
