"""History lines: canonical, and read past whatever is broken."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.document.history import RESERVED_KEYS, BrokenLine, read_history, render_event
from gitticks.model.event import ENGINE, Actor, Event, EventType
from gitticks.model.status import ActorKind, Role, Status

AT = datetime(2026, 11, 22, 10, 2, 3, tzinfo=UTC)
NOTED = Event(EventType.NOTED, AT, Actor(ActorKind.HUMAN, "Ada"))
LINE = '{"type":"note.added","at":"2026-11-22T10:02:03Z","actor":{"kind":"human","name":"Ada"}}\n'
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)


def test_keys_stand_in_a_fixed_order_and_nothing_empty_is_written() -> None:
    event = Event(
        EventType.ADVANCED,
        AT,
        Actor(ActorKind.AGENT, "claude", Role.WORKER),
        Status.WORKING,
        Status.AGENT_REVIEW,
        "handed off",
        {"round": 1, "head": None, "é": ["a", "\n"]},
    )
    assert render_event(event) == (
        '{"type":"auto.advanced","at":"2026-11-22T10:02:03Z",'
        '"actor":{"kind":"agent","name":"claude","role":"worker"},"from":"working","to":"agent-review",'
        '"reason":"handed off","head":null,"round":1,"é":["a","\\n"]}\n'
    )
    assert read_history(render_event(event).encode()).events == (event,)
    assert render_event(NOTED) == LINE


@given(
    st.builds(
        Event,
        st.sampled_from(EventType),
        st.datetimes(timezones=st.just(UTC)).map(lambda time: time.replace(microsecond=0)),
        st.builds(Actor, st.sampled_from(ActorKind), TEXTS, st.none() | st.sampled_from(Role)),
        st.none() | st.sampled_from(Status),
        st.none() | st.sampled_from(Status),
        st.none() | TEXTS,
        st.dictionaries(
            TEXTS.filter(lambda key: key not in RESERVED_KEYS),
            st.booleans() | st.integers() | TEXTS | st.lists(TEXTS, max_size=3) | st.none(),
            max_size=3,
        ),
    )
)
def test_every_event_comes_back_from_one_line(event: Event) -> None:
    line = render_event(event)
    assert line.count("\n") == 1
    assert read_history(line.encode()).events == (event,)


@pytest.mark.parametrize("data", [{"type": "x"}, {"n": float("nan")}])
def test_data_that_would_spoil_the_line_is_a_bug(
    data: dict[str, str | int | float | bool | list[str] | None],
) -> None:
    with pytest.raises(ValueError, match=r"."):
        render_event(Event(EventType.NOTED, AT, ENGINE, data=data))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{", "the line is not JSON"),
        (b"\xff", "the line is not JSON"),
        (b"[]", "the line is not a JSON object"),
        (b"[" * 100_000, "the line is not JSON"),
        (b'{"n": ' + b"9" * 5000 + b"}", "the line is not JSON"),
        (b'{"n": NaN}', "the line is not JSON"),
        (b'"' + b"x" * 1_000_001 + b'"', "the line is longer than 1 MB"),
        (LINE.replace("note.added", "note.sung").encode().strip(), "`type` is unknown: 'note.sung'"),
        (LINE.replace('"note.added"', "3").encode().strip(), "`type` is missing or not text"),
        (LINE.replace("2026-11-22", "soon").encode().strip(), "`at` is not a time: 'soonT10:02:03Z'"),
        (LINE.replace('"kind"', '"kin"').encode().strip(), "`actor.kind` is missing or not text"),
        (LINE.replace("human", "robot").encode().strip(), "`actor.kind` is unknown: 'robot'"),
        (LINE.replace("actor", "actors").encode().strip(), "`actor` is missing"),
        (LINE.replace('"at"', '"to":"gone","at"').encode().strip(), "`to` is unknown: 'gone'"),
        (b"<<<<<<< ours", "the line is not JSON"),
    ],
)
def test_a_broken_line_is_named_and_the_others_are_read(line: bytes, problem: str) -> None:
    history = read_history(LINE.encode() + line + b"\n\n" + LINE.encode())
    assert history.events == (NOTED, NOTED)
    assert history.broken == (BrokenLine(2, problem),)
    assert history.torn == b""


def test_a_torn_last_line_is_distinguished() -> None:
    history = read_history(LINE.encode() + LINE.encode()[:20])
    assert (history.events, history.broken, history.torn) == ((NOTED,), (), LINE.encode()[:20])
    assert read_history(LINE.encode().strip()).events == (NOTED,)
    assert read_history(b"").events == ()


def test_lines_end_at_lf_only() -> None:
    event = Event(EventType.NOTED, AT, ENGINE, reason="a\u2028b\x85c\rd")
    assert read_history(render_event(event).encode().replace(b"\n", b"\r\n")).events == (event,)


def test_data_of_a_newer_version_is_kept_as_text() -> None:
    line = LINE.strip()[:-1] + ',"more":{"a":[1,null]},"half":"\\ud800"}\n'
    assert read_history(line.encode()).events[0].data == {"more": '{"a":[1,null]}', "half": "?"}


@given(st.binary(max_size=300))
def test_any_bytes_are_events_or_broken_lines(data: bytes) -> None:
    read_history(data)
    read_history(LINE.encode() + data + b"\n" + LINE.encode())


def test_data_that_is_nested_as_deep_as_can_be_read_breaks_its_line_alone() -> None:
    for depth in range(700, 1000):
        line = LINE.strip()[:-1] + ',"more":' + "[" * depth + "]" * depth + "}\n"
        history = read_history(f"{line}{LINE}".encode())
        assert history.events[-1] == NOTED
        assert len(history.events) + len(history.broken) == 2
