"""Records of sessions: alive as long as a lock is held, dead as soon as it is not."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from gitticks.errors import RefusedError
from gitticks.model.ids import TaskId
from gitticks.model.status import Role
from gitticks.runner.records import Sessions
from tests.support.records import STARTED, make_record
from tests.support.waiting import LONGEST_SECONDS, until


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    return Sessions(tmp_path)


@contextmanager
def held(lock: Path) -> Iterator[None]:
    """Holds a flock."""
    lock.parent.mkdir(exist_ok=True)
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


def test_a_session_is_alive_while_it_is_held_and_then_gone(sessions: Sessions) -> None:
    record = make_record()
    assert sessions.live() == {}
    with sessions.hold(record):
        assert sessions.live() == {record.task: record}
        assert sessions.dead() == []
    assert (sessions.live(), sessions.dead()) == ({}, [])


def test_what_fails_in_a_session_leaves_it_dead(sessions: Sessions) -> None:
    record = make_record()
    with pytest.raises(KeyError), sessions.hold(record):
        raise KeyError
    assert (sessions.live(), sessions.dead()) == ({}, [record])


def test_a_second_session_on_a_task_is_refused(sessions: Sessions) -> None:
    with (
        sessions.hold(make_record()),
        pytest.raises(RefusedError, match="an agent is already working on `k7f2`"),
        sessions.hold(make_record(role=Role.REVIEWER)),
    ):
        pass
    assert sessions.dead() == []


def test_a_session_lives_as_long_as_anything_of_its_agent(sessions: Sessions) -> None:
    with pytest.raises(KeyError), sessions.hold(make_record()):
        raise KeyError
    with held(sessions.tree_lock(TaskId("k7f2"))):
        assert set(sessions.live()) == {"k7f2"}
        assert sessions.dead() == []
    assert len(sessions.dead()) == 1


def test_a_councils_agents_count_whichever_of_them_never_started(sessions: Sessions) -> None:
    with sessions.hold(make_record()):
        pass
    task = TaskId("k7f2")
    with (
        held(sessions.tree_lock(task, 3)),
        pytest.raises(RefusedError, match="an agent is working on"),
        sessions.reserve([task]),
    ):
        pass
    with sessions.reserve([task]):
        pass


def test_a_session_whose_runner_is_gone_is_ending_while_its_agent_lives(sessions: Sessions) -> None:
    with pytest.raises(KeyError), sessions.hold(make_record(start_ticks=0)):
        raise KeyError
    with held(sessions.tree_lock(TaskId("k7f2"))):
        assert [record.task for record in sessions.ending()] == ["k7f2"]
    assert sessions.ending() == []
    with sessions.hold(make_record()):
        assert sessions.ending() == []


def test_a_killed_runner_leaves_a_dead_session(sessions: Sessions, tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from tests.runner.test_records import *\n"
        "with Sessions(Path(sys.argv[1])).hold(make_record()): time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) as process:
        until(sessions.live)
        process.kill()
    assert [record.task for record in sessions.dead()] == ["k7f2"]


def test_dead_sessions_come_oldest_first(sessions: Sessions) -> None:
    for number, name in enumerate(("cccc", "aaaa", "bbbb")):
        record = make_record(name, started=STARTED + timedelta(seconds=number))
        with pytest.raises(KeyError), sessions.hold(record):
            raise KeyError
    assert [record.task for record in sessions.dead()] == ["cccc", "aaaa", "bbbb"]


def test_a_dead_session_is_adopted_once(sessions: Sessions) -> None:
    record = make_record()
    with pytest.raises(KeyError), sessions.hold(record):
        raise KeyError
    with sessions.adopt(record) as is_ours:
        assert is_ours
        with sessions.adopt(record) as is_theirs:
            assert not is_theirs
    assert sessions.dead() == []
    with sessions.adopt(record) as is_ours_again:
        assert not is_ours_again


def test_that_an_agent_was_briefed_is_noted(sessions: Sessions) -> None:
    record = make_record()
    with sessions.hold(record):
        assert not sessions.live()[record.task].is_briefed
        sessions.mark_briefed(record, "now.log")
        found = sessions.live()[record.task]
        assert (found.is_briefed, found.transcript, found.is_over) == (True, "now.log", False)
        sessions.mark_over(found)
        assert sessions.live()[record.task] == found._replace(is_over=True)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"task": "../../etc"}', '{"task": "k7f2"}', '{"task": "k7f2", "role": "king"}'],
)
def test_what_cannot_be_read_is_no_session(sessions: Sessions, tmp_path: Path, text: str) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "k7f2.json").write_text(text)
    assert (sessions.live(), sessions.dead()) == ({}, [])


def test_who_only_looks_whether_a_session_lives_refuses_nobody(
    sessions: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitticks.flocks._GLANCE_SECONDS", LONGEST_SECONDS)
    lock = tmp_path / "sessions" / "k7f2.lock"
    lock.parent.mkdir()
    lock.touch()
    descriptor = os.open(lock, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    threading.Timer(0.1, os.close, [descriptor]).start()
    with sessions.hold(make_record()):
        pass


def test_a_child_that_is_being_started_does_not_keep_a_session(sessions: Sessions) -> None:
    with sessions.hold(make_record()):
        child = os.fork()
        if child == 0:
            time.sleep(600)
    try:
        with sessions.hold(make_record()):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@pytest.mark.parametrize(
    "values",
    [
        {"task": "q8xy"},
        {"started": "2026-03-04T05:00:00"},
        {"started": 5},
        {"round": "many"},
        {"role": "king"},
    ],
)
def test_a_record_that_contradicts_itself_counts_for_nothing(
    tmp_path: Path, values: dict[str, object]
) -> None:
    sessions = Sessions(tmp_path)
    with pytest.raises(KeyboardInterrupt), sessions.hold(make_record()):
        raise KeyboardInterrupt
    file = next((tmp_path / "sessions").glob("*.json"))
    assert len(sessions.dead()) == 1
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))
    assert sessions.dead() == []


def test_the_agents_own_name_of_a_session_is_noted(sessions: Sessions, tmp_path: Path) -> None:
    record, place = make_record(is_briefed=True), tmp_path / "sessions/k7f2.json"
    with sessions.hold(record):
        sessions.note_session_id(record, "s-1")
        assert sessions.live()[record.task] == record._replace(session_id="s-1")
        place.write_text(place.read_text().replace('"s-1"', "[1]"))
        assert sessions.live()[record.task].session_id is None
        (tmp_path / "sessions/k7f2.new").mkdir()
        sessions.note_session_id(record, "s-2")
        assert sessions.live()[record.task].session_id is None, "where it cannot be noted, nothing is lost"
