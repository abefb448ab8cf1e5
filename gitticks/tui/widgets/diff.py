"""A patch as rows: files, hunks, line numbers, tinted sides and the colours of the language; each line bears a comment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from textual.binding import Binding, BindingType

from gitticks.tui.theme import glyph
from gitticks.tui.widgets.lines import Line, Lines, Span, broken, line, words

if TYPE_CHECKING:
    from pygments.lexer import Lexer

MOST_LINES = 20_000
"""So many lines of a patch are shown; the command shows the rest."""
_MOST_COLOURED = 5_000
_LONGEST_COLOURED = 400
_LONGEST_LINE = 4_000
_LONGEST_QUOTED = 300
_TAB = 4
_NUMBERS = 10
_SCROLL = 8

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)", re.DOTALL)
_COMMAND = ": git diff "
_NOT_SHOWN = "not shown: "
_NO_NEWLINE = "\\ No newline at end of file"
_TOKENS = (
    ("Comment", "muted"),
    ("Literal.String", "good"),
    ("Literal.Number", "busy"),
    ("Keyword", "word"),
    ("Operator.Word", "word"),
    ("Name.Decorator", "word"),
    ("Name.Function", "busy"),
    ("Name.Class", "busy"),
    ("Name.Tag", "busy"),
)
_SIDES = {"+": ("added", "good"), "-": ("gone", "bad"), " ": (None, "faint")}


class DiffLine(NamedTuple):
    """A line of a hunk: its side (`+`, `-` or a space), its numbers before and after, and its text."""

    side: str
    old: int
    new: int
    text: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that stand together, below what git says they stand in."""

    heading: str
    lines: list[DiffLine] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What changes in a file; `notes` are what git says of it beside its lines, such as `new file mode 100755`."""

    path: str
    notes: list[str] = field(default_factory=list)
    hunks: list[Hunk] = field(default_factory=list)

    @property
    def counts(self) -> tuple[int, int]:
        """Returns how many lines are added and removed."""
        sides = [one.side for hunk in self.hunks for one in hunk.lines]
        return sides.count("+"), sides.count("-")


Colours = dict[tuple[int, int], tuple[list[Span], ...]]
"""The lines of hunks, by the numbers of file and hunk: a path that becomes a link is two files of a patch."""


class Diff(NamedTuple):
    """A patch; `left_out` are lines in words for what it does not show."""

    files: list[FileDiff]
    left_out: list[str]


class Place(NamedTuple):
    """A line that can bear a comment; `is_gone` for one that the work removes, counted as it was before.

    Its text is a part of it, so that a comment never moves to the line that has its number in another version.
    """

    path: str
    number: int
    is_gone: bool = False
    text: str = ""

    @property
    def where(self) -> str:
        return f"{self.path}:{self.number}"

    @property
    def key(self) -> str:
        return f"{self.where}\n{'-' if self.is_gone else '+'}{self.text}"

    @classmethod
    def at(cls, file: FileDiff, one: DiffLine) -> Place:
        """Returns the place of a line of a hunk."""
        is_gone = one.side == "-"
        return cls(file.path, one.old if is_gone else one.new, is_gone, one.text[:_LONGEST_QUOTED])

    @classmethod
    def of(cls, key: str | None) -> Place | None:
        """Returns the place of a row; None for a row that is no line of a file."""
        where, _, text = (key or "").rpartition("\n")
        path, _, number = where.rpartition(":")
        is_line = path and number.isdecimal() and text[:1] in ("+", "-")
        return cls(path, int(number), text[0] == "-", text[1:]) if is_line else None


class DiffPane(Lines):
    """The changes; the code scrolls sideways under its numbers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "across(-1)", "Left", show=False),
        Binding("right", "across(1)", "Right", show=False),
    ]
    offset_columns = 0
    _made_of: object = None

    def show_diff(
        self,
        diff: Diff,
        comments: Mapping[str, str],
        colours: Colours,
    ) -> None:
        """Shows a patch with its comments; its rows, which may be thousands, are made anew only where they differ."""
        made_of = (diff, comments, self.inner_width, self.offset_columns)
        if made_of != self._made_of:
            self._made_of = made_of
            self.show(diff_rows(diff, comments, colours, self.inner_width, self.offset_columns))

    def action_across(self, step: int) -> None:
        """Scrolls the code sideways, as far as its longest line goes on."""
        code = (cell_len(words(row)) for row in self.rows if Place.of(row.key) is not None)
        if step > 0 and max(code, default=0) <= self.inner_width:
            return
        self.offset_columns = max(0, self.offset_columns + step * _SCROLL)
        self.post_message(self.Resized())

    def jump(self, step: int, *, to_hunks: bool = False) -> None:
        """Goes to the nearest file below the cursor, or above it, or the nearest hunk of one."""
        here = self.keys.index(self.key) if self.key in self.keys else 0
        stops = [at for at, key in enumerate(self.keys) if _is_stop(key, to_hunks=to_hunks)]
        beyond = [at for at in stops if (at > here if step > 0 else at < here)]
        if beyond:
            self.go_to(self.keys[beyond[0] if step > 0 else beyond[-1]])
        self.screen.set_focus(self)


