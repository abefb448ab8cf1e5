"""Times are read with any offset and written as UTC."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone

import pytest
from hypothesis import example, given, settings
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from gitticks.document import values
from gitticks.document.texts import Source
from gitticks.document.values import At, format_date, format_time, parse_time
from gitticks.document.yaml_nodes import Mapping, Node, Scalar
from gitticks.document.yaml_read import parse_yaml
from gitticks.errors import DocumentError
from tests.support.hostile_yaml import scalars

EXAMPLES = 50_000 if os.environ.get("GITTICKS_DOSE") == "full" else 400
PLAIN_NUMBER = re.compile(r"[-+]?[0-9]{1,18}")
REFUSED = object()


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-22T10:02:03Z",
        "2026-11-22t10:02:03z",
        "2026-11-22 10:02:03",
        "2026-11-22T12:02:03+02:00",
        "2026-11-22T12:02:03 +0200",
        "2026-11-22T05:02:03.987-05",
    ],
)
def test_times_of_every_offset_are_utc(text: str) -> None:
    assert parse_time(text) == datetime(2026, 11, 22, 10, 2, 3, tzinfo=UTC)


def test_a_date_is_its_midnight() -> None:
    assert parse_time("2026-11-22") == datetime(2026, 11, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2026-13-01",
        "2026-11-22T25:00:00Z",
        "2026-W10",
        "20261122",
        "0001-01-01T00:00:00+14:00",
        "٢٠٢٦-11-22",
    ],
)
def test_what_is_no_time(text: str) -> None:
    assert parse_time(text) is None


def test_times_are_written_in_utc_with_whole_seconds() -> None:
    east = datetime(2026, 11, 22, 12, 2, 3, 999_999, tzinfo=timezone(timedelta(hours=2)))
    assert format_time(east) == "2026-11-22T10:02:03Z"
    assert format_time(datetime(2026, 11, 22, 10, 2, 3)) == "2026-11-22T10:02:03Z"  # noqa: DTZ001


def test_dates_are_written_without_a_time() -> None:
    assert format_date(date(2026, 1, 2)) == "2026-01-02"
    assert format_date(datetime(2026, 1, 2, 3, tzinfo=UTC)) == "2026-01-02"


def node_of(text: str) -> Scalar | None:
    """Returns the scalar that stands behind a key, None where the text makes something else of it."""
    try:
        tree = parse_yaml(Source(f"a: {text}\n", "f"))
    except DocumentError:
        return None
    if not isinstance(tree, Mapping) or len(tree.pairs) != 1:
        return None
    node = tree.get("a")
    return node if isinstance(node, Scalar) else None


def by_ruamel(text: str) -> object:
    """Returns the value that ruamel makes; REFUSED where it makes none, such as for February 30."""
    try:
        return YAML(typ="safe", pure=True).load(f"a: {text}\n")["a"]
    except (YAMLError, ValueError, OverflowError):
        return REFUSED


def read(reader: Callable[[At, Node], object], node: Node) -> object:
    try:
        return reader(At(Source("", "f"), "a"), node)
    except DocumentError:
        return REFUSED


def check(text: str) -> None:
    node, expected = node_of(text), by_ruamel(text)
    if node is None:
        return
    if expected is not REFUSED:
        assert node.is_null == (expected is None)
        assert (read(values.read_flag, node) is REFUSED) == (type(expected) is not bool)
    flag, count = read(values.read_flag, node), read(values.read_integer(0), node)
    number, moment = read(values.read_number, node), read(values.read_time, node)
    day = read(values.read_date, node)
    assert flag in (REFUSED, expected)
    if count is not REFUSED:
        assert type(expected) is int
        assert count == expected
    elif type(expected) is int and expected >= 0:
        assert PLAIN_NUMBER.fullmatch(node.text) is None
    if number is not REFUSED:
        assert isinstance(expected, int | float)
        assert number == float(expected)
    if isinstance(expected, date) and moment is not REFUSED:
        assert moment == _utc(expected)
        assert day == _utc(expected).date()
    assert (moment is REFUSED) == (day is REFUSED)


def _utc(found: date) -> datetime:
    if not isinstance(found, datetime):
        return datetime.combine(found, time(), UTC)
    whole = found.replace(microsecond=0)
    return whole.replace(tzinfo=UTC) if whole.tzinfo is None else whole.astimezone(UTC)


@settings(max_examples=EXAMPLES)
@given(text=scalars)
@example("012")
@example("2026-11-22T10:02:03+00:00")
def test_a_value_is_what_ruamel_reads(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    ("text", "reader", "value"),
    [
        ("012", values.read_integer(0), 12),
        ("0o14", values.read_integer(0), REFUSED),
        ("0x1F", values.read_integer(0), REFUSED),
        ("1_000", values.read_integer(0), REFUSED),
        ("'1'", values.read_integer(0), REFUSED),
        ("1.0", values.read_integer(0), REFUSED),
        (".5", values.read_number, 0.5),
        ("1.", values.read_number, 1.0),
        ("1e3", values.read_number, 1000.0),
        (".inf", values.read_number, REFUSED),
        (".nan", values.read_number, REFUSED),
        ("1e400", values.read_number, REFUSED),
        ("yes", values.read_flag, REFUSED),
        ("True", values.read_flag, True),
        ("no", values.read_text, "no"),
        ("1:30", values.read_text, "1:30"),
        ("'it''s'", values.read_text, "it's"),
        ("2026-11-22", values.read_date, date(2026, 11, 22)),
        ("2026-02-29", values.read_date, REFUSED),
        ("2026-11-22T10:02:03-23:59", values.read_date, date(2026, 11, 23)),
    ],
)
def test_what_readers_differ_about(text: str, reader: Callable[[At, Node], object], value: object) -> None:
    node = node_of(text)
    assert node is not None
    assert read(reader, node) == value
