"""Values that are dataclasses in all but the time they take to load."""

from __future__ import annotations

from dataclasses import asdict, fields, is_dataclass, replace
from typing import Any

import pytest

from gitticks.model.values import Value


class Point(Value):
    x: int
    y: int = 2


class Named(Point):
    name: str = "origin"


class Renamed(Named):
    """No field of its own."""


def test_fields_come_by_place_and_by_name_and_have_defaults() -> None:
    assert (Point(1).x, Point(1).y, Point(x=3, y=4).y) == (1, 2, 4)
    assert Named(1, 2, "here") == Named(1, name="here")
    assert Renamed(1).name == "origin"
    assert repr(Named(1)) == "Named(x=1, y=2, name='origin')"


@pytest.mark.parametrize(
    ("given", "named"), [((), {}), ((1, 2, 3), {}), ((1,), {"z": 1}), ((1,), {"x": 1})], ids=str
)
def test_what_is_missing_unknown_or_given_twice_is_refused(
    given: tuple[int, ...], named: dict[str, Any]
) -> None:
    with pytest.raises(TypeError, match="Point"):
        Point(*given, **named)


def test_values_are_equal_by_their_fields_and_cannot_be_changed() -> None:
    assert Point(1) == Point(1, 2)
    assert Point(1) != Point(2)
    assert Point(1) != Named(1)
    assert len({Point(1), Point(1, 2), Point(2)}) == 2
    with pytest.raises(AttributeError, match="cannot be changed"):
        Point(1).x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="cannot be removed"):
        del Point(1).x
    match Point(5, 6):
        case Point(x, y):
            assert (x, y) == (5, 6)


def test_other_values_for_some_fields() -> None:
    assert Named(1, name="a").changed(y=5) == Named(1, 5, "a")


def test_the_functions_of_dataclasses_take_them() -> None:
    assert is_dataclass(Named(1))
    assert [field.name for field in fields(Named(1))] == ["x", "y", "name"]
    assert asdict(Named(1)) == {"x": 1, "y": 2, "name": "origin"}
    assert replace(Named(1), y=7) == Named(1, 7)


def test_the_fields_of_a_class_are_made_once() -> None:
    assert fields(Point(1)) == fields(Point(2))
    assert all(one is other for one, other in zip(fields(Point), fields(Point), strict=True))
    assert [field.name for field in fields(Named)] == ["x", "y", "name"]
