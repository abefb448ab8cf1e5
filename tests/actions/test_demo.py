"""The demo's repository: a project with tasks that need no model."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.actions.demo import awaiting_tasks, demo_context, graph, make_demo
from gitticks.errors import GitticksError
from gitticks.world import World
from tests.support.repositories import git


def test_it_makes_a_repository_with_an_epic_and_its_tasks(tmp_path: Path) -> None:
    demo = make_demo(tmp_path / "till", World())
    context = demo_context(demo.directory, World())
    tasks = context.store.snapshot().all_tasks()
    assert set(demo.tasks) | {demo.epic} == set(tasks)
    assert tasks[demo.epic].is_epic
    assert all(tasks[one].parent == demo.epic for one in demo.tasks)
    assert any(tasks[one].blocked_by for one in demo.tasks)
    assert awaiting_tasks(context) == []
    assert graph(context)[0].endswith("Start the till")
    assert git("status", "--porcelain", at=demo.directory) == ""


def test_the_person_of_the_demo_is_named_where_git_knows_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(tmp_path / "empty").touch()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "empty"))
    demo = make_demo(tmp_path / "till", World())
    assert git("log", "-1", "--format=%an", at=demo.directory) == "Ada"


def test_a_folder_with_something_in_it_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(GitticksError, match="is not empty"):
        make_demo(tmp_path, World())
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
