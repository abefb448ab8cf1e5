"""Remembers in this clone what may run: what it wrote itself, and what a person trusted.

Everything else on the state branch came from elsewhere. The memory is a file beside the locks: a digest a line, and the
settings that this clone went by; whoever deletes it is only asked again.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from gitticks.document.runnables import Runnable, RunnableKind
from gitticks.document.settings import Layer, read_layer
from gitticks.errors import DocumentError, RefusedError, first_of
from gitticks.git.disk import write_all
from gitticks.git.files import errors_name
from gitticks.git.repository import Repository
from gitticks.safe_read import read_plain_file

_AGREED = "agreed"
_NOTHING = Layer()
HINT = "`gt trust` shows what is waiting, and asks"
_MOST_NAMED = 3
_AS_IT_IS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""A pipe in its place is not waited for."""


def trust_file(repository: Repository) -> Path:
    """Returns where this user's digests are kept: where several share a repository, each trusts for themselves."""
    usual = repository.own_file("trust")
    return usual if _may_be_own(usual) else repository.own_file(f"trust-{os.geteuid()}")


def _may_be_own(file: Path) -> bool:
    """True unless the file is another user's, who could have written anything there."""
    try:
        return file.lstat().st_uid == os.geteuid()
    except OSError:
        return True


def untrusted(repository: Repository, runnables: Iterable[Runnable]) -> tuple[Runnable, ...]:
    """Returns those that nobody has trusted in this clone.

    What runs is trusted for good. A value that only loosens is so until another one is, or until this clone goes by the
    team's settings: from then on it is measured by those, and a way back to what held long ago is asked about.
    """
    ever: set[str] = set()
    since = dict[str, str]()
    for line in _lines(repository):
        if _AGREED in line:
            since.clear()
        elif (digest := line.get("digest")) is not None:
            ever.add(digest)
            if line.get("kind") == RunnableKind.SETTING:
                since[line.get("name", "")] = digest
    return tuple(
        one
        for one in runnables
        if (since.get(one.name) != one.digest if one.only_loosens else one.digest not in ever)
    )


def agreed_settings(repository: Repository) -> Layer:
    """Returns the team's settings as this clone last went by them; what is looser than these is asked about."""
    for line in reversed(_lines(repository)):
        if _AGREED in line:
            with contextlib.suppress(DocumentError):
                return read_layer(line[_AGREED])[0]
    return _NOTHING


def agree_on_settings(repository: Repository, content: bytes | None) -> None:
    """Remembers the team's settings, all of which are trusted; those before stay where these cannot be read or written.

    What was trusted since the same settings were agreed on stays trusted: it may be about to be committed.
    """
    text = (content or b"").decode("utf-8", "replace")
    agreed = [line for line in _lines(repository) if _AGREED in line]
    with contextlib.suppress(DocumentError, OSError):
        _, unread = read_layer(text)
        if not unread and agreed[-1:] != [{_AGREED: text}]:
            _remember(repository, [{_AGREED: text}])


def _lines(repository: Repository) -> list[dict[str, str]]:
    """Returns what was written down, oldest first."""
    file = trust_file(repository)
    try:
        content = read_plain_file(file) if _may_be_own(file) else b""
    except OSError:
        return []
    found = []
    for text in content.decode("utf-8", "replace").splitlines():
        # One that a crash cut short trusts nothing.
        with contextlib.suppress(ValueError, TypeError, AttributeError):
            found.append({key: str(value) for key, value in json.loads(text).items()})
    return found


def trust_stamp(repository: Repository) -> tuple[int, ...] | None:
    """Returns what differs once somebody was asked again; None if nobody was yet."""
    try:
        found = trust_file(repository).stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def trust(repository: Repository, runnables: Iterable[Runnable]) -> None:
    """Remembers that these may run here.

    Raises:
        OSError: it cannot be written down; the error names the file.
    """
    new = {one.digest: one for one in untrusted(repository, runnables)}
    if new:
        _remember(
            repository,
            ({"digest": key, "kind": one.kind.value, "name": one.name} for key, one in new.items()),
        )


def _remember(repository: Repository, entries: Iterable[Mapping[str, str]]) -> None:
    lines = map(json.dumps, entries)
    file = trust_file(repository)
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _AS_IT_IS, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.ENODEV, "not a regular file", str(file))
        with errors_name(file):
            write_all(descriptor, "".join(f"{line}\n" for line in ("", *lines)).encode())
    finally:
        os.close(descriptor)


def require_trusted(repository: Repository, runnables: Iterable[Runnable]) -> None:
    """Refuses what came from elsewhere and that nobody looked at here."""
    waiting = untrusted(repository, runnables)
    if waiting:
        scripts = RunnableKind.SCRIPT
        names = [f"`the script of {one.name}`" if one.kind is scripts else f"`{one.name}`" for one in waiting]
        them = "it" if len(waiting) == 1 else "them"
        raise RefusedError(
            f"{first_of(names, _MOST_NAMED)} came from elsewhere, and nobody has trusted {them} here yet",
            hint=HINT,
        )
