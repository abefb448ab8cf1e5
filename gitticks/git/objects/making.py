"""Makes the objects of a commit in memory, and a pack of them; nothing here stores any."""

from __future__ import annotations

import hashlib
import struct
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from gitticks.git.objects.trees import Parts, is_folder

if TYPE_CHECKING:
    from gitticks.git.identity import Identity
    from gitticks.git.objects.database import Objects

_Changes: TypeAlias = dict[bytes, "tuple[str, str] | _Changes | None"]
"""Changes by name: mode and id of a file, None for what is to be removed, and those within a folder."""
_KINDS = ("", "commit", "tree", "blob")
"""Of objects, by their number in a pack."""


class NewObjects:
    """Objects that are to be stored together: kind and content by id, what is named before what names it."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self.made: dict[str, tuple[str, bytes]] = {}

    def add(self, kind: str, content: bytes) -> str:
        """Adds an object and returns its id."""
        object_id = self._objects.blob_id(content, kind)
        self.made[object_id] = kind, content
        return object_id

    def add_commit(
        self,
        tree: str | None,
        entries: Mapping[str, tuple[str, str] | None],
        parents: Sequence[str],
        author: Identity,
        message: str,
    ) -> str:
        """Adds a commit as of now; the arguments are those of `Objects.write_commit_of`."""
        if entries:
            tree = self._changed_tree(tree, _by_folder(entries))
        now = int(time.time())
        who = f"{author.name} <{author.email}> {now} {time.strftime('%z', time.localtime(now))}"
        lines = [f"tree {tree or self.add('tree', b'')}", *(f"parent {one}" for one in parents)]
        lines += [f"author {who}", f"committer {who}", "", message]
        return self.add("commit", "\n".join(lines).encode())

    def _changed_tree(self, tree: str | None, changes: _Changes) -> str | None:
        """Adds a changed tree and returns its id; None if nothing is in it."""
        entries = {parts[1]: parts for parts in self._objects.parts(tree)}
        for name, change in changes.items():
            before = entries.get(name)
            if isinstance(change, dict):
                inner = before[2].hex() if before is not None and is_folder(before[0]) else None
                made = self._changed_tree(inner, change)
                if inner is None and made is None:
                    continue
                change = None if made is None else ("40000", made)  # noqa: PLW2901
            if change is not None:
                entries[name] = (change[0].encode(), name, bytes.fromhex(change[1]))
            elif before is not None:
                del entries[name]
        return self.add("tree", _join_tree(entries.values())) if entries else None

    def pack(self) -> bytes:
        """Returns a pack of all of them, as git takes it in."""
        parts = [struct.pack(">4sII", b"PACK", 2, len(self.made))]
        for kind, content in self.made.values():
            rest, head = divmod(len(content), 16)
            sizes = [_KINDS.index(kind) << 4 | head]
            while rest:
                sizes[-1] |= 0x80
                rest, more = divmod(rest, 128)
                sizes.append(more)
            parts += [bytes(sizes), zlib.compress(content)]
        whole = b"".join(parts)
        return whole + hashlib.new(self._objects.object_format, whole, usedforsecurity=False).digest()


def _by_folder(changes: Mapping[str, tuple[str, str] | None]) -> _Changes:
    """Returns changes by path as changes of folders in one another; what is put somewhere counts, not what is removed."""
    top: _Changes = {}
    for path, change in sorted(changes.items(), key=lambda one: one[1] is not None):
        *folders, name = path.encode("utf-8", "surrogateescape").split(b"/")
        inner = top
        for folder in folders:
            found = inner.get(folder)
            if not isinstance(found, dict):  # a file to remove, in whose place a folder comes
                found = inner[folder] = {}
            inner = found
        inner[name] = change
    return top


def _join_tree(entries: Iterable[Parts]) -> bytes:
    ordered = sorted(entries, key=lambda one: one[1] + b"/" if is_folder(one[0]) else one[1])
    return b"".join(b"%s %s\0%s" % one for one in ordered)
