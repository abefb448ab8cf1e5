"""What the index says after a file followed its branch."""

from __future__ import annotations

import pytest

from gitticks.git.follow import Followed, Move, Outcome, Settled, Settler
from gitticks.git.indexfile import IndexEntry
from gitticks.git.texts import merge_text
from tests.support.repositories import blob_id

BASE = b"1\n2\n3\n4\n5\n"
NEW = b"one\n2\n3\n4\n5\n"
MOVE = Move("a", blob_id(BASE), blob_id(NEW))
TAKEN = Followed("a", Outcome.TAKEN, NEW)


class Blobs:
    """Objects in memory."""

    def __init__(self) -> None:
        self.stored: dict[str, bytes] = {}
        for content in (BASE, NEW):
            self.write(content)

    def write(self, content: bytes) -> str:
        self.stored[blob_id(content)] = content
        return blob_id(content)

    def read(self, object_id: str) -> bytes:
        return self.stored[object_id]


@pytest.fixture
def blobs() -> Blobs:
    return Blobs()


@pytest.fixture
def settler(blobs: Blobs) -> Settler:
    return Settler(merge_text, blobs.read, blobs.write)


def entry(content: bytes, stage: int = 0) -> IndexEntry:
    return IndexEntry("a", blob_id(content), stage)


@pytest.mark.parametrize("present", [{}, {0: entry(BASE)}, {0: entry(NEW)}])
def test_an_entry_without_an_edit_takes_the_new_version(
    settler: Settler, present: dict[int, IndexEntry]
) -> None:
    assert settler.settle(MOVE, TAKEN, present, conflict_is_ours=False) == Settled((entry(NEW),))


def test_a_version_put_there_while_the_file_waited_is_no_edit(settler: Settler, blobs: Blobs) -> None:
    blobs.write(b"between\n")
    move = Move("a", MOVE.base, MOVE.new, seen=blob_id(b"between\n"))
    assert settler.settle(move, TAKEN, {0: entry(b"between\n")}, conflict_is_ours=False) == Settled(
        (entry(NEW),)
    )


def test_a_staged_edit_is_joined(settler: Settler, blobs: Blobs) -> None:
    staged = entry(BASE + b"mine\n")
    blobs.write(BASE + b"mine\n")
    assert settler.settle(MOVE, TAKEN, {0: staged}, conflict_is_ours=False) == Settled(
        (entry(NEW + b"mine\n"),)
    )


@pytest.mark.parametrize("is_in_file", [True, False])
def test_a_staged_edit_that_cannot_be_joined_is_handed_back(
    settler: Settler, blobs: Blobs, is_in_file: bool
) -> None:
    mine = b"eins\n2\n3\n4\n5\n"
    blobs.write(mine)
    followed = Followed("a", Outcome.SAME, mine if is_in_file else NEW)
    settled = settler.settle(MOVE, followed, {0: entry(mine)}, conflict_is_ours=False)
    assert settled == Settled((entry(NEW),), None if is_in_file else mine)


def test_a_conflict_has_three_stages_once(settler: Settler) -> None:
    followed = Followed("a", Outcome.CONFLICT, b"mine\n")
    stages = (entry(BASE, 1), entry(NEW, 2), entry(b"mine\n", 3))
    assert settler.settle(MOVE, followed, {0: entry(BASE)}, conflict_is_ours=False) == Settled(stages)
    present = {one.stage: one for one in stages}
    assert settler.settle(MOVE, followed, present, conflict_is_ours=True) is None


@pytest.mark.parametrize(("ours", "expected"), [(True, Settled((entry(NEW),))), (False, None)])
def test_only_our_own_conflicts_are_ended(settler: Settler, ours: bool, expected: Settled | None) -> None:
    present = {1: entry(BASE, 1), 2: entry(NEW, 2)}
    assert settler.settle(MOVE, TAKEN, present, conflict_is_ours=ours) == expected


def test_a_removed_file_has_no_entry(settler: Settler) -> None:
    gone = Move("a", MOVE.base, None)
    followed = Followed("a", Outcome.TAKEN, None)
    assert settler.settle(gone, followed, {0: entry(BASE)}, conflict_is_ours=False) == Settled(())
