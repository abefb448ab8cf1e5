"""What a person does after something went wrong on the board: every command answers, and no word is lost."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.cli.support import Ran
from tests.support.projects import Project, make_project
from tests.support.repositories import fsck_problems
from tests.support.runs import HANDOFF

WORDS = "Words that nobody has committed."
SCRIPT = f"Text.\n\n## Script\n\n```sh\necho done > done.txt\ngit add done.txt\ngit commit -qm done\n{HANDOFF}```\n"
_COMMANDS = (
    ("status",),
    ("list",),
    ("show", "k7f2"),
    ("doctor",),
    ("doctor", "--fix"),
    ("update", "k7f2", "-p", "1"),
    ("note", "k7f2", "a note"),
    ("run",),
    ("status",),
)
_A_BUG = 70


def make_edited_project(path: Path) -> Project:
    """Makes a project with a task that is edited on the board, one that is not, and one that a run can work on."""
    project = make_project(path)
    for task_id in ("k7f2", "m3xq"):
        project.make(task_id, body="Text.\n")
    project.make("r9uv", body=SCRIPT)
    project.ok("config", "human", "when-required")
    add_words(project, "k7f2")
    return project


def add_words(project: Project, task_id: str) -> None:
    """Saves words in a task's file on the board, as a person did some seconds ago."""
    file = project.board_file(task_id)
    file.write_text(file.read_text() + f"\n{WORDS}\n")
    os.utime(file, (1e9, 1e9))


def use(project: Project) -> dict[str, Ran]:
    """Uses everything in turn, and returns what the first call of each command came to; none may end in a bug."""
    first: dict[str, Ran] = {}
    for command in _COMMANDS:
        ran = project.gt(*command)
        assert ran.code != _A_BUG, ran.seen
        assert "Traceback" not in ran.out + ran.err, ran.seen
        first.setdefault(" ".join(command), ran)
    assert project.task("k7f2").priority == 1
    assert project.notes("k7f2") == ["a note"]
    assert project.task("r9uv").status.value == "done", first["run"].seen
    assert fsck_problems(project.path) == ""
    return first


def is_kept(project: Project, words: str = WORDS) -> bool:
    """True if the words are in a file of the branch, of the board, or kept beside them."""
    committed = (project.file(task_id).data for task_id in ("k7f2", "m3xq"))
    places = [project.board, project.path / ".git/gitticks/rescue"]
    files = (file for place in places for file in place.rglob("*") if file.is_file())
    return any(words.encode() in data for data in (*committed, *(file.read_bytes() for file in files)))


def check_well(project: Project) -> None:
    """Fails unless nothing is edited or wrong any more, and the words are on the branch."""
    project.ok("status")  # takes up what is fixed
    said = project.ok("status")
    assert "board" not in said.splitlines(), said
    found = project.ok("doctor")
    assert "no problems found" in found, found
    assert project.board_status() == ""
    assert any(WORDS.encode() in project.file(task_id).data for task_id in ("k7f2", "m3xq"))


def type_command(project: Project, said: str) -> None:
    """Types the first command that stands in backticks, as a person does who pastes it."""
    typed = said.split("`")[1]
    subprocess.run(["sh", "-ec", typed], cwd=project.path, check=True, capture_output=True)
