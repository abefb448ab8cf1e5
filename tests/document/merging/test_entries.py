"""Lines of JSON: all of both sides, each once, in the order of their times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.document.merging.entries import Piece, merge_entries, merge_records
from gitticks.model.notes import Entry, Section, open_questions
from gitticks.model.status import ActorKind

LINES = st.lists(
    st.sampled_from([b'{"at":"1"}', b'{"at":"2"}', b'{"at":"2","x":1}', b"junk", b'{"x":1}', b'{"at":3}']),
    max_size=5,
)
START = datetime(2026, 1, 2, tzinfo=UTC)


def lines(*times: str) -> bytes:
    return "".join(f'{{"at":"{time}"}}\n' for time in times).encode()


@pytest.mark.parametrize(
    ("base", "one", "other", "merged"),
    [
        (lines("1"), lines("1", "3"), lines("1", "2"), lines("1", "2", "3")),
        (lines("1"), lines("1", "2", "2"), lines("1", "2"), lines("1", "2", "2")),
        (b"", lines("1")[:-1], lines("2"), lines("1", "2")),
        (b"", b"junk\n", lines("1"), b"junk\n" + lines("1")),
    ],
)
def test_unions(base: bytes, one: bytes, other: bytes, merged: bytes) -> None:
    assert merge_records(base, one, other) == merged
    assert merge_records(base, other, one) == merged


@given(LINES, LINES, LINES)
def test_every_line_is_there_and_each_side_keeps_its_order(
    base: list[bytes], one: list[bytes], other: list[bytes]
) -> None:
    texts = [b"".join(line + b"\n" for line in [*base, *own]) for own in ([], one, other)]
    merged = merge_records(*texts)
    assert merged == merge_records(texts[0], texts[2], texts[1])
    found = merged.splitlines()
    for text in texts[1:]:
        remaining = iter(found)
        assert all(found.count(line) >= text.splitlines().count(line) for line in text.splitlines())
        assert set(text.splitlines()) <= set(remaining)
    if one:
        assert sorted(merge_records(texts[0], merged, texts[1]).splitlines()) == sorted(found)


def piece(word: str) -> Piece:
    """Returns an entry: `q` asks and `a` answers, then the minute; what follows a `:` is its text."""
    kind = ActorKind.HUMAN if word[0] in "an" else ActorKind.AGENT
    name, _, text = word.partition(":")
    return Piece(Entry(START + timedelta(minutes=int(name[1:2])), kind, name[2:] or "x", text or name), word)


def merged(section: Section, base: str, frame: str, guest: str) -> str:
    old, mine, theirs = ([piece(word) for word in text.split()] for text in (base, frame, guest))
    return " ".join(one.raw for one in merge_entries(old, mine, theirs, section))


@pytest.mark.parametrize(
    ("base", "frame", "guest", "wanted"),
    [
        ("n1", "n1 n3", "n1 n2", "n1 n2 n3"),
        ("n1", "n1", "n1", "n1"),
        ("", "n1 n1", "n1", "n1 n1"),
        ("n1", "n2", "n1 n3", "n1 n2 n3"),
        ("n1:old", "n1:new n3", "n1:old n2", "n1:new n2 n3"),
        ("n1:old", "n1:old n3", "n1:new n2", "n1:new n2 n3"),
        ("n1:old", "n1:new", "n1:newer", "n1:new n1:newer"),
        ("n1 n5", "n1 n2 n5", "n1 n3 n5 n6", "n1 n2 n3 n5 n6"),
    ],
)
def test_notes(base: str, frame: str, guest: str, wanted: str) -> None:
    assert merged(Section.NOTES, base, frame, guest) == wanted
    if ":" not in base:
        assert merged(Section.NOTES, base, guest, frame) == wanted


@pytest.mark.parametrize(
    ("base", "frame", "guest", "wanted"),
    [
        ("q1", "q1 a5", "q1 q4", "q1 a5 q4"),
        ("", "q1 a5", "q2", "q1 a5 q2"),
        ("", "q1", "q2 a5", "q2 a5 q1"),
        ("q1", "q1 a2", "q1 a3", "q1 a2 a3"),
        ("q1 a2", "q1 a2 q3 a4", "q1 a2 q5", "q1 a2 q3 a4 q5"),
    ],
)
def test_questions(base: str, frame: str, guest: str, wanted: str) -> None:
    for one, other in ((frame, guest), (guest, frame)):
        assert merged(Section.QUESTIONS, base, one, other) == wanted
    entries = tuple(piece(word).entry for word in wanted.split())
    asked = {entry.text for entry in open_questions(entries)}
    sides = [tuple(piece(word).entry for word in text.split()) for text in (frame, guest)]
    both = {entry.text for side in sides for entry in open_questions(side)}
    assert asked == both - ({"q1"} if "q1 a" in f"{frame} {guest}" else set())


def test_as_many_entries_as_a_file_can_hold_are_merged_at_once() -> None:
    def pieces(name: str) -> list[Piece]:
        entries = (
            Entry(START + timedelta(seconds=place), ActorKind.HUMAN, name, "x") for place in range(10_000)
        )
        return [Piece(entry, f"{name}{place}") for place, entry in enumerate(entries)]

    found = merge_entries([], pieces("Ada"), pieces("Bob"), Section.NOTES)
    assert [one.entry.name for one in found[:4]] == ["Ada", "Bob", "Ada", "Bob"]
    assert len(found) == 20_000
