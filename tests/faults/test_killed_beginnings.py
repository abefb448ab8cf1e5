"""`gt init` is killed at random instants: what is there is sound, and the next command goes on from it."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest

from tests.cli.support import command as gt_command
from tests.faults.killing import Tally, check_nothing_left
from tests.support.chains import state_tip
from tests.support.doses import LONGEST_TEST_SECONDS, dose
from tests.support.leftovers import prune, unfinished_objects
from tests.support.projects import Project
from tests.support.repositories import fsck_problems, git, make_repository
from tests.support.victims import Command, Moments, await_strays, run, run_until

pytestmark = pytest.mark.timeout(LONGEST_TEST_SECONDS)

KILLS = dose(4, 500)


def test_a_killed_init_is_finished_by_the_next(tmp_path: Path) -> None:
    made = make_repository(tmp_path / "made")
    tally = Tally()
    moments = Moments(run(_gt(_copy(made, tmp_path / "measured"), "init")).seconds, Random("init"))
    number = 0
    while tally.kills < KILLS and tally.ended < KILLS:
        number += 1
        _kill_once(_copy(made, tmp_path / f"repository-{number}"), number, moments, tally)
        shutil.rmtree(tmp_path / f"repository-{number}")
    tally.finish("kills: init")


def _kill_once(project: Project, number: int, moments: Moments, tally: Tally) -> None:
    instant = moments.next()
    fate = run_until(_gt(project, "init"), instant, with_all=bool(number % 2))
    stands = [state_tip(project.path) is not None, (project.board / ".git").exists()]
    assert fate.was_killed or (fate.code == 0 and all(stands)), fate
    if number // 2 % 2:
        _check_writes(project, tally, is_begun=stands[0])
    again = run(_gt(project, "init"))
    assert again.code == 0, f"{fate}{again}"
    tally.time(again)
    await_strays(fate.mark)
    tally.count(fate, sum(stands), len(stands), with_all=bool(number % 2))
    moments.learn(instant, fate, happened=stands[0])
    _check_whole(project, tally)


def _check_writes(project: Project, tally: Tally, *, is_begun: bool) -> None:
    """Fails if a task cannot be made as soon as there is a branch for it, or if anything but `gt init` is advised."""
    created = run(_gt(project, "create", "Say hello"))
    tally.time(created)
    # The killed process's git may have made the branch only now.
    assert created.code == 0 or (not is_begun and created.code == 1 and "`gt init`" in created.err), created


def _check_whole(project: Project, tally: Tally) -> None:
    task = project.create("Say goodbye")
    assert project.board_file(task).exists()
    assert project.board_status() == ""
    assert git("status", "--porcelain", at=project.path) == ""
    git("commit", "--allow-empty", "--quiet", "-m", "by hand", at=project.board)
    assert "error" not in project.gt("doctor").out
    check_nothing_left(project)
    assert fsck_problems(project.path) == ""
    tally.unfinished_objects += len(unfinished_objects(project.path))
    prune(project.path)


def _copy(made: Path, path: Path) -> Project:
    shutil.copytree(made, path, symlinks=True)
    return Project(path)


def _gt(project: Project, *words: str) -> Command:
    return Command(tuple(gt_command(*words)), project.path)
