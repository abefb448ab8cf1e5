"""What an agent says: its text as prose, its tool calls folded to one row each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gitticks.cli.render import count_of
from gitticks.cli.text import wrap
from gitticks.tui.theme import glyph, uses_ascii
from gitticks.tui.transcript import Piece, earlier
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
    rows: list[Line] | None = None


class Output:
    """What one agent has said so far, with the folds of its calls; rows are made for a width, and kept."""

    def __init__(self) -> None:
        self.is_verbose = False
        self._made_for: tuple[int, bool, bool] | None = None
        self._entries: list[_Entry] = []
        self._by_call: dict[str, _Entry] = {}
        self._turned: set[int] = set()
        self._first = 0

    def take(self, pieces: Iterable[Piece]) -> None:
        """Takes what is new; what a call came to is joined with it."""
        for piece in pieces:
            known = self._by_call.get(piece.call) if piece.call else None
            if known is not None and not (piece.verb and known.piece.failed is not None):
                detail = piece.detail if piece.verb else (*known.piece.detail, *piece.detail)
                known.piece, known.rows = known.piece._replace(detail=detail, failed=piece.failed), None
                continue
            if piece.call and not piece.verb:
                continue  # what came of a call that was before the beginning
            if len(piece.text) > _LONGEST_TEXT:
                left = len(piece.text) - _LONGEST_TEXT
                piece = piece._replace(  # noqa: PLW2901 (the same, but shorter)
                    text=f"{piece.text[:_LONGEST_TEXT]} {glyph('more')} {left:,} characters more"
                )
            entry = _Entry(piece)
            self._entries.append(entry)
            if piece.call:
                self._by_call[piece.call] = entry
        if len(self._entries) > MOST_ENTRIES + _SHORTER_BY:
            dropped = len(self._entries) - MOST_ENTRIES
            for entry in self._entries[: dropped + 1]:
                if self._by_call.get(entry.piece.call) is entry:
                    del self._by_call[entry.piece.call]
            self._entries[: dropped + 1] = [_Entry(earlier())]
            self._first += dropped

    def turn(self, key: str) -> None:
        """Folds a call, or unfolds it."""
        number = int(key)
        self._turned ^= {number}
        if 0 <= number - self._first < len(self._entries):
            self._entries[number - self._first].rows = None

    def is_open(self, number: int, entry: _Entry) -> bool:
        """True for a call that is unfolded; failed ones are by themselves."""
        return (self.is_verbose or entry.piece.failed is True) != (number in self._turned)

    def rows(self, width: int) -> list[Line]:
        made_for = (width, self.is_verbose, uses_ascii())
        if made_for != self._made_for:
            self._made_for = made_for
            for entry in self._entries:
                entry.rows = None
        found: list[Line] = []
        before: Piece | None = None
        for at, entry in enumerate(self._entries):
            if entry.rows is None:
                entry.rows = self._made(self._first + at, entry, before, width)
            found += entry.rows
            before = entry.piece
        return found

    def _made(self, number: int, entry: _Entry, before: Piece | None, width: int) -> list[Line]:
        space = [line()] if _is_apart(before, entry.piece) else []
        if entry.piece.verb:
            return [*space, *self._call(number, entry)]
        if entry.piece.is_prose:
            return [*space, *markdown_rows(entry.piece.text, width)]
        return [*space, *_plain(entry.piece.text, width)]

    def _call(self, number: int, entry: _Entry) -> list[Line]:
        is_open = self.is_open(number, entry)
        sign, colour = _sign(entry.piece.failed)
        key = str(number)
        target = entry.piece.text.strip().partition("\n")[0][:_LONGEST_TARGET]
        found = [
            line(
                (f"{glyph('open' if is_open else 'shut')} ", "faint"),
                (f"{entry.piece.verb:<{_VERB_COLUMNS}} ", "muted"),
                (target, "fg"),
                right=[(_figure(entry), "bad" if entry.piece.failed else "muted"), (f" {sign}", colour)],
                key=key,
            )
        ]
        if is_open:
            tokens = {"+": "good", "-": "bad", "E": "bad"}
            found += [
                line("    ", (text, tokens.get(text[:1], "muted")), key=key) for text in entry.piece.detail
            ]
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
    added = sum(text.startswith("+ ") for text in entry.piece.detail)
    gone = sum(text.startswith("- ") for text in entry.piece.detail)
    if entry.piece.verb in ("edit", "write") and (added or gone):
        return f"+{added} {glyph('minus')}{gone}" if gone else f"+{added}"
    if entry.piece.failed is None or not entry.piece.detail:
        return ""
    return count_of(len(entry.piece.detail), "line")


def _is_apart(before: Piece | None, piece: Piece) -> bool:
    """True where a blank row makes reading easier: around prose."""
    return before is not None and (before.is_prose or piece.is_prose) and not (before.verb and piece.verb)


def _plain(text: str, width: int) -> list[Line]:
    return [line(part) for one in text.split("\n") for part in wrap(one.rstrip().expandtabs(4), width)]
