"""Which commands take a task in review for what: the compatibility matrix of the phase `in_review`, status by status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from gitticks.model.status import Awaiting, Phase, Role, Status
from gitticks.workflow.decision import is_turn_of
from tests.support.projects import Project, make_project, make_reviewing, make_working


class Row(NamedTuple):
    """What holds for a task in one status, each by the command or the rule that tells it."""

    phase: Phase
    is_ready: bool
    """`gt ready` and `gt next` give it."""
    for_worker: bool
    """A run may start a worker on it."""
    for_reviewer: bool
    """A run may start a reviewer on it."""
    may_start: bool
    """`gt start` begins it by hand."""
    may_accept: bool
    """`gt review --accept` accepts it."""
    may_reject: bool
    """`gt review --reject` sends it back."""


MATRIX: dict[tuple[Status, Awaiting | None], Row] = {
    (Status.PENDING, None): Row(Phase.OPEN, True, True, False, True, False, False),
    (Status.WORKING, None): Row(Phase.IN_PROGRESS, True, True, False, True, False, False),
    (Status.CLARIFICATION, Awaiting.INPUT): Row(Phase.IN_PROGRESS, False, False, False, False, False, False),
    (Status.STUCK, Awaiting.ESCALATION): Row(Phase.IN_PROGRESS, False, False, False, False, False, False),
    (Status.AGENT_REVIEW, None): Row(Phase.IN_REVIEW, False, False, True, False, False, True),
    (Status.REVIEWING, Awaiting.REVIEW): Row(Phase.IN_REVIEW, False, False, False, False, True, True),
    (Status.DONE, None): Row(Phase.CLOSED, False, False, False, False, False, False),
    (Status.CANCELLED, None): Row(Phase.CLOSED, False, False, False, False, False, False),
}


def made(path: Path, status: Status, awaiting: Awaiting | None) -> Project:
    project = make_project(path)
    if status in (Status.PENDING, Status.CANCELLED, Status.DONE):
        project.make("k7f2", status=status)
    elif status is Status.WORKING:
        make_working(project)
    else:
        make_reviewing(project, status=status, awaiting=awaiting)
    return project


def listed(project: Project, *words: str) -> list[str]:
    return [one["id"] for one in json.loads(project.ok(*words, "--json"))["tasks"]]


@pytest.mark.parametrize(("status", "awaiting"), MATRIX, ids=lambda value: value and str(value))
def test_what_may_be_done_with_a_task(tmp_path: Path, status: Status, awaiting: Awaiting | None) -> None:
    row = MATRIX[status, awaiting]
    project = made(tmp_path / "project", status, awaiting)
    task = project.task("k7f2")
    assert json.loads(project.ok("status", "--json"))["counts"][status] == 1
    assert listed(project, "list", "--status", row.phase) == ["k7f2"]
    assert listed(project, "list", "--status", status) == ["k7f2"]
    others = ",".join(phase for phase in Phase if phase is not row.phase)
    assert listed(project, "list", "--status", others) == []
    assert listed(project, "ready") == (["k7f2"] if row.is_ready else [])
    assert listed(project, "current") == []
    assert is_turn_of(task, Role.WORKER) == row.for_worker
    assert is_turn_of(task, Role.REVIEWER) == row.for_reviewer
    for may, words in (
        (row.may_start, ("start", "k7f2")),
        (row.may_accept, ("review", "k7f2", "--accept")),
        (row.may_reject, ("review", "k7f2", "--reject", "Not yet.", "--no-resume")),
    ):
        copy = made(tmp_path / words[-1].strip("-. "), status, awaiting)
        ran = copy.gt(*words)
        assert (ran.code == 0) == may, ran.seen
        assert listed(copy, "current") == (["k7f2"] if may and words[0] == "start" else [])
        if not may:
            assert copy.task("k7f2").status is status
            assert "error: " in ran.err
            assert "hint: " in ran.err


def test_every_status_is_in_the_matrix() -> None:
    assert {status for status, _ in MATRIX} == set(Status)
