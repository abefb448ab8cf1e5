"""Locks of ours, and ref locks that somebody left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitticks.errors import Exit, GitticksError, LostRaceError
from gitticks.git import locks
from gitticks.git.locks import clear_stale_ref_lock, hold_lock, peek_note
from tests.support.hints import follow_hint
from tests.support.waiting import LONGEST_SECONDS

REF = "refs/heads/gitticks/state"

HOLD = """\
import sys
from pathlib import Path
from gitticks.git.locks import hold_lock
with hold_lock(Path(sys.argv[1])) as held, held.moving(sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(lock: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a process that holds `lock` and is moving the ref."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock), REF], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"held\n"
            yield process
        finally:
            process.kill()


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "gitticks" / "lock"


def test_only_one_holds_it(lock: Path) -> None:
    counter = {"inside": 0, "most": 0, "times": 0}

    def enter() -> None:
        for _ in range(20):
            with hold_lock(lock):
                counter["inside"] += 1
                counter["most"] = max(counter["most"], counter["inside"])
                counter["times"] += 1
                counter["inside"] -= 1

    threads = [threading.Thread(target=enter) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter == {"inside": 0, "most": 1, "times": 80}


def test_waiting_ends_and_names_the_holder(lock: Path) -> None:
    with holder(lock) as process:
        words = rf"was held for 0\.1 s by process {process.pid}"
        with pytest.raises(LostRaceError, match=words) as caught, hold_lock(lock, wait_seconds=0.1):
            pass
        assert caught.value.exit_code is Exit.LOST_RACE
    with hold_lock(lock):
        pass


def test_a_waiter_gets_it_when_the_holder_dies(lock: Path) -> None:
    with holder(lock) as process:
        got = threading.Event()

        def wait() -> None:
            with hold_lock(lock):
                got.set()

        waiter = threading.Thread(target=wait)
        waiter.start()
        process.kill()
        waiter.join(LONGEST_SECONDS)
        assert got.is_set()


def test_a_waiter_that_gave_up_keeps_nothing(lock: Path) -> None:
    with hold_lock(lock), pytest.raises(LostRaceError), hold_lock(lock, wait_seconds=0.01):
        pass
    for _ in range(3):
        with hold_lock(lock, wait_seconds=LONGEST_SECONDS):
            pass


def test_a_killed_holder_leaves_a_note(lock: Path) -> None:
    with holder(lock):
        pass
    with hold_lock(lock) as held:
        assert held.unfinished == REF
    with hold_lock(lock) as held:
        assert held.unfinished == REF
        with held.moving("refs/heads/other"):
            pass
    with hold_lock(lock) as held:
        assert held.unfinished is None


def test_a_note_stays_until_another_takes_its_place(lock: Path) -> None:
    assert peek_note(lock) == ""
    with hold_lock(lock) as held:
        assert held.read_note() == ""
        held.write_note("one\ntwo\n")
        assert held.read_note() == peek_note(lock) == "one\ntwo"
    with hold_lock(lock) as held:
        assert held.read_note() == "one\ntwo"
        held.write_note("3\n")
    assert peek_note(lock) == "3"
    with hold_lock(lock) as held:
        held.write_note("a longer one\n")
        held.write_note("")
    assert peek_note(lock) == ""


def test_the_lock_of_a_killed_holder_is_cleared(lock: Path) -> None:
    with holder(lock):
        pass
    stale = plant(lock.parent, b"")
    with hold_lock(lock) as held:
        assert clear_stale_ref_lock(lock.parent, REF, held)
        assert held.unfinished is None
    assert not stale.exists()


def test_a_lock_that_is_taken_again_between_two_looks_stays(
    lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with holder(lock):
        pass
    taken = plant(lock.parent, b"")

    def take_anew(_seconds: float) -> None:
        taken.rename(taken.with_suffix(".moved"))
        plant(lock.parent, b"")

    with hold_lock(lock) as held, monkeypatch.context() as patched:
        patched.setattr("gitticks.git.locks.time.sleep", take_anew)
        assert not clear_stale_ref_lock(lock.parent, REF, held)
    assert taken.exists()


def test_a_killed_holder_of_another_ref_has_not_left_this_lock(
    lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "start_times", lambda *_, **__: [0.0])
    taken = plant(lock.parent, b"")
    with hold_lock(lock) as held:
        held.unfinished = "refs/heads/other"
        assert not clear_stale_ref_lock(lock.parent, REF, held)
    assert taken.exists()


@pytest.mark.parametrize("started", [[], [3600.0]])
def test_a_lock_that_nobody_can_have_is_cleared(
    lock: Path, monkeypatch: pytest.MonkeyPatch, started: list[float]
) -> None:
    monkeypatch.setattr(locks, "start_times", lambda *_, **__: [time.time() + later for later in started])
    stale = plant(lock.parent, b"a" * 40 + b"\n")
    with hold_lock(lock) as held:
        assert clear_stale_ref_lock(lock.parent, REF, held)
    assert not stale.exists()


@pytest.mark.parametrize("made", [1_000_000_000, 4_000_000_000])
def test_an_old_lock_and_one_from_before_the_clock_was_set_back_are_cleared(
    lock: Path, monkeypatch: pytest.MonkeyPatch, made: int
) -> None:
    monkeypatch.setattr(locks, "start_times", lambda *_, **__: [0.0])
    stale = plant(lock.parent, b"")
    os.utime(stale, (made, made))
    with hold_lock(lock) as held:
        assert clear_stale_ref_lock(lock.parent, REF, held)
    assert not stale.exists()


@pytest.mark.parametrize("known", [[0.0], None])
def test_a_lock_that_a_living_git_may_have_stays(
    lock: Path, monkeypatch: pytest.MonkeyPatch, known: list[float] | None
) -> None:
    monkeypatch.setattr(locks, "start_times", lambda *_, **__: known)
    stale = plant(lock.parent, b"")
    with hold_lock(lock) as held:
        assert not clear_stale_ref_lock(lock.parent, REF, held)
    assert stale.exists()


def test_a_lock_with_other_content_stays(lock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "start_times", lambda *_, **__: [])
    stale = plant(lock.parent, b"mine, keep it")
    with hold_lock(lock) as held:
        assert not clear_stale_ref_lock(lock.parent, REF, held)
    assert stale.exists()


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda lock: lock.symlink_to(lock)])
def test_what_is_in_the_place_of_a_lock_is_refused(tmp_path: Path, make: Callable[[Path], None]) -> None:
    lock = tmp_path / "it's ours"
    make(lock)
    with pytest.raises(GitticksError, match="is not a regular file") as caught, hold_lock(lock):
        pytest.fail("something else was held")
    follow_hint(caught.value, at=tmp_path)
    with hold_lock(lock):
        assert lock.is_file()


def test_no_lock_is_a_free_way(lock: Path) -> None:
    with hold_lock(lock) as held:
        assert clear_stale_ref_lock(lock.parent, REF, held)


def test_a_lock_file_that_cannot_be_opened_is_said_so(tmp_path: Path) -> None:
    lock = tmp_path / "it's ours" / "lock"
    lock.parent.write_text("")
    with pytest.raises(GitticksError, match="cannot be opened") as caught, hold_lock(lock):
        pytest.fail("a lock in no folder was held")
    follow_hint(caught.value, at=tmp_path)


def plant(common_dir: Path, content: bytes) -> Path:
    stale = common_dir / f"{REF}.lock"
    stale.parent.mkdir(parents=True, exist_ok=True)
    stale.write_bytes(content)
    return stale


def test_a_lock_makes_no_git_directory_that_was_moved_away(tmp_path: Path) -> None:
    with pytest.raises(GitticksError, match="cannot be opened"), hold_lock(tmp_path / ".git/gitticks/a.lock"):
        pass
    assert not (tmp_path / ".git").exists()
    (tmp_path / ".git").mkdir()
    with hold_lock(tmp_path / ".git/gitticks/sessions/a.lock"):
        assert (tmp_path / ".git/gitticks/sessions/a.lock").exists()
