from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from gitticks.actions.context import Context
from gitticks.cli.at_once import JSON, Argument, ReadingCommand
from gitticks.cli.filters import AWAITING, parse_kinds, parse_statuses
from gitticks.cli.options import Reading, seconds_of
from gitticks.errors import UsageError
from gitticks.model.status import Awaiting, Phase, Status

INPUT, REVIEW = Awaiting.INPUT, Awaiting.REVIEW


def _take_a_word(context: Context, *, word: str | None, awaiting: frozenset[Awaiting] | None) -> int:
    """Take a word."""
    click.echo(f"{word} {_shown(awaiting)}")
    return 0


def _take_none(context: Context, *, awaiting: frozenset[Awaiting] | None) -> int:
    """Take none."""
    click.echo(f"{context.as_json} {_shown(awaiting)}")
    return 0


with_word = Reading(
    ReadingCommand(
        "with-word",
        _take_a_word,
        (Argument("word", "[WORD]"), AWAITING),
        examples=("gt with-word epic --awaiting",),
    )
)
plain = Reading(ReadingCommand("plain", _take_none, (AWAITING, JSON), examples=()))


def _shown(kinds: frozenset[Awaiting] | None) -> str:
    if kinds is None:
        return "unasked"
    return "all" if kinds == frozenset(Awaiting) else ",".join(sorted(kinds))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "None unasked"),
        (["--awaiting"], "None all"),
        (["--awaiting", "input"], "None input"),
        (["--awaiting", "input,review"], "None input,review"),
        (["--awaiting=review"], "None review"),
        (["--awaiting", "k7f2"], "k7f2 all"),
        (["k7f2", "--awaiting"], "k7f2 all"),
        (["--awaiting", "input", "k7f2"], "k7f2 input"),
        (["--awaiting", "--", "input"], "input all"),
        (["--", "--awaiting"], "--awaiting unasked"),
    ],
)
def test_the_word_after_awaiting_is_its_value_only_if_it_names_kinds(words: list[str], expected: str) -> None:
    assert CliRunner().invoke(with_word, words).output.strip() == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [(["--awaiting", "--json"], "True all"), (["--awaiting", "work", "--json"], "True work")],
)
def test_an_option_is_never_its_value(words: list[str], expected: str) -> None:
    assert CliRunner().invoke(plain, words).output.strip() == expected


def test_without_words_of_its_own_a_command_takes_a_wrong_word_for_a_kind() -> None:
    error = CliRunner().invoke(plain, ["--awaiting", "reviw"]).exception
    assert isinstance(error, UsageError)
    assert error.message == "`reviw` is not a valid kind of awaiting"
    assert error.hint == "did you mean `review`?"


def test_kinds_are_a_comma_list() -> None:
    assert parse_kinds("input,review") == {INPUT, REVIEW}
    assert parse_kinds("") == frozenset(Awaiting)


def test_statuses_are_named_by_themselves_or_by_phase() -> None:
    assert parse_statuses("done,in_review") == {Status.DONE, Status.AGENT_REVIEW, Status.REVIEWING}
    assert parse_statuses("closed") == {Status.DONE, Status.CANCELLED}


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("workin", "did you mean `working`?"),
        (
            "qqq",
            f"one of {', '.join([*Phase, *Status])}",
        ),
    ],
)
def test_an_unknown_status_suggests_near_ones_or_names_all(word: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_statuses(f"done,{word}")
    assert caught.value.hint == hint


def test_help_opens_with_the_examples() -> None:
    lines = CliRunner().invoke(with_word, ["--help"]).output.splitlines()
    assert lines[:3] == ["  gt with-word epic --awaiting", "", "Usage: with-word [OPTIONS] [WORD]"]


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("30m", 1800), ("2h", 7200), ("14", 14)])
def test_a_duration_is_read(text: str, seconds: float) -> None:
    assert seconds_of("--every", text) == seconds


@pytest.mark.parametrize("text", ["soon", "0", "-5m", ""])
def test_what_is_none_is_reported_with_the_option(text: str) -> None:
    with pytest.raises(UsageError, match="`--every` is not a duration") as wrong:
        seconds_of("--every", text)
    assert (wrong.value.hint or "").startswith("write 90s, 30m")
