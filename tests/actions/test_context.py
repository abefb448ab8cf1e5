"""One call of gitticks: what it opens ends with it."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.git.objects import BACKEND_VARIABLE
from gitticks.model.ids import TaskId
from gitticks.world import World
from tests.support.processes import children
from tests.support.projects import make_project


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_the_git_that_a_call_reads_with_ends_with_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_collector: None
) -> None:
    project = make_project(tmp_path)
    project.make("k7f2")
    monkeypatch.setenv(BACKEND_VARIABLE, "processes")
    before = {*children(os.getpid())}
    first = Context(World(), project.path)
    for context in (first, first.renewed()):
        assert context.store.task_file(TaskId("k7f2")).task.title
        context.warnings.once("said")
    assert len({*children(os.getpid())} - before) == 2
    del first, context
    assert {*children(os.getpid())} <= before
