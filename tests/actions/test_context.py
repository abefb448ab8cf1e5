"""One call of gitticks: what it opens ends with it, and a glance sees whether any layer of the settings shares."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.git.objects import BACKEND_VARIABLE
from gitticks.model.ids import TaskId
from gitticks.model.settings import SyncMode, SyncSettings
from gitticks.store.settings import load_settings
from gitticks.world import World
from tests.support.processes import children
from tests.support.projects import Project, make_project
from tests.support.repositories import git
from tests.support.tasks import write_files


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


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


def glance(project: Project, environment: dict[str, str] | None = None, **overrides: str) -> bool:
    named = {name.replace("_", "."): value for name, value in overrides.items()}
    world = World({**os.environ, **(environment or {})})
    return Context(world, project.path, named).may_share()


def write_settings(project: Project, text: str) -> None:
    write_files(project.store, {"config.yaml": f"version: 1\n{text}".encode()})


def write_global(text: str) -> None:
    with Path(os.environ["GIT_CONFIG_GLOBAL"]).open("a", encoding="utf-8") as file:
        file.write(text)


def test_silence_is_seen(project: Project) -> None:
    assert SyncSettings().auto is SyncMode.OFF, "what no layer says is off"
    assert not glance(project)


def test_other_settings_are_silence(project: Project) -> None:
    write_settings(project, 'merge: {mode: "auto"}\n')
    git("config", "gitticks.parallel", "2", at=project.path)
    assert not glance(project)


def include(project: Project) -> None:
    (project.path / "other").write_text('[gitticks "sync"]\n\tauto = push\n')
    write_global(f"[include]\n\tpath = {project.path / 'other'}\n")


LAYERS: dict[str, Callable[[Project], object]] = {
    "the team's": lambda project: write_settings(project, "sync: {auto: push}\n"),
    "the team's with escapes": lambda project: write_settings(project, '"s\\x79nc": {auto: push}\n'),
    "the repository's": lambda project: git("config", "gitticks.sync.auto", "push", at=project.path),
    "in capitals": lambda _: write_global('[GitTicks "sync"]\n\tAUTO = push\n'),
    "included": include,
}


@pytest.mark.parametrize("give", LAYERS.values(), ids=LAYERS)
@pytest.mark.damages
def test_a_layer_that_gives_it_is_seen(project: Project, give: Callable[[Project], object]) -> None:
    give(project)
    assert glance(project)


def test_the_environment_and_flags_are_seen(project: Project) -> None:
    variable = {"GITTICKS_CONFIG_SYNC_AUTO": "push"}
    assert load_settings(project.store.repository, variable, {}).settings.sync.auto is SyncMode.PUSH
    assert glance(project, variable)
    assert glance(project, sync_auto="push")
