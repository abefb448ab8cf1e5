from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.model.ids import TaskId
from gitticks.model.notes import (
    Entry,
    answered_since,
    mentioned,
    open_questions,
    pair_questions,
    unasked,
    words_like_ids,
)
from gitticks.model.status import ActorKind

AT = datetime(2026, 3, 4, tzinfo=UTC)
KINDS = {"h": ActorKind.HUMAN, "a": ActorKind.AGENT, "e": ActorKind.ENGINE}

IDS = frozenset(TaskId(name) for name in ("k7f2", "m3xq", "pier-7", "h8d", "7"))


def entries(written: str) -> tuple[Entry, ...]:
    """Returns entries in file order, one for each letter: `h`uman, `a`gent, `e`ngine; their text is their place."""
    return tuple(
        Entry(AT + timedelta(minutes=place), KINDS[letter], letter, str(place))
        for place, letter in enumerate(written)
    )


@pytest.mark.parametrize(
    ("written", "pairs", "still_open"),
    [
        ("", "", ""),
        ("a", "0-", "0"),
        ("ah", "01", ""),
        ("e", "0-", "0"),
        ("aah", "02 12", ""),
        ("aha", "01 2-", "2"),
        ("ahh", "01", ""),
        ("h", "", ""),
        ("haaheh", "13 23 45", ""),
        ("haahe", "13 23 4-", "4"),
    ],
)
def test_an_answer_closes_every_question_before_it(written: str, pairs: str, still_open: str) -> None:
    found = pair_questions(entries(written))
    shown = [f"{pair.question.text}{pair.answer.text if pair.answer else '-'}" for pair in found]
    assert shown == pairs.split()
    assert [question.text for question in open_questions(entries(written))] == still_open.split()


@given(st.text("hae", max_size=12))
def test_no_question_is_lost_and_answers_come_after_them(written: str) -> None:
    given_entries = entries(written)
    pairs = pair_questions(given_entries)
    assert [pair.question for pair in pairs] == [
        one for one in given_entries if one.kind is not ActorKind.HUMAN
    ]
    for pair in pairs:
        if pair.answer is not None:
            assert pair.answer.kind is ActorKind.HUMAN
            assert pair.answer.at > pair.question.at
    said = {one.text for one in given_entries if one.kind is ActorKind.HUMAN}
    answers = {pair.answer.text for pair in pairs if pair.answer is not None}
    assert {one.text for one in unasked(given_entries)} == said - answers
    assert bool(open_questions(given_entries)) is (written[written.rfind("h") + 1 :] != "")


def test_as_many_questions_and_answers_as_a_file_can_hold_are_paired_at_once() -> None:
    many = entries("ah" * 10_000)
    assert len(pair_questions(many)) == 10_000
    assert unasked(many) == ()
    assert open_questions(many) == ()


@pytest.mark.parametrize(
    ("written", "minutes", "text"),
    [("ah", 0, "1"), ("ah", 1, "1"), ("ah", 2, None), ("aha", 0, None), ("h", 0, None), ("", 0, None)],
)
def test_an_answer_since_somebody_was_asked(written: str, minutes: int, text: str | None) -> None:
    pairs = answered_since(entries(written), AT + timedelta(minutes=minutes))
    assert [pair.answer.text for pair in pairs if pair.answer] == ([text] if text else [])


def test_all_questions_that_the_last_answer_closes() -> None:
    assert [pair.question.text for pair in answered_since(entries("ahaaeh"), AT)] == ["2", "3", "4"]


@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        ("k7f2", ["k7f2"]),
        ("As in k7f2, and m3xq.", ["k7f2", "m3xq"]),
        ("(k7f2) `m3xq` #h8d “k7f2”: yes", ["k7f2", "m3xq", "h8d"]),
        ("See k7f2: it says why.\nm3xq", ["k7f2", "m3xq"]),
        ("pier-7 waits for pier-70", ["pier-7"]),
        ("k7f2- and -m3xq", ["k7f2", "m3xq"]),
        ("k7f2 k7f2", ["k7f2"]),
        ("k7f2's", ["k7f2"]),
        ("xk7f2 k7f2x K7F2 k7f2_x k7f2-x", []),
        ("tasks/f2/k7f2/TASK.md, gitticks/work/k7f2, k7f2.md, k7f2/x", []),
        ("ada@k7f2 https://m3xq.org:h8d k7f2=1 C:\\m3xq", []),
        ("zzzz", []),
        ("", []),
        ("--- __ - k7f2", ["k7f2"]),
        ("ek7f2 ék7f2 k7f2é", []),
    ],
)
def test_the_tasks_that_a_text_names(text: str, tasks: list[str]) -> None:
    assert list(mentioned(text, IDS)) == tasks


@given(st.text("k7f2m3xq-_/. :\n(é`", max_size=60))
def test_everything_that_is_mentioned_is_an_id_and_in_the_text(text: str) -> None:
    for task in mentioned(text, IDS):
        assert task in text
        assert task in IDS


@given(st.text("k7f2m3xq-_/. :\n(é`K\ud800", max_size=60))
def test_whoever_is_mentioned_is_among_the_words_like_ids(text: str) -> None:
    assert set(mentioned(text, IDS)) <= words_like_ids(text)


def test_words_like_ids_are_all_that_an_id_may_be() -> None:
    assert words_like_ids("-k7f2-, pier-7/x_y Ké9 --- ") == {"k7f2", "pier-7", "x", "y", "9"}
