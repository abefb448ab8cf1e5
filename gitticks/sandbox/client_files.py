"""What a client keeps in the person's home: nobody in a sandbox may change what says what it runs.

A sandbox can keep only what is there, and no link: so a setting that is missing is made, empty, and a link is looked at
again once the session is over. By its name a file has a dot in it, and a folder has none.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

_EMPTY = {".json": b"{}\n", ".jsonc": b"{}\n"}


@contextlib.contextmanager
def held_settings(paths: Iterable[Path], warn: Callable[[str], None]) -> Iterator[tuple[Path, ...]]:
    """Gives what is to be read-only while the block runs; a link that was replaced by then is put back."""
    pinned: list[Path] = []
    links: dict[Path, Path] = {}
    for path in paths:
        _make(path)
        if path.is_symlink():
            links[path] = path.readlink()
        if path.exists():
            pinned.append(Path(os.path.realpath(path)) if path.is_symlink() else path)
    try:
        yield tuple(pinned)
    finally:
        for path, target in links.items():
            _put_back(path, target, warn)


def copied(paths: Iterable[Path], own: Path) -> dict[Path, Path]:
    """Returns copies of files and folders, made in `own`, by what they stand for; a file that is missing has none."""
    copies: dict[Path, Path] = {}
    for number, path in enumerate(paths):
        copy = own / f"copy-{number}"
        if "." not in path.name:
            path.mkdir(parents=True, exist_ok=True)
            shutil.copytree(path, copy, symlinks=True)
        elif path.is_file():
            shutil.copyfile(path, copy)
        else:
            continue
        copies[path] = copy
    return copies


def _make(path: Path) -> None:
    if os.path.lexists(path) or not path.parent.is_dir():
        return
    with contextlib.suppress(FileExistsError):
        if "." not in path.name:
            path.mkdir()
            return
        with path.open("xb") as file:
            file.write(_EMPTY.get(path.suffix, b""))


def _put_back(path: Path, target: Path, warn: Callable[[str], None]) -> None:
    if path.is_symlink() and path.readlink() == target:
        return
    said = f"`{path}` was changed in the sandbox: it is a link to `{target}` again"
    if os.path.lexists(path):
        aside = path.with_name(f"{path.name}.{secrets.token_hex(4)}.aside")
        path.rename(aside)
        said += f", and what had replaced it is now `{aside}`"
    path.symlink_to(target)
    warn(said)
