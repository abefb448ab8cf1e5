"""`gt block` and `gt unblock`, and `gt defer`, which change one field each."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitticks.model.status import Status, TaskType
from tests.support.projects import SESSION, Project, make_project

SUNDAY = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    for task_id in ("k7f2", "m3xq", "p9ab"):
        project.make(task_id)
    return project


def test_blockers_come_and_go(project: Project) -> None:
    assert project.ok("block", "k7f2", "m3", "p9ab") == "k7f2  waits for m3xq, p9ab\n"
    assert project.ok("block", "k7f2", "m3xq") == "k7f2  waits for m3xq, p9ab already, nothing was changed\n"
    assert project.ok("unblock", "k7f2", "m3") == "k7f2  waits for p9ab\n"
    assert project.ok("unblock", "k7f2", "p9ab") == "k7f2  waits for nothing\n"
    assert project.ok("unblock", "k7f2", "p9ab") == "k7f2  waits for nothing, nothing was changed\n"
    assert project.subject() == "k7f2: blocked_by"


def test_a_blocker_that_is_gone_can_be_taken_away(project: Project) -> None:
    project.change("k7f2", blocked_by=("gone",))
    project.ok("unblock", "k7f2", "gone")
    assert project.task("k7f2").blocked_by == ()


def test_cycles_are_refused_when_they_are_made(project: Project) -> None:
    project.ok("block", "k7f2", "m3xq")
    project.ok("block", "m3xq", "p9ab")
    ran = project.gt("block", "p9ab", "k7f2")
    assert ran.code == 3
    assert ran.err.startswith("error: `p9ab` would wait for itself: p9ab → k7f2 → m3xq → p9ab\n")
    assert project.task("p9ab").blocked_by == ()


def test_a_cycle_through_an_epics_children_is_one_too(project: Project) -> None:
    project.make("e0pc", type=TaskType.EPIC)
    project.change("k7f2", parent="e0pc")
    project.ok("block", "m3xq", "k7f2")
    assert "would wait for itself" in project.gt("block", "e0pc", "m3xq").err
    assert "would wait for itself" in project.gt("block", "k7f2", "e0pc").err


def test_closed_tasks_make_no_cycle(project: Project) -> None:
    project.ok("block", "k7f2", "m3xq")
    project.change("k7f2", status=Status.DONE)
    project.ok("block", "m3xq", "k7f2")


@pytest.mark.parametrize(
    ("day", "said"),
    [
        ("+3d", "deferred until Wednesday 2026-11-25"),
        ("2026-12-24", "deferred until Thursday 2026-12-24"),
        ("friday", "deferred until Friday 2026-11-27"),
        ("null", "no longer deferred"),
    ],
)
def test_a_task_is_put_off(project: Project, day: str, said: str) -> None:
    assert project.ok("defer", "k7f2", day, now=SUNDAY) == f"k7f2  {said}\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["block", "k7f2"], 2),
        (["block", "k7f2", "nope"], 1),
        (["unblock", "nope", "k7f2"], 1),
        (["defer", "k7f2", "whenever"], 2),
    ],
)
def test_what_is_refused(project: Project, arguments: list[str], code: int) -> None:
    tip = project.tip()
    assert project.gt(*arguments).code == code
    assert project.tip() == tip


@pytest.mark.parametrize(
    "arguments", [["block", "k7f2", "m3xq"], ["unblock", "k7f2", "m3xq"], ["defer", "k7f2", "+1d"]]
)
def test_an_agent_cannot(project: Project, arguments: list[str]) -> None:
    assert project.gt(*arguments, environment=SESSION).code == 3
