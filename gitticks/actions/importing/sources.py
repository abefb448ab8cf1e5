"""Finds where another tracker keeps its data, and reads it within bounds."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import BinaryIO

from gitticks.actions.context import Context
from gitticks.document.foreign.parts import MOST_RECORD_BYTES, RecordError
from gitticks.document.foreign.record import Format, Problem, Reading
from gitticks.errors import GitticksError, NotFoundError, UsageError
from gitticks.plainfile import read_plain_file, reason_of

STDIN = "-"
MOST_LIST_BYTES = 200_000_000
_BEADS_FILES = ("issues.jsonl", "beads.jsonl")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Source:
    """Data of another tracker: its format, its file or folder, and whether the format was guessed.

    `path` is None where the tracker's own program is asked.
    """

    format: Format
    path: Path | None
    is_guessed: bool = False

    @property
    def name(self) -> str:
        """Returns what messages call it: a command, or a path."""
        return "gh issue list" if self.path is None else str(self.path)


def find_source(context: Context, wanted: Format | None, path: str | None) -> Source:
    """Returns the data that a person named, or that lies where its tracker keeps it.

    Raises:
        NotFoundError: there is none.
    """
    top = context.repository.here_worktree or context.directory
    given = None if path is None else (Path(path) if path == STDIN else context.directory / path)
    if given is not None and str(given) != STDIN and not given.exists():
        if wanted is None:
            formats = ", ".join(Format)
            raise NotFoundError(
                f"`{path}` is no file or folder here, and no format ({formats})", hint="`gt import --help`"
            )
        raise NotFoundError(f"there is no `{path}`", hint="`gt import --help`")
    if wanted is not None:
        return Source(wanted, _place(wanted, given, top))
    for one in (Format.TICKS, Format.BEADS, Format.BACKLOG):
        found = _found(one, given or top)
        if found is not None:
            return Source(one, found, is_guessed=True)
    if given is not None and given.suffix == ".json" and given.is_file():
        return Source(Format.GITHUB, given, is_guessed=True)
    raise NotFoundError(
        f"nothing to import was found in `{given or top}`",
        hint="name the format and the place: `gt import beads path/to/issues.jsonl`",
    )


def _place(wanted: Format, given: Path | None, top: Path) -> Path | None:
    if given is not None and str(given) == STDIN:
        if wanted not in (Format.GITHUB, Format.BEADS):
            raise UsageError(
                f"{wanted} is a folder of files, and stdin is one", hint=f"`gt import {wanted} FOLDER`"
            )
        return given
    if wanted is Format.GITHUB or (wanted is Format.BEADS and given is not None and given.is_file()):
        return given
    found = _found(wanted, given or top)
    if found is None:
        raise NotFoundError(
            f"there is no data of {wanted} in `{given or top}`",
            hint=f"`gt import {wanted} PATH` names another place",
        )
    return found


def _found(wanted: Format, place: Path) -> Path | None:
    """Returns the file of beads, or the folder of others, in `place` or that it is itself."""
    if wanted is Format.BEADS:
        if place.is_file():
            return place if place.suffix == ".jsonl" else None
        files = (folder / name for folder in (place / ".beads", place) for name in _BEADS_FILES)
        return next((file for file in files if file.is_file()), None)
    if wanted is Format.TICKS:
        issues = (place / ".tick" / "issues", place / "issues", place)
        return next(
            (one for one in issues if one.is_dir() and one.name == "issues" and any(one.glob("*.json"))),
            None,
        )
    folders = (place / "backlog", place)
    return next((one for one in folders if (one / "tasks").is_dir() or (one / "completed").is_dir()), None)


def read_source(source: Source, directory: Path) -> Reading:
    """Returns what the source holds; where a program is asked, it is started in `directory`.

    Raises:
        GitticksError: none of it can be read.
    """
    try:
        if source.path is None:
            return _read_gh(directory)
        return _READERS[source.format](source)
    except OSError as error:
        raise GitticksError(
            f"`{source.name}` cannot be read: {reason_of(error)}", hint="`gt import --help`"
        ) from error
    except RecordError as error:
        raise GitticksError(f"`{source.name}`: {error}", hint=_mend(source, error)) from error


def _mend(source: Source, error: RecordError) -> str:
    """Returns the next command for a source that cannot be read at all."""
    if source.path is None or "UTF-16" not in str(error):
        return "`gt import --help`"
    better = source.path.with_name(f"utf8-{source.path.name}")
    return f"`iconv -f UTF-16 -t UTF-8 {quote(str(source.path))} > {quote(str(better))}`, and import that"


def _read_beads(source: Source) -> Reading:
    from gitticks.document.foreign.beads import read_beads

    if str(source.path) == STDIN:
        return read_beads(_lines(sys.stdin.buffer), "stdin")
    with _place_of(source).open("rb") as stream:
        if stream.peek(2)[:2] in _UTF16:
            raise RecordError("this is UTF-16; save it as UTF-8")
        return read_beads(_lines(stream), str(source.path))


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Yields numbered lines; of one that is too long nothing is kept, not even in memory."""
    number = 0
    while line := stream.readline(MOST_RECORD_BYTES):
        number += 1
        is_long = len(line) == MOST_RECORD_BYTES and not line.endswith(b"\n")
        while is_long and line and not line.endswith(b"\n"):
            line = stream.readline(MOST_RECORD_BYTES)
        yield number, None if is_long else line


