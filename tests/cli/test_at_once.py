"""An answer before click is loaded is, byte for byte, the one that comes by way of click."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.cli.at_once import answer_at_once
from tests.cli.both_ways import Answer, both_ways, call, varied
from tests.support.repositories import add_linked_worktree, git

__all__ = ["varied"]

PLAIN: tuple[tuple[str, ...], ...] = (
    ("next",),
    ("next", "--json"),
    ("next", "e0pc"),
    ("next", "--awaiting"),
    ("next", "--awaiting=input,review", "--json"),
    ("next", "--standalone"),
    ("next", "--orphan", "--epic"),
    ("next", "d0ne"),
    ("next", "e0", "--awaiting", "approval"),
    ("next", "nope"),
    ("ready",),
    ("ready", "--json"),
    ("inbox",),
    ("inbox", "--all", "-n", "2"),
    ("inbox", "-a", "--json"),
    ("search", "tone"),
    ("search", "page", "tone", "--json"),
    ("search", "-a", "--label", "web", "e"),
    ("search",),
    ("search", "nowhere"),
    ("tree",),
    ("tree", "-a", "--json"),
    ("tree", "e0pc"),
    ("tree", "l00p"),
    ("tree", "br0k"),
    ("list",),
    ("list", "--json"),
    ("list", "--all"),
    ("list", "-a", "--json"),
    ("list", "--awaiting"),
    ("list", "--awaiting", "--json"),
    ("list", "--awaiting", "review,input"),
    ("list", "--awaiting=work"),
    ("list", "--status", "in_review,done"),
    ("list", "--status=closed", "--status", "stuck", "--json"),
    ("list", "--label", "auth", "-l", "web"),
    ("list", "-l", 'quo"ted\nlabel'),
    ("list", "--label=nothing"),
    ("list", "--parent", "e0pc", "--all"),
    ("list", "--parent", "e1"),
    ("list", "--parent", "none"),
    ("list", "--agent", "codex"),
    ("list", "--reviewer", "Grace", "--json"),
    ("show",),
    ("show", ""),
    ("show", "K7F2"),
    ("show", "none"),
    ("show", "none", "--json"),
    ("show", "r"),
    ("show", "f"),
    *(
        ("show", one)
        for one in ("k7f2", "m3", "b1kd", "d3fr", "e0pc", "c0de", "d0ne", "f0ll", "w0rk", "m3rg", "0dd")
    ),
    *(("show", "--json", one) for one in ("k7f2", "f0ll", "d0ne", "twice", "l0st", "br0k")),
    ("show", "--round", "1", "f0ll"),
    ("show", "k7f2", "--stat"),
    ("show", "f0ll", "--json", "--stat"),
    ("show", "twice"),
    ("show", "l0st"),
    ("show", "l00p"),
    ("show", "br0k"),
    ("graph",),
    ("graph", "--all", "e2in"),
    ("graph", "l00p", "--json"),
    ("graph", "--svg", "-a"),
    ("graph", "br0k"),
    ("board",),
    ("board", "--all"),
    ("board", "e0pc", "--json"),
    ("stats",),
    ("stats", "--since=4w", "--json"),
    ("stats", "--html=-"),
    ("status",),
    ("status", "--json"),
    ("current",),
    ("current", "--json"),
)
"""Calls that are answered before click is loaded, failures among them."""

LEFT_TO_CLICK: tuple[tuple[str, ...], ...] = (
    (),
    ("--version",),
    ("log",),
    ("next", "--help"),
    ("next", "a", "b"),
    ("next", "--nope"),
    ("next", "--awaiting=nothing"),
    ("ready", "one"),
    ("ready", "--json=1"),
    ("list", "word"),
    ("list", "--label"),
    ("list", "--label", "-x"),
    ("list", "-al", "auth"),
    ("list", "-lauth"),
    ("list", "--status", "nope"),
    ("stats", "--since", "never"),
    ("inbox", "-n", "none"),
    ("inbox", "-n0"),
    ("search", "--", "-x"),
    ("show", "--", "k7f2"),
    ("show", "-h"),
)


@pytest.mark.parametrize("words", PLAIN, ids=" ".join)
def test_every_plain_call_is_answered_alike(varied: Path, words: tuple[str, ...]) -> None:
    both_ways(words, varied)


def test_the_calls_tell_everything_apart_that_they_are_for(varied: Path) -> None:
    listed = both_ways(("list", "--all"), varied).out.decode()
    for text in ("after b1kd, k7f2", "held", "until 2099-05-01", "escalation", "merging", "\\x1b[31m\\u202e"):
        assert text in listed
    assert b"br0k" in both_ways(("list",), varied).err
    page = both_ways(("show", "f0ll"), varied).out.decode()
    for text in ("PASS", "Grace", "Which tone?", "earlier events", "`gone` blocks nothing", "$1.50"):
        assert text in page
    assert both_ways(("show", "l0st", "--json"), varied).code == 0
    assert both_ways(("show", "br0k"), varied).code == 1
    assert both_ways(("next", "nope", "--json"), varied).err.startswith(b'{"schema": 1, "error"')


@pytest.mark.parametrize("words", LEFT_TO_CLICK, ids=" ".join)
def test_whatever_is_not_plain_is_left_to_click_untouched(varied: Path, words: tuple[str, ...]) -> None:
    assert call(answer_at_once, words, varied, {}) == Answer(None, b"", b"")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-16", "shift-jis"])
@pytest.mark.parametrize(
    "words",
    [
        ("list", "--all"),
        ("show", "f0ll"),
        ("list", "--all", "--json"),
        ("tree", "-a"),
        ("inbox", "-a"),
        ("search", "-a", "e"),
    ],
    ids=" ".join,
)
def test_in_any_encoding(varied: Path, words: tuple[str, ...], encoding: str) -> None:
    both_ways(words, varied, encoding=encoding)


@pytest.mark.parametrize(
    "environment",
    [
        {"NO_COLOR": "1"},
        {
            "GITTICKS_AGENT": "1",
            "GITTICKS_TASK": "w0rk",
            "GITTICKS_ROLE": "worker",
            "GITTICKS_MAILBOX": "/nowhere",
        },
        {"GITTICKS_TASK": "not/an id"},
        {"TZ": "Pacific/Auckland", "LC_ALL": "C"},
    ],
    ids=str,
)
def test_in_any_environment(varied: Path, environment: dict[str, str]) -> None:
    for words in (("next",), ("list", "--awaiting"), ("show",), ("show", "f0ll"), ("show", "--json")):
        both_ways(words, varied, environment)


def test_from_everywhere(varied: Path, tmp_path: Path) -> None:
    linked = add_linked_worktree(varied, tmp_path / "linked", "gitticks/work/w0rk")
    git("clone", "-q", "--bare", str(varied), "bare.git", at=tmp_path)
    (tmp_path / "empty").mkdir()
    git("init", "-q", at=tmp_path / "empty")
    places = (
        varied / "deep/er",
        varied / ".gitticks",
        varied / ".git",
        linked,
        tmp_path / "bare.git",
        tmp_path / "empty",
    )
    for place in (*places, tmp_path):
        for words in (("next",), ("list", "--json"), ("show",), ("show", "k7f2")):
            both_ways(words, place)
    assert b"w0rk" in both_ways(("show",), linked).out


def test_with_an_index_that_has_to_be_made_or_cannot_be(varied: Path) -> None:
    index = varied / ".git/gitticks/index.sqlite3"
    expected = both_ways(("list", "--all"), varied)
    for damage in (index.unlink, lambda: index.write_bytes(b"garbage"), lambda: index.write_bytes(b"")):
        damage()
        assert call(answer_at_once, ("list", "--all"), varied, {}) == expected
