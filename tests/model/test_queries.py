"""Picking from streams gives what sorting all tasks gives, and reads no more than it must."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.model.ids import TaskId
from gitticks.model.queries import (
    Candidates,
    Group,
    Surroundings,
    TaskGraph,
    by_priority_and_age,
    by_urgency,
    first_ready,
    is_deferred,
    is_to_review,
)
from gitticks.model.status import Awaiting, Status, TaskType
from gitticks.model.task import Claim, Task
from tests.support import graphs
from tests.support.graphs import graph, make
from tests.support.tasks import make_task

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
TODAY = date(2026, 3, 4)
TOMORROW = TODAY + timedelta(days=1)
AROUND = Surroundings(TODAY, NOW)
MANY = 10_000


def candidates(tasks: list[Task]) -> Candidates[Task]:
    """Returns the streams of these tasks, by their definition."""
    graph = TaskGraph.of(tasks)
    workable = sorted((task for task in tasks if task.is_workable), key=by_priority_and_age)

    def below(epics: Iterable[TaskId]) -> list[Task]:
        wanted = set(epics)
        return [task for task in workable if any(one.id in wanted for one in graph.ancestors(task))]

    children = (task for task in workable if task.parent is not None)
    return Candidates(below, children, (task for task in workable if task.parent is None))


@given(graphs.tasks(), graphs.surroundings(), st.frozensets(st.sampled_from(graphs.IDS), max_size=3))
def test_the_first_of_the_streams_is_the_first_of_all(
    tasks: list[Task], around: Surroundings, unwanted: frozenset[TaskId]
) -> None:
    whole = TaskGraph.of(tasks)
    light = TaskGraph.over(whole.tasks, [task for task in tasks if task.is_begun])
    expected = [task for task in whole.ready(around) if task.id not in unwanted]
    found = first_ready(light, candidates(tasks), around, lambda task: task.id not in unwanted)
    assert found == (expected[0] if expected else None)


def test_the_streams_are_left_at_the_first_task_that_nothing_can_follow() -> None:
    epic = replace(make_task("e111"), type=TaskType.EPIC)
    tasks = [replace(make_task(f"k{number}aa"), parent=epic.id) for number in range(2, 9)]
    graph = TaskGraph.of([epic, *tasks])
    read: list[Task] = []

    def watched() -> Iterator[Task]:
        for task in tasks:
            read.append(task)
            yield task

    around = Surroundings(graphs.TODAY, graphs.NOW)
    assert first_ready(graph, Candidates(lambda _: (), watched(), ()), around) == tasks[0]
    assert read == tasks[:1]


def claim(minutes: int) -> Claim:
    return Claim("other", "host", NOW - timedelta(hours=1), NOW + timedelta(minutes=minutes))


# Ready


@pytest.mark.parametrize(
    ("fields", "is_ready"),
    [
        ({}, True),
        ({"status": Status.WORKING}, True),
        *[({"status": status}, False) for status in Status if status not in (Status.PENDING, Status.WORKING)],
        *[({"awaiting": kind}, False) for kind in Awaiting],
        ({"type": TaskType.EPIC}, False),
        ({"defer_until": TOMORROW}, False),
        ({"defer_until": TODAY}, True),
        ({"claim": claim(1)}, False),
        ({"claim": claim(0)}, True),
        ({"claim": claim(-1)}, True),
    ],
)
def test_what_a_task_says_of_itself(fields: dict[str, Any], is_ready: bool) -> None:
    task = make("a", **fields)
    assert graph(task).is_ready(task, AROUND) is is_ready


@pytest.mark.parametrize("name", ["live", "held", "conflicted", "elsewhere"])
def test_what_the_clone_knows_keeps_a_task_from_starting(name: str) -> None:
    task = make("a")
    around = Surroundings(TODAY, NOW, **{name: frozenset({TaskId("a")})})  # type: ignore[arg-type]
    assert not graph(task).is_ready(task, around)
    assert graph(task).is_ready(task, Surroundings(TODAY, NOW, **{name: {TaskId("b")}}))  # type: ignore[arg-type]


@pytest.mark.parametrize("status", list(Status))
def test_a_blocker_blocks_while_it_is_open(status: Status) -> None:
    task = make("a", "b")
    tasks = graph(task, make("b", status=status))
    assert tasks.is_blocked(task) is not status.is_terminal
    assert tasks.is_ready(task, AROUND) is status.is_terminal
    assert tasks.open_blockers(task) == (() if status.is_terminal else ("b",))
    assert tasks.idle_blockers(task) == (("b",) if status is Status.CANCELLED else ())


@pytest.mark.parametrize("status", list(Status))
def test_a_blocker_whose_code_is_on_the_branch_of_an_epic_blocks_others_until_that_is_merged(
    status: Status,
) -> None:
    work = {"branch": "gitticks/work/e1", "start_sha": "a" * 40, "end_sha": "b" * 40}
    done = make("b", parent="e1", status=Status.DONE, **work)
    outside, inside = make("a", "b"), make("c", "b", parent="e1")
    epic, below = make("e1", status=status), make("d", parent="e2")
    left, closed = make("f", "b", parent="e3"), make("e3", parent="e1", status=Status.CANCELLED)
    tasks = graph(outside, inside, done, epic, make("e2", "b"), below, closed, left)
    waits = () if status.is_terminal else ("e1",)
    assert tasks.open_blockers(left) == waits
    assert tasks.open_blockers(outside) == tasks.open_blockers(below) == waits
    assert tasks.is_ready(outside, AROUND) is tasks.is_ready(below, AROUND) is status.is_terminal
    assert tasks.open_blockers(inside) == ()
    assert graph(outside, epic, replace(done, end_sha="a" * 40)).open_blockers(outside) == ()
    assert graph(outside, epic, replace(done, merged_sha="c" * 40)).open_blockers(outside) == ()


def test_a_missing_blocker_blocks_nothing_and_is_named() -> None:
    task = make("a", "gone", "b")
    tasks = graph(task, make("b"))
    assert tasks.idle_blockers(task) == ("gone",)
    assert tasks.open_blockers(task) == ("b",)
    assert graph(make("a", "gone")).is_ready(make("a", "gone"), AROUND)


def test_a_blocker_that_cannot_be_read_blocks_as_nobody_knows_whether_it_is_closed() -> None:
    task, child = make("a", "lost"), make("c", parent=TaskId("lost"))
    tasks = TaskGraph.of([task, child], unreadable={TaskId("lost")})
    assert tasks.open_blockers(task) == ("lost",)
    assert tasks.idle_blockers(task) == ()
    assert not tasks.is_ready(task, AROUND)
    assert not tasks.is_orphan(child)


def test_a_closed_task_is_not_blocked() -> None:
    task = make("a", "b", status=Status.DONE)
    assert not graph(task, make("b")).is_blocked(task)


@pytest.mark.parametrize(
    "epic",
    [
        {"awaiting": Awaiting.APPROVAL},
        {"defer_until": TOMORROW},
        {"blocked_by": (TaskId("b"),)},
    ],
)
def test_what_holds_an_epic_holds_all_below_it(epic: dict[str, Any]) -> None:
    high = replace(make("e1"), **epic)
    tasks = graph(high, make("e2", parent="e1"), make("a", parent="e2"), make("b"), make("c"))
    assert [task.id for task in tasks.ready(AROUND)] == ["b", "c"]
    free = graph(make("e1"), make("e2", parent="e1"), make("a", parent="e2"), make("b"), make("c"))
    assert [task.id for task in free.ready(AROUND)] == ["a", "b", "c"]


def test_own_blockers_come_before_those_from_above_and_each_once() -> None:
    task = make("a", "x", "y", parent="e1")
    tasks = graph(task, make("e1", "y", "z"), make("x"), make("y"), make("z"))
    assert tasks.open_blockers(task) == ("x", "y", "z")


def test_of_what_epics_wait_for_no_more_is_looked_at_than_is_asked_for() -> None:
    task = make("a", "x", parent="e1")
    tasks = graph(task, make("e1", "y", "z"), make("x"), make("y"), make("z"))
    assert tasks.open_blockers(task, 2) == ("x", "y")
    assert tasks.open_blockers(task, 9) == ("x", "y", "z")


def test_a_task_never_waits_for_itself_by_way_of_its_epic() -> None:
    task = make("a", parent="e1")
    assert graph(task, make("e1", "a")).is_ready(task, AROUND)
    other = make("b", parent="e1")
    assert not graph(task, other, make("e1", "a")).is_ready(other, AROUND)


@given(graphs.tasks(), graphs.surroundings())
def test_ready_is_what_the_specification_says(tasks: list[Task], around: Surroundings) -> None:
    """Each word of the definition by itself, without what is remembered from task to task."""
    known = {task.id: task for task in tasks}
    found = TaskGraph.of(tasks)
    expected = set()
    for task in tasks:
        above = list(found.ancestors(task))
        claimed = task.claim is not None and task.claim.expires > around.now
        if (
            task.status in (Status.PENDING, Status.WORKING)
            and not task.is_epic
            and not claimed
            and not any(task.id in group for group in (around.live, around.held, around.conflicted))
            and all(one.awaiting is None for one in (task, *above))
            and not any(one.defer_until and one.defer_until > around.today for one in (task, *above))
            and not any(
                blocker != task.id and blocker in known and known[blocker].is_open
                for one in (task, *above)
                for blocker in one.blocked_by
            )
        ):
            expected.add(task.id)
    assert {task.id for task in found.ready(around)} == expected


@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize("awaiting", [None, Awaiting.REVIEW])
def test_what_a_reviewer_can_be_started_on(status: Status, awaiting: Awaiting | None) -> None:
    task = make("a", status=status, awaiting=awaiting)
    expected = status is Status.AGENT_REVIEW and awaiting is None
    assert is_to_review(task, AROUND) is expected
    assert not is_to_review(task, AROUND._replace(live={TaskId("a")}))


# Family


def test_ancestors_and_children() -> None:
    task = make("a", parent="e2")
    tasks = graph(task, make("b", parent="e2", priority=0), make("e2", parent="e1"), make("e1"))
    assert [above.id for above in tasks.ancestors(task)] == ["e2", "e1"]
    assert [child.id for child in tasks.children(TaskId("e2"))] == ["b", "a"]
    assert tasks.children(TaskId("a")) == ()


def test_what_is_below_a_task_however_deep() -> None:
    line = [make("t0"), *(make(f"t{number}", parent=f"t{number - 1}") for number in range(1, MANY))]
    found = graph(*line, make("other")).below(TaskId("t0"))
    assert found == {task.id for task in line[1:]}
    cycle = graph(make("a", parent="b"), make("b", parent="a"))
    assert cycle.below(TaskId("a")) == {"a", "b"}
    assert cycle.below(TaskId("none")) == set()


def test_parents_that_are_missing_or_run_in_a_cycle_end_the_way_up() -> None:
    lost = make("a", parent="gone")
    assert list(graph(lost).ancestors(lost)) == []
    round_about = make("e1", parent="e2")
    tasks = graph(round_about, make("e2", parent="e3"), make("e3", parent="e1"))
    assert [above.id for above in tasks.ancestors(round_about)] == ["e2", "e3"]


@pytest.mark.parametrize(
    ("parent", "status", "is_orphan"),
    [
        (None, Status.PENDING, False),
        ("e1", Status.PENDING, False),
        ("closed", Status.PENDING, True),
        ("closed", Status.DONE, False),
        ("gone", Status.WORKING, True),
    ],
)
def test_orphans_are_open_tasks_of_closed_parents(
    parent: str | None, status: Status, is_orphan: bool
) -> None:
    task = make("a", parent=parent, status=status)
    tasks = graph(task, make("e1"), make("closed", type=TaskType.EPIC, status=Status.CANCELLED))
    assert tasks.is_orphan(task) is is_orphan


# Picking


def test_the_five_groups_in_their_order() -> None:
    tasks = graph(
        make("orphan", parent="e4"),
        make("standalone"),
        make("fresh", parent="e3"),
        make("begun", parent="e2"),
        make("begun2", parent="e2", status=Status.STUCK, awaiting=Awaiting.ESCALATION),
        make("current", parent="e1"),
        make("e1"),
        make("e2"),
        make("e3"),
        make("e4", status=Status.DONE),
    )
    ready = sorted(tasks.ready(AROUND), key=lambda task: tasks.pick_key(task, TaskId("e1")))
    assert [task.id for task in ready] == ["current", "begun", "fresh", "standalone", "orphan"]
    assert [tasks.group(task, TaskId("e1")) for task in ready] == [1, 2, 3, 4, 5]
    without = [task.id for task in tasks.ready(AROUND)]
    assert without == ["begun", "current", "fresh", "standalone", "orphan"]


def test_a_task_counts_for_the_nearest_open_epic() -> None:
    inner = make("a", parent="e2")
    tasks = graph(inner, make("e2", parent="e1"), make("e1"))
    assert tasks.epic_of(inner) == "e2"
    closed = graph(inner, make("e2", parent="e1", status=Status.DONE), make("e1"))
    assert closed.epic_of(inner) is None
    assert closed.group(inner) == Group.ORPHAN


def test_within_a_group_priority_goes_before_age_and_age_before_the_id() -> None:
    tasks = graph(
        make("d", priority=1, created=NOW),
        make("c", priority=1, created=NOW - timedelta(days=1)),
        make("b", priority=0, created=NOW),
        make("a", priority=1, created=NOW),
        make("f", priority=1),
    )
    assert [task.id for task in tasks.ready(AROUND)] == ["b", "f", "c", "a", "d"]


@given(graphs.tasks(), graphs.surroundings())
def test_the_order_is_the_same_whatever_order_tasks_come_in(tasks: list[Task], around: Surroundings) -> None:
    assert TaskGraph.of(tasks).ready(around) == TaskGraph.of(reversed(tasks)).ready(around)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=2))
def test_what_awaits_a_person_comes_by_priority_then_by_the_longest_asked(priorities: list[int]) -> None:
    first, second = priorities
    early = make("b", priority=first, asked_at=NOW - timedelta(hours=1))
    late = make("a", priority=second, asked_at=NOW)
    expected = [late, early] if second < first else [early, late]
    assert sorted([late, early], key=by_urgency) == expected


def test_who_was_never_asked_counts_from_the_creation() -> None:
    assert by_urgency(make("a", created=NOW)) == by_urgency(make("a", asked_at=NOW))
    assert by_priority_and_age(make("a")) == (2, "", "a")


def test_single_facts() -> None:
    assert make("a").is_workable
    assert not make("e1").is_workable
    assert not make("a").is_begun
    assert make("a", status=Status.STUCK).is_begun
    assert not make("a", status=Status.DONE).is_begun
    assert not is_deferred(make("a"), TODAY)
