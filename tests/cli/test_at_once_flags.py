"""Words as a reading command understands them without click."""

from __future__ import annotations

from typing import Any

import pytest

from gitticks.actions.context import Context
from gitticks.cli.at_once import read_words, run_in, with_values
from gitticks.cli.commands.list import list_command
from gitticks.cli.commands.picking import next_command
from gitticks.cli.commands.search import search_command
from gitticks.model.status import Awaiting, Status

LEFT_OUT = {
    "awaiting": None, "statuses": (), "labels": (), "parent": None, "agent": None, "reviewer": None,
    "with_closed": False, "as_json": False, "assignee": None, "is_mine": False, "is_overdue": False,
    "is_blocked": False, "is_epic": None, "sort": None, "limit": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ([], {}),
        (["--json", "-a"], {"as_json": True, "with_closed": True}),
        (["-l", "a", "--label=b=c", "--label", "d e"], {"labels": ("a", "b=c", "d e")}),
        (["--agent", "one", "--agent=two"], {"agent": "two"}),
        (["--parent="], {"parent": ""}),
        (["--awaiting"], {"awaiting": frozenset(Awaiting)}),
        (
            ["--awaiting", "input,work", "--json"],
            {"awaiting": {Awaiting.INPUT, Awaiting.WORK}, "as_json": True},
        ),
        (["--status", "stuck", "--status=done"], {"statuses": ({Status.STUCK}, {Status.DONE})}),
    ],
)
def test_values_arrive_under_their_names(words: list[str], given: dict[str, Any]) -> None:
    assert read_words(list_command, words) == LEFT_OUT | given


@pytest.mark.parametrize(
    "words",
    [
        ["word"],
        ["--"],
        ["-"],
        ["--json=yes"],
        ["--agent"],
        ["--agent", "--json"],
        ["-lx"],
        ["-aa"],
        ["--lab", "x"],
        ["-h"],
    ],
    ids=" ".join,
)
def test_what_is_not_plain_is_not_guessed(words: list[str]) -> None:
    assert read_words(list_command, words) is None


def test_a_word_of_the_command_may_follow_a_bare_flag() -> None:
    values = read_words(next_command, ["--awaiting", "k7f2", "--orphan"])
    assert values is not None
    assert (values["epic"], values["awaiting"], values["orphans"]) == ("k7f2", frozenset(Awaiting), True)
    assert read_words(next_command, ["k7f2", "m3xq"]) is None


def test_a_command_may_take_all_words_that_there_are() -> None:
    values = read_words(search_command, ["one", "--json", "two three", "-n", "4", "five"])
    assert values is not None
    assert (values["words"], values["as_json"], values["count"]) == (("one", "two three", "five"), True, 4)
    nothing = read_words(search_command, [])
    assert nothing is not None
    assert nothing["words"] == ()


def test_what_follows_two_dashes_is_left_as_it_is() -> None:
    assert with_values(next_command, ["--awaiting", "--", "--awaiting"]) == [
        "--awaiting=",
        "--",
        "--awaiting",
    ]


def test_warnings_are_reported_whatever_happens(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(context: Context, **_: Any) -> int:
        context.warnings.append("look out")
        raise RuntimeError

    context = Context()
    with pytest.raises(RuntimeError):
        run_in(context, "failing", fail, {})
    assert capsys.readouterr().err == "warning: look out\n"
