"""The chain in the hands of several writers: who publishes for whom, what is withdrawn, and when an answer holds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from gitticks.errors import GitticksError, LostRaceError, RefusedError
from gitticks.flocks import is_lock_held
from gitticks.git.identity import Identity
from gitticks.git.objects import Objects
from gitticks.git.objects.database import MoveRef
from gitticks.git.objects.failures import LostObjectError, RefMovedError
from gitticks.git.repository import Repository, discover
from gitticks.processes import ProcessIdentity, identity_of, own_identity
from gitticks.store import branch, layout, publishing
from gitticks.store.branch import Store
from gitticks.store.index import open_index
from gitticks.store.index_database import connect_if_current
from gitticks.store.publishing import (
    BoardStep,
    Link,
    chain_path,
    hold_chain,
    links_on,
    peek_chain,
    read_chain,
    write_chain,
)
from gitticks.store.transaction import Transaction
from tests.store.branches import ADA, increment, store, top, writing
from tests.support.repositories import fsck_problems, git, make_repository

__all__ = ["store", "top"]


@pytest.fixture
def other(top: Path, store: Store) -> Store:
    """Returns the store of another process."""
    assert store.exists
    return Store(discover(top))


def begin(by: Store, path: str) -> str:
    """Lets a writer come as far as the chain, and returns the commit that it will wait for."""
    made = by._make(writing(path, b"1"), ADA, None)
    assert made.stands_on is not None
    return made.stands_on


def chained(by: Store) -> list[str]:
    return [link.commit for link in peek_chain(by.repository, by.tip())]


def moves(top: Path) -> int:
    return len(git("reflog", layout.STATE_BRANCH, at=top).splitlines())


def failing_once(
    monkeypatch: pytest.MonkeyPatch, error: GitticksError, then: Callable[[], object] = lambda: None
) -> None:
    """Lets the first sync of objects fail, after it was told which."""
    sync, failed = Objects.sync, list[object]()

    def fail(objects: Objects, object_ids: Iterable[str]) -> None:
        if not failed:
            failed.append(then())
            raise error
        sync(objects, object_ids)

    monkeypatch.setattr(Objects, "sync", fail)


def test_writers_who_queue_share_one_sync_and_one_move(
    top: Path, store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[list[str]] = []
    monkeypatch.setattr(Objects, "sync", lambda _, object_ids: synced.append(list(object_ids)))
    before, first = moves(top), begin(store, "a")
    links: tuple[Link, ...] = peek_chain(store.repository, store.tip())
    second = begin(other, "b")
    assert chained(store) == [first, second]
    assert other._publisher.settle(second, ADA)
    assert store._publisher.settle(first, ADA)
    assert store.tip() == second
    assert moves(top) == before + 1
    assert len(synced) == 1
    assert {first, second, *links[0].objects} <= set(synced[0])


def test_what_is_withdrawn_meanwhile_is_not_published(
    store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tip, first = store.tip(), begin(store, "a")
    second = begin(other, "b")

    def withdrawing(_objects: Objects, _object_ids: Iterable[str]) -> None:
        store._publisher._withdraw(first)

    with monkeypatch.context() as patched:
        patched.setattr(Objects, "sync", withdrawing)
        assert not other._publisher.settle(second, ADA)
    assert other.tip() == tip
    other.transact(writing("b", b"2"), author=ADA)
    assert (store.read("a"), store.read("b")) == (None, b"2")


def test_who_withdraws_leaves_those_before(store: Store, other: Store) -> None:
    first = begin(store, "a")
    second = begin(other, "b")
    begin(store, "c")
    other._publisher._withdraw(second)
    assert chained(store) == [first]


def test_an_answer_that_saw_another_writers_change_holds_only_once_that_is_published(
    store: Store, other: Store
) -> None:
    begin(store, "a")
    assert other.transact(lambda seen: seen.read("a"), author=ADA) == b"1"
    assert store.read("a") == b"1"


def test_a_refusal_for_another_writers_change_is_reported_only_once_that_is_published(
    store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(transaction: Transaction) -> str:
        if transaction.read("a") is not None:
            raise RefusedError("there is one already")
        transaction.write("a", b"2")
        return "made"

    begin(store, "a")
    with monkeypatch.context() as patched:
        failing_once(patched, LostObjectError("it was removed"))
        assert other.transact(refusing, author=ADA) == "made"  # what it saw first never came to be
    assert store.read("a") == b"2"
    begin(store, "c")
    with pytest.raises(RefusedError, match="there is one already"):
        other.transact(refusing, author=ADA)
    assert store.read("c") == b"1"


def test_of_a_chain_that_the_disk_refuses_nothing_is_published(
    top: Path, store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tip = store.tip()
    first, later = begin(store, "a"), list[str]()
    failing_once(monkeypatch, GitticksError("no room"), lambda: later.append(begin(other, "b")))
    with pytest.raises(GitticksError, match="no room"):
        store._publisher.settle(first, ADA)
    assert later
    assert not other._publisher.settle(later[0], ADA)
    assert store.tip() == tip
    other.transact(writing("b", b"1"), author=ADA)
    assert (store.read("a"), store.read("b")) == (None, b"1")
    assert fsck_problems(top) == ""


def test_a_look_that_meets_a_writer_writing_is_not_believed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = begin(store, "a")
    monkeypatch.setattr(publishing, "peek_chain", lambda *_: ())
    assert store._publisher.settle(first, ADA)
    assert store.tip() == first


def test_who_lost_does_not_build_upon_the_lost_commit(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    lost = list[object]()

    ready_to_move = store.objects.ready_to_move

    @contextmanager
    def lost_at_first(message: str, who: Identity | None) -> Iterator[MoveRef]:
        def move(ref: str, old: str | None, new: str | None) -> None:
            if not lost:
                lost.append(ref)
                raise RefMovedError("it was elsewhere")
            real(ref, old, new)

        with ready_to_move(message, who) as real:
            yield move

    monkeypatch.setattr(store.objects, "ready_to_move", lost_at_first)
    assert store.transact(increment, author=ADA) == 1
    assert store.read("counter") == b"1"


def test_who_lost_twice_keeps_our_other_writers_out(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[bool] = []

    def operation(transaction: Transaction) -> None:
        held.append(is_lock_held(store.repository.own_dir / "lock"))
        increment(transaction)

    def moved(*_: object) -> None:
        raise RefMovedError("it was elsewhere")

    monkeypatch.setattr(branch, "LOST_SWAPS", 4)
    monkeypatch.setattr(store.objects, "ready_to_move", lambda *_: nullcontext(moved))
    with pytest.raises(LostRaceError):
        store.transact(operation, author=ADA)
    assert held == [False, False, True, True]


class RecordingBoard:
    """Writes down which moves a board is told of."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    @contextmanager
    def prepare(self, _repository: Repository, _new: str, /) -> Iterator[BoardStep]:
        yield self.follow

    def follow(self, old_commit: str, new_commit: str, /) -> None:
        self.told.append((old_commit, new_commit))


