"""Parses trees from their bytes: libgit2's objects, one per entry, would dominate a walk."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gitticks.errors import GitticksError
from gitticks.git.process import run_git
from gitticks.model.tree_change import is_taken_for_git, taken_for

if TYPE_CHECKING:
    from gitticks.git.identity import Identity
    from gitticks.git.objects.database import Objects


_FOLDER, _LINK, _SUBMODULE, _KIND, _EXECUTABLE = 0o040000, 0o120000, 0o160000, 0o170000, 0o100
_ENTRY = {size: re.compile(rb"([0-7]{1,7}) ([^\0]+)\0(.{%d})" % size, re.DOTALL) for size in (20, 32)}
_TREE = {size: re.compile(rb"(?:[0-7]{1,7} [^\0]++\0.{%d})*+" % size, re.DOTALL) for size in (20, 32)}
"""By the bytes of an id: 20 in SHA-1, 32 in SHA-256."""
_USUAL = {b"100644": (True, False, False), b"100755": (True, False, True), b"40000": (False, True, False)}
_LONGEST_NAME = 255
"""In bytes, on about every file system."""
DEEPEST = 200
"""Git sets no limit, but whoever follows folders into one another needs room for each."""
MOST_DIFFERENCES = 1_000_000
"""Ten thousand tasks are some fifty thousand files."""

Parts: TypeAlias = tuple[bytes, bytes, bytes]
"""Mode, name and id of an entry, as they are stored."""

_FOLDER_MODES = (b"40000", b"040000")


class Entry(NamedTuple):
    """One entry of a tree; `is_file` is True for plain files only, not for symbolic links and submodules."""

    name: str
    object_id: str
    is_file: bool
    is_tree: bool
    is_executable: bool = False


Differences: TypeAlias = Callable[[str | None, str | None], Iterator[tuple[str, Entry | None, Entry | None]]]
"""Yields name, old and new entry of everything that differs directly in two trees, None for an empty one."""


def split_tree(content: bytes, id_bytes: int) -> list[Parts] | None:
    """Returns the entries of a tree in git's order, or None if the bytes are not a tree."""
    return _ENTRY[id_bytes].findall(content) if _TREE[id_bytes].fullmatch(content) else None


def by_name(entries: Iterable[Parts]) -> dict[str, Entry]:
    """Returns entries by name, in their order; a name that is not UTF-8 holds half surrogate pairs, as in `os.listdir`."""
    return {entry.name: entry for entry in map(entry_of, entries)}


def entry_of(parts: Parts) -> Entry:
    """Returns one entry of a tree."""
    mode, name, raw_id = parts
    return Entry(name.decode("utf-8", "surrogateescape"), raw_id.hex(), *(_USUAL.get(mode) or _kind(mode)))


def is_folder(mode: bytes) -> bool:
    """True for the mode of a tree within a tree."""
    return mode == b"40000" or (mode not in _USUAL and _kind(mode)[1])


def differing(old: list[Parts], new: list[Parts]) -> Iterator[tuple[str, Entry | None, Entry | None]]:
    """Yields name, old and new entry of everything that differs, sorted by name."""
    same = set(old).intersection(new)
    before = by_name(parts for parts in old if parts not in same)
    after = by_name(parts for parts in new if parts not in same)
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield name, before.get(name), after.get(name)


def _kind(mode: bytes) -> tuple[bool, bool, bool]:
    """Tells files, folders and programs apart as libgit2 does, for the modes that old and hostile trees hold."""
    number = int(mode, 8)
    kind = number & _KIND
    is_executable = kind != _FOLDER and bool(number & _EXECUTABLE)
    is_file = is_executable or kind not in (_FOLDER, _LINK, _SUBMODULE)
    return is_file, kind == _FOLDER, is_executable


def is_possible(name: str, *, is_link: bool = False) -> bool:
    """True if a checkout can hold an entry of that name; git refuses what file systems may take for `.git`."""
    is_git = is_taken_for_git(name) or (is_link and taken_for(name) == ".gitmodules")
    is_short = len(name.encode("utf-8", "surrogateescape")) <= _LONGEST_NAME
    return is_short and name not in ("", ".", "..") and not is_git


