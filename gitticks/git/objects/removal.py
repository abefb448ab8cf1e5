"""Stores a commit that lacks entries which no change by path can name: their names may be `..`, `.git` or the like."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gitticks.git.objects.trees import Parts
from gitticks.git.process import run_git

if TYPE_CHECKING:
    from gitticks.git.identity import Identity
    from gitticks.git.objects.database import Objects

_FOLDER_MODES = (b"40000", b"040000")


def commit_without(
    objects: Objects, commit: str, paths: Iterable[str], *, author: Identity, message: str
) -> str:
    """Stores a commit on top of `commit` without what lies at `paths`, whatever that is, and returns its id.

    Raises:
        GitticksError: a tree on the way is damaged, or the commit cannot be written.
    """
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
        b"%s %s %s\t%s\0" % (mode, _kind(mode), raw_id.hex().encode(), name) for mode, name, raw_id in entries
    )
    return run_git(
        ["-c", "core.fsync=all", "mktree", "-z", "--missing"],
        repository_dir=objects.common_dir,
        input=listed,
    ).text


def _kind(mode: bytes) -> bytes:
    if mode in _FOLDER_MODES:
        return b"tree"
    return b"commit" if mode.startswith(b"16") else b"blob"