def read_patch(text: str, command: str) -> Diff:
    """Returns the files of a patch as git prints it; what is not one of their lines is no more than a note.

    `command` shows the whole of it.
    """
    files: list[FileDiff] = []
    left_out: list[str] = []
    left_old = left_new = old = new = 0
    lines = text.split("\n")
    for number, raw in enumerate(lines):
        if number >= MOST_LINES:
            left_out.append(f"{len(lines) - number:,} more lines are not shown: {command}")
            left_out += (one for one in lines[number:] if one.startswith(_NOT_SHOWN))
            break
        if (left_old or left_new) and files and raw[:1] in "+- ":
            side = raw[:1] or " "
            files[-1].hunks[-1].lines.append(DiffLine(side, old, new, raw[1:]))
            old, left_old = (old, left_old) if side == "+" else (old + 1, left_old - 1)
            new, left_new = (new, left_new) if side == "-" else (new + 1, left_new - 1)
        elif raw.startswith("diff --git "):
            files.append(FileDiff(_path_of(lines[number : number + 8])))
            left_old = left_new = 0
        elif files and (found := _HUNK.match(raw)):
            old, left_old, new, left_new = (int(one or 1) for one in found.groups()[:4])
            files[-1].hunks.append(Hunk(found[5].strip()))
        elif raw.startswith(_NOT_SHOWN):
            left_out.append(raw)
        elif files and raw.startswith(("new file", "deleted file", "rename from", "old mode", "new mode")):
            files[-1].notes.append(raw.removesuffix(" mode 100644"))
        elif files and raw == _NO_NEWLINE:
            files[-1].notes.append("no newline at end of file")
    return Diff(files, left_out)


