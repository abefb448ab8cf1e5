from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import pytest

from gitticks.cli.render import Screen, Style, age_in_short, ago, count_of, opposite, say
from gitticks.cli.table import Cell, table
from gitticks.model.status import Status
from gitticks.world import elapsed

PIPE = Screen()
NARROW = Screen(columns=30, is_terminal=True)
NOW = datetime(2026, 3, 4, 6, 0, tzinfo=UTC)
NAMES = ["id", "title", "waits"]
ROWS = [["k7f2", "Login loses the return URL", ""], ["m3xq", "Rename", "input"]]


class _Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def _terminal(encoding: str = "utf-8") -> _Terminal:
    return _Terminal(io.BytesIO(), encoding=encoding)


def test_a_table_in_a_pipe_is_aligned_and_never_cut() -> None:
    assert table(PIPE, NAMES, [*ROWS, ["z", "x" * 200, ""]], flexible="title") == [
        f"id    title{' ' * 195}  waits",
        f"k7f2  Login loses the return URL{' ' * 174}".rstrip(),
        f"m3xq  Rename{' ' * 194}  input",
        f"z     {'x' * 200}",
    ]


def test_columns_without_text_are_left_out() -> None:
    assert table(PIPE, NAMES, ROWS[:1], flexible="title") == [
        "id    title",
        "k7f2  Login loses the return URL",
    ]


def test_on_a_terminal_the_flexible_column_is_cut_to_fit() -> None:
    lines = table(Screen(columns=40, is_terminal=True), NAMES, ROWS, flexible="title")
    assert lines[1] == "k7f2  Login loses the return URL"
    lines = table(Screen(columns=34, is_terminal=True), NAMES, ROWS, flexible="title")
    assert lines[1:] == ["k7f2  Login loses the retu…", "m3xq  Rename                 input"]


def test_where_a_title_has_no_room_each_row_takes_two_lines() -> None:
    assert table(Screen(columns=24, is_terminal=True), NAMES, ROWS, flexible="title") == [
        "k7f2",
        "  Login loses the retur…",
        "m3xq  input",
        "  Rename",
    ]


def test_a_cell_without_room_goes_to_the_next_line() -> None:
    rows = [["12:00", "agent-review → reviewing", "engine", "PASS"], ["12:01", "reviewing → done", "Ada", ""]]
    on = Screen(columns=38, is_terminal=True)
    assert table(on, ["", "", "", "reason"], rows, flexible="reason", with_heading=False) == [
        "12:00  agent-review → reviewing",
        "  engine",
        "  PASS",
        "12:01  reviewing → done  Ada",
    ]


def test_an_empty_table_has_no_lines() -> None:
    assert table(PIPE, NAMES, [], flexible="title") == []


def test_what_could_steer_the_terminal_is_written_out() -> None:
    assert table(PIPE, [""], [["\x1b[31mred\u202e"]], flexible="title", with_heading=False) == [
        r"\x1b[31mred\u202e"
    ]


def test_wide_and_combining_characters_keep_the_columns_straight() -> None:
    rows = [["日本語", "a"], ["🎉", "b"], ["e\u0301", "c"]]
    assert table(PIPE, ["", ""], rows, flexible="", with_heading=False) == [
        "日本語  a",
        "🎉      b",
        "e\u0301       c",
    ]


def test_colour_is_for_terminals_and_can_be_switched_off() -> None:
    environment = {"TERM": "xterm"}
    assert Screen.of(_terminal(), environment).styled("x", Style.BAD) == "\x1b[31mx\x1b[0m"
    assert Screen.of(_terminal(), {**environment, "NO_COLOR": "1"}).styled("x", Style.BAD) == "x"
    assert Screen.of(_terminal(), {"TERM": "dumb"}).styled("x", Style.BAD) == "x"
    assert Screen.of(io.StringIO(), environment).styled("x", Style.BAD) == "x"


def test_coloured_cells_are_aligned_by_what_is_seen() -> None:
    on = Screen(columns=40, is_terminal=True, has_colour=True)
    lines = table(on, ["", ""], [[Cell("a", Style.BAD), "x"], ["bbb", "y"]], flexible="", with_heading=False)
    assert lines == ["\x1b[31ma\x1b[0m    x", "bbb  y"]


def test_glyphs_have_ascii_twins() -> None:
    assert Screen.of(_terminal("ascii"), {}).glyph(Status.DONE) == "+"
    assert Screen.of(_terminal(), {}).glyph(Status.DONE) == "✓"
    for status in Status:
        assert Screen(has_glyphs=False).glyph(status).isascii()


def test_what_an_encoding_lacks_is_never_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True)
    monkeypatch.setattr("sys.stdout", stream)
    say("new → done · 日本 …")
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    assert buffer.getvalue() == b"new -> done - \\u65e5\\u672c ...\n"


def test_the_right_text_stands_at_the_edge_or_on_its_own_line() -> None:
    assert opposite(NARROW, "left", "right") == ["left                     right"]
    assert opposite(NARROW, "x" * 28, "right") == ["x" * 28, "  right"]
    assert opposite(PIPE, "x" * 90, "right") == ["x" * 90 + "  right"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (3599, "59 min"),
        (3600, "1 h"),
        (86400, "1 day"),
        (200000, "2 days"),
        (-5, "0 s"),
    ],
)
def test_durations_are_reported_in_one_unit(seconds: float, words: str) -> None:
    assert elapsed(seconds) == words


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (timedelta(seconds=5), "5 s ago"),
        (timedelta(minutes=2), "2 min ago"),
        (timedelta(days=59), "59 days ago"),
        (timedelta(days=60), "on 2026-01-03"),
        (timedelta(0), "just now"),
        (timedelta(minutes=-5), "just now"),
    ],
)
def test_times_are_reported_as_a_person_would(before: timedelta, words: str) -> None:
    assert ago(NOW - before, NOW) == words


def test_counting_words() -> None:
    assert (count_of(1, "task"), count_of(0, "task"), count_of(2, "child", "children")) == (
        "1 task",
        "0 tasks",
        "2 children",
    )


@pytest.mark.parametrize(
    ("born", "age"),
    [
        ("", ""),
        ("2026-03-04T06:00:00+00:00", "0s"),
        ("2026-03-04T05:59:01+00:00", "59s"),
        ("2026-03-04T05:59:00+00:00", "1m"),
        ("2026-03-04T04:30:00+00:00", "1h"),
        ("2025-03-04T06:00:00+00:00", "365d"),
        ("2027-03-04T06:00:00+00:00", "0s"),
    ],
)
def test_ages_in_few_signs(born: str, age: str) -> None:
    assert age_in_short(born, datetime(2026, 3, 4, 6, tzinfo=UTC)) == age
