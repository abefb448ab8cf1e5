"""Remembering what an agent said, within a bound."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.agents.base import AgentReport, Ended, EndReason
from gitticks.agents.claude import ClaudeReader
from gitticks.agents.codex import CodexReader
from gitticks.agents.gemini import GeminiReader
from gitticks.agents.opencode import OpencodeReader
from gitticks.agents.stream import Messages, StreamReader, judge_exit, number_at, parse_event
from gitticks.model.task import Ending
from tests.support.agents import DATA, NOW, fixture

READERS: dict[str, Callable[[], StreamReader]] = {
    "claude": ClaudeReader,
    "codex": CodexReader,
    "gemini": GeminiReader,
    "opencode": OpencodeReader,
}
STREAMS = sorted(path.name for path in DATA.glob("*.jsonl"))
GARBAGE = (
    "",
    "plain text <promise>EJECT</promise>",
    "{",
    "null",
    '["list"]',
    '{"type": 7}',
    '{"type": "result"',
    '{"type": "assistant", "message": [], "part": 3, "item": null, "usage": "many", "stats": []}',
    '{"type": "user", "message": {"content": "<promise>EJECT</promise>"}}',
    '{"a":' * 100_000,
    "\x00\x1b[2J\ufffd",
)
SAMPLES = os.environ.get("GITTICKS_SAMPLES")
"""A folder with an `agents` folder of recorded runs; read here, before the tests are sealed."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [
        "message",
        "item",
        "part",
        "usage",
        "stats",
        "error",
        "content",
        "result",
        "errors",
        "subtype",
        "permission_denials",
    ]
)
TYPES = st.sampled_from(
    [
        *["system", "assistant", "result", "message", "tool_use", "tool_result", "init", "text", "error"],
        *["item.started", "item.completed", "turn.completed", "turn.failed", "thread.started", "step_finish"],
    ]
)


def test_the_latest_messages_are_kept() -> None:
    messages = Messages(largest_total=1000)
    for number in range(100):
        messages.add(f"message {number}")
    kept = messages.as_tuple()
    assert kept == tuple(f"message {number}" for number in range(100 - len(kept), 100))
    assert 5 < len(kept) < 10
    assert messages.last == "message 99"


def test_a_message_that_is_too_long_keeps_its_end() -> None:
    messages = Messages(largest_total=1000)
    messages.add("x" * 5000 + "end")
    assert messages.as_tuple() == ("x" * 997 + "end",)


def test_a_message_may_grow() -> None:
    messages = Messages(largest_total=1000)
    assert messages.last is None
    messages.extend_last("a")
    for _ in range(3000):
        messages.extend_last("bc")
    assert messages.as_tuple() == ("bc" * 500,)


def reader_of(name: str) -> StreamReader:
    return READERS[name.partition("-")[0]]()


def read(name: str, lines: list[str]) -> AgentReport:
    reader = reader_of(name)
    for line in lines:
        reader.feed(line)
    return reader.report(Ended(EndReason.EXITED, 0), NOW)


@pytest.mark.parametrize("name", STREAMS)
def test_garbage_between_the_lines_changes_nothing(name: str) -> None:
    lines = fixture(name)
    mixed = [text for line in lines for text in (*GARBAGE, line)]
    assert read(name, mixed) == read(name, lines)


