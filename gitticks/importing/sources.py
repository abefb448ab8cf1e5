"""Finds another tracker's data and reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from gitticks.errors import GitticksError, NotFoundError, UsageError
from gitticks.importing.backlog import find_backlog, read_backlog
from gitticks.importing.beads import find_beads, read_beads
from gitticks.importing.github import read_github
from gitticks.importing.record import STDIN, Format, Reading, RecordError
from gitticks.importing.ticks import find_ticks, read_ticks
from gitticks.safe_read import reason_of

_FINDERS: dict[Format, Callable[[Path], Path | None]] = {
    Format.TICKS: find_ticks,
    Format.BEADS: find_beads,
    Format.BACKLOG: find_backlog,
}
"""Each finds its data in a folder, in the order in which a format is guessed."""
_READERS: dict[Format, Callable[[Path], Reading]] = {
    Format.TICKS: read_ticks,
    Format.BEADS: read_beads,
    Format.BACKLOG: read_backlog,
}


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


def find_source(wanted: Format | None, path: str | None, directory: Path, top: Path) -> Source:
    """Returns the data that the user named, relative to `directory`, or that is at the `top` as usual."""
    given = None if path is None else (Path(path) if path == STDIN else directory / path)
    if given is not None and str(given) != STDIN and not given.exists():
        if wanted is None:
            formats = ", ".join(Format)
            raise NotFoundError(
                f"`{path}` is neither a file or folder here nor a format ({formats})",
                hint="`gt import --help`",
            )
        raise NotFoundError(f"there is no `{path}`", hint="`gt import --help`")
    if wanted is not None:
        return Source(wanted, _place(wanted, given, top))
    for one, find in _FINDERS.items():
        found = find(given or top)
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
    found = _FINDERS[wanted](given or top)
    if found is None:
        raise NotFoundError(
            f"there is no data of {wanted} in `{given or top}`",
            hint=f"`gt import {wanted} PATH` names another place",
        )
    return found


def read_source(source: Source, directory: Path) -> Reading:
    """Returns what the source holds; where a program is asked, it is started in `directory`."""
    try:
        if source.format is Format.GITHUB or source.path is None:
            return read_github(source.path, directory)
        return _READERS[source.format](source.path)
    except OSError as error:
        raise GitticksError(
            f"`{source.name}` cannot be read: {reason_of(error)}", hint="`gt import --help`"
        ) from error
    except RecordError as error:
        raise GitticksError(f"`{source.name}`: {error}", hint=_cure(source, error)) from error


def _cure(source: Source, error: RecordError) -> str:
    """Returns the next command for a source that cannot be read at all."""
    if source.path is None or "UTF-16" not in str(error):
        return "`gt import --help`"
    better = source.path.with_name(f"utf8-{source.path.name}")
    return f"`iconv -f UTF-16 -t UTF-8 {quote(str(source.path))} > {quote(str(better))}`, and import that"
