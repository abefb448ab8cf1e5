from __future__ import annotations

import re
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.cli.commands.stats import Chart, Series, columns, rows
from gitticks.model.ids import TaskId
from gitticks.model.status import Status, TaskType
from gitticks.store.transaction import Transaction
from tests.cli.support import gt
from tests.support.browsers import colours_of, open_page
from tests.support.lived import HOSTILE, make_lived
from tests.support.stores import ADA, NOW, make_store, make_task, put_task

CHARTS = [
    "Done and created",
    "From creation to done",
    "Waiting for people",
    "Waiting for people, week by week",
    "Cost",
    "What went wrong",
]
WHITE, FIRST_BY_DAY = (255, 255, 255), (9, 105, 218)
NIGHT, FIRST_BY_NIGHT = (13, 17, 23), (68, 147, 248)
EMPTY_ELEMENTS = {"meta", "link"}


def chart(*series: list[float], whole: bool = False) -> Chart:
    labels = [f"l{number}" for number in range(len(series[0]))]
    told = [
        Series(f"s{number}", values, [str(one) for one in values]) for number, values in enumerate(series)
    ]
    return columns("Title", "About", labels, told, None if whole else lambda value: f"{value:g}")


def test_bars_are_as_long_as_their_values() -> None:
    found = chart([1, 0, 4])
    assert found.bars == [[25], [0], [100]]
    assert found.grid == [(0, "0"), (25, "1"), (50, "2"), (75, "3"), (100, "4")]


@pytest.mark.parametrize(
    ("most", "whole", "grid"),
    [
        (1, True, ["0", "1"]),
        (7, True, ["0", "2", "4", "6", "8"]),
        (90, True, ["0", "50", "100"]),
        (0.3, False, ["0", "0.1", "0.2", "0.3"]),
        (1000, False, ["0", "500", "1000"]),
    ],
)
def test_the_grid_has_round_numbers(most: float, whole: bool, grid: list[str]) -> None:
    assert [words for _, words in chart([most], whole=whole).grid] == grid


def test_without_values_there_is_nothing_to_draw() -> None:
    assert not chart([]).bars
    assert not chart([0, 0]).bars
    assert not rows("Title", "About", [], Series("s", [], [])).bars


def test_its_figures_are_a_table_too() -> None:
    found = chart([1, 2], [3, 4])
    assert found.rows == [("l0", "1", "3"), ("l1", "2", "4")]


def test_lying_bars_have_no_grid() -> None:
    found = rows("Title", "About", ["input", "review"], Series("s", [10, 5], ["ten", "five"]))
    assert (found.bars, found.grid) == ([[100], [50]], ())


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=60), st.booleans())
def test_nothing_is_drawn_outside(values: list[float], whole: bool) -> None:
    found = chart(values, whole=whole)
    assert all(0 <= length <= 100 for bars in found.bars for length in bars)
    assert len(found.grid) <= 7


class Outline(HTMLParser):
    """The elements of a page, and whether each that was opened is closed in turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[dict[str, str | None]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.append(dict(attrs))
        if tag not in EMPTY_ELEMENTS:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in EMPTY_ELEMENTS:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


def write_page(path: Path) -> Path:
    """Writes the page of a repository into it and returns where it is."""
    assert gt("stats", "--html", "stats.html", at=path, now=NOW).code == 0
    return path / "stats.html"


def lived_page(path: Path) -> Path:
    """Writes the page of a repository in which much happened, also in an epic with a hostile title."""
    make_lived(path).transact(_put_hostile, author=ADA)
    return write_page(path)


def _put_hostile(transaction: Transaction) -> None:
    put_task(transaction, HOSTILE, id="e9vl", type=TaskType.EPIC)
    put_task(transaction, "Below it", id="b3lo", parent=TaskId("e9vl"), status=Status.DONE, closed=NOW)


def test_every_chart_is_named_and_has_its_figures_as_a_table(tmp_path: Path) -> None:
    page = Outline(lived_page(tmp_path).read_text("utf-8"))
    assert [text for text in page.texts if text in CHARTS] == CHARTS
    drawings = [one for one in page.attributes if one.get("role") == "img"]
    assert [(one["aria-label"] or "").partition(":")[0] for one in drawings] == CHARTS
    assert page.tags.count("details") == 6
    assert page.tags.count("table") == 8


def test_titles_are_text(tmp_path: Path) -> None:
    text = lived_page(tmp_path).read_text("utf-8")
    page = Outline(text)
    assert HOSTILE.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e") in page.texts
    assert {"script", "img", "iframe", "object", "style"} & set(page.tags) == {"style"}
    assert not re.search(r"https?:|url\(|@import|\son\w+=", text)
    assert "\x1b" not in text


@pytest.mark.parametrize("count", [0, 1])
def test_with_nothing_to_draw_the_page_says_so(tmp_path: Path, count: int) -> None:
    store = make_store(tmp_path)
    for number in range(count):
        make_task(store, id=f"t{number}")
    page = Outline(write_page(tmp_path).read_text("utf-8"))
    assert page.texts.count("Nothing yet.") == 6 - count
    assert sum(one.get("role") == "img" for one in page.attributes) == count


def test_of_years_the_last_weeks_are_drawn(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    for number in range(3):
        made = NOW - timedelta(days=365 * number)
        make_task(store, id=f"t{number}", created=made, status="done", closed=made + timedelta(days=1))
    text = write_page(tmp_path).read_text("utf-8")
    assert "in the last 52 weeks" in text
    assert text.count('<th scope="row">03-') < 8


# In a browser


@pytest.mark.debian("chromium")
def test_a_browser_draws_it_without_a_complaint_or_a_request(tmp_path: Path) -> None:
    seen = open_page(lived_page(tmp_path), tmp_path)
    assert (seen.complaints, seen.requests) == ((), ())
    assert seen.dom.count('role="img"') == 6
    assert seen.dom.count('class="bar ') > 10
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in seen.dom


@pytest.mark.debian("chromium")
def test_a_complaint_and_a_request_would_have_been_seen(tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text('<img src="http://127.0.0.1:9/x.png"><script>console.error("no")</script>')
    seen = open_page(bad, tmp_path)
    assert seen.requests == ("http://127.0.0.1:9/x.png",)
    assert '"no"' in "".join(seen.complaints)


@pytest.mark.debian("chromium")
def test_it_is_readable_by_day_and_by_night(tmp_path: Path) -> None:
    page = lived_page(tmp_path)
    day, night = colours_of(page, tmp_path), colours_of(page, tmp_path, is_dark=True)
    assert day.most_common(1)[0][0] == WHITE
    assert night.most_common(1)[0][0] == NIGHT
    assert day[FIRST_BY_DAY] > 1_000
    assert night[FIRST_BY_NIGHT] > 1_000
    assert day[FIRST_BY_NIGHT] == night[FIRST_BY_DAY] == night[WHITE] == 0
