"""Which commands a listing offers."""

from __future__ import annotations

from pathlib import Path

from gitticks.model.status import Awaiting, Status, TaskType
from tests.support.projects import make_project


def test_work_is_begun_only_where_that_can_be(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.make("m3xq", awaiting=Awaiting.WORK)
    project.make("e0pc", type=TaskType.EPIC, awaiting=Awaiting.WORK)
    project.make("k7f2", status=Status.REVIEWING, awaiting=Awaiting.WORK)
    offered = [line.strip() for line in project.ok("inbox").splitlines() if line.startswith("    ")]
    assert sorted(offered) == ["gt close e0pc", "gt close k7f2", "gt start m3xq · gt close m3xq"]
    project.ok("start", "m3xq")
