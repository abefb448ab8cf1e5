"""Gives a worktree's own configuration back byte for byte, where `git config` would leave its own traces.

Git adds a newline that was missing at the end, drops a section that it leaves empty, and leaves an empty file. So what
was there is kept, with a digest of what came of it. A file that changed since is left as git makes it.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from gitticks.git.files import write_synced
from gitticks.git.locks import hold_lock
from gitticks.git.repository import Repository
from gitticks.safe_read import read_plain_file

_FILE = "config-before.json"


@contextlib.contextmanager
def remembering(repository: Repository, config: Path) -> Iterator[None]:
    """Keeps what a configuration file holds before the block changes it; what is kept already stays."""
    with _lock(repository):
        yield from _remembering(repository, config)


def _remembering(repository: Repository, config: Path) -> Iterator[None]:
    before, kept = _read(config), _load(repository)
    yield
    name = _name(repository, config)
    entry = kept.get(name)
    if entry is None or entry["after"] != _digest(before):
        entry = {"before": None if before is None else base64.b64encode(before).decode()}
    kept[name] = {**entry, "after": _digest(_read(config))}
    _save(repository, kept)


@contextlib.contextmanager
def giving_back(repository: Repository, config: Path) -> Iterator[None]:
    """Takes the block's change of a file back to the bytes before the first, if nobody else changed it since."""
    with _lock(repository):
        yield from _giving_back(repository, config)


def _giving_back(repository: Repository, config: Path) -> Iterator[None]:
    present, kept = _read(config), _load(repository)
    mode = config.stat().st_mode & 0o777 if present is not None else 0
    yield
    entry = kept.pop(_name(repository, config), None)
    if entry is not None and present is not None and entry["after"] == _digest(present):
        _restore(config, entry["before"], mode)
    if entry is not None:
        _save(repository, kept)


def sweep(repository: Repository) -> None:
    """Clears what a killed call was preparing."""
    unfinished = repository.own_dir / f"{_FILE}.new"
    if unfinished.exists():
        with _lock(repository):
            unfinished.unlink(missing_ok=True)


def _lock(repository: Repository) -> contextlib.AbstractContextManager[object]:
    return hold_lock(repository.own_dir / "config-before.lock")


def _restore(config: Path, before: str | None, mode: int) -> None:
    if before is None:
        config.unlink(missing_ok=True)
        return
    aside = config.with_name(f".{config.name}.before")
    aside.write_bytes(base64.b64decode(before))
    aside.chmod(mode)
    aside.replace(config)


def _name(repository: Repository, config: Path) -> str:
    return str(config.relative_to(repository.common_dir))


def _read(file: Path) -> bytes | None:
    try:
        return read_plain_file(file)
    except OSError:
        return None


def _digest(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()


def _load(repository: Repository) -> dict[str, dict[str, str | None]]:
    """Returns what is kept; nothing, where that is missing or damaged, so that git's way is the one left."""
    try:
        kept = json.loads(read_plain_file(repository.own_dir / _FILE))
    except (OSError, ValueError):
        return {}
    if not isinstance(kept, dict):
        return {}
    return {
        name: entry
        for name, entry in kept.items()
        if isinstance(entry, dict) and {"before", "after"} <= entry.keys()
    }


def _save(repository: Repository, kept: dict[str, dict[str, str | None]]) -> None:
    file = repository.own_dir / _FILE
    kept = {name: entry for name, entry in kept.items() if (repository.common_dir / name).exists()}
    if kept:
        write_synced(file, json.dumps(kept).encode())
    else:
        file.unlink(missing_ok=True)
