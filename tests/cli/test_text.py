from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.cli.text import from_here, visible, width, wrap
from tests.cli.support import gt
from tests.support.projects import Project, make_project
from tests.support.repositories import git

BACK = "`git -C .gitticks checkout HEAD -- x`"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ü 👩\u200d👧 ✔\ufe0f", "plain ü 👩\u200d👧 ✔\ufe0f"),
        ("\x1b[2J\r\n\x7f\x9b", r"\x1b[2J\r\n\x7f\x9b"),
        ("\u202e\u2066\u200f\u200b\u2028", r"\u202e\u2066\u200f\u200b\u2028"),
        ("a\U000e0041\U000e0001", r"a\U000e0041\U000e0001"),
        ("a\U000e0100\U000e01ef\U000e0fff", r"a\U000e0100\U000e01ef\U000e0fff"),
    ],
)
def test_what_could_steer_a_terminal_or_hide_in_it_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_what_is_kept_is_kept() -> None:
    assert visible("a\nb\r", keep="\n") == "a\nb\\r"


@pytest.mark.parametrize(
    ("text", "columns", "lines"),
    [
        ("", 5, [""]),
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 80, ["one two three"]),
        ("abcdefgh ij", 3, ["abc", "def", "gh", "ij"]),
        ("a   b", 10, ["a   b"]),
        ("日本語 x", 4, ["日本", "語 x"]),
        ("日", 1, ["日"]),
    ],
)
def test_text_is_broken_between_words(text: str, columns: int, lines: list[str]) -> None:
    assert wrap(text, columns) == lines


@given(st.text("ab  日\u0301", max_size=40), st.integers(2, 12))
def test_breaking_loses_nothing_and_keeps_to_the_width(text: str, columns: int) -> None:
    lines = wrap(text, columns)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(width(line) <= columns for line in lines)


@pytest.mark.parametrize("columns", [1, 0, -5])
def test_without_room_each_character_has_a_line(columns: int) -> None:
    assert wrap("ab 日本", columns) == ["a", "b", "日", "本"]
    assert wrap("", columns) == [""]


@pytest.mark.parametrize("word", ["x" * 300_000, "日" * 300_000])
def test_one_word_as_long_as_a_file_is_broken_in_one_go(word: str) -> None:
    lines = wrap(word, 4)
    assert "".join(lines) == word
    assert max(map(width, lines)) == 4


def test_what_combines_stays_with_its_character() -> None:
    assert wrap("日\u0301日", 1) == ["日\u0301", "日"]


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
