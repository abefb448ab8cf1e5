from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.model.ids import (
    ALPHABET,
    LETTERS,
    TaskId,
    id_length,
    is_valid_id,
    new_id,
    shard,
    task_folder,
    task_path,
)

VALID = st.from_regex(r"[0-9a-z][0-9a-z-]{0,63}", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "is_valid"),
    [
        ("k7f2", True),
        ("0", True),
        ("7-", True),
        ("a" * 64, True),
        ("a" * 65, False),
        ("", False),
        ("-rf", False),
        ("--help", False),
        ("K7F2", False),
        ("k7_2", False),
        ("k7 2", False),
        ("../../x", False),
        ("a/b", False),
        ("a\n", False),
        ("k7f2\0", False),
        ("\uff41", False),
        ("\u0663", False),
        ("é", False),
        ("😀", False),
    ],
)
def test_what_may_be_an_id(text: str, is_valid: bool) -> None:
    assert is_valid_id(text) is is_valid


@pytest.mark.parametrize(
    ("count", "length"),
    [(0, 4), (1, 4), (102, 4), (103, 5), (579, 5), (580, 6), (10_000, 7), (1_000_000, 10)],
)
def test_how_long_ids_are(count: int, length: int) -> None:
    assert id_length(count) == length


@given(st.integers(min_value=1, max_value=10**9))
def test_the_length_is_what_the_formula_says(count: int) -> None:
    length = id_length(count)
    assert 32**length >= 100 * count**2
    assert length == 4 or 32 ** (length - 1) < 100 * count**2


@given(VALID)
def test_every_id_has_a_place(text: str) -> None:
    task_id = TaskId(text)
    between = shard(task_id)
    assert len(between) == 2
    assert between.isalnum()
    assert task_folder(task_id) == f"tasks/{between}/{text}"
    assert task_path(task_id) == f"tasks/{between}/{text}/TASK.md"


@pytest.mark.parametrize(
    ("text", "between"), [("k7f2", "f2"), ("a", "0a"), ("a-", "0a"), ("k7-f-2", "f2"), ("h8d-14", "14")]
)
def test_the_folder_between_is_the_last_two_alphanumerics(text: str, between: str) -> None:
    assert shard(TaskId(text)) == between


def numbers(*given: int) -> Callable[[int], int]:
    """Returns a source of random numbers that gives these, one after the other."""
    left = list(given)

    def next_number(below: int) -> int:
        number = left.pop(0)
        assert number < below
        return number

    return next_number


def test_a_new_id_begins_with_a_letter_and_is_none_that_is_taken() -> None:
    assert new_id(lambda _: False, 0, numbers(7, 15, 2, 8)) == "j7f2"
    taken = {TaskId("j7f2")}
    assert new_id(taken.__contains__, 1, numbers(7, 15, 2, 8, 7, 15, 3, 0)) == "a7f3"


def test_an_id_that_is_made_after_another_sorts_behind_it_while_there_is_room() -> None:
    source = random.Random(7)
    for first, count in (("a000", 50), ("z8e4", 50), ("zz00", 20)):
        made = [TaskId(first)]
        while len(made) < count:
            made.append(new_id(made.__contains__, len(made), source.randrange, made[-1]))
        assert made == sorted(set(made))
    for last in ("zzzz", "login", "1abc", "fi-x", "oboe"):
        assert is_valid_id(new_id(made.__contains__, len(made), source.randrange, TaskId(last)))
    assert new_id({TaskId("k7f3")}.__contains__, 1, numbers(0, 1), TaskId("k7f2")) == "k7f4"


@given(st.randoms(use_true_random=False), st.integers(min_value=0, max_value=2000))
def test_a_new_id_is_valid_and_of_the_due_length(source: random.Random, count: int) -> None:
    task_id = new_id(lambda _: False, count, source.randrange)
    assert is_valid_id(task_id)
    assert task_id[0] in LETTERS
    assert set(task_id) <= set(ALPHABET)
    assert len(task_id) == id_length(count + 1)


def test_the_alphabet_has_no_letters_that_are_misread() -> None:
    assert len(set(ALPHABET)) == 32
    assert not set("ilou") & set(ALPHABET)
