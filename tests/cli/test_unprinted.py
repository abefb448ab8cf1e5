"""Where stdout takes no more, as on a full disk: nobody is told to repeat what was done."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from gitticks.model.status import Awaiting, Status
from gitticks.runner.outcome import RunExit
from tests.cli.support import command
from tests.support.projects import Project, make_project, make_reviewing
from tests.support.repositories import git
from tests.support.runs import DONE, NO_REVIEW, TO_REVIEW, make_run_project
from tests.support.waiting import LONGEST_SECONDS

FULL = Path("/dev/full")
NO_ROOM = "no space left on device"
READ = f"error: the output could not be printed: {NO_ROOM}\n\nhint: `df -h` shows the free space; then run the command again\n"


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
def test_a_change_that_was_made_is_named(project: Project, words: tuple[str, ...]) -> None:
    tip = project.tip()
    said = unprinted(project.path, *words)
    subject = git("log", "-1", "--format=%s", f"{tip}..gitticks/state", at=project.path)
    assert subject
    message = f"the change was made (`{subject}`), only printing failed: {NO_ROOM}"
    hint = "do not repeat the command: `gt log` shows what was changed"
    if "--json" in words:
        assert json.loads(said)["error"] == {"message": message, "hint": hint, "exit": 1}
    else:
        assert said == f"error: {message}\n\nhint: {hint}\n"


@pytest.mark.parametrize("command", ["cancel", "close"])
def test_of_several_tasks_all_are_decided_on(project: Project, command: str) -> None:
    said = unprinted(project.path, command, "k7f2", "m3xq")
    assert not project.task("k7f2").is_open
    assert not project.task("m3xq").is_open
    assert "`k7f2: " in said
    assert "`m3xq: " in said


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
def test_a_question_may_be_repeated(project: Project, words: tuple[str, ...]) -> None:
    assert unprinted(project.path, *words) == READ


def test_what_is_no_commit_is_not_to_be_repeated_blindly(project: Project) -> None:
    said = unprinted(project.path, "skill", "--install")
    assert said.endswith("the command's changes were kept: check `gt status` before you repeat it\n")


def test_an_agents_request_was_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project(tmp_path)
    workspace = make_reviewing(project, status=Status.WORKING, awaiting=None)
    mailbox = workspace / ".gt"
    mailbox.mkdir()
    (mailbox / "TASK.md").write_bytes(project.file("k7f2").data)
    for name, value in (("AGENT", "1"), ("ROLE", "worker"), ("TASK", "k7f2"), ("MAILBOX", str(mailbox))):
        monkeypatch.setenv(f"GITTICKS_{name}", value)
    said = unprinted(workspace, "note", "seen")
    assert said.startswith(
        "error: the change was made (`k7f2: note passed on to the runner`), only printing failed"
    )
    assert len(list((mailbox / "outbox").iterdir())) == 1


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
