"""Writers who queue share one publication; whatever happens to one of them, each change is there once or not at all."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gitticks.errors import GitticksError, LostRaceError, RefusedError
from gitticks.git.identity import ENGINE_IDENTITY
from gitticks.git.locks import hold_lock
from gitticks.git.objects import Objects
from gitticks.git.ref_updates import RefMovedError, compare_and_swap_ref
from gitticks.git.refs import read_ref
from gitticks.git.repository import discover
from gitticks.store import layout, publishing
from gitticks.store.branch import Store
from gitticks.store.chain import peek_chain
from gitticks.store.transaction import Transaction
from tests.support.repositories import fsck_problems, git
from tests.support.stores import make_store

IS_FULL = os.environ.get("GITTICKS_DOSE") == "full"
WRITERS = 16 if IS_FULL else 8

WRITE = """\
import sys
from pathlib import Path
from gitticks.git.identity import ENGINE_IDENTITY
from gitticks.git.repository import discover
from gitticks.store.board import WORKTREE_BOARD
from gitticks.store.branch import Store
store = Store.open(discover(Path(sys.argv[1])), WORKTREE_BOARD)
name = sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    def operation(transaction):
        transaction.write(f"by/{name}/{number}", b"%d" % number)
        transaction.append("log", f"{name}-{number}\\n".encode())
        transaction.describe(f"write {name}-{number}")
    store.transact(operation, author=ENGINE_IDENTITY)
    print(f"{name}-{number}", flush=True)
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path / "r")


def top_of(store: Store) -> Path:
    top = store.repository.main_worktree
    assert top is not None
    return top


