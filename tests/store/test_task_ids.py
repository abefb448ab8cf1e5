"""Ids for new tasks: free, and as long as the queue demands."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitticks.errors import NotFoundError
from gitticks.git.repository import discover
from gitticks.model.ids import TaskId, id_length, task_path
from gitticks.store.branch import Store
from gitticks.store.index import Index, open_index
from gitticks.store.task_ids import free_id, resolve_id
from gitticks.store.transaction import Transaction
from tests.support.repositories import git, loose_file
from tests.support.tasks import ADA, make_store, make_task

LATER = datetime(2036, 1, 1, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path / "r", [make_task("k7f2"), make_task("m3a9")])


def drawing(*ids: str) -> Iterator[int]:
    """Yields the numbers that draw these ids, as `new_id` draws them: the tail, then the first letter."""
    alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
    for task_id in ids:
        yield from (alphabet.index(letter) for letter in task_id[1:])
        yield alphabet[10:].index(task_id[0])


def test_taken_ids_are_passed_over(store: Store) -> None:
    seen = store.snapshot()
    numbers = drawing("k7f2", "m3a9", "new2", "b1kd")
    seen.write(task_path(TaskId("new2")), b"x")
    assert free_id(seen, LATER, lambda _below: next(numbers)) == "b1kd"


def test_a_removed_task_frees_its_id(store: Store) -> None:
    seen = store.snapshot()
    assert (seen.has_task(TaskId("k7f2")), seen.has_task(TaskId("b1kd"))) == (True, False)
    seen.remove(task_path(TaskId("k7f2")))
    assert not seen.has_task(TaskId("k7f2"))


@pytest.mark.parametrize("count", [0, 1, 150, 700])
def test_ids_are_as_long_as_the_queue_demands(store: Store, count: int) -> None:
    def fill(transaction: Transaction) -> None:
        for number in range(count):
            transaction.write(task_path(TaskId(f"t{number:03x}")), b"x")

    store.transact(fill, author=ADA)
    assert len(free_id(store.snapshot(), LATER, lambda below: below - 1)) == id_length(count + 3)


@pytest.mark.damages
def test_a_damaged_folder_keeps_nobody_from_creating(store: Store) -> None:
    shard = git("rev-parse", "gitticks/state:tasks/f2", at=store.repository.common_dir)
    loose_file(store.repository.common_dir, shard).unlink()
    numbers = drawing("nnf2", "b1kd")
    afresh = Store(discover(store.repository.common_dir.parent))
    assert free_id(afresh.snapshot(), LATER, lambda _below: next(numbers)) == "b1kd"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    tasks = [make_task("k7f2", "Login loses the return URL"), make_task("k7f2x", "Longer"), make_task("m3a9")]
    tasks += [make_task(f"many{number}") for number in range(10)]
    with open_index(make_store(tmp_path / "r", tasks).repository) as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "found"), [("k7f2", "k7f2"), ("k7f2x", "k7f2x"), ("m", None), ("m3", "m3a9")]
)
def test_an_id_or_the_only_one_that_begins_so(index: Index, text: str, found: str | None) -> None:
    if found is None:
        with pytest.raises(NotFoundError):
            resolve_id(index, text)
    else:
        assert resolve_id(index, text) == found


def test_candidates_are_listed(index: Index) -> None:
    with pytest.raises(NotFoundError, match="`k7` matches 2 ids") as caught:
        resolve_id(index, "k7")
    assert caught.value.hint == "one of `k7f2` (Login loses the return URL), `k7f2x` (Longer)"
    with pytest.raises(NotFoundError, match="matches 10 ids") as caught:
        resolve_id(index, "many")
    assert str(caught.value.hint).endswith("and 2 more")


@pytest.mark.parametrize("text", ["k7f3", "K7F2", "k7ff2", "7kf2"])
def test_a_near_miss_is_offered(index: Index, text: str) -> None:
    with pytest.raises(NotFoundError, match=f"there is no task `{text}`") as caught:
        resolve_id(index, text)
    assert caught.value.hint == "did you mean `k7f2` (Login loses the return URL)?"


@pytest.mark.parametrize("text", ["", "zzzzzz", "../../etc", "\x1b[31m", "x" * 500])
def test_nothing_near_is_said_so(index: Index, text: str) -> None:
    with pytest.raises(NotFoundError, match="there is no task") as caught:
        resolve_id(index, text)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 120
    assert caught.value.hint == "`gt list` shows the tasks"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("", ""), ("../../x", "../../x"), ("a\nb", r"a\nb"), ("\x1b[31m", r"\x1b[31m"), ("x" * 200, "x" * 70)],
)
def test_what_can_be_no_id_is_shown_on_one_short_line(index: Index, text: str, shown: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        resolve_id(index, text)
    assert caught.value.message == f"there is no task `{shown}`"
