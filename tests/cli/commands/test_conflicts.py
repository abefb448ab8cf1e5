"""`gt conflicts`: which unmerged work conflicts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.projects import Project, make_project, make_reviewing
from tests.support.repositories import commit_file, git


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def start(project: Project, task_id: str, file: str, text: str) -> Path:
    project.make(task_id)
    project.ok("start", task_id)
    workspace = project.path / ".gitticks-work" / task_id
    commit_file(workspace, file, text)
    return workspace


def test_each_pair_and_the_base_are_named_and_nothing_moves(project: Project) -> None:
    commit_file(project.path, "shared.txt", "shared\n")
    start(project, "k7f2", "shared.txt", "mine\n")
    start(project, "m3xq", "shared.txt", "yours\n")
    start(project, "p2aa", "p.txt", "p\n")
    refs = git("for-each-ref", at=project.path)
    ran = project.gt("conflicts")
    assert (ran.code, ran.out) == (1, "k7f2 and m3xq conflict in shared.txt\n")
    assert project.gt("conflicts", "p2").code == 0
    assert git("for-each-ref", at=project.path) == refs
    commit_file(project.path, "shared.txt", "base\n")
    assert "k7f2 and the base conflict in shared.txt" in project.gt("conflicts").out
    noted = json.loads(project.ok("status", "--json"))["conflicts"]
    assert [(one["id"], one["with"]) for one in noted] == [("k7f2", None), ("m3xq", None), ("k7f2", "m3xq")]
    found = json.loads(project.gt("conflicts", "k7f2", "--json").out)["conflicts"]
    assert found == [
        {"id": "k7f2", "with": None, "paths": ["shared.txt"]},
        {"id": "k7f2", "with": "m3xq", "paths": ["shared.txt"]},
    ]


def test_without_a_conflict_it_says_so(project: Project) -> None:
    project.make()
    ran = project.gt("conflicts")
    assert (ran.code, ran.out, ran.err) == (0, "", "no unmerged work conflicts\n")
    assert project.gt("conflicts", "zzzz").code != 0


def test_what_a_person_resolved_is_merged(project: Project) -> None:
    commit_file(project.path, "shared.txt", "shared\n")
    workspace = start(project, "k7f2", "shared.txt", "mine\n")
    assert "no merge of `k7f2` has failed" in project.gt("merge", "--continue", "k7f2").err
    commit_file(project.path, "shared.txt", "base\n")
    assert project.gt("close", "k7f2").code == 1
    ran = project.gt("merge", "--continue", "k7f2")
    assert ran.code == 3
    assert "still conflicts with its base in `shared.txt`" in ran.err
    assert f"cd {workspace} && git merge main" in ran.err
    git("merge", "-q", "-s", "ours", "--no-edit", "main", at=workspace)
    assert "k7f2  done" in project.ok("merge", "--continue", "k7f2")
    assert git("show", "main:shared.txt", at=project.path) == "mine"
    assert (
        git("log", "-1", "--format=%(trailers:key=Task,valueonly)", "main", at=project.path).strip() == "k7f2"
    )


def test_where_nothing_is_new_the_task_stays_with_its_agent(project: Project) -> None:
    workspace = make_reviewing(project)
    project.ok("config", "verify.test", "test -f fixed")
    assert "not merged, working again: " in project.gt("approve", "k7f2").out
    before = project.tip()
    ran = project.gt("merge", "--continue", "k7f2")
    assert (ran.code, project.tip()) == (3, before)
    assert ran.err.startswith("error: nothing was committed to `k7f2` since its merge failed: ")
    assert "hint: `gt run k7f2` lets its agent continue, `gt close k7f2` merges the work as it is" in ran.err
    commit_file(workspace, "another", "\n")
    assert "not merged, working again, awaits work: " in project.gt("merge", "--continue", "k7f2").out
    assert "hint: `gt close k7f2`" in project.gt("merge", "--continue", "k7f2").err
    commit_file(workspace, "fixed", "\n")
    assert "k7f2  done" in project.ok("merge", "--continue", "k7f2")


@pytest.mark.parametrize("arguments", [["--continue"], ["--continue", "--dry-run", "k7f2"]])
def test_continue_takes_the_tasks_that_were_resolved(project: Project, arguments: list[str]) -> None:
    project.make()
    ran = project.gt("merge", *arguments)
    assert (ran.code, "`--continue` needs the ids" in ran.err) == (2, True)
