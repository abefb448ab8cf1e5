"""What an agent says: its text as prose, its tool calls folded to one row each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gitticks.cli.text import wrap
from gitticks.tui.theme import glyph
from gitticks.tui.transcript import Piece
from gitticks.tui.widgets.lines import Line, line
from gitticks.tui.widgets.markdown import markdown_rows

MOST_ENTRIES = 2_000
_SHORTER_BY = 500
_LONGEST_TARGET, _LONGEST_TEXT = 300, 20_000
_VERB_COLUMNS = 7


@dataclass
class _Entry:
    """A paragraph, a plain line, or a call that may be unfolded."""

    piece: Piece
    detail: tuple[str, ...] = ()
    failed: bool | None = None


class Output:
    """What one agent has said so far, with the folds of its calls; rows are made for a width."""

    def __init__(self) -> None:
        self.is_verbose = False
        self._entries: list[_Entry] = []
        self._by_call: dict[str, _Entry] = {}
        self._turned: set[int] = set()
        self._first = 0

    @property
    def is_empty(self) -> bool:
        """True while nothing was said."""
        return not self._entries

    def take(self, pieces: Iterable[Piece]) -> None:
        """Takes what is new; what a call came to is joined with it."""
        for piece in pieces:
            known = self._by_call.get(piece.call) if piece.call else None
            if known is not None and not (piece.verb and known.failed is not None):
                known.detail = (*known.detail, *piece.detail) if not piece.verb else piece.detail
                known.failed = piece.failed
                continue
            if piece.call and not piece.verb:
                continue  # what came of a call that was before the beginning
            if len(piece.text) > _LONGEST_TEXT:
                left = len(piece.text) - _LONGEST_TEXT
                piece = piece._replace(  # noqa: PLW2901 (the same, but shorter)
                    text=f"{piece.text[:_LONGEST_TEXT]} {glyph('more')} {left:,} characters more"
                )
            entry = _Entry(piece, piece.detail, piece.failed)
            self._entries.append(entry)
            if piece.call:
                self._by_call[piece.call] = entry
        if len(self._entries) > MOST_ENTRIES + _SHORTER_BY:
            dropped = len(self._entries) - MOST_ENTRIES
            del self._entries[:dropped]
            self._first += dropped

    def turn(self, key: str) -> None:
        """Folds a call, or unfolds it."""
        self._turned ^= {int(key)}

    def is_open(self, number: int, entry: _Entry) -> bool:
        """True for a call that is unfolded; failed ones are by themselves."""
        return (self.is_verbose or entry.failed is True) != (number in self._turned)

    def rows(self, width: int, after: int = 0) -> list[Line]:
        """Returns the rows, or those of the entries from a number on."""
        found: list[Line] = []
        for at in range(after, len(self._entries)):
            entry = self._entries[at]
            before = self._entries[at - 1].piece if at else None
            if _is_apart(before, entry.piece):
                found.append(line())
            if entry.piece.verb:
                found += self._call(self._first + at, entry)
            elif entry.piece.is_prose:
                found += markdown_rows(entry.piece.text, width)
            else:
                found += _plain(entry.piece.text, width)
        return found

    def _call(self, number: int, entry: _Entry) -> list[Line]:
        is_open = self.is_open(number, entry)
        sign, colour = _sign(entry.failed)
        key = str(number)
        target = entry.piece.text.strip().partition("\n")[0][:_LONGEST_TARGET]
        found = [
            line(
                (f"{glyph('open' if is_open else 'shut')} ", "faint"),
                (f"{entry.piece.verb:<{_VERB_COLUMNS}} ", "muted"),
                (target, "fg"),
                right=[(_figure(entry), "bad" if entry.failed else "muted"), (f" {sign}", colour)],
                key=key,
            )
        ]
        if is_open:
            tokens = {"+": "good", "-": "bad", "E": "bad"}
            found += [line("    ", (text, tokens.get(text[:1], "muted")), key=key) for text in entry.detail]
        return found

    @property
    def last(self) -> str:
        """Returns the last line, for places that have one row for it."""
        for entry in reversed(self._entries):
            words = f"{entry.piece.verb} {entry.piece.text}".strip()
            shown = words.splitlines()[-1] if words and not entry.piece.verb else words.partition("\n")[0]
            if shown:
                return shown
        return ""


def _sign(failed: bool | None) -> tuple[str, str]:
    if failed is None:
        return glyph("working"), "busy"
    return (glyph("cancelled"), "bad") if failed else (glyph("done"), "good")


def _figure(entry: _Entry) -> str:
    added = sum(text.startswith("+ ") for text in entry.detail)
    gone = sum(text.startswith("- ") for text in entry.detail)
    if entry.piece.verb in ("edit", "write") and (added or gone):
        return f"+{added} {glyph('minus')}{gone}" if gone else f"+{added}"
    if entry.failed is None or not entry.detail:
        return ""
    return f"{len(entry.detail)} {'line' if len(entry.detail) == 1 else 'lines'}"


def _is_apart(before: Piece | None, piece: Piece) -> bool:
    """True where a blank row makes reading easier: around prose."""
    return before is not None and (before.is_prose or piece.is_prose) and not (before.verb and piece.verb)


def _plain(text: str, width: int) -> list[Line]:
    return [line(part) for one in text.split("\n") for part in wrap(one.rstrip().expandtabs(4), width)]