def _read_ticks(source: Source) -> Reading:
    from gitticks.document.foreign.ticks import read_ticks

    return read_ticks(_files(_place_of(source), "*.json"))


def _read_backlog(source: Source) -> Reading:
    from gitticks.document.foreign.backlog import Config, read_backlog, read_config

    folder, config, problems = _place_of(source), Config(), list[Problem]()
    for name in ("config.yml", "config.yaml"):
        file = folder / name
        try:
            config = read_config(_bounded(file) or b"", str(file)) if file.is_file() else config
        except RecordError as error:
            problems.append(Problem(str(file), None, str(error)))
    files = [one for name in ("tasks", "completed") for one in _files(folder / name, "*.md")]
    reading = read_backlog(files, config)
    reading.problems[:0] = problems
    return reading


def _read_github(source: Source) -> Reading:
    from gitticks.document.foreign.github import read_github

    if str(source.path) == STDIN:
        return read_github(sys.stdin.buffer.read(MOST_LIST_BYTES), "stdin")
    data = _bounded(_place_of(source), MOST_LIST_BYTES)
    if data is None:
        raise RecordError("the file is too large")
    return read_github(data, str(source.path))


def _read_gh(directory: Path) -> Reading:
    from gitticks.document.foreign.github import read_github

    return read_github(_ask_gh(directory), "gh")


def _ask_gh(directory: Path) -> bytes:
    """Returns every issue of the repository that GitHub's own program knows."""
    import subprocess

    from gitticks.document.foreign.github import FIELDS

    call = ["gh", "issue", "list", "--state", "all", "--limit", "100000", "--json", ",".join(FIELDS)]
    hint = f"`{' '.join(call)} > issues.json`, then `gt import github issues.json`"
    try:
        done = subprocess.run(call, capture_output=True, check=False, stdin=subprocess.DEVNULL, cwd=directory)
    except FileNotFoundError as error:
        raise NotFoundError("no file was named, and `gh` is not installed", hint=hint) from error
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise GitticksError(f"`gh` failed: {told}", hint=hint)
    return done.stdout


def _place_of(source: Source) -> Path:
    return source.path or Path()


def _files(folder: Path, pattern: str) -> Iterator[tuple[str, bytes | None]]:
    for file in sorted(folder.glob(pattern)):
        if file.is_file():
            yield str(file), _bounded(file)


def _bounded(file: Path, most: int = MOST_RECORD_BYTES) -> bytes | None:
    """Returns the file's bytes, or None where they are too many."""
    try:
        return read_plain_file(file, most)
    except OSError as error:
        if error.errno == errno.EFBIG:
            return None
        raise


_READERS = {
    Format.BEADS: _read_beads,
    Format.TICKS: _read_ticks,
    Format.BACKLOG: _read_backlog,
    Format.GITHUB: _read_github,
}