def tree_id_of(entry: Entry | None) -> str | None:
    """Returns the id of the tree that an entry names; None for anything else."""
    return entry.object_id if entry is not None and entry.is_tree else None


def file_id(entry: Entry | None) -> str | None:
    """Returns the id of the plain file that an entry names; None for anything else."""
    return entry.object_id if entry is not None and entry.is_file else None


def walk_differences(
    differences: Differences, trees: tuple[str | None, str | None], folder: str
) -> Iterator[tuple[str, Entry | None, Entry | None]]:
    """Yields path, old and new entry of everything that differs in two trees and below; equal folders are not opened.

    A tree of a few hundred bytes can name more files than any disk holds, so there is an end to it.
    """
    walks = [(folder, differences(*trees))]
    looked_at = 0
    while walks:
        folder, entries = walks[-1]
        found = next(entries, None)
        if found is None:
            walks.pop()
            continue
        name, before, after = found
        yield folder + name, before, after
        looked_at += 1
        if looked_at > MOST_DIFFERENCES:
            raise _excess(folder, f"{MOST_DIFFERENCES:,} files that changed at once")
        inner = tree_id_of(before), tree_id_of(after)
        if inner != (None, None):
            walks.append((f"{folder}{name}/", differences(*inner)))
            if folder.count("/") >= DEEPEST:
                raise _excess(folder, f"{DEEPEST} folders in one another")


def _excess(folder: str, what: str) -> GitticksError:
    from shlex import quote  # only where something went wrong

    top = "/".join(folder.split("/", 3)[:3]).rstrip("/") or "."
    return GitticksError(
        f"`{top}`: more than {what}", hint=f"`git log --all -- {quote(top)}` shows where they came from"
    )


def damaged(object_id: str) -> GitticksError:
    """Returns the error for an object of another kind than the tree that names it says."""
    return GitticksError(
        f"the object `{object_id}` is damaged, or not what the tree says it is",
        hint="`git fsck` looks for damage",
    )


def commit_without(
    objects: Objects, commit: str, paths: Iterable[str], *, author: Identity, message: str
) -> str:
    """Stores a commit on top of `commit` without what is at `paths`, whatever that is, and returns its id."""
    wanted = [path.encode("utf-8", "surrogateescape") for path in paths]
    tree = _without(objects, objects.tree_of(commit), wanted)
    return run_git(
        ["-c", "core.fsync=all", "commit-tree", "-p", commit, tree or _made(objects, ())],
        repository_dir=objects.common_dir,
        input=message.encode(),
        extra_environment=author.variables(),
    ).text


def _without(objects: Objects, tree: str, paths: list[bytes]) -> str | None:
    """Stores the tree without the paths and returns its id; None if nothing is left in it."""
    inner: dict[bytes, list[bytes]] = {}
    for path in paths:
        name, slash, rest = path.partition(b"/")
        inner.setdefault(name, []).extend([rest] if slash else [])
    left: list[Parts] = []
    for mode, name, raw_id in objects.parts(tree):
        entry: Parts | None = (mode, name, raw_id)
        if name in inner:
            is_folder = bool(inner[name]) and mode in _FOLDER_MODES
            changed = _without(objects, raw_id.hex(), inner[name]) if is_folder else None
            entry = None if changed is None else (mode, name, bytes.fromhex(changed))
        left += [] if entry is None else [entry]
    return _made(objects, left) if left else None


def _made(objects: Objects, entries: Iterable[Parts]) -> str:
    listed = b"".join(
        b"%s %s %s\t%s\0" % (mode, _kind_of_mode(mode), raw_id.hex().encode(), name)
        for mode, name, raw_id in entries
    )
    return run_git(
        ["-c", "core.fsync=all", "mktree", "-z", "--missing"],
        repository_dir=objects.common_dir,
        input=listed,
    ).text


def _kind_of_mode(mode: bytes) -> bytes:
    if mode in _FOLDER_MODES:
        return b"tree"
    return b"commit" if mode.startswith(b"16") else b"blob"
