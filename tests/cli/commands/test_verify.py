"""`gt verify`: the quality gates, by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitticks.model.status import Status
from tests.cli.support import gt
from tests.support.projects import Project, make_project, make_working


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def test_it_says_what_each_gate_came_to_and_leaves_the_task_alone(project: Project) -> None:
    workspace = make_working(project)
    project.ok("config", "verify.test", "test -e login.txt")
    events = project.events("k7f2")
    assert "k7f2  tests pass" in project.ok("verify", "k7f2")
    assert gt("verify", at=workspace).code == 0
    project.ok("config", "verify.test", r"printf '\tbroken\n'; false")
    ran = project.gt("verify", "k7f2")
    assert ran.code == 1
    assert "\tbroken\n" in ran.err
    found = json.loads(project.gt("verify", "k7f2", "--json").out)
    assert (found["id"], "broken" in found["failure"]) == ("k7f2", True)
    assert project.events("k7f2") == events
    assert project.task("k7f2").status is Status.WORKING


def test_what_is_not_committed_fails_first(project: Project) -> None:
    workspace = make_working(project)
    assert "everything is committed" in project.ok("verify", "k7f2")
    (workspace / "more.txt").write_text("more\n")
    ran = project.gt("verify", "k7f2")
    assert ran.code == 1
    assert "not everything is committed: `more.txt`" in ran.err
    assert (workspace / "more.txt").exists()


def test_a_task_without_a_workspace_and_a_project_without_gates(project: Project) -> None:
    project.make()
    ran = project.gt("verify", "k7f2")
    assert (ran.code, "`gt start k7f2` makes one" in ran.err) == (1, True)
    project.make("m3xq")
    project.change("k7f2", status=Status.CANCELLED)
    make_working(project, "p2aa")
    project.ok("config", "verify.committed", "false")
    ran = project.gt("verify", "p2aa")
    assert (ran.code, "there are no quality gates" in ran.err) == (3, True)


@pytest.mark.without_sandbox("in one the workspace is mounted, and a mounted folder stays")
def test_a_workspace_that_is_removed_meanwhile_tells_nothing(project: Project) -> None:
    workspace = make_working(project)
    project.ok("config", "verify.test", f"rm -rf '{workspace}'")
    ran = project.gt("verify", "k7f2")
    assert ran.code == 1
    assert ran.err == f"error: `{workspace}` is not a directory\n"
