"""The state branch under many writers, foreign writers, locks and sudden death."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitticks.errors import Exit, LostRaceError
from gitticks.git import locks
from gitticks.store import branch, layout, publishing
from gitticks.store.branch import Store
from gitticks.store.transaction import Transaction
from tests.store.branches import ADA, increment, store, top
from tests.support.repositories import fsck_problems, git, run_git_command
from tests.support.waiting import LONGEST_SECONDS

__all__ = ["store", "top"]


def test_an_operation_runs_again_after_a_foreign_move(top: Path, store: Store) -> None:
    runs = []

    def meeting_another(transaction: Transaction) -> int:
        runs.append(transaction.base)
        if len(runs) == 1:
            move_by_git(top, "counter", "41")
        return increment(transaction)

    assert store.transact(meeting_another, author=ADA) == 42
    assert len(runs) == 2
    assert store.read("counter") == b"42"


def move_by_git(top: Path, name: str, content: str) -> None:
    """Commits a file to the state branch as a person's git would, without our lock."""
    blob = git("hash-object", "-w", "--stdin", at=top, input=content)
    kept = [
        line
        for line in git("ls-tree", layout.STATE_BRANCH, at=top).splitlines()
        if not line.endswith(f"\t{name}")
    ]
    tree = git("mktree", at=top, input="\n".join([*kept, f"100644 blob {blob}\t{name}"]) + "\n")
    commit = git("commit-tree", tree, "-p", layout.STATE_BRANCH, "-m", "by hand", at=top)
    git("update-ref", layout.STATE_REF, commit, at=top)


def test_losing_every_time_ends(top: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branch, "LOST_SWAPS", 3)
    runs = []

    def always_late(transaction: Transaction) -> None:
        runs.append(transaction.base)
        move_by_git(top, "counter", str(len(runs)))
        increment(transaction)

    with pytest.raises(LostRaceError, match="moved by others 3 times") as caught:
        store.transact(always_late, author=ADA)
    assert caught.value.exit_code is Exit.LOST_RACE
    assert store.read("counter") == b"3"


COUNT = """\
import sys
from pathlib import Path
from gitticks.git.identity import ENGINE_IDENTITY
from gitticks.git.repository import discover
from gitticks.store.branch import Store
store = Store(discover(Path(sys.argv[1])))
def increment(transaction):
    value = int(transaction.read("counter") or b"0") + 1
    transaction.write("counter", str(value).encode())
    transaction.write(f"tasks/by/{sys.argv[2]}", str(value).encode())
    transaction.describe(f"count {value}")
    return value
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[3])):
    print(store.transact(increment, author=ENGINE_IDENTITY), flush=True)
"""


@contextmanager
def counters(top: Path, number: int, times: int) -> Iterator[list[subprocess.Popen[str]]]:
    """Runs processes that wait for a line and then count up together."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", COUNT, str(top), str(name), str(times)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in range(number)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def test_many_writers_lose_nothing(top: Path, store: Store) -> None:
    writers, times = 8, 25
    with counters(top, writers, times) as processes:
        outputs = [process.communicate(timeout=LONGEST_SECONDS)[0].split() for process in processes]
    acknowledged = sorted(int(word) for output in outputs for word in output)
    assert acknowledged == list(range(1, writers * times + 1))
    assert store.read("counter") == str(writers * times).encode()
    assert git("rev-list", "--count", layout.STATE_BRANCH, at=top) == str(writers * times + 1)
    assert fsck_problems(top) == ""


def test_our_writers_and_gits_lose_nothing_together(top: Path, store: Store) -> None:
    with counters(top, 3, 15) as processes:
        lost = sum(not try_by_git(top, f"hand{number}") for number in range(20))
        outputs = [process.communicate(timeout=LONGEST_SECONDS)[0].split() for process in processes]
    assert sum(len(output) for output in outputs) == 45
    assert store.read("counter") == b"45"
    assert sum(name.startswith("hand") for name in store.list("")) == 20 - lost
    assert fsck_problems(top) == ""


def try_by_git(top: Path, name: str) -> bool:
    tip = git("rev-parse", layout.STATE_BRANCH, at=top)
    blob = git("hash-object", "-w", "--stdin", at=top, input=name)
    tree = git("mktree", at=top, input=git("ls-tree", tip, at=top) + f"\n100644 blob {blob}\t{name}\n")
    commit = git("commit-tree", tree, "-p", tip, "-m", "by hand", at=top)
    return run_git_command("update-ref", layout.STATE_REF, commit, tip, at=top).returncode == 0


def test_sudden_death_leaves_nothing_half_done(top: Path, store: Store) -> None:
    doses = 100 if os.environ.get("GITTICKS_DOSE") == "full" else 6
    chance = random.Random(7)
    acknowledged = 0
    for _ in range(doses):
        with counters(top, 1, 10_000) as (process,):
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(chance.uniform(0, 0.05))
            process.kill()
            words = process.stdout.read().split()
            acknowledged = max([acknowledged, *map(int, words)])
        value = store.transact(increment, author=ADA)
        assert value > acknowledged
        assert value == int(store.read("counter") or b"")
        acknowledged = value
        assert not list((top / ".git").rglob("refs/heads/gitticks/*.lock"))
    assert fsck_problems(top) == ""
    assert (
        store.read("counter")
        == str(int(git("rev-list", "--count", layout.STATE_BRANCH, at=top)) - 1).encode()
    )


def test_a_lock_left_behind_does_not_stop_the_next_writer(
    top: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "start_times", lambda *_, **__: [])
    stale = top / ".git" / f"{layout.STATE_REF}.lock"
    stale.touch()
    assert store.transact(increment, author=ADA) == 1
    assert not stale.exists()


def test_a_lock_in_use_is_waited_for_and_named(
    top: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "LOCKED_SECONDS", 0.1)
    monkeypatch.setattr(locks, "start_times", lambda *_, **__: None)
    stale = top / ".git" / f"{layout.STATE_REF}.lock"
    stale.touch()
    with pytest.raises(LostRaceError, match="is locked by another program"):
        store.transact(increment, author=ADA)
    stale.unlink()
    assert store.transact(increment, author=ADA) == 1


def test_a_lock_that_a_killed_process_left_on_another_ref_is_no_obstacle(
    top: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "start_times", lambda *_, **__: [])
    ref = "refs/gitticks/checkpoints/k7f2/1"
    stale = top / ".git" / f"{ref}.lock"
    stale.parent.mkdir(parents=True)
    stale.write_text("0" * 40 + "\n")
    store.move_ref(ref, None, store.tip(), "test")
    assert git("rev-parse", ref, at=top) == store.tip()
    assert not stale.exists()
