"""`gt run` with a script is killed at random instants: the next one brings the task to its end, and does nothing twice."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path
from random import Random

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Status
from tests.cli.support import command as gt_command
from tests.faults.families import ANCHOR, task_name
from tests.faults.killing import Tally, check_at_the_end, check_nothing_left
from tests.support.chains import state_tip, steps_since
from tests.support.doses import LONGEST_TEST_SECONDS, dose
from tests.support.projects import Project, make_project
from tests.support.repositories import git
from tests.support.runs import COMMIT, HANDOFF
from tests.support.tasks import write_files
from tests.support.victims import Command, Moments, await_strays, run, run_until

pytestmark = pytest.mark.timeout(LONGEST_TEST_SECONDS)

KILLS = dose(3, 500)
KILLS_A_REPOSITORY = 50
CONFIG = b"version: 1\nbase: main\nagent: script\nreview: none\nhuman: when-required\n"
SCRIPT = f"## Script\n\n```sh\n{COMMIT}{HANDOFF}echo '<promise>COMPLETE</promise>'\n```\n"


def test_a_killed_run_is_carried_on_by_the_next(tmp_path: Path) -> None:
    tally = Tally()
    moments: Moments | None = None
    for repository in itertools.count():
        project = _start(tmp_path / f"repository-{repository}")
        names = itertools.count()
        if moments is None:
            moments = _measure(project, task_name(next(names)))
        for _ in range(min(KILLS_A_REPOSITORY, KILLS)):
            _kill_once(project, next(names), moments, tally)
        check_at_the_end(project, tally)
        shutil.rmtree(project.path)
        if tally.kills >= KILLS or tally.ended >= KILLS:
            break
    tally.finish("kills: run")


def _start(folder: Path) -> Project:
    project = make_project(folder)
    project.make(ANCHOR, status=Status.CANCELLED)
    write_files(project.store, {"config.yaml": CONFIG})
    return project


def _measure(project: Project, task: str) -> Moments:
    project.make(task, body=SCRIPT)
    fate = run(_run(project))
    assert fate.code == 0, fate
    _check_done_once(project, task)
    return Moments(fate.seconds, Random("run"))


def _kill_once(project: Project, number: int, moments: Moments, tally: Tally) -> None:
    task = task_name(number)
    project.make(task, body=SCRIPT)
    base = state_tip(project.path)
    assert base is not None
    instant = moments.next()
    fate = run_until(_run(project), instant, with_all=bool(number % 2))
    begun = len(steps_since(project.path, base)) > 0
    is_done = project.task(task).status is Status.DONE
    assert fate.was_killed or (fate.code == 0 and is_done), fate
    if number // 2 % 2:
        noted = run(Command(tuple(gt_command("note", ANCHOR, "Another matter.")), project.path))
        assert noted.code == 0, noted
        tally.time(noted)
    again = run(_run(project))
    assert again.code == 0, f"{fate}\n{again}"
    await_strays(fate.mark)
    tally.count(fate, begun + is_done, 2, with_all=bool(number % 2))
    moments.learn(instant, fate, happened=is_done)
    _check_done_once(project, task)
    check_nothing_left(project)


def _check_done_once(project: Project, task: str) -> None:
    assert project.task(task).status is Status.DONE
    assert project.task(task).crash_count == 0
    assert [event.type for event in project.events(task)].count(EventType.MERGED) == 1
    merges = git("log", "--first-parent", "--format=%(trailers:key=Task,valueonly)", "main", at=project.path)
    assert merges.split().count(task) == 1
    assert git("status", "--porcelain", at=project.path) == ""
    assert project.board_status() == ""
    assert f"{task}.txt" in git("ls-tree", "--name-only", "main", at=project.path).split()
    assert not (project.path / ".gitticks-work" / task).exists()
    assert not list((project.path / ".git/gitticks/sessions").glob("*.json"))


def _run(project: Project) -> Command:
    return Command(tuple(gt_command("run", "--headless", "--debounce", "0")), project.path)
