"""`gt health` after the runner was killed: every row of the table of what the end of an agent's process means."""

from __future__ import annotations

import json

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Status
from tests.support.runs import COMMIT, FAIL, HANDOFF, PASS, RunProject, project
from tests.support.waiting import until

__all__ = ["project"]

WORK = f"{COMMIT}{HANDOFF}"
HANGS = 'touch "{up}"; exec sleep 600\n'


def killed(project: RunProject, worker: str, reviewer: str = "", *, role: str = "worker") -> None:
    """Lets the run be killed as the agent of that role has done its part and hangs; the other one ends by itself."""
    up = project.shared / "up"
    parts = {
        name: body + (HANGS.format(up=up) if name == role else "")
        for name, body in (("worker", worker), ("reviewer", reviewer))
    }
    project.agent(
        f"if [ $GITTICKS_ROLE = reviewer ]; then\n{parts['reviewer']}:\nelse\n{parts['worker']}:\nfi"
    )
    with project.running() as process:
        until(up.exists, "the agent")
        process.kill()
    up.unlink()


def health(project: RunProject) -> None:
    """Asks until the dead session was finished: its supervisor takes a moment to end."""
    until(lambda: json.loads(project.ok("health", "--json"))["finished"] == ["k7f2"], "the dead session")


@pytest.mark.parametrize(
    ("role", "worker", "reviewer", "expected"),
    [
        ("worker", WORK, "", (Status.AGENT_REVIEW, None)),
        ("worker", COMMIT, "", (Status.WORKING, None)),
        ("reviewer", WORK, PASS, (Status.REVIEWING, Awaiting.REVIEW)),
        ("reviewer", WORK, FAIL, (Status.WORKING, None)),
        ("reviewer", WORK, "", (Status.AGENT_REVIEW, None)),
    ],
    ids=["hand-off", "none", "PASS", "FAIL", "no verdict"],
)
def test_a_dead_session_is_judged_by_what_its_agent_wrote(
    project: RunProject, role: str, worker: str, reviewer: str, expected: tuple[Status, Awaiting | None]
) -> None:
    project.make()
    killed(project, worker, reviewer, role=role)
    before = project.stands()
    health(project)
    assert project.stands() == expected
    last = project.last(EventType.SESSION_ENDED)
    assert (last.data["ending"], last.data["role"]) == ("interrupted", role)
    assert EventType.CRASHED not in project.kinds()
    assert project.task("k7f2").crash_count == 0
    if before != expected:
        moved = project.last(EventType.ADVANCED)
        assert (moved.from_status, moved.to_status) == (before[0], expected[0])
    assert json.loads(project.ok("health", "--json")) == {
        "schema": 1,
        "run": False,
        "live": [],
        "finished": [],
        "left": [],
    }


def test_a_failed_review_at_the_limit_leaves_the_task_stuck(project: RunProject) -> None:
    project.make(status=Status.WORKING, failed_reviews=1)
    killed(project, WORK, FAIL, role="reviewer")
    health(project)
    assert project.stands() == (Status.STUCK, Awaiting.ESCALATION)


@pytest.mark.parametrize(
    "stands",
    [
        (Status.CLARIFICATION, Awaiting.INPUT),
        (Status.STUCK, Awaiting.ESCALATION),
        (Status.WORKING, Awaiting.WORK),
        (Status.CANCELLED, None),
    ],
    ids=lambda one: one[0].value,
)
def test_what_moved_on_meanwhile_stays_and_its_session_is_recorded(
    project: RunProject, stands: tuple[Status, Awaiting | None]
) -> None:
    project.make()
    killed(project, WORK)
    status, awaiting = stands
    project.change("k7f2", status=status, awaiting=awaiting)
    health(project)
    assert project.stands() == stands
    assert project.last(EventType.SESSION_ENDED).data["ending"] == "interrupted"


def test_a_run_finishes_dead_sessions_before_it_begins_anything_on_their_tasks(project: RunProject) -> None:
    project.settings("review: none\n")
    project.make()
    killed(project, WORK)
    project.agent("exit 9")
    code, events = project.events_of_run()
    assert code == 3, events
    assert [one["event"] for one in events if one.get("task") == "k7f2"][-1] == "task.moved"
    assert "session.began" not in {one["event"] for one in events}
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)