@pytest.mark.parametrize("name", STREAMS)
def test_a_line_cut_anywhere_is_no_error(name: str) -> None:
    for line in fixture(name):
        for cut in range(0, len(line), max(1, len(line) // 20)):
            assert reader_of(name).feed(line[:cut]) is None


@pytest.mark.parametrize("name", STREAMS)
def test_no_stream_passes_a_signal_on_that_the_agent_did_not_say(name: str) -> None:
    report = read(name, fixture(name))
    assert "EJECT" not in report.text
    assert "ESCALATE" not in report.text


@pytest.mark.parametrize("name", sorted(READERS))
@pytest.mark.parametrize(
    ("ended", "ending"),
    [
        (Ended(EndReason.EXITED, 0), Ending.CRASHED),
        (Ended(EndReason.EXITED, 1, errors="error: unknown option"), Ending.START_FAILED),
        (Ended(EndReason.EXITED, signal=11), Ending.CRASHED),
        (Ended(EndReason.EXITED, 7), Ending.CRASHED),
        (Ended(EndReason.TIMED_OUT, signal=9), Ending.TIMED_OUT),
        (Ended(EndReason.IDLE, signal=15), Ending.TIMED_OUT),
        (Ended(EndReason.STOPPED, signal=15), Ending.STOPPED),
        (Ended(EndReason.KILLED, problem="its supervisor was killed"), Ending.CRASHED),
        (Ended(EndReason.START_FAILED, problem="cannot start `x`"), Ending.START_FAILED),
    ],
)
def test_every_end_of_the_process_has_its_name(name: str, ended: Ended, ending: Ending) -> None:
    report = READERS[name]().report(ended, NOW)
    if name == "opencode" and ended.reason is EndReason.IDLE:
        ending = Ending.OUTAGE  # it prints nothing before its service has answered
    assert (report.ending, report.messages, report.final_message) == (ending, (), None)
    assert report.detail


@given(st.lists(st.tuples(TYPES, st.dictionaries(KEYS, JSON, max_size=4)), max_size=6))
def test_no_shape_of_event_is_an_error(events: list[tuple[str, dict[str, object]]]) -> None:
    import json

    for make in READERS.values():
        reader = make()
        for kind, event in events:
            reader.feed(json.dumps({"type": kind, **event}))
        reader.report(Ended(EndReason.EXITED, 0), NOW)


def test_numbers_are_finite_and_no_booleans() -> None:
    event = parse_event('{"a": 1, "b": true, "c": 1e999, "d": "1", "e": NaN}')
    assert event is not None
    assert [number_at(event, key) for key in "abcdef"] == [1.0, None, None, None, None, None]


def test_a_program_without_a_protocol_is_judged_by_its_exit_code() -> None:
    assert judge_exit(Ended(EndReason.EXITED, 0)).ending is Ending.CLEAN
    crash = judge_exit(Ended(EndReason.EXITED, 3, errors="loading\nno such table\n"))
    assert (crash.ending, crash.detail) == (Ending.CRASHED, "exit code 3: no such table")


if SAMPLES:
    RUNS = sorted(
        path
        for path in (Path(SAMPLES) / "agents").glob("*.rc")
        if path.stem.partition("-")[0] in {*READERS, "oc"}
        and path.stem not in ("gemini-json", "claude-stdio")
    )

    @pytest.mark.parametrize("run", RUNS, ids=lambda run: str(run.stem))
    def test_recorded_runs_of_the_real_clients(run: Path) -> None:
        client, _, case = run.stem.replace("oc-", "opencode-", 1).partition("-")
        exit_code = int(run.read_text().partition("=")[2])
        stdout, stderr = run.with_suffix(".stdout"), run.with_suffix(".stderr")
        reader = READERS[client]()
        for line in stdout.read_text().splitlines() if stdout.exists() else ():
            reader.feed(line)
        errors = stderr.read_text() if stderr.exists() else ""
        report = reader.report(Ended(EndReason.EXITED, exit_code, errors=errors), NOW)
        expected = {
            "ask": Ending.CRASHED,
            "turns": Ending.CRASHED,
            "budget": Ending.CRASHED,
            "e401": Ending.START_FAILED,
            "err-401": Ending.START_FAILED,
            "noauth": Ending.START_FAILED,
            "e429": Ending.RATE_LIMITED,
            "err-429": Ending.RATE_LIMITED,
            "m1-429": Ending.RATE_LIMITED,
            "retry": Ending.RATE_LIMITED,
            "edrop": Ending.OUTAGE,
            "enokey": Ending.START_FAILED,
        }.get(case, Ending.CLEAN)
        assert report.ending is expected
        if expected is Ending.CLEAN:
            assert report.final_message == "DONE: wrote hello.txt"
            assert report.usage.tokens_in >= 200
