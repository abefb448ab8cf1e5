from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.derived_state import Person, names_person, standing_now, standings_of
from gitticks.errors import NotFoundError
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.runner.liveness import Holds
from tests.support.stores import change_task, make_queue

ADA = Person.of("Ada Lovelace", "ada.l@example.org")


def test_what_is_derived(tmp_path: Path) -> None:
    store = make_queue(tmp_path)
    Holds(store.repository.own_dir).hold(TaskId("c0de"))
    context = Context(directory=tmp_path)
    tasks = context.index.tasks()
    found = {one.task.id: one for one in standings_of(context, tasks, TaskGraph.of(tasks))}
    assert [task_id for task_id, one in found.items() if one.is_ready] == ["k7f2"]
    assert found[TaskId("b1kd")].some_blockers(9) == ("k7f2",)
    assert found[TaskId("b1kd")].some_blockers(1) == ("k7f2",)
    assert found[TaskId("b1kd")].is_blocked
    assert found[TaskId("d3fr")].is_deferred
    assert found[TaskId("c0de")].is_held


def test_a_closed_task_is_not_blocked(tmp_path: Path) -> None:
    store = make_queue(tmp_path)
    change_task(store, "b1kd", status="cancelled")
    standing = standing_now(Context(directory=tmp_path), TaskId("b1kd"))
    assert not standing.is_blocked
    assert standing.some_blockers(9) == ()


def test_now_is_after_what_was_read_before(tmp_path: Path) -> None:
    store = make_queue(tmp_path)
    context = Context(directory=tmp_path)
    assert context.index.task(TaskId("k7f2")).priority == 1
    context.index.close()
    change_task(store, "k7f2", priority=4)
    assert standing_now(context, TaskId("k7f2")).task.priority == 4


def test_no_such_task(tmp_path: Path) -> None:
    make_queue(tmp_path)
    with pytest.raises(NotFoundError):
        standing_now(Context(directory=tmp_path), TaskId("none"))


@pytest.mark.parametrize(
    "reviewer",
    [
        None,
        "",
        " , ",
        "Ada Lovelace",
        "ada  lovelace",
        "Ada",
        "LOVELACE",
        "ada.l@example.org",
        "ada.l",
        "@ada.l",
        "Ada Lovelace <ada.l@example.org>",
        "Grace, Ada",
    ],
)
def test_it_is_this_persons_turn(reviewer: str | None) -> None:
    assert ADA.is_asked(reviewer)


@pytest.mark.parametrize("reviewer", ["Grace", "Ad", "example.org", "ada.l@example.com", "Grace, Alan"])
def test_it_is_somebody_elses_turn(reviewer: str) -> None:
    assert not ADA.is_asked(reviewer)


@pytest.mark.parametrize(
    ("reviewer", "name", "is_named"),
    [
        ("Grace", "grace", True),
        ("Ada, @Grace  Hopper", "Grace Hopper", True),
        ("Grace Hopper", "Grace", False),
        ("", "Grace", False),
        (None, "Grace", False),
    ],
)
def test_who_is_named(reviewer: str | None, name: str, is_named: bool) -> None:
    assert names_person(reviewer, name) is is_named
