"""Plain lines for people: columns that fit, glyphs that the terminal has, colour that only repeats the words."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, TextIO

from gitticks.cli.text import as_called, cut, from_here, pad, visible, width, wrap
from gitticks.model.status import Status
from gitticks.safe_read import reason_of
from gitticks.world import elapsed, in_largest_unit

if TYPE_CHECKING:
    from gitticks.model.task_row import AnyTask

PIPED_COLUMNS = 80
NARROWEST_TITLE = 16
NARROWEST_HEAD = 24
GAP = "  "
NO_TASKS = 'no tasks yet: `gt create "…"` creates the first'
NOTHING_READY = "nothing is ready: `gt list` shows what each task waits for"
NEW_COMMITS = "new commits since it was handed off"
NOTHING_AWAITS = "nothing is waiting for a person: `gt status` shows what is running"
MOST_CHARACTERS = 64_000
_SIGNS_OF_MARKDOWN = r"(?m)[*_`~\\]|^[ \t]*(?:[#>+-]|\d+[.)])|\||\]\(|&\w+;|^(?: {4}|\t)"
_TAB = 4
_FLAG = ("⚑", "*")
_ASCII = str.maketrans({"…": "...", "·": "-", "→": "->", "»": "[", "«": "]"})


class _Chosen:
    """What stood before the command: colour always, never (None: as the terminal is), and whether to use a pager."""

    colour: bool | None = None
    has_pager = True


CHOSEN = _Chosen()


class PrintingError(Exception):
    """Stdout takes no more, as on a full disk; the command may have changed something before."""


class Style:
    """What a text is to its reader; colour repeats it, the words say it."""

    PLAIN = ""
    STRONG = "1"
    FAINT = "2"
    BAD = "31"
    GOOD = "32"
    WAITS = "33"
    BUSY = "36"
    FOUND = "1;35"


STATUS_LOOKS: dict[str, tuple[str, str, str]] = {
    Status.PENDING: ("○", "o", Style.PLAIN),
    Status.CLARIFICATION: ("?", "?", Style.WAITS),
    Status.WORKING: ("◐", ">", Style.BUSY),
    Status.AGENT_REVIEW: ("◇", "r", Style.BUSY),
    Status.REVIEWING: ("⊙", "@", Style.WAITS),
    Status.STUCK: ("!", "!", Style.BAD),
    Status.DONE: ("✓", "+", Style.GOOD),
    Status.CANCELLED: ("✗", "x", Style.FAINT),
}
"""The sign of each status, its ASCII twin, and its style."""


class Screen(NamedTuple):
    """What a stream can show: `columns` to align to, whether longer lines are cut, colour, and more than ASCII."""

    columns: int = PIPED_COLUMNS
    is_terminal: bool = False
    has_colour: bool = False
    has_glyphs: bool = True

    @classmethod
    def of(cls, stream: TextIO, environment: Mapping[str, str]) -> Screen:
        """Returns what `stream` can show."""
        is_terminal = stream.isatty()
        kind = environment.get("TERM", "dumb")
        return cls(
            columns=terminal_columns() if is_terminal else PIPED_COLUMNS,
            is_terminal=is_terminal,
            has_colour=_has_colour(environment, is_terminal=is_terminal and kind != "dumb"),
            has_glyphs=_can_encode(stream, "○◐⊙✓…→⚑├"),
        )

    def styled(self, text: str, style: str) -> str:
        """Returns the text with its colour, where there is colour."""
        return f"\x1b[{style}m{text}\x1b[0m" if self.has_colour and style and text else text

    def narrower(self, columns: int) -> Screen:
        """Returns the screen without some of its columns, for what is indented."""
        return self._replace(columns=max(1, self.columns - columns))

    def fit(self, text: str, columns: int | None = None) -> str:
        """Returns the text cut to `columns` of a terminal, to all that it has if none are named; whole where it is piped."""
        return cut(text, max(1, self.columns if columns is None else columns)) if self.is_terminal else text

    def glyph(self, status: str) -> str:
        """Returns the sign of a status."""
        return STATUS_LOOKS[status][0 if self.has_glyphs else 1]

    @property
    def flag(self) -> str:
        """Returns the sign of a task that awaits a person."""
        return _FLAG[0 if self.has_glyphs else 1]


def _has_colour(environment: Mapping[str, str], *, is_terminal: bool) -> bool:
    """True if colour is asked for: by `--color`, else not with NO_COLOR, with FORCE_COLOR, or on a terminal."""
    if CHOSEN.colour is not None:
        return CHOSEN.colour
    if environment.get("NO_COLOR"):
        return False
    return is_terminal or environment.get("FORCE_COLOR", "0") not in ("", "0")


def wants_pager() -> bool:
    """True if long texts are for a person's eyes, on a terminal that a pager can draw on."""
    own = sys.__stdout__  # which a pager writes to
    is_terminal = own is not None and sys.stdout is own and own.isatty()
    return CHOSEN.has_pager and is_terminal and os.environ.get("TERM", "dumb") != "dumb"


def screen() -> Screen:
    """Returns what stdout can show."""
    return Screen.of(sys.stdout, os.environ)


