"""What is said to be typed works where the person is: in a subfolder, a linked worktree, and on the board itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gitticks.cli.from_here import from_here
from tests.cli.support import gt
from tests.support.projects import Project, make_project
from tests.support.repositories import git

BACK = "`git -C .gitticks checkout HEAD -- x`"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path / "project")
    project.make("k7f2")
    (project.path / "src/deep").mkdir(parents=True)
    git("worktree", "add", "-q", "--detach", "../linked", at=project.path)
    return project


@pytest.mark.parametrize("place", ["src/deep", "../linked", ".gitticks", ".gitticks/tasks"])
def test_a_removed_file_comes_back_as_is_said_wherever_one_is(project: Project, place: str) -> None:
    here = project.path / place
    for told in (gt("status", at=here), gt("doctor", at=here), gt("path", "k7f2", at=here)):
        assert ".gitticks" not in told.seen.replace(str(project.board), "")
    for words in ("status", "doctor", "path k7f2", "watch --once"):
        project.board_file("k7f2").unlink()
        said = gt(*words.split(), at=here).seen
        (back,) = {command for command in said.split("`")[1::2] if command.startswith("git ")}
        subprocess.run(["sh", "-ec", back], cwd=here, check=True)
        assert project.board_file("k7f2").exists()
        assert project.board_status() == ""


@pytest.mark.parametrize(
    ("place", "board"),
    [(".", ".gitticks"), ("src", "../.gitticks"), (".gitticks", "."), (".gitticks/tasks", "..")],
)
def test_only_commands_are_changed(
    project: Project, monkeypatch: pytest.MonkeyPatch, place: str, board: str
) -> None:
    monkeypatch.chdir(project.path / place)
    text = (
        "see .gitticks/a: `mv .gitticks/a x.gitticks/.gitticks.old '.gitticks/b c' && git -C .gitticks add a`"
    )
    found = from_here(text)
    assert found.startswith("see .gitticks/a: `")
    command = found.split("`")[1]
    typed = command.split()
    assert os.path.realpath(typed[typed.index("-C") + 1]) == os.path.realpath(project.board)
    assert board in typed
    assert "x.gitticks/.gitticks.old" in typed


def test_where_no_board_is_known_nothing_is_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert from_here(BACK) == BACK


@pytest.mark.parametrize("name", ["a b", "it's $HOME"])
def test_what_has_to_be_quoted_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: Project, name: str
) -> None:
    odd = tmp_path / name
    project.path.rename(odd)
    git("worktree", "repair", at=odd)
    monkeypatch.chdir(odd / "src")
    assert "../.gitticks" in from_here(BACK)
    monkeypatch.chdir(tmp_path / "linked")
    command = from_here("`printf '%s\\n' .gitticks/config.yaml '.gitticks/b c'`").strip("`")
    told = subprocess.run(["sh", "-ec", command], capture_output=True, text=True, check=True).stdout
    assert told == f"{odd}/.gitticks/config.yaml\n{odd}/.gitticks/b c\n"
