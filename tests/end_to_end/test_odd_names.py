r"""Names that are not UTF-8, of files, branches and of the repository itself: shown as `\xe9`, and in nobody's way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Status
from tests.support.runs import (
    DONE,
    HANDOFF,
    NO_PERSON,
    NO_REVIEW,
    TO_REVIEW,
    RunProject,
    make_run_project,
    project,
)

__all__ = ["project"]

LATIN = os.fsdecode(b"lat\xe9")
ODD = "name=$(printf 'odd\\351')\n"


def test_an_uncommitted_file_is_named_and_holds_up_its_own_task_alone(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.agent(f"{ODD}if [ $GITTICKS_TASK = k7f2 ]; then touch $name\n{HANDOFF}else\n{DONE}fi")
    project.make("k7f2")
    project.make("m3q8")
    ran = project.run()
    assert (ran.code, project.task("k7f2").status, project.stands("m3q8")) == (4, Status.STUCK, TO_REVIEW), (
        ran
    )
    said = r"not everything is committed: `odd\xe9`"
    assert said in ran.seen
    assert said in str(project.last(EventType.GATE_FAILED).reason)
    assert said in (project.store.read("tasks/f2/k7f2/scratchpad.md") or b"").decode()
    assert project.gt("health").code == 0


def test_a_branch_of_the_agents_is_named(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.agent(f"if [ $GITTICKS_ITERATION = 1 ]; then {ODD}git checkout -q -b $name\nfi\n{DONE}")
    project.make()
    ran = project.run()
    assert ran.code == 3, ran
    assert r"is on the branch `odd\xe9`" in ran.seen


@pytest.mark.parametrize("name", [LATIN, "two\nlines", f'a"\n\\{LATIN}'], ids=ascii)
def test_a_repository_may_have_any_name(tmp_path: Path, name: str) -> None:
    project = make_run_project(tmp_path / name, "mark", NO_PERSON)
    project.make()
    ran = project.run()
    assert (ran.code, project.task("k7f2").status) == (0, Status.DONE), ran
    assert project.merges() == ["k7f2"]
