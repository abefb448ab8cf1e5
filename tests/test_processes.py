"""What names a process for ever."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitticks import processes
from gitticks.processes import (
    ProcessIdentity,
    identity_of,
    is_alive,
    own_identity,
    parse_identity,
    send_signal,
    start_times,
)
from gitticks.system import boot_id


def test_a_process_lives_until_it_ends() -> None:
    with subprocess.Popen(["sleep", "600"]) as child:
        identity = identity_of(child.pid)
        assert identity is not None
        assert (identity.pid, identity.boot_id) == (child.pid, boot_id())
        assert is_alive(identity)
        assert send_signal(identity, signal.SIGTERM)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not is_alive(identity), "a zombie does not live"
        child.wait()
        assert not is_alive(identity)
        assert identity_of(child.pid) is None


def test_a_stranger_with_the_same_pid_is_never_signalled() -> None:
    with subprocess.Popen(["sleep", "600"]) as child:
        identity = identity_of(child.pid)
        assert identity is not None
        for stranger in (
            identity._replace(start_ticks=identity.start_ticks + 1),
            identity._replace(boot_id="another boot"),
        ):
            assert not send_signal(stranger, signal.SIGKILL)
        assert child.poll() is None
        child.kill()


def test_where_there_is_no_proc_ps_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ps = tmp_path / "ps"
    ps.write_text(
        "#!/bin/sh\n[ $4 = 7 ] && echo 'S    Sun Nov 22 01:25:03 2026'\n[ $4 = 8 ] && echo 'Z    Sun Nov'\n"
    )
    ps.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(processes, "_BOOT_ID", tmp_path / "missing")
    assert identity_of(7) == ProcessIdentity(7, 1795310703, boot_id())
    assert identity_of(8) is None
    assert identity_of(9) is None


def test_this_process_is_alive() -> None:
    assert own_identity().pid == os.getpid()
    assert is_alive(own_identity())


def test_nobody_has_these_numbers() -> None:
    assert identity_of(0) is None
    assert identity_of(-1) is None
    assert identity_of(2**22 + 1) is None


def test_json_keeps_it() -> None:
    assert parse_identity(own_identity().to_json()) == own_identity()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"pid": 1}', '{"pid": "1", "start_ticks": 1, "boot_id": "b"}']
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
        assert identity.start_ticks > 0
        child.kill()


def test_start_times_of_those_that_work_in_a_folder(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    program = tmp_path / "napping"  # as below
    program.symlink_to(shutil.which("sleep") or "sleep")
    with subprocess.Popen([program, "600"], cwd=inner) as child:
        while not start_times("napping", inside=[tmp_path]):
            pass
        assert len(start_times("napping", inside=[inner]) or []) == 1
        assert start_times("napping", inside=[tmp_path / "inn"]) == []
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not processes._works_in(child.pid, [inner]), "a zombie works nowhere"


def test_start_times_are_seconds_of_the_calendar(tmp_path: Path) -> None:
    program = tmp_path / "dozing"  # others on this machine may sleep as well, and may have begun long ago
    program.symlink_to(shutil.which("sleep") or "sleep")
    with subprocess.Popen([program, "600"]) as child:
        try:
            while not (started := start_times("dozing")):
                pass
            assert all(abs(moment - time.time()) < 60 for moment in started)
        finally:
            child.kill()
    assert start_times("no-such-program") == []
