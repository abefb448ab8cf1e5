"""`gt cancel`, `gt close` and `gt reopen`."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.model.event import EventType
from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Status, TaskType
from tests.support.projects import SESSION, Project, make_project, make_working
from tests.support.repositories import git


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


@pytest.mark.parametrize("status", [status for status in Status if not status.is_terminal])
def test_any_open_task_can_be_cancelled_with_a_reason(project: Project, status: Status) -> None:
    project.make("k7f2", status=status, awaiting=Awaiting.REVIEW if status is Status.REVIEWING else None)
    assert project.ok("cancel", "k7f2", "not needed") == "k7f2  cancelled · Login loses the return URL\n"
    task = project.task("k7f2")
    assert (task.status, task.awaiting, task.closed_reason) == (Status.CANCELLED, None, "not needed")
    assert project.subject() == f"k7f2: {status} → cancelled"


def test_a_cancelled_epic_names_the_children_that_it_leaves(project: Project) -> None:
    project.make("e0pc", type=TaskType.EPIC)
    project.make("k7f2", parent="e0pc")
    left = "warning: `e0pc` leaves open children: k7f2\n"
    ran = project.gt("cancel", "e0pc")
    assert (ran.code, ran.err) == (0, left)
    project.change("e0pc", status=Status.WORKING, awaiting=Awaiting.ESCALATION, closed=None)
    ran = project.gt("reject", "e0pc", "too costly")
    assert (ran.code, ran.err) == (0, left)


def test_the_tasks_that_a_cancelled_blocker_frees_are_named(project: Project) -> None:
    for task_id in ("k7f2", "h8d4"):
        project.make(task_id)
    project.make("m3xq", blocked_by=("k7f2", "h8d4"))
    freed = "warning: `m3xq` no longer waits for `k7f2`\n"
    assert project.gt("cancel", "k7f2").err == freed
    assert (
        project.gt("cancel", "h8d4", "m3xq", "--json").err == "warning: `m3xq` no longer waits for `h8d4`\n"
    )
    project.make("r3vw", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT)
    project.make("b1kd", blocked_by=("r3vw",))
    assert project.gt("reject", "r3vw").err == "warning: `b1kd` no longer waits for `r3vw`\n"
    assert project.gt("reopen", "r3vw").err == ""
    assert "`b1kd` no longer waits" in project.gt("update", "r3vw", "--status", "cancelled").err


def test_what_a_person_did_is_closed_and_its_commits_are_merged(project: Project) -> None:
    workspace = make_working(project)
    assert (
        project.ok("close", "k7f2", "by hand").splitlines()[-1] == "k7f2  done · Login loses the return URL"
    )
    assert git("show", "main:login.txt", at=project.path) == "k7f2"
    assert project.task("k7f2").status is Status.DONE
    assert not workspace.exists()


def test_nothing_begun_is_closed_at_once(project: Project) -> None:
    project.make("k7f2")
    assert project.ok("close", "k7f2") == "k7f2  done · Login loses the return URL\n"
    assert project.task("k7f2").closed_reason is not None


def test_uncommitted_work_is_not_closed_over(project: Project) -> None:
    workspace = make_working(project)
    (workspace / "login.txt").write_text("half\n")
    (workspace / "new.txt").write_text("new\n")
    ran = project.gt("close", "k7f2")
    assert ran.code == 3
    assert ran.err.startswith(
        "error: the workspace of `k7f2` has uncommitted changes: `login.txt`, `new.txt`\n"
    )
    assert project.task("k7f2").status is Status.WORKING


def test_an_epic_with_open_children_is_not_closed(project: Project) -> None:
    project.make("e0pc", type=TaskType.EPIC)
    project.make("k7f2", parent="e0pc")
    ran = project.gt("close", "e0pc")
    assert ran.seen == (
        "--- 3\nerror: `e0pc` cannot be closed: it has open children: `k7f2`\n\nhint: close them first: `gt close k7f2`\n"
    )
    project.ok("close", "k7f2")
    assert project.task("e0pc").status is Status.DONE


@pytest.mark.parametrize("status", [Status.DONE, Status.CANCELLED])
def test_a_closed_task_is_taken_up_as_if_new(project: Project, status: Status) -> None:
    body = "Text.\n\n## Handoff\n\n- DONE: it\n\n## Notes\n"
    project.make("k7f2", status=status, body=body, review_round=2, failed_reviews=1, start_sha="a" * 40)
    assert project.ok("reopen", "k7f2") == f"k7f2  {status} → pending · Login loses the return URL\n"
    task, file = project.task("k7f2"), project.file("k7f2")
    assert (task.status, task.review_round, task.failed_reviews, task.start_sha) == (
        Status.PENDING,
        0,
        0,
        None,
    )
    assert file.section(Section.HANDOFF) is None
    assert project.store.list("tasks/f2/k7f2/rounds") == ("01-handoff.md",)
    assert project.events("k7f2")[-1].type is EventType.REOPENED


def test_a_reopened_child_returns_its_epic_to_work(project: Project) -> None:
    project.make("e0pc", type=TaskType.EPIC, status=Status.REVIEWING, awaiting=Awaiting.REVIEW)
    project.make("k7f2", parent="e0pc", status=Status.DONE)
    project.ok("reopen", "k7f2")
    assert project.task("e0pc").status is Status.WORKING


def test_what_is_closed_is_not_stopped_and_a_closed_epic_stops_what_it_left_open(project: Project) -> None:
    project.make("e0pc", type=TaskType.EPIC, status=Status.CANCELLED)
    project.make("k7f2", parent="e0pc", status=Status.DONE)
    for task in ("k7f2", "e0pc"):
        ran = project.gt("stop", task)
        assert (ran.code, f"`gt reopen {task}`" in ran.err) == (3, True)
    project.ok("reopen", "k7f2")
    assert project.ok("next").split()[0] == "k7f2"
    project.ok("stop", "e0pc")
    assert project.gt("next").code == 1
    project.ok("reopen", "e0pc")
    project.make("m3xq", parent="e0pc")
    assert project.ok("next").split()[0] == "m3xq"


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        ("cancel", Status.DONE, "`k7f2` cannot go from done to cancelled: it is closed"),
        ("close", Status.CANCELLED, "`k7f2` is cancelled already"),
        ("reopen", Status.WORKING, "`k7f2` is open: it is working"),
    ],
)
def test_what_is_refused(project: Project, command: str, status: Status, message: str) -> None:
    project.make("k7f2", status=status)
    tip = project.tip()
    ran = project.gt(command, "k7f2")
    assert (ran.code, project.tip()) == (3, tip)
    assert ran.err.startswith(f"error: {message}")


@pytest.mark.parametrize("command", ["cancel", "close", "reopen"])
def test_an_agent_cannot(project: Project, command: str) -> None:
    project.make("k7f2")
    ran = project.gt(command, "k7f2", environment=SESSION)
    assert (ran.code, project.task("k7f2").status) == (3, Status.PENDING)


def test_what_would_wait_for_itself_is_not_reopened(project: Project) -> None:
    project.make("k7f2")
    project.make("m3xq", blocked_by=("k7f2",))
    project.ok("cancel", "m3xq")
    project.ok("block", "k7f2", "m3xq")
    tip = project.tip()
    ran = project.gt("reopen", "m3xq")
    assert (ran.code, ran.out, project.tip()) == (3, "", tip)
    assert ran.err.startswith("error: `m3xq` would wait for itself: m3xq → k7f2 → m3xq\n")
    project.ok("unblock", "k7f2", "m3xq")
    assert project.ok("reopen", "m3xq") == "m3xq  cancelled → pending · Login loses the return URL\n"
