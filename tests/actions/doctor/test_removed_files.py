"""`gt doctor --fix` puts back what was removed or renamed on the board, and writes over nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.projects import Project, make_project
from tests.support.repositories import git

FIXED = "fixed: restore what was deleted or renamed on the board\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    project.make("k7f2")
    project.make("m3f2")
    return project


def _folder(project: Project) -> Path:
    return project.board_file("k7f2").parent


def _add(file: Path, text: str) -> str:
    file.write_text(file.read_text() + text)
    return file.read_text()


@pytest.mark.parametrize("notes", [0, 1])
def test_a_deleted_task_comes_back(project: Project, notes: int) -> None:
    shutil.rmtree(_folder(project))
    for number in range(notes):
        assert "tasks are cancelled, not deleted" in project.gt("note", "k7f2", f"note {number}").err
    assert project.ok("doctor", "--fix").startswith(FIXED)
    assert project.board_file("k7f2").read_bytes() == project.file("k7f2").data
    assert project.board_status() == ""
    assert len(project.notes("k7f2")) == notes


def test_a_deletion_that_was_staged_is_taken_back_with_it(project: Project) -> None:
    git("rm", "-rq", "tasks/f2/k7f2", at=project.board)
    assert project.ok("doctor", "--fix").startswith(FIXED)
    assert project.board_status() == ""
    _add(project.board_file("m3f2"), "\nMy words.\n")
    git("commit", "-qam", "m3f2: more", at=project.board)
    assert "My words." in project.file("m3f2").data.decode()


@pytest.mark.parametrize("name", ["tasks/f2/login", "tasks/zz/k7f2"])
@pytest.mark.parametrize("notes", [0, 1])
def test_a_renamed_folder_is_moved_back_with_what_was_edited_in_it(
    project: Project, name: str, notes: int
) -> None:
    wrong = project.board / name
    wrong.parent.mkdir(exist_ok=True)
    _folder(project).rename(wrong)
    _add(wrong / "TASK.md", "\nMy words.\n")
    (wrong / "more").mkdir()
    (wrong / "more/shot.png").write_bytes(b"image")
    project.ok("status")
    for number in range(notes):
        project.ok("note", "k7f2", f"note {number}")
    assert f".gitticks/{name} is a renamed task folder" in project.ok("doctor")
    assert project.ok("doctor", "--fix").startswith(FIXED)
    assert not wrong.exists()
    project.ok("status")
    assert "My words." in project.file("k7f2").data.decode()
    assert len(project.notes("k7f2")) == notes
    assert project.store.read("tasks/f2/k7f2/more/shot.png") == b"image"
    assert project.board_status() == ""
    assert "files" not in project.ok("doctor").splitlines()


def test_what_is_only_staged_in_a_renamed_folder_is_kept(project: Project) -> None:
    wrong = project.board / "tasks/f2/login"
    _folder(project).rename(wrong)
    (wrong / "shot.png").write_bytes(b"image")
    git("add", "-A", at=project.board)
    (wrong / "shot.png").unlink()
    assert project.ok("doctor", "--fix").startswith(FIXED)
    assert (_folder(project) / "shot.png").read_bytes() == b"image"
    assert not wrong.exists()


def test_what_is_staged_alone_in_the_place_of_a_renamed_folder_stays_staged(project: Project) -> None:
    place = "tasks/f2/k7f2/shot.png"
    (project.board / place).write_bytes(b"image")
    git("add", place, at=project.board)
    (project.board / place).unlink()
    _folder(project).rename(project.board / "tasks/f2/login")
    assert project.ok("doctor", "--fix").startswith(FIXED)
    assert git("show", f":{place}", at=project.board) == "image"


def test_a_link_to_a_folder_is_moved_back_with_the_folder_that_it_is_in(project: Project) -> None:
    wrong = project.board / "tasks/f2/login"
    _folder(project).rename(wrong)
    (wrong / "above").symlink_to("../..")
    project.ok("doctor", "--fix")
    assert (_folder(project) / "above").is_symlink()
    assert not wrong.exists()


def test_what_stands_in_the_place_of_a_renamed_folder_stays(project: Project) -> None:
    wrong = project.board / "tasks/f2/login"
    _folder(project).rename(wrong)
    _folder(project).mkdir()
    (_folder(project) / "shot.png").write_bytes(b"mine")
    (wrong / "shot.png").write_bytes(b"also mine")
    project.ok("doctor", "--fix")
    assert (_folder(project) / "shot.png").read_bytes() == b"mine"
    assert [file.name for file in wrong.iterdir()] == ["shot.png"]
    assert project.board_file("k7f2").read_bytes() == project.file("k7f2").data


def test_a_link_in_the_place_of_a_folder_is_not_written_through(project: Project, tmp_path: Path) -> None:
    shutil.rmtree(_folder(project))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    _folder(project).symlink_to(elsewhere)
    project.gt("doctor", "--fix")
    assert list(elsewhere.iterdir()) == []
    assert _folder(project).is_symlink()


def test_what_a_person_may_remove_is_left_to_them(project: Project) -> None:
    file = _folder(project) / "shot.png"
    file.write_bytes(b"image")
    project.ok("status")
    file.unlink()
    project.gt("doctor", "--fix")
    assert not file.exists()


def test_an_edit_that_would_be_refused_is_found(project: Project) -> None:
    file = project.board_file("k7f2")
    file.write_text(file.read_text().replace("id: k7f2", "id: m3f2"))
    found = project.ok("doctor")
    assert ".gitticks/tasks/f2/k7f2/TASK.md: edited, refused: line 2: `id` is `m3f2`" in found
    assert "or `git -C .gitticks checkout HEAD -- tasks/f2/k7f2/TASK.md` restores the committed one" in found
