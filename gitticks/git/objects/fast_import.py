"""Stores a commit by `git fast-import`, which moves no ref of ours.

It would move a branch as it ends, and takes any fast-forward, so it is given an empty repository of its own that only
shares the folder of the objects. A large change becomes a pack, since a file each costs most of a large import.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError
from gitticks.git.objects.failures import require_written
from gitticks.git.process import run_git
from gitticks.git.refs import is_object_id

if TYPE_CHECKING:
    from gitticks.git.identity import Identity

_MOST_LOOSE_FILES = 100
_PACKED = ("core.fsync=pack,pack-metadata", "fastimport.unpackLimit=1")
_LOOSE = ("core.fsync=none", "fastimport.unpackLimit=1000000")
"""A pack is on disk when git ends; for files of their own the caller waits, together with others."""


def is_large(changes: Mapping[str, bytes | None]) -> bool:
    """True for a change that becomes a pack."""
    return len(changes) > _MOST_LOOSE_FILES


def write_by_git(
    common_dir: Path,
    object_format: str,
    parents: Sequence[str],
    changes: Mapping[str, bytes | None],
    *,
    author: Identity,
    message: str,
) -> str:
    """Stores the commit and returns its id; the arguments are those of `Objects.write_commit`."""
    with tempfile.TemporaryDirectory(prefix="gitticks-") as name:
        scratch = Path(name)
        (scratch / "refs").mkdir()
        (scratch / "HEAD").write_text("ref: refs/heads/none\n")
        (scratch / "config").write_text(
            f"[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = {object_format}\n"
        )
        stream = b"".join(_stream(parents, changes, author, message))
        options = [word for one in (_PACKED if is_large(changes) else _LOOSE) for word in ("-c", one)]
        done = run_git(
            [*options, "fast-import", "--quiet", "--date-format=raw"],
            repository_dir=scratch,
            input=stream,
            extra_environment={"GIT_OBJECT_DIRECTORY": str(common_dir / "objects")},
            check=False,
        )
    require_written(done, common_dir)
    if not is_object_id(done.text):
        raise GitticksError(f"`git fast-import` answered `{ascii(done.text[:80])[1:-1]}`")
    return done.text


def _stream(
    parents: Sequence[str], changes: Mapping[str, bytes | None], author: Identity, message: str
) -> Iterator[bytes]:
    now = int(time.time())
    minutes = time.localtime(now).tm_gmtoff // 60
    zone = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}{abs(minutes) % 60:02}"
    yield b"commit refs/heads/new\nmark :1\n"
    yield f"committer {author.name} <{author.email}> {now} {zone}\n".encode()
    yield _data(message.encode())
    for number, parent in enumerate(parents):
        yield f"{'merge' if number else 'from'} {parent}\n".encode()
    # What is removed goes first, so that a folder can take a file's place.
    for path, content in sorted(changes.items(), key=lambda change: change[1] is not None):
        if content is None:
            yield b"D %s\n" % _quoted(path)
        else:
            yield b"M 100644 inline %s\n" % _quoted(path)
            yield _data(content)
    yield b"\nget-mark :1\n"


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _quoted(path: str) -> bytes:
    plain = path.encode("utf-8", "surrogateescape")
    return b'"%s"' % plain.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
