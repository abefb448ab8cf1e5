"""Telling a process from another with its number."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from gitticks.git.processes import (
    ProcessIdentity,
    boot_id,
    identity_of,
    own_identity,
    parse_identity,
    start_times,
)


def test_this_process_is_alive() -> None:
    assert own_identity().pid == os.getpid()
    assert own_identity().is_alive
    assert own_identity().boot == boot_id() != ""


def test_another_start_or_boot_is_another_process() -> None:
    assert not replace(own_identity(), started="1").is_alive
    assert not replace(own_identity(), boot="another").is_alive


def test_an_ended_process_is_dead_reaped_or_not() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        identity = identity_of(child.pid)
        assert identity is not None
        seen = [identity.is_alive]
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        seen.append(identity.is_alive)
    assert [*seen, identity.is_alive] == [True, False, False]


def test_nobody_has_these_numbers() -> None:
    assert identity_of(0) is None
    assert identity_of(-1) is None
    assert identity_of(2**22 + 1) is None


def test_json_keeps_it() -> None:
    assert parse_identity(own_identity().to_json()) == own_identity()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"pid": 1}', '{"pid": "1", "started": "1", "boot": "b"}']
)
def test_torn_text_is_no_identity(text: str) -> None:
    assert parse_identity(text) is None


def test_a_name_with_brackets_and_spaces_is_read_right(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import ctypes; ctypes.CDLL(None).prctl(15, b'a) S 1 (', 0, 0, 0); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        identity = identity_of(child.pid)
        assert isinstance(identity, ProcessIdentity)
        assert identity.started.isdecimal()
        child.kill()


def test_start_times_are_seconds_of_the_calendar() -> None:
    with subprocess.Popen(["sleep", "600"]) as child:
        while not (started := start_times("sleep")):
            pass
        assert any(abs(moment - time.time()) < 60 for moment in started)
        child.kill()
    assert start_times("no-such-program") == []
