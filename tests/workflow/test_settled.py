"""What is settled stays so, by whatever way a person asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.errors import RefusedError
from gitticks.model.ids import TaskId
from gitticks.model.status import Requires, Status
from gitticks.model.task import Approval, Task
from gitticks.workflow.transitions import refuse_settled
from tests.support.projects import Project, make_project, make_reviewing
from tests.support.tasks import CREATED

APPROVAL = Approval("Ada", CREATED, "a" * 40)
MERGING = Task(TaskId("k7f2"), "A", status=Status.REVIEWING, approval=APPROVAL)


def test_a_gate_that_was_passed_is_settled_and_nothing_else_is() -> None:
    refuse_settled(MERGING, ["title", "priority"])
    refuse_settled(Task(TaskId("k7f2"), "A", status=Status.REVIEWING), ["requires"])
    with pytest.raises(RefusedError, match="so what it requires cannot be changed") as refused:
        refuse_settled(MERGING, ["title", "requires"])
    assert refused.value.hint == "`gt update k7f2 --awaiting review` withdraws the approval"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path / "project")
    make_reviewing(project, requires=Requires.REVIEW)
    project.change("k7f2", awaiting=None, approval=APPROVAL)
    return project


def test_by_command_and_by_hand_it_is_refused_alike(project: Project) -> None:
    said = "`k7f2` is approved and merging, so what it requires cannot be changed"
    by_command = project.gt("update", "k7f2", "--requires", "approval")
    assert (by_command.code, said in by_command.err) == (3, True)
    file = project.board_file("k7f2")
    file.write_text(file.read_text().replace("requires: review", "requires: approval"))
    assert said in project.ok("status")
    assert project.task("k7f2").requires is Requires.REVIEW
