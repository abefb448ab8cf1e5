"""Four clones with several writers each, joined by nothing but `git pull` and `git push` through a bare repository.

A loop in each clone pulls and pushes while its writers work. Plain git and `gt` both move the branch and write the
board, so pulls fail now and then, and are repeated as a person would repeat them; what was acknowledged has to come
through all the same.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitticks.store.transaction import Transaction
from tests.cli.support import gt_process
from tests.faults.writers import (
    IS_FULL,
    Acknowledged,
    Wish,
    assert_each_once,
    gt_writers,
    longest_wait,
    wishes_of,
)
from tests.support.clones import Clone, make_clones, make_first_clone
from tests.support.figures import record
from tests.support.repositories import run_git_command
from tests.support.stores import ADA, put_task

CLONES, WRITERS = 4, 4 if IS_FULL else 2
FILLERS = 103
"""Tasks that make ids longer, so that two clones do not draw the same one: git cannot join two tasks of one name."""

MOST_ROUNDS = 20


def own_tasks(number: int) -> list[str]:
    return [f"c{number}x{task}" for task in range(3)]


@pytest.fixture
def clones(tmp_path: Path) -> list[Clone]:
    first = make_first_clone(tmp_path)

    def fill(transaction: Transaction) -> None:
        for name in [name for number in range(CLONES) for name in own_tasks(number)]:
            put_task(transaction, "own", id=name)
        for number in range(FILLERS):
            put_task(transaction, "filler", id=f"f{number:03}")

    first.store.transact(fill, author=ADA)
    return make_clones(tmp_path, first, CLONES)


def share(clone: Clone, outcomes: Counter[str]) -> None:
    """Pulls and pushes once, as a person does who gives up a merge that did not end well."""
    if clone.pull().returncode != 0:
        outcomes["pulls that failed"] += 1
        if clone.is_merging:
            give_up_merge(clone)
        else:
            gt_process("doctor", "--fix", at=clone.path)
        return
    outcomes["pushes that failed" if clone.push().returncode else "pulls and pushes"] += 1


def give_up_merge(clone: Clone) -> None:
    """Gives up a merge that is left on the board; git cannot always tell what to put back, but the branch can."""
    if run_git_command("merge", "--abort", at=clone.board).returncode != 0:
        run_git_command("reset", "--hard", "--quiet", at=clone.board)


@contextmanager
def sharing(clones: Sequence[Clone], outcomes: Counter[str]) -> Iterator[None]:
    """Lets each clone pull and push again and again until the block ends."""
    over = threading.Event()

    def go_on(clone: Clone) -> None:
        while not over.is_set():
            share(clone, outcomes)

    with ThreadPoolExecutor(len(clones)) as pool:
        loops = [pool.submit(go_on, clone) for clone in clones]
        try:
            yield
        finally:
            over.set()
    for loop in loops:
        loop.result()


def converge(clones: Sequence[Clone]) -> int:
    """Pulls and pushes in turn until all clones stand at one commit, and returns how many rounds that took.

    Before that each clone looks at its status: a reset may have raced the very last change.
    """
    for clone in clones:
        clone.ok("status")
    for number in range(1, MOST_ROUNDS + 1):
        for clone in clones:
            share(clone, Counter())
        if len({clone.tip() for clone in clones}) == 1:
            return number
    pytest.fail(f"the clones differ after {MOST_ROUNDS} rounds:\n" + "\n".join(map(described, clones)))


def described(clone: Clone) -> str:
    """Says where a clone stands, and what git answers to a pull and a push in it."""
    answers = [run_git_command("status", "--short", at=clone.board), clone.pull(), clone.push()]
    return "\n".join([f"{clone.path.name} at {clone.tip()}", *(a.stdout + a.stderr for a in answers)])


def test_clones_converge_with_every_change_once(clones: list[Clone]) -> None:
    count = 50 if IS_FULL else 2
    plans: list[list[list[Wish]]] = [
        [wishes_of(f"c{number}w{writer}", count, own_tasks(number)) for writer in range(WRITERS)]
        for number in range(CLONES)
    ]
    outcomes: Counter[str] = Counter()
    with sharing(clones, outcomes), ThreadPoolExecutor(CLONES) as pool:
        acknowledged: list[Acknowledged] = [
            one for done in pool.map(gt_writers, clones, plans) for one in done
        ]
    rounds = converge(clones)
    wishes = [wish for of_clone in plans for plan in of_clone for wish in plan]
    for clone in clones:
        assert_each_once(clone, wishes)
    record(
        f"{CLONES} clones x {WRITERS} writers through one bare repository",
        acknowledged=len(acknowledged),
        longest_wait_seconds=longest_wait(acknowledged),
        rounds_to_converge=rounds,
        **{name.replace(" ", "_"): number for name, number in outcomes.items()},
    )