@contextmanager
def writers(
    store: Store, count: int, times: int, *before: str, name: str = "w"
) -> Iterator[list[subprocess.Popen[str]]]:
    """Starts processes that wait for a line and then write, each its own file and a line of a common one."""
    processes = [
        subprocess.Popen(
            [*before, sys.executable, "-c", WRITE, str(top_of(store)), f"{name}{number}", str(times)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(count)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def release(processes: list[subprocess.Popen[str]]) -> None:
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()


def acknowledged_by(processes: list[subprocess.Popen[str]]) -> list[str]:
    return [word for process in processes for word in process.communicate(timeout=120)[0].split()]


@contextmanager
def queue_of(store: Store, count: int, *before: str) -> Iterator[list[subprocess.Popen[str]]]:
    """Lets writers make a commit each while nobody can publish, and goes on once all of them wait."""
    lock = store.repository.own_dir / "lock"
    with writers(store, count, 1, *before) as processes:
        with hold_lock(lock):
            release(processes)
            until(lambda: len(peek_chain(store.repository, store.tip())) == count)
            yield processes
        for process in processes:
            process.wait(120)


def writing(path: str, content: bytes) -> Callable[[Transaction], None]:
    def operation(transaction: Transaction) -> None:
        transaction.write(path, content)

    return operation


def appending(line: str) -> Callable[[Transaction], None]:
    def operation(transaction: Transaction) -> None:
        transaction.append("log", line.encode())

    return operation


def until(condition: object, seconds: float = 60.0) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def log_of(store: Store) -> list[str]:
    return (store.read("log") or b"").decode().split()


def moves_of(store: Store) -> list[str]:
    return git("reflog", "--format=%gs", layout.STATE_BRANCH, at=top_of(store)).splitlines()


def test_writers_who_queue_share_one_move(store: Store) -> None:
    before = store.tip()
    with queue_of(store, WRITERS) as processes:
        assert store.tip() == before
    words = acknowledged_by(processes)
    assert sorted(words) == sorted(log_of(store)) == [f"w{number}-0" for number in sorted(range(WRITERS))]
    assert moves_of(store)[0].startswith(f"gitticks: {WRITERS} changes, the last: write w")
    assert len(moves_of(store)) == 1
    assert git("rev-list", "--count", f"{before}..{store.tip()}", at=top_of(store)) == str(WRITERS)
    assert fsck_problems(top_of(store)) == ""


@pytest.mark.debian("strace")
def test_a_shared_publication_syncs_the_ref_once_and_no_object_twice(store: Store, tmp_path: Path) -> None:
    tracer = ["strace", "-ff", "-y", "-o", str(tmp_path / "trace"), "-e", "trace=fsync,syncfs"]
    with queue_of(store, WRITERS, *tracer):
        assert synced(tmp_path) == []
    names = synced(tmp_path)
    assert [name for name in names if name.endswith("/state.lock")] == [f"{layout.STATE_REF}.lock"]
    assert len(names) == len(set(names))


def synced(folder: Path) -> list[str]:
    """Returns what was synced, from `.git`."""
    lines = [line for trace in folder.glob("trace.*") for line in trace.read_text().splitlines()]
    return [found[1] for line in lines if (found := re.search(r"sync\(\d+<.*?/\.git/(.*?)>", line))]


def test_nothing_is_acknowledged_before_it_is_published(store: Store) -> None:
    done = threading.Event()

    def write() -> None:
        own = Store.open(store.repository)
        own.transact(writing("a", b"1"), author=ENGINE_IDENTITY)
        done.set()

    with hold_lock(store.repository.own_dir / "lock"):
        thread = threading.Thread(target=write)
        thread.start()
        until(lambda: peek_chain(store.repository, store.tip()))
        assert store.read("a") is None
        assert not done.is_set()
    thread.join(60)
    assert store.read("a") == b"1"


def test_an_answer_that_rests_on_an_unpublished_commit_waits_for_it(store: Store) -> None:
    """A refusal because of something that never comes to be is no answer: the operation runs again."""
    seen: list[bytes | None] = []

    def refuse(transaction: Transaction) -> None:
        seen.append(transaction.read("a"))
        if seen[-1] is not None:
            raise RefusedError("`a` is there")

    def ask() -> None:
        Store.open(store.repository).transact(refuse, author=ENGINE_IDENTITY)

    with writers(store, 1, 1) as (process,), hold_lock(store.repository.own_dir / "lock"):
        release([process])
        until(lambda: peek_chain(store.repository, store.tip()))
        thread = threading.Thread(target=ask)
        thread.start()
        until(lambda: seen)
        process.kill()
        process.wait()
        move_by_git(store, "foreign")
    thread.join(60)
    assert seen[-1] is None
    assert store.read("log") is None
    assert store.read("foreign") == b"foreign"


def move_by_git(store: Store, name: str) -> bool:
    """Commits a file to the state branch as a person's git would, without our locks; False if it lost."""
    top, tip = top_of(store), git("rev-parse", layout.STATE_BRANCH, at=top_of(store))
    blob = git("hash-object", "-w", "--stdin", at=top, input=name)
    tree = git("mktree", at=top, input=git("ls-tree", tip, at=top) + f"\n100644 blob {blob}\t{name}\n")
    commit = git("commit-tree", tree, "-p", tip, "-m", "by hand", at=top)
    try:
        git("update-ref", layout.STATE_REF, commit, tip, at=top)
    except AssertionError:
        return False
    return True


def test_a_foreign_move_makes_every_writer_of_the_chain_begin_anew(store: Store) -> None:
    with queue_of(store, WRITERS) as processes:
        assert move_by_git(store, "foreign")
    assert sorted(acknowledged_by(processes)) == sorted(log_of(store))
    assert len(log_of(store)) == WRITERS
    assert store.read("foreign") == b"foreign"
    assert fsck_problems(top_of(store)) == ""


def test_a_chain_of_the_dead_is_never_seen(store: Store) -> None:
    with writers(store, 3, 1) as processes, hold_lock(store.repository.own_dir / "lock"):
        release(processes)
        until(lambda: len(peek_chain(store.repository, store.tip())) == 3)
        for process in processes:
            process.kill()
            process.wait()
    store.transact(writing("after", b"1"), author=ENGINE_IDENTITY)
    assert log_of(store) == []
    assert git("rev-list", "--count", layout.STATE_BRANCH, at=top_of(store)) == "2"


def test_a_branch_put_back_by_a_person_stays_back(store: Store) -> None:
    first = store.tip()
    for number in (1, 2):
        store.transact(writing("a", b"%d" % number), author=ENGINE_IDENTITY)
    git("update-ref", layout.STATE_REF, first, at=top_of(store))
    store.transact(writing("b", b"1"), author=ENGINE_IDENTITY)
    assert (store.read("a"), store.read("b")) == (None, b"1")


def test_what_cannot_be_synced_is_not_kept_and_not_acknowledged(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, stored = store.tip(), set(objects_of(store))

    def broken(_files: object, _folders: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr("gitticks.git.loose.sync_files", broken)
        with pytest.raises(GitticksError, match="input/output error"):
            store.transact(writing("a", b"1"), author=ENGINE_IDENTITY)
    assert store.tip() == before
    assert set(objects_of(store)) == stored
    assert peek_chain(store.repository, before) == ()
    store.transact(writing("a", b"1"), author=ENGINE_IDENTITY)
    assert store.read("a") == b"1"


def objects_of(store: Store) -> list[str]:
    return [str(one) for one in (store.repository.common_dir / "objects").glob("??/*")]


def test_an_object_that_was_pruned_meanwhile_is_made_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = Objects.sync
    pruned: list[str] = []

    def after_a_prune(self: Objects, object_ids: Iterator[str]) -> None:
        ids = list(object_ids)
        if not pruned:
            pruned.extend(ids)
            self.discard(ids)
        sync(self, ids)

    monkeypatch.setattr(Objects, "sync", after_a_prune)
    store.transact(writing("a", b"1"), author=ENGINE_IDENTITY)
    assert pruned
    assert store.read("a") == b"1"
    assert fsck_problems(top_of(store)) == ""


def test_a_writer_that_gives_up_waiting_is_not_committed_later(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "hold_lock", lambda path: hold_lock(path, wait_seconds=0.05))
    with (
        hold_lock(store.repository.own_dir / "lock"),
        pytest.raises(LostRaceError, match=r"was held for 0\.05 s"),
    ):
        store.transact(writing("a", b"1"), author=ENGINE_IDENTITY)
    store.transact(writing("b", b"1"), author=ENGINE_IDENTITY)
    assert (store.read("a"), store.read("b")) == (None, b"1")


def test_a_move_that_failed_though_nobody_else_moved_is_not_made_twice(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [RefMovedError("the ref could not be read", hint="repeat the command")]

    def fail_once(*arguments: Any, **named: Any) -> None:
        if failures:
            raise failures.pop()
        compare_and_swap_ref(*arguments, **named)

    monkeypatch.setattr(publishing, "compare_and_swap_ref", fail_once)
    store.transact(appending("once"), author=ENGINE_IDENTITY)
    assert log_of(store) == ["once"]
    assert not failures


def test_threads_of_one_process_write_at_once(store: Store) -> None:
    def write(name: str) -> None:
        own = Store.open(store.repository)
        for number in range(5):
            own.transact(appending(f"{name}-{number}\n"), author=ENGINE_IDENTITY)

    threads = [threading.Thread(target=write, args=(f"t{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(log_of(store)) == [f"t{one}-{number}" for one in range(4) for number in range(5)]
    assert fsck_problems(top_of(store)) == ""


def test_all_tasks_on_the_chain_are_those_of_the_index_and_of_the_chain(store: Store) -> None:
    from tests.support.stores import change_task, make_task, put_task

    make_task(store, "one", id="aaaa")
    make_task(store, "two", id="bbbb")
    titles: list[str] = []

    def look(transaction: Transaction) -> None:
        titles.extend(task.title for task in transaction.all_tasks().values())
        put_task(transaction, "four", id="dddd")

    def change() -> None:
        change_task(Store.open(store.repository), "bbbb", title="changed")
        make_task(Store.open(store.repository), "three", id="cccc")

    threads = [threading.Thread(target=change)]
    with hold_lock(store.repository.own_dir / "lock"):
        threads[0].start()
        until(lambda: peek_chain(store.repository, store.tip()))
        threads.append(
            threading.Thread(
                target=lambda: Store.open(store.repository).transact(look, author=ENGINE_IDENTITY)
            )
        )
        threads[1].start()
        until(lambda: titles)
    for thread in threads:
        thread.join(60)
    assert sorted(titles) == ["changed", "one"]
    assert sorted(store.list_task_ids()) == ["aaaa", "bbbb", "cccc", "dddd"]


def test_kills_at_any_moment_among_many_writers(store: Store) -> None:
    """Writers die at random; whoever lives loses nothing, and what was acknowledged to the dead is there too."""
    chance = random.Random(11)
    acknowledged: list[str] = []
    for number in range(25 if IS_FULL else 3):
        with writers(store, WRITERS, 1000, name=f"round{number}-") as processes:
            release(processes)
            for victim in processes:
                time.sleep(chance.uniform(0, 0.08))
                victim.kill()
            for process in processes:
                assert process.stdout is not None
                acknowledged += process.stdout.read().split()
        begun = time.monotonic()
        store.transact(lambda transaction: transaction.append("rounds", b"1\n"), author=ENGINE_IDENTITY)
        assert time.monotonic() - begun < 30
    log = log_of(store)
    assert len(log) == len(set(log))
    assert set(acknowledged) <= set(log)
    assert not list(store.repository.common_dir.rglob("refs/heads/gitticks/*.lock"))
    assert read_ref(store.repository.common_dir, layout.STATE_REF) == store.tip()
    assert fsck_problems(top_of(store)) == ""


def test_foreign_movers_among_many_writers(store: Store) -> None:
    with writers(store, 4, 8 if not IS_FULL else 100) as processes:
        release(processes)
        won = [name for name in (f"hand{number}" for number in range(10)) if move_by_git(store, name)]
        words = acknowledged_by(processes)
    assert sorted(log_of(store)) == sorted(words)
    assert {name for name in store.list("") if name.startswith("hand")} == set(won)
    assert fsck_problems(top_of(store)) == ""


def test_the_next_holder_finishes_what_a_killed_one_began(store: Store) -> None:
    """The ref is moved and the holder is dead: index and board are brought to the tip by whoever comes next."""

    class Board:
        def __init__(self) -> None:
            self.told: list[tuple[str, str]] = []

        @contextmanager
        def prepare(self, _repository: object, /) -> Iterator[Board]:
            yield self

        def follow(self, old_commit: str, new_commit: str, /) -> None:
            self.told.append((old_commit, new_commit))

    with hold_lock(store.repository.own_dir / "lock") as held:
        held.write_note(f"moving {layout.STATE_REF}\n")
    board = Board()
    before = store.tip()
    Store.open(discover(top_of(store)), board).transact(writing("a", b"1"), author=ENGINE_IDENTITY)
    assert board.told == [(before, before), (before, store.tip())]


DIE = """\
import os, signal, sys
from importlib import import_module
module, name = sys.argv[4].rsplit(".", 1)
owner, _, attribute = name.partition(":")
place = getattr(import_module(module), owner) if attribute else import_module(module)
real = getattr(place, attribute or owner)
def die(*arguments, **named):
    if sys.argv[5] == "after":
        real(*arguments, **named)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(place, attribute or owner, die)
"""
STAGES = (
    ("gitticks.git.objects.store_object", "before", False),
    ("gitticks.git.objects.store_object", "after", False),
    ("gitticks.store.branch.write_chain", "before", False),
    ("gitticks.store.branch.write_chain", "after", False),
    ("gitticks.store.publishing.peek_chain", "before", False),
    ("gitticks.git.loose.sync_files", "before", False),
    ("gitticks.git.loose.sync_files", "after", False),
    ("gitticks.store.publishing.compare_and_swap_ref", "before", False),
    ("gitticks.store.publishing.compare_and_swap_ref", "after", True),
    ("gitticks.store.board.WorktreeStep:follow", "before", True),
    ("gitticks.store.board.WorktreeStep:follow", "after", True),
    ("gitticks.git.locks.HeldLock:write_note", "after", False),
)


@pytest.mark.parametrize(("place", "when", "is_written"), STAGES)
def test_death_at_each_stage_is_all_or_nothing(store: Store, place: str, when: str, is_written: bool) -> None:
    dying = [sys.executable, "-c", DIE + WRITE, str(top_of(store)), "dead", "1", place, when]
    done = subprocess.run(dying, input="\n", capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (-signal.SIGKILL, "", "ready\n")
    store.transact(appending("alive\n"), author=ENGINE_IDENTITY)
    assert log_of(store) == (["dead-0", "alive"] if is_written else ["alive"])
    assert (store.read("by/dead/0") is not None) == is_written
    assert not list(store.repository.common_dir.rglob("refs/heads/gitticks/*.lock"))
    assert fsck_problems(top_of(store)) == ""
