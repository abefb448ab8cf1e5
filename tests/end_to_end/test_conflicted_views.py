"""Every view of tasks whose files hold both texts of a conflict, are broken, or are no text: named, counted once."""

from __future__ import annotations

import json
import random

import pytest

from tests.support.projects import Project, make_project
from tests.support.repositories import git

BODY, FRONT, BROKEN, BINARY, PLAIN = "b0dy", "fr0nt", "br0k", "b1nary", "p1ain"
READABLE = (BODY, PLAIN)
VIEWS = (
    ("list",),
    ("list", "--all"),
    ("list", "--awaiting"),
    ("ready",),
    ("tree",),
    ("inbox",),
    ("graph",),
    ("graph", "--all"),
    ("board",),
    ("stats",),
    ("search", "pelican"),
    ("next",),
    ("log",),
    ("status",),
    ("current",),
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Returns a repository with one task of each kind, committed past every hook."""
    project = make_project(tmp_path_factory.mktemp("views") / "project")
    for task_id in (BODY, FRONT, BROKEN, BINARY):
        project.make(task_id, body="A pelican.\n")
    project.make(PLAIN, body="A pelican.\n", blocked_by=(BODY, FRONT, BINARY))
    _edit(project, BODY, "A pelican.", "<<<<<<< ours\nOne pelican.\n=======\nTwo pelicans.\n>>>>>>> theirs")
    _edit(project, FRONT, "title: ", "<<<<<<< ours\ntitle: Other\n=======\ntitle: ", ">>>>>>> theirs\n")
    _edit(project, BROKEN, "status: pending", "status: [")
    project.board_file(BINARY).write_bytes(random.Random(1).randbytes(4000))
    git("-c", "core.hooksPath=/dev/null", "commit", "-qam", "merged by lines", at=project.board)
    project.gt("status")
    return project


def _edit(project: Project, task_id: str, old: str, new: str, end: str = "") -> None:
    file = project.board_file(task_id)
    text = file.read_text().replace(old, new, 1)
    file.write_text(text.replace("status: ", f"{end}status: ", 1) if end else text)


@pytest.mark.parametrize("view", VIEWS, ids=" ".join)
def test_no_view_stumbles_and_none_counts_a_task_twice(project: Project, view: tuple[str, ...]) -> None:
    ran = project.gt(*view)
    assert ran.code in (0, 1), ran.seen
    assert "bug in gitticks" not in ran.err
    as_json = project.gt(*view, "--json")
    assert as_json.code in (0, 1), as_json.seen
    body = json.loads(as_json.out)
    for name in ("tasks", "nodes"):
        ids = [one["id"] for one in body.get(name, [])]
        assert len(ids) == len(set(ids)), view
        assert set(ids) <= {*READABLE, FRONT, BROKEN, BINARY}


@pytest.mark.parametrize(
    "view", ["list", "tree", "inbox", "graph", "board", "status", "stats", "search pelican"]
)
def test_each_is_named_with_its_line(project: Project, view: str) -> None:
    told = project.gt(*view.split()).err
    for task_id in (BODY, FRONT, BROKEN, BINARY):
        assert told.count(f"/{task_id}/TASK.md:") == 1, told


def test_what_can_be_read_is_counted_once(project: Project) -> None:
    assert "2 open now" in project.ok("stats")
    assert project.ok("list").count(BODY) == 2, "its own line, and the one that waits for it"
    assert "2 tasks: 2 pending" in project.ok("status")
    assert "open 2\n" in project.ok("board")
    assert project.gt("next").code == 1
    found = json.loads(project.ok("search", "pelican", "--json"))
    assert [task["id"] for task in found["tasks"]] == list(READABLE)
    assert [one["id"] for one in found["broken"]] == [BROKEN, FRONT]


def test_each_can_be_shown_or_says_why_not(project: Project) -> None:
    assert "Two pelicans." in project.ok("show", BODY)
    assert "conflict" in project.ok("show", BODY)
    for task_id in (FRONT, BROKEN, BINARY):
        ran = project.gt("show", task_id)
        assert ran.code == 1
        assert ran.err.startswith(f"error: .gitticks/tasks/{task_id[-2:]}/{task_id}/TASK.md:")
        assert f"`gt edit {task_id}` opens it at that line" in ran.err
        assert "created" in project.ok("log", task_id)
