"""What a client keeps in the person's home: what tells it what to run, or is run, is the same after a session."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from gitticks.git.files import write_synced
from gitticks.safe_read import open_plain_file, read_json, read_plain_file, reason_of

_EMPTY = {".json": b"{}\n", ".jsonc": b"{}\n"}
_NAMED = r"(?:%s|_DIR|_HOME)[}\"'\\]*/+([^/\s\"'\\`();&|<>*]+)"
_WRITTEN = re.compile(r">+\s*\S+")
"""What a command of the shell prints to."""
_PROGRAMS = (b"#!", b"\x7fE")


def programs_in(
    folders: Collection[Path], settings: Iterable[Path], others: Collection[Path]
) -> Iterator[Path]:
    """Yields what there is in folders that settings name or that can be run, also one folder below, less the `others`."""
    text = _WRITTEN.sub("", "\n".join(map(_text, settings)))
    for folder in folders:
        named = set(re.findall(_NAMED % re.escape(folder.name), text))
        for path in () if folder in others else folder.iterdir():
            if path not in others and path not in folders and (path.name in named or _holds_program(path)):
                yield path


def _text(path: Path) -> str:
    """Returns the text of settings, which may be a folder of them; prose names what is to be read or written, not run."""
    with contextlib.suppress(OSError):
        if path.is_dir():
            return "\n".join(_text(file) for file in path.iterdir() if not file.is_dir())
        return "" if path.suffix == ".md" else read_plain_file(path).decode("utf-8", "replace")
    return ""


def _holds_program(path: Path) -> bool:
    is_folder = path.is_dir() and not path.is_symlink()
    with contextlib.suppress(OSError):
        return any(map(_is_program, path.iterdir())) if is_folder else _is_program(path)
    return False


def _is_program(path: Path) -> bool:
    """True if a file may be run and begins as a script or a program does; some copy all their files with that right."""
    with contextlib.suppress(OSError):
        if path.lstat().st_mode & 0o100:
            descriptor, _ = open_plain_file(path, follow=False)
            with os.fdopen(descriptor, "rb") as file:
                return file.read(2) in _PROGRAMS
    return False


@contextlib.contextmanager
def held_settings(
    settings: Iterable[Path], programs: Collection[Path], warn: Callable[[str], None], note: Path | None
) -> Iterator[tuple[Path, ...]]:
    """Gives what is to be read-only while the block runs; a link that was replaced by then is put back.

    A sandbox can keep only what is there, and no link: so a setting that is missing is made, empty. By its name a file
    has a dot in it, and a folder has none. The links are in the `note`, from which `put_back_noted` knows them if this
    process is killed.
    """
    if note is not None:
        put_back_noted(note, warn)
    pinned: list[Path] = []
    links: dict[Path, Path] = {}
    for path in (*settings, *programs):
        make_missing(path)
        if not path.is_symlink():
            pinned += [path] if path.exists() else []
            continue
        links[path] = path.readlink()
        # Where a program's leads is not shown: an agent may have made it.
        if path.exists() and path not in programs:
            pinned.append(Path(os.path.realpath(path)))
    if links and note is not None:
        write_synced(note, json.dumps({str(path): str(target) for path, target in links.items()}).encode())
    try:
        yield tuple(pinned)
    finally:
        if _put_back(links, warn) and note is not None:
            note.unlink(missing_ok=True)


def put_back_noted(note: Path, warn: Callable[[str], None]) -> None:
    """Puts back the links that a session which was killed has left in its note."""
    none: dict[Path, Path] = {}
    links = read_json(note, lambda body: {Path(path): Path(target) for path, target in body.items()}, none)
    if _put_back(links, warn):
        note.unlink(missing_ok=True)


def copied(paths: Iterable[Path], own: Path) -> dict[Path, Path]:
    """Returns copies of files and folders, made in `own`, by what they stand for; a file that is missing has none."""
    copies: dict[Path, Path] = {}
    for number, path in enumerate(paths):
        copy = own / f"copy-{number}"
        if "." not in path.name:
            path.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(shutil.Error):  # all else is there: the client itself may be changing it
                shutil.copytree(path, copy, symlinks=True)
        elif path.is_file():
            shutil.copyfile(path, copy)
        else:
            continue
        copies[path] = copy
    return copies


def make_missing(path: Path) -> None:
    """Makes what is missing, empty, in a folder that is there."""
    if os.path.lexists(path) or not path.parent.is_dir():
        return
    with contextlib.suppress(FileExistsError):
        if "." not in path.name:
            path.mkdir()
            return
        with path.open("xb") as file:
            file.write(_EMPTY.get(path.suffix, b""))


def _put_back(links: Mapping[Path, Path], warn: Callable[[str], None]) -> bool:
    """Makes each path the link that it was, and returns whether all are."""
    is_done = True
    for path, target in links.items():
        if path.is_symlink() and path.readlink() == target:
            continue
        said = f"`{path}` was changed in the sandbox: it is a link to `{target}` again"
        try:
            if os.path.lexists(path):
                aside = path.with_name(f"{path.name}.{secrets.token_hex(4)}.aside")
                path.rename(aside)
                said += f", and what had replaced it is now `{aside}`"
            path.symlink_to(target)
        except OSError as error:
            is_done = False
            said = f"`{path}` was changed in the sandbox, and cannot be made a link to `{target}` again: {reason_of(error)}"
        warn(said)
    return is_done