def terminal_columns() -> int:
    """Returns the columns of the terminal as `shutil.get_terminal_size` does, which loads every compression format."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or PIPED_COLUMNS  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return PIPED_COLUMNS


def _can_encode(stream: TextIO, text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def say(*lines: str, err: bool = False) -> None:
    """Prints lines in one go; what the stream's encoding lacks is written with ASCII twins or escapes.

    Commands in lines for stderr begin with what this program was called by; stdout is printed as it is, since it has
    texts of tasks.
    """
    if not lines:
        return
    stream = sys.stderr if err else sys.stdout
    text = "\n".join((*lines, ""))
    if err:
        text = as_called(text)
    if not _can_encode(stream, text):
        text = "".join(f"{_encodable(stream, line)}\n" for line in text.split("\n")[:-1])
    if not err:
        try:
            stream.write(text)
            stream.flush()
        except BrokenPipeError:
            raise  # a reader who left (`gt list | head`) ends the command
        except OSError as error:
            raise PrintingError(reason_of(error)) from error
        return
    release = getattr(sys.stdout, "release", None)  # of a pager that still holds what was said before
    if release is not None:
        release()
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        pass  # what is only told beside the answer stops no command


def say_all(lines: Iterable[str], nothing: str = "") -> None:
    """Prints lines; `nothing` to stderr if there are none."""
    shown = tuple(lines)
    say(*shown)
    if nothing and not shown:
        say(nothing, err=True)


def discard(stream: TextIO) -> None:
    """Lets what is left in a stream's buffer, and what follows, go nowhere: it must not raise again at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):
        return


def _encodable(stream: TextIO, line: str) -> str:
    if _can_encode(stream, line):
        return line
    encoding = stream.encoding or "ascii"
    return line.translate(_ASCII).encode(encoding, "backslashreplace").decode(encoding)


def hint(text: str) -> None:
    """Prints the next command to stderr."""
    say("", f"hint: {visible(from_here(text))}", err=True)


def warn(text: str) -> None:
    """Prints a warning to stderr."""
    say(f"warning: {visible(from_here(text))}", err=True)


def opposite(on: Screen, left: str, right: str) -> list[str]:
    """Returns `left` and, at the screen's right edge, `right`; on a narrow terminal `right` gets a line of its own."""
    room = on.columns - width(right) - len(GAP)
    if on.is_terminal and room < min(width(left), NARROWEST_HEAD):
        return [on.fit(left), on.fit(GAP + right)]
    return [pad(on.fit(left, room), room) + GAP + right if right else on.fit(left)]


def whole(on: Screen, text: str) -> list[str]:
    """Returns a line of text broken to the width of a terminal, and never cut."""
    return wrap(visible(text), max(1, on.columns)) if on.is_terminal else [visible(text)]


def status_word(task: AnyTask) -> str:
    """Returns a task's status; `merging` while an approved task waits for its merge."""
    return "merging" if task.is_merging else f"{task.status}"


def status_style(task: AnyTask) -> str:
    """Returns what a task's status is to its reader."""
    return STATUS_LOOKS[task.status][2]


def name_line(on: Screen, task: AnyTask, id_columns: int = 0) -> str:
    """Returns `k7f2  Login loses the return URL`; in a list `id_columns` is the length of its longest id."""
    return on.fit(f"{task.id.ljust(id_columns)}{GAP}{visible(task.title)}")


_DAYS_SHOWN = 60


def age_of(then: datetime, now: datetime) -> str:
    """Returns how long a time is past, in one unit."""
    return elapsed((now - then).total_seconds())


def age_in_short(born: str, now: datetime) -> str:
    """Returns how long ago a time, as text, was: `10s`, `2m`, `3h`, `5d`; empty if it is not known."""
    if not born:
        return ""
    count, unit = in_largest_unit((now - now.fromisoformat(born)).total_seconds())
    return f"{count}{unit[0]}"


def ago(then: datetime, now: datetime) -> str:
    """Returns how long ago a time was, `12 min ago`; the day itself once that tells more."""
    seconds = (now - then).total_seconds()
    if seconds >= _DAYS_SHOWN * 86400:
        return f"on {then.astimezone().date().isoformat()}"
    return f"{elapsed(seconds)} ago" if seconds >= 1 else "just now"


def count_of(number: int, one: str, many: str | None = None) -> str:
    """Returns `1 task`, `2 tasks`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def below(on: Screen, heading: str, lines: Iterable[str]) -> Iterator[str]:
    """Yields some lines below their heading; nothing where there are none."""
    for number, line in enumerate(lines):
        if not number:
            yield on.styled(heading, Style.STRONG)
        yield line


def prose(on: Screen, text: str, indent: str = GAP) -> Iterator[str]:
    """Yields a text as it is below its heading."""
    for line in shown_text(on.narrower(len(indent)), text):
        yield (indent + line).rstrip()


def shown_text(on: Screen, text: str) -> list[str]:
    """Returns a text of a task as lines for a terminal of `on.columns`; elsewhere each line as it was written.

    With colour Markdown is rendered, else wrapped: its signs say what nothing else would. Loading rich takes as long as
    the rest of a call, so texts without any sign are only wrapped.
    """
    lines = [visible(line.expandtabs(_TAB)).rstrip() for line in text.splitlines()]
    if not on.is_terminal:
        return lines
    plain = "\n".join(lines)
    if (
        on.has_colour
        and on.has_glyphs
        and len(plain) <= MOST_CHARACTERS
        and re.search(_SIGNS_OF_MARKDOWN, plain)
    ):
        from gitticks.cli.rich_markdown import rendered_lines

        rendered = rendered_lines(on, plain)
        if rendered is not None:
            return rendered
    return [part for line in lines for part in _wrapped(line, on.columns)]


def _wrapped(line: str, columns: int) -> list[str]:
    indent = line[: len(line) - len(line.lstrip(" "))][: max(0, columns // 2)]
    return [indent + part for part in wrap(line.strip(" "), max(1, columns - len(indent)))]
