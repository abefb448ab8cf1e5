"""One file on its way to a newer version."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from gitticks.git.files import CheckoutFiles
from gitticks.git.follow import Followed, Follower, Move, Outcome, Settled, Settler, Version, merge_text
from gitticks.git.indexfile import IndexEntry
from tests.support.repositories import blob_id

BASE = b"".join(b"line %d\n" % number for number in range(1, 11))
NEW = BASE.replace(b"line 2\n", b"line two\n")

OLD_LINES = b"1\n2\n3\n4\n5\n"
NEW_LINES = b"one\n2\n3\n4\n5\n"
MOVE = Move("a", blob_id(OLD_LINES), blob_id(NEW_LINES))
TAKEN = Followed("a", Outcome.TAKEN, NEW_LINES)


@pytest.fixture
def files(tmp_path: Path) -> CheckoutFiles:
    (tmp_path / "root").mkdir()
    return CheckoutFiles.at(tmp_path / "root", tmp_path / "own", "test")


def put(files: CheckoutFiles, content: bytes, *, age_seconds: float = 5) -> None:
    (files.root / "a").write_bytes(content)
    moment = time.time() - age_seconds
    os.utime(files.root / "a", (moment, moment))


def follow(files: CheckoutFiles, base: bytes | None, new: bytes | None, *older: bytes) -> Followed:
    return Follower(files, merge_text, lambda _: older).follow(Version("a", base, new))


@pytest.mark.parametrize(
    ("present", "way", "outcome", "left"),
    [
        (BASE, (BASE, NEW), Outcome.TAKEN, NEW),
        (None, (None, NEW), Outcome.TAKEN, NEW),
        (BASE, (BASE, None), Outcome.TAKEN, None),
        (NEW, (BASE, NEW), Outcome.SAME, NEW),
        (None, (BASE, None), Outcome.SAME, None),
        (b"mine\n", (BASE, BASE), Outcome.SAME, b"mine\n"),
        (BASE + b"mine\n", (BASE, NEW), Outcome.MERGED, NEW + b"mine\n"),
        (NEW + b"mine\n", (BASE, NEW), Outcome.SAME, NEW + b"mine\n"),
        (b"mine\n", (BASE, NEW), Outcome.CONFLICT, b"mine\n"),
        (b"mine\n", (BASE, None), Outcome.CONFLICT, b"mine\n"),
        (None, (BASE, NEW), Outcome.CONFLICT, None),
        (b"mine\n", (None, NEW), Outcome.CONFLICT, b"mine\n"),
    ],
)
def test_outcomes(
    files: CheckoutFiles,
    present: bytes | None,
    way: tuple[bytes | None, bytes | None],
    outcome: Outcome,
    left: bytes | None,
) -> None:
    if present is not None:
        put(files, present)
    followed = follow(files, *way)
    assert (followed.outcome, followed.present, files.read("a")) == (outcome, left, left)


@pytest.mark.parametrize("age_seconds", [0.0, -0.1])
def test_an_edit_of_this_moment_is_left_alone(files: CheckoutFiles, age_seconds: float) -> None:
    put(files, BASE + b"mine\n", age_seconds=age_seconds)
    follower = Follower(files, merge_text, quiet_seconds=600)
    assert follower.follow(Version("a", BASE, NEW)).outcome is Outcome.DEFERRED
    assert files.read("a") == BASE + b"mine\n"


def test_what_is_known_to_be_whole_is_merged_however_young(files: CheckoutFiles) -> None:
    edited = BASE + b"mine\n"
    put(files, edited, age_seconds=0)
    follower = Follower(files, merge_text, quiet_seconds=600)
    assert follower.follow(Version("a", BASE, NEW, edited[:-2])).outcome is Outcome.DEFERRED
    assert follower.follow(Version("a", BASE, NEW, edited)).outcome is Outcome.MERGED
    assert files.read("a") == NEW + b"mine\n"


def test_an_edit_that_began_from_an_older_version_is_recognised(files: CheckoutFiles) -> None:
    older, base = BASE, BASE.replace(b"line 2\n", b"line 2b\n")
    put(files, older + b"mine\n")
    followed = follow(files, base, NEW, NEW, base, older)
    assert (followed.outcome, followed.present) == (Outcome.MERGED, NEW + b"mine\n")


def test_a_version_that_nobody_saw_is_no_beginning(files: CheckoutFiles) -> None:
    edited = BASE.replace(b"line 2\n", b"line 2, mine\n")
    put(files, edited)
    passed_over = NEW
    newest = NEW + b"later\n"
    assert follow(files, BASE, newest, newest, passed_over, BASE).outcome is Outcome.CONFLICT
    assert files.read("a") == edited


def test_an_edit_began_from_the_passed_over_version_that_it_holds(files: CheckoutFiles) -> None:
    saved = BASE + b"mine\n"
    newest = b"ours\n" + saved + b"ours too\n"
    put(files, saved + b"mine too\n")
    followed = follow(files, BASE, newest, newest, saved, BASE)
    assert followed.outcome is Outcome.CONFLICT  # what both added at the end excludes each other
    newest = b"ours\n" + saved
    followed = follow(files, BASE, newest, newest, saved, BASE)
    assert (followed.outcome, followed.present) == (Outcome.MERGED, b"ours\n" + saved + b"mine too\n")


def test_an_edit_that_holds_all_of_the_new_version_is_no_conflict(files: CheckoutFiles) -> None:
    both = BASE + b"ours\nand mine\n"
    put(files, both)
    assert follow(files, BASE, BASE + b"ours\n", BASE + b"ours\n", BASE) == Followed("a", Outcome.SAME, both)


def test_a_version_that_only_lacks_lines_is_held_by_nobody(files: CheckoutFiles) -> None:
    shorter = BASE.replace(b"line 2\n", b"")
    newest = shorter.replace(b"line 9\n", b"line nine\n")
    put(files, BASE.replace(b"line 9\n", b"line 9, mine\n"))
    assert follow(files, BASE, newest, newest, shorter, BASE).outcome is Outcome.CONFLICT


def test_a_version_passed_over_is_what_a_killed_call_left(files: CheckoutFiles) -> None:
    put(files, NEW, age_seconds=0)
    newest = NEW + b"later\n"
    assert follow(files, BASE, newest, newest, NEW, BASE).outcome is Outcome.TAKEN


def test_what_is_no_plain_file_is_a_conflict(files: CheckoutFiles) -> None:
    (files.root / "a").mkdir()
    assert follow(files, None, NEW).outcome is Outcome.CONFLICT


def test_of_very_many_versions_only_the_nearest_are_tried(files: CheckoutFiles) -> None:
    tried: list[bytes] = []

    def clash(_path: str, base: bytes, _mine: bytes, _theirs: bytes) -> bytes | None:
        tried.append(base)
        return None

    older = [BASE, *(BASE + b"later %d\n" % number * number for number in range(1, 100))]
    put(files, BASE.replace(b"line 5\n", b"line V\n"))
    followed = Follower(files, clash, lambda _: older).follow(Version("a", BASE, NEW))
    assert followed.outcome is Outcome.CONFLICT
    assert tried == older[:9]


class Blobs:
    """Objects in memory."""

    def __init__(self) -> None:
        self.stored: dict[str, bytes] = {}
        for content in (OLD_LINES, NEW_LINES):
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


@pytest.mark.parametrize("present", [{}, {0: entry(OLD_LINES)}, {0: entry(NEW_LINES)}])
def test_an_entry_without_an_edit_takes_the_new_version(
    settler: Settler, present: dict[int, IndexEntry]
) -> None:
    assert settler.settle(MOVE, TAKEN, present, conflict_is_ours=False) == Settled((entry(NEW_LINES),))


def test_a_version_put_there_while_the_file_waited_is_no_edit(settler: Settler, blobs: Blobs) -> None:
    blobs.write(b"between\n")
    move = Move("a", MOVE.base, MOVE.new, seen=blob_id(b"between\n"))
    assert settler.settle(move, TAKEN, {0: entry(b"between\n")}, conflict_is_ours=False) == Settled(
        (entry(NEW_LINES),)
    )


def test_a_staged_edit_is_joined(settler: Settler, blobs: Blobs) -> None:
    staged = entry(OLD_LINES + b"mine\n")
    blobs.write(OLD_LINES + b"mine\n")
    assert settler.settle(MOVE, TAKEN, {0: staged}, conflict_is_ours=False) == Settled(
        (entry(NEW_LINES + b"mine\n"),)
    )


@pytest.mark.parametrize("is_in_file", [True, False])
def test_a_staged_edit_that_cannot_be_joined_is_handed_back(
    settler: Settler, blobs: Blobs, is_in_file: bool
) -> None:
    mine = b"eins\n2\n3\n4\n5\n"
    blobs.write(mine)
    followed = Followed("a", Outcome.SAME, mine if is_in_file else NEW_LINES)
    settled = settler.settle(MOVE, followed, {0: entry(mine)}, conflict_is_ours=False)
    assert settled == Settled((entry(NEW_LINES),), None if is_in_file else mine)


def test_a_conflict_has_three_stages_once(settler: Settler) -> None:
    followed = Followed("a", Outcome.CONFLICT, b"mine\n")
    stages = (entry(OLD_LINES, 1), entry(NEW_LINES, 2), entry(b"mine\n", 3))
    assert settler.settle(MOVE, followed, {0: entry(OLD_LINES)}, conflict_is_ours=False) == Settled(stages)
    present = {one.stage: one for one in stages}
    assert settler.settle(MOVE, followed, present, conflict_is_ours=True) is None


@pytest.mark.parametrize("ours", [True, False])
def test_only_our_own_conflicts_are_ended(settler: Settler, ours: bool) -> None:
    present = {1: entry(b"", 1), 2: entry(OLD_LINES, 2), 3: entry(b"3\n", 3)}
    taken_along = {1: entry(b"", 1), 3: entry(b"3\n", 3), 2: entry(NEW_LINES, 2)}
    expected = (entry(NEW_LINES),) if ours else tuple(taken_along.values())
    assert settler.settle(MOVE, TAKEN, present, conflict_is_ours=ours) == Settled(expected)


def test_a_removed_file_has_no_entry(settler: Settler) -> None:
    gone = Move("a", MOVE.base, None)
    followed = Followed("a", Outcome.TAKEN, None)
    assert settler.settle(gone, followed, {0: entry(OLD_LINES)}, conflict_is_ours=False) == Settled(())
