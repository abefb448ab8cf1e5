from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitticks.actions.context import Context
from gitticks.actions.update import Changes, set_field, update_task
from gitticks.model.ids import TaskId
from gitticks.store.transaction import Transaction
from tests.support.projects import Project, make_project

TASK = TaskId("k7f2")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


def context_that_is_overtaken(project: Project, monkeypatch: pytest.MonkeyPatch, **fields: Any) -> Context:
    """Returns a context in which another writer sets fields between a command's first look and its commit."""
    context = Context(directory=project.path)
    transact = context.store.transact

    def overtaken(operation: Callable[[Transaction], Any], **how: Any) -> Any:
        project.change(TASK, **fields)
        return transact(operation, **how)

    monkeypatch.setattr(context.store, "transact", overtaken)
    return context


def test_what_others_added_to_a_list_meanwhile_stays(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.make(labels=("old", "gone"))
    context = context_that_is_overtaken(project, monkeypatch, labels=("old", "gone", "theirs"))
    updated = update_task(context, TASK, Changes({"labels": ("+ours", "-gone")}))
    assert updated.after.labels == project.task(TASK).labels == ("old", "theirs", "ours")


def test_a_blocker_that_others_added_meanwhile_stays(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (TASK, "aaaa", "bbbb"):
        project.make(name)
    context = context_that_is_overtaken(project, monkeypatch, blocked_by=(TaskId("aaaa"),))
    set_field(context, TASK, "blocked_by", ("+bbbb",))
    assert project.task(TASK).blocked_by == ("aaaa", "bbbb")


def test_a_whole_list_takes_the_place_of_what_is_there(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.make(labels=("old",))
    context = context_that_is_overtaken(project, monkeypatch, labels=("theirs",))
    update_task(context, TASK, Changes({"labels": ("ours",)}))
    assert project.task(TASK).labels == ("ours",)
