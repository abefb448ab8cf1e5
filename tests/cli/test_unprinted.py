"""Where stdout takes no more, as on a full disk: what was done is kept, and the next command shows it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from gitticks.model.status import Awaiting, Status
from gitticks.runner.outcome import RunExit
from tests.cli.support import command
from tests.support.projects import Project, make_project
from tests.support.runs import DONE, NO_REVIEW, TO_REVIEW, make_run_project
from tests.support.waiting import LONGEST_SECONDS

FULL = Path("/dev/full")
NO_ROOM = "no space left on device"
MESSAGE = f"the output could not be printed: {NO_ROOM}"
HINT = "what was changed stays: see `gt log` before you repeat the command"


def unprinted(path: Path, *words: str, code: int = 1, full_stderr: bool = False) -> str:
    """Runs a command whose stdout takes nothing, and returns what it said on stderr."""
    with FULL.open("wb") as full:
        done = subprocess.run(
            command(*words),
            cwd=path,
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=full if full_stderr else subprocess.PIPE,
            text=True,
            check=False,
            timeout=LONGEST_SECONDS,
        )
    assert done.returncode == code, done.stderr
    return done.stderr or ""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    project.make("k7f2", status=Status.REVIEWING, awaiting=Awaiting.REVIEW)
    project.make("m3xq")
    return project


CHANGING = [
    ("create", "Fix it"),
    ("create", "Fix it", "--json"),
    ("note", "k7f2", "mind the gap"),
    ("update", "k7f2", "-p", "0"),
    ("close", "m3xq"),
    ("cancel", "m3xq"),
    ("approve", "k7f2"),
    ("reject", "k7f2", "no"),
    ("block", "m3xq", "k7f2"),
    ("defer", "m3xq", "+3d"),
    ("config", "verify.test", "true"),
    ("review", "k7f2", "--comment", "why?"),
]


@pytest.mark.parametrize("words", CHANGING)
def test_a_change_is_made_all_the_same(project: Project, words: tuple[str, ...]) -> None:
    tip = project.tip()
    said = unprinted(project.path, *words)
    assert project.tip() != tip
    if "--json" in words:
        assert json.loads(said)["error"] == {"message": MESSAGE, "hint": HINT, "exit": 1}
    else:
        assert said == f"error: {MESSAGE}\n\nhint: {HINT}\n"


@pytest.mark.parametrize("command", ["cancel", "close"])
def test_of_several_tasks_all_are_decided_on(project: Project, command: str) -> None:
    said = unprinted(project.path, command, "k7f2", "m3xq")
    assert not project.task("k7f2").is_open
    assert not project.task("m3xq").is_open
    assert MESSAGE in said


@pytest.mark.parametrize(("also", "code"), [((), 0), (("d1",), 3)])
def test_of_several_tasks_all_are_decided_on_without_a_reader(
    project: Project, also: tuple[str, ...], code: int
) -> None:
    project.make("d1", status=Status.DONE)
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as nobody:
        words = command("cancel", "k7f2", "m3xq", *also)
        ran = subprocess.run(words, cwd=project.path, stdout=nobody, check=False)
    assert ran.returncode == code
    assert not project.task("k7f2").is_open
    assert not project.task("m3xq").is_open


@pytest.mark.parametrize("words", [("list",), ("show", "k7f2"), ("log",), ("help", "workflow")])
def test_an_answer_that_is_not_printed_is_an_error(project: Project, words: tuple[str, ...]) -> None:
    assert unprinted(project.path, *words) == f"error: {MESSAGE}\n\nhint: {HINT}\n"


def test_a_run_goes_on(tmp_path: Path) -> None:
    project = make_run_project(tmp_path, "unprinted", NO_REVIEW)
    project.agent(DONE)
    project.make("k7f2")
    said = unprinted(project.path, "run", "--headless", "--debounce", "0", code=3)
    assert said.count(f"nothing more is printed, but the work continues: {NO_ROOM}\n") == 1
    assert project.stands() == TO_REVIEW


def test_a_run_goes_on_without_its_reader(tmp_path: Path) -> None:
    project = make_run_project(tmp_path, "unread", NO_REVIEW)
    project.agent(DONE)
    project.make("k7f2")
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as nobody:
        ran = subprocess.run(
            command("run", "--headless", "--debounce", "0"),
            cwd=project.path,
            stdin=subprocess.DEVNULL,
            stdout=nobody,
            stderr=nobody,
            check=False,
        )
    assert ran.returncode == RunExit.WAITS
    assert project.stands() == TO_REVIEW


def test_a_full_stderr_stops_no_change(project: Project) -> None:
    unprinted(project.path, "list", full_stderr=True)
    with FULL.open("wb") as full:
        made = subprocess.run(
            command("create", "Fix it", "--manual"),
            cwd=project.path,
            stdout=subprocess.PIPE,
            stderr=full,
            check=True,
        )
    assert project.task(made.stdout.decode().strip()).awaiting is Awaiting.WORK