def test_what_a_killed_holder_had_not_come_to_is_done_by_the_next(top: Path, store: Store) -> None:
    open_index(store.repository).close()
    tree, old = git("rev-parse", f"{layout.STATE_BRANCH}^{{tree}}", at=top), store.tip()
    tip = git("commit-tree", tree, "-p", old, "-m", "published, and nothing more", at=top)
    git("update-ref", layout.STATE_REF, tip, at=top)
    with store._publisher.hold() as held:
        held.write_note(f"moving {layout.STATE_REF}\n")
    board = RecordingBoard()
    publisher = Store(discover(top), board)._publisher
    for _ in range(2):
        with publisher.hold() as held:
            assert held.read_note() == ""
        assert board.told == [(tip, tip)]
    current = connect_if_current(store.repository, tip)
    assert current is not None
    current.close()


TIP, ONE, TWO, THREE = (letter * 40 for letter in "0123")


def link(commit: str, parent: str, owner: ProcessIdentity | None = None) -> Link:
    return Link(commit, parent, "k7f2: done ✓", owner or own_identity(), ("a" * 40, "b" * 40))


def dead() -> ProcessIdentity:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    identity = identity_of(process.pid)
    process.communicate()
    assert identity is not None
    return identity


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return discover(make_repository(tmp_path / "r"))


def noted(repository: Repository, *links: Link) -> None:
    with hold_chain(repository) as held:
        write_chain(held, links)


def commits(links: tuple[Link, ...]) -> list[str]:
    return [one.commit for one in links]


def test_what_is_noted_is_read(repository: Repository) -> None:
    assert peek_chain(repository, TIP) == ()
    links = (link(ONE, TIP), link(TWO, ONE))
    noted(repository, *links)
    assert peek_chain(repository, TIP) == links
    with hold_chain(repository) as held:
        assert read_chain(held, TIP) == links
    assert links[0].objects == ("a" * 40, "b" * 40)


@pytest.mark.parametrize(
    ("tip", "found"),
    [(TIP, [ONE, TWO, THREE]), (ONE, [TWO, THREE]), (TWO, [THREE]), (THREE, []), ("f" * 40, [])],
)
def test_what_the_tip_has_is_no_part_of_it(repository: Repository, tip: str, found: list[str]) -> None:
    noted(repository, link(ONE, TIP), link(TWO, ONE), link(THREE, TWO))
    assert commits(peek_chain(repository, tip)) == found


def test_a_new_chain_leaves_the_old_one_behind(repository: Repository) -> None:
    noted(repository, link(ONE, TIP), link(TWO, ONE))
    noted(repository, link(THREE, TIP))
    assert commits(peek_chain(repository, TIP)) == [THREE]
    noted(repository)
    assert peek_chain(repository, TIP) == ()


def test_links_that_do_not_join_are_void(repository: Repository) -> None:
    noted(repository, link(ONE, TIP), link(THREE, TWO))
    assert peek_chain(repository, TIP) == ()
    assert commits(peek_chain(repository, TWO)) == [THREE]


@pytest.mark.parametrize("torn", range(1, 200, 40))
def test_a_torn_link_ends_the_chain(repository: Repository, torn: int) -> None:
    noted(repository, link(ONE, TIP), link(TWO, ONE))
    whole = chain_path(repository).read_bytes().rstrip(b"\n")
    chain_path(repository).write_bytes(whole[:-torn])
    assert commits(peek_chain(repository, TIP)) == [ONE]


@pytest.mark.parametrize("note", ["{}", "[1, 2]", "null", '["a"]', "\0\0", "[" * 50])
def test_a_note_that_is_none_is_no_chain(note: str) -> None:
    assert links_on(TIP, note) == ()


def test_a_chain_of_the_dead_is_dropped_and_one_of_the_living_is_kept(repository: Repository) -> None:
    gone = dead()
    rebooted = ProcessIdentity(own_identity().pid, own_identity().start_ticks, "another boot")
    noted(repository, link(ONE, TIP, gone), link(TWO, ONE, rebooted))
    with hold_chain(repository) as held:
        assert read_chain(held, TIP) == ()
        write_chain(held, (link(ONE, TIP), link(TWO, ONE, gone)))
        assert commits(read_chain(held, TIP)) == [ONE, TWO]
