"""A task with both texts of a conflict: shown everywhere, picked by nobody, read by no gate, until a person chooses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitticks.document.merging.three_way import Version, marked
from gitticks.model.ids import TaskId, task_path
from gitticks.model.status import Status
from gitticks.runner.waking import TaskReader
from gitticks.store.decisions import read_artifacts
from tests.support.projects import Project, make_project
from tests.support.repositories import git

PATH = task_path(TaskId("k7f2"))
MARKED = marked([Version("1", "One."), Version("2", "Two.")])
MARKERS = "<<<<<<< ours\nOne.\n=======\nTwo.\n>>>>>>> theirs\n"


@pytest.fixture(params=[MARKED, MARKERS], ids=["ours", "git's"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    made = make_project(tmp_path / "project")
    made.make("k7f2", body=f"## Context\n\n{request.param}\n## Handoff\n\nDONE\n", status=Status.WORKING)
    made.make("m3xq")
    return made


def test_it_is_never_picked(project: Project) -> None:
    assert project.ok("next").startswith("m3xq")
    assert "m3xq" in project.ok("ready")
    assert "k7f2" not in project.ok("ready")


def test_it_is_named_with_its_line_and_the_others_work_on(project: Project) -> None:
    for words in (("list",), ("inbox",), ("status",), ("tree",)):
        done = project.gt(*words)
        assert done.code == 0
        assert f".gitticks/{PATH}:" in done.err
        assert "both versions of a conflict are here" in done.err
    assert "conflict" in project.ok("list")
    line = next(
        row for row in (project.board / PATH).read_text().splitlines() if row.startswith(("<!--", "<<<"))
    )
    number = (project.board / PATH).read_text().splitlines().index(line) + 1
    assert f"{PATH}:{number}: " in project.gt("list").err


def test_the_inbox_shows_it_and_what_to_type(project: Project) -> None:
    shown = project.ok("inbox")
    assert "k7f2" in shown
    assert "conflict" in shown
    assert "gt edit k7f2" in shown
    (task,) = json.loads(project.ok("inbox", "--json"))["tasks"]
    assert (task["id"], task["conflicted"], task["commands"]) == ("k7f2", True, ["gt edit k7f2"])


def test_no_gate_reads_it(project: Project) -> None:
    assert not read_artifacts(project.store.snapshot().task_file(TaskId("k7f2"))).handoff
    refused = project.gt("update", "k7f2", "--status", "agent-review")
    assert refused.code == 3
    assert "its file has both versions of a conflict, so no gate reads it" in refused.err
    assert "`gt edit k7f2`" in refused.err


def test_whoever_settles_it_sets_it_free(project: Project) -> None:
    file = project.board / PATH
    text = file.read_text()
    file.write_text(text.replace(MARKED, "One.\n").replace(MARKERS, "One.\n"))
    git("commit", "--quiet", "-am", "settled", at=project.board)
    assert project.gt("list").err == ""
    assert project.ok("next").startswith("k7f2")


def test_the_runner_knows(project: Project) -> None:
    class Run:
        repository = project.store.repository
        open_store = staticmethod(lambda: project.store)
        rules = ()
        renew_settings = staticmethod(lambda: None)

    reader = TaskReader(Run())  # type: ignore[arg-type]
    reader.graph()
    assert set(reader.conflicted) == {"k7f2"}