def _path_of(head: list[str]) -> str:
    """Returns the path of a file by the lines that begin its part of a patch."""
    for begin in ("+++ ", "rename to ", "--- "):
        for raw in head[1:]:
            if raw.startswith(("@@", "diff --git ")):
                break
            if raw.startswith(begin) and raw != f"{begin}/dev/null":
                return _plain_path(raw.removeprefix(begin).rstrip("\t"), has_side=begin != "rename to ")
    # Without lines, as of an empty file, both names are the same.
    names = head[0].removeprefix("diff --git ")
    return _plain_path(names[len(names) // 2 + 1 :], has_side=True)


def _plain_path(text: str, *, has_side: bool) -> str:
    """Returns a path without git's quotes, and without the side that git writes before it."""
    if text.startswith('"') and text.endswith('"'):
        octets = text[1:-1].encode("utf-8", "replace").decode("unicode_escape", "replace")
        text = octets.encode("latin-1", "replace").decode("utf-8", "replace")
    return text[2:] if has_side and text[:2] in ("a/", "b/") else text


def comment_words(diff: Diff, key: str, text: str) -> str:
    """Returns a comment as `gt review --comment` takes it; a line that is not in the work is quoted."""
    place = Place.of(key)
    if place is None:
        return text
    files = (file for file in diff.files if file.path == place.path)
    is_shown = any(
        Place.at(file, one) == place for file in files for hunk in file.hunks for one in hunk.lines
    )
    if is_shown and not place.is_gone:
        return f"{place.where} {text}"
    which = f"{'the removed line' if place.is_gone else 'line'} {place.number}"
    version = "" if is_shown else " of an earlier version"
    return f"On `{place.path}`, {which}{version}:\n\n    {place.text}\n\n{text}"


def coloured(files: Iterable[FileDiff]) -> Colours:
    """Returns the colours of each hunk's lines, as far as a language is known.

    Both sides of a hunk are read as they stand in the file. What is long is left without colour: a stranger wrote it.
    """
    found: Colours = {}
    left = _MOST_COLOURED
    for at, file in enumerate(files):
        lexer = _lexer_of(file.path)
        if lexer is None:
            continue
        for number, hunk in enumerate(file.hunks):
            left -= len(hunk.lines)
            if left < 0:
                return found
            found[at, number] = _coloured_hunk(lexer, hunk)
    return found


def _lexer_of(path: str) -> Lexer | None:
    """Returns what reads a file's language; pygments is loaded with the first diff that is shown."""
    from pygments.lexers import find_lexer_class_for_filename

    found = find_lexer_class_for_filename(path.rpartition("/")[2])
    return None if found is None else found(stripnl=False, ensurenl=False)


def _coloured_hunk(lexer: Lexer, hunk: Hunk) -> tuple[list[Span], ...]:
    after = iter(_coloured_text(lexer, [one.text for one in hunk.lines if one.side != "-"]))
    before = iter(_coloured_text(lexer, [one.text for one in hunk.lines if one.side != "+"]))
    found = []
    for one in hunk.lines:
        spans = next(before) if one.side != "+" else []
        found.append(next(after) if one.side != "-" else spans)
    return tuple(found)


def _coloured_text(lexer: Lexer, lines: list[str]) -> list[list[Span]]:
    expanded = [text[:_LONGEST_LINE].expandtabs(_TAB) for text in lines]
    if any(len(text) > _LONGEST_COLOURED for text in expanded):
        return [[(text, "fg")] for text in expanded]
    rows: list[list[Span]] = [[]]
    for kind, text in lexer.get_tokens("\n".join(expanded)):
        name = str(kind).removeprefix("Token.")
        token = next((token for prefix, token in _TOKENS if name.startswith(prefix)), "fg")
        for number, part in enumerate(text.split("\n")):
            if number:
                rows.append([])
            if part:
                rows[-1].append((part, token))
    # A lexer may read other line breaks than ours, and then nothing would stand where it belongs.
    return rows if len(rows) == len(expanded) else [[(text, "fg")] for text in expanded]


def diff_rows(
    diff: Diff,
    comments: Mapping[str, str],
    colours: Colours,
    width: int,
    offset: int = 0,
) -> list[Line]:
    """Returns the rows of a patch; comments stand below their lines, and what is left out comes last, whole.

    Comments on lines that are not in it come first, each below the line as it was. `comments` are by the keys of the
    rows of their lines. `offset` columns of the code are scrolled away at its left.
    """
    rows: list[Line] = []
    for at, file in enumerate(diff.files):
        if rows:
            rows.append(line())
        rows += _file_rows(file, at, comments, colours, offset)
    shown = {row.key for row in rows}
    earlier = [(key, Place.of(key), text) for key, text in comments.items() if key not in shown]
    rows[:0] = [row for key, place, text in earlier if place for row in _earlier_rows(key, place, text)]
    if diff.left_out and rows:
        rows.append(line())
    for text in diff.left_out:
        at = text.rfind(_COMMAND) + 1 or len(text)
        parts = text[:at], text[at:].lstrip()  # the command on rows of its own, to be copied
        rows += [row for part in parts if part for row in broken(line((part, "waits")), width)]
    return rows


def _file_rows(
    file: FileDiff, place: int, comments: Mapping[str, str], colours: Colours, offset: int
) -> Iterator[Line]:
    added, removed = file.counts
    counts = [(f"+{added}", "good")] if added else []
    counts += [(f" {glyph('minus')}{removed}", "bad")] if removed else []
    yield line((f"{glyph('open')} ", "faint"), (file.path, "*strong"), right=counts, key=file_key(file))
    for note in file.notes:
        yield line((" " * _NUMBERS + note, "muted"))
    for number, hunk in enumerate(file.hunks):
        heading = hunk.heading or (f"line {hunk.lines[0].new}" if hunk.lines and number else "")
        if heading or number:
            yield line((" " * _NUMBERS + "  " + heading, "faint"), key=hunk_key(file, number))
        painted = colours.get((place, number))
        for at, one in enumerate(hunk.lines):
            spans = painted[at] if painted else [(one.text[:_LONGEST_LINE].expandtabs(_TAB), "fg")]
            yield from _line_rows(file, one, spans, comments, offset)


def file_key(file: FileDiff) -> str:
    """Returns the key of a file's first row."""
    return f"{file.path}\n"


def hunk_key(file: FileDiff, number: int) -> str:
    """Returns the key of a hunk's first row."""
    return f"{file.path}\n{number}"


def _is_stop(key: str, *, to_hunks: bool) -> bool:
    """True for the key of a file's first row, and of a hunk's where it is not the first of its file."""
    number = key.rpartition("\n")[2]
    return not number or (to_hunks and number.isdecimal() and number != "0")


def _line_rows(
    file: FileDiff, one: DiffLine, spans: list[Span], comments: Mapping[str, str], offset: int
) -> Iterator[Line]:
    tint, colour = _SIDES[one.side]
    old = "" if one.side == "+" else str(one.old)
    new = "" if one.side == "-" else str(one.new)
    is_gone = one.side == "-"
    key = Place.at(file, one).key
    code = _scrolled(spans, offset) if offset else spans
    sign = glyph("minus") if is_gone else one.side
    yield line((f"{old:>4} {new:>4} ", "faint"), (f"{sign} ", colour), *code, key=key, tint=tint)
    yield from _comment_rows(comments.get(key, ""))


def _comment_rows(text: str) -> Iterator[Line]:
    for said in text.splitlines():
        yield line((" " * _NUMBERS, "fg"), (f"{glyph('bar')} ", "waits"), said, tint="raised")


def _earlier_rows(key: str, place: Place, text: str) -> Iterator[Line]:
    yield line((place.where, "*strong"), ("  of an earlier version", "waits"), key=key)
    yield line((" " * _NUMBERS + "  ", "faint"), (place.text.expandtabs(_TAB), "muted"))
    yield from _comment_rows(text)
    yield line()


def _scrolled(spans: Iterable[Span], offset: int) -> Iterator[Span]:
    for text, token in spans:
        if offset >= len(text):
            offset -= len(text)
            continue
        yield text[offset:], token
        offset = 0
