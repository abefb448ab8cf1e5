from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.cli.statistics.charts import HEIGHT, WIDTH, Chart, Series, columns, rows


def chart(*series: list[float], whole: bool = False) -> Chart:
    labels = [f"l{number}" for number in range(len(series[0]))]
    told = [
        Series(f"s{number}", values, [str(one) for one in values]) for number, values in enumerate(series)
    ]
    return columns("Title", "About", labels, told, lambda value: f"{value:g}", whole=whole)


def test_bars_stand_on_the_ground_and_are_as_high_as_their_values() -> None:
    found = chart([1, 0, 4])
    assert [bar.words for bar in found.bars] == ["l0: 1", "l2: 4"]
    one, four = found.bars
    assert four.height == pytest.approx(4 * one.height, rel=0.01)
    assert one.y + one.height == pytest.approx(four.y + four.height)
    assert [mark.text for mark in found.grid] == ["0", "1", "2", "3", "4"]


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
    assert [mark.text for mark in chart([most], whole=whole).grid] == grid


def test_of_many_labels_some_are_shown() -> None:
    found = chart([1.0] * 52)
    assert len(found.bars) == 52
    assert [mark.text for mark in found.marks] == [
        "l0",
        "l6",
        "l12",
        "l18",
        "l24",
        "l30",
        "l36",
        "l42",
        "l48",
    ]


def test_without_values_there_is_nothing_to_draw() -> None:
    assert chart([]).is_empty
    assert chart([0, 0]).is_empty
    assert rows("Title", "About", [], Series("s", [], [])).is_empty


def test_its_figures_are_a_table_too() -> None:
    found = chart([1, 2], [3, 4])
    assert found.heading == ["", "s0", "s1"]
    assert found.rows == [("l0", "1", "3"), ("l1", "2", "4")]


def test_lying_bars_have_their_names_before_and_their_words_behind_them() -> None:
    found = rows("Title", "About", ["input", "review"], Series("s", [10, 5], ["ten", "five"]))
    assert [(mark.text, mark.y) for mark in found.grid] == [("input", 14), ("review", 44)]
    assert [mark.text for mark in found.marks] == ["ten", "five"]
    assert found.bars[0].width == pytest.approx(2 * found.bars[1].width)
    assert found.height == 60
    assert not found.is_upright


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=60), st.booleans())
def test_nothing_is_drawn_outside(values: list[float], whole: bool) -> None:
    found = chart(values, whole=whole)
    for bar in found.bars:
        assert 0 <= bar.x <= bar.x + bar.width <= WIDTH
        assert 0 <= bar.y <= bar.y + bar.height <= HEIGHT
    assert len(found.grid) <= 7
