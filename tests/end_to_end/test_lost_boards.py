"""A board that is gone, moved or cleaned away, and a repository that was moved or copied: all of it goes on."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.bad_boards import (
    SCRIPT,
    WORDS,
    add_words,
    check_well,
    make_edited_project,
    type_command,
    use,
)
from tests.support.projects import Project
from tests.support.repositories import git

NO_BOARD = "hint: there is no board to edit tasks on: `gt doctor` says why\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_edited_project(tmp_path / "project")


def _is_made_again(project: Project) -> None:
    """Fails unless the board was made again, and what is saved on it is taken up as ever."""
    assert project.board_status() == ""
    add_words(project, "m3xq")
    check_well(project)


def _remove(project: Project) -> None:
    shutil.rmtree(project.board)


def _remove_and_prune(project: Project) -> None:
    shutil.rmtree(project.board)
    git("worktree", "prune", at=project.path)


def _remove_by_git(project: Project) -> None:
    git("worktree", "remove", "--force", ".gitticks", at=project.path)


def _clean_main_checkout(project: Project) -> None:
    assert "Removing .gitticks/" in git("clean", "-ffdx", at=project.path)


@pytest.mark.parametrize("lose", [_remove, _remove_and_prune, _remove_by_git, _clean_main_checkout])
def test_a_board_that_is_gone_is_made_again(project: Project, lose: Callable[[Project], None]) -> None:
    project.ok("note", "m3xq", "kept")
    lose(project)
    ran = use(project)
    assert ran["status"].err.endswith(NO_BOARD)
    assert "there is no board at .gitticks/\n           `gt doctor --fix`" in ran["doctor"].out
    assert "fixed: create or fix the board" in ran["doctor --fix"].out
    assert project.notes("m3xq") == ["kept"]
    _is_made_again(project)


def test_git_clean_on_the_board_takes_no_edit_of_a_task(project: Project) -> None:
    (project.board_file("k7f2").parent / "notes.tmp").write_text("scratch\n")
    git("clean", "-ffdx", at=project.board)
    use(project)
    assert WORDS in project.file("k7f2").data.decode()
    check_well(project)


def test_git_clean_and_stash_of_the_main_checkout_spare_the_board(project: Project) -> None:
    (project.path / "junk.txt").write_text("junk\n")
    git("clean", "-fdx", at=project.path)
    (project.path / "junk.txt").write_text("junk\n")
    git("stash", "--all", at=project.path)
    use(project)
    assert WORDS in project.file("k7f2").data.decode()
    check_well(project)


def test_a_moved_repository(project: Project) -> None:
    moved = Project(project.path.rename(project.path.with_name("moved here")))
    ran = use(moved)
    assert "TASK.md  edited, now committed" in ran["status"].out
    assert WORDS in moved.file("k7f2").data.decode()
    assert git("rev-parse", "--abbrev-ref", "HEAD", at=moved.board) == "gitticks/state"
    check_well(moved)


def test_a_copied_repository_and_the_original_do_not_meet(project: Project) -> None:
    copy = Project(project.path.with_name("copy"))
    shutil.copytree(project.path, copy.path, symlinks=True)
    use(copy)
    assert project.task("k7f2").priority != 1
    assert WORDS in copy.file("k7f2").data.decode()
    use(project)
    check_well(project)
    check_well(copy)


def test_a_board_that_was_gone_before_the_repository_moved_is_made_again(project: Project) -> None:
    shutil.rmtree(project.board)
    moved = Project(project.path.rename(project.path.with_name("moved here")))
    assert "fixed: create or fix the board" in use(moved)["doctor --fix"].out
    _is_made_again(moved)


def test_a_copy_without_its_board_leaves_that_of_the_original_alone(project: Project) -> None:
    copy = Project(project.path.with_name("copy"))
    shutil.copytree(project.path, copy.path, symlinks=True)
    shutil.rmtree(copy.board)
    assert "fixed: create or fix the board" in use(copy)["doctor --fix"].out
    _is_made_again(copy)
    assert WORDS in project.board_file("k7f2").read_text()
    use(project)
    check_well(project)


@pytest.mark.parametrize("by_git", [False, True])
def test_a_board_that_was_moved_is_named_with_the_way_back(project: Project, *, by_git: bool) -> None:
    place = project.path / "my board"
    if by_git:
        git("worktree", "move", ".gitticks", str(place), at=project.path)
    else:
        project.board.rename(place)
    ran = use(project)
    assert f"there is no board at .gitticks/: it was moved to `{place}`" in ran["doctor"].out
    assert not project.board.exists()
    said = ran["doctor"].out.partition("it was moved to")[2].partition("\n")[2]
    type_command(project, said)
    project.ok("status")
    assert WORDS in project.file("k7f2").data.decode()
    check_well(project)


def test_a_board_whose_files_are_all_gone_comes_back(project: Project) -> None:
    add_words(project, "m3xq")
    project.ok("status")
    shutil.rmtree(project.board / "tasks")
    ran = use(project)
    assert "fixed: restore what was deleted or renamed" in ran["doctor --fix"].out
    check_well(project)


def test_something_in_the_place_of_the_board_is_put_aside_as_is_said(project: Project) -> None:
    shutil.rmtree(project.board)
    project.board.mkdir()
    (project.board / "mine.txt").write_text("mine\n")
    said = project.gt("doctor").out
    assert "what is there is not a board" in said
    type_command(project, said[said.index("`mv ") :].replace("&& gt doctor --fix", ""))
    project.ok("doctor", "--fix")
    assert (project.path / ".gitticks.old/mine.txt").read_text() == "mine\n"
    _is_made_again(project)


def _work_begun(project: Project) -> Callable[[Project], str]:
    """Begins work by hand, with one version of a file staged and another one not; returns what shows it."""
    file = Path(project.ok("start", "m3xq").strip()) / "f"
    file.write_text("staged\n")
    git("add", "f", at=file.parent)
    file.write_text("newer\n")
    place = file.parent.relative_to(project.path)
    return lambda there: git("diff", "-U0", "f", at=there.path / place)


@pytest.mark.parametrize(
    "words",
    [("status",), ("doctor", "--fix"), ("start", "m3xq"), ("worktree", "list"), ("current",)],
    ids=" ".join,
)
@pytest.mark.parametrize("has_board", [True, False])
def test_a_workspace_moves_with_its_repository(
    project: Project, *, words: tuple[str, ...], has_board: bool
) -> None:
    changes = _work_begun(project)
    before = changes(project)
    if not has_board and words != ("status",):
        shutil.rmtree(project.board)
    moved = Project(project.path.rename(project.path.with_name("moved here")))
    at = moved.path / ".gitticks-work" / "m3xq" if words == ("current",) else moved.path
    assert "missing" not in moved.gt(*words, at=at).seen
    assert changes(moved) == before
    assert "m3xq" in moved.ok("start", "m3xq")


@pytest.mark.parametrize("words", [("status",), ("doctor", "--fix"), ("start", "m3xq"), ("worktree", "list")])
def test_a_copied_workspace_and_the_original_do_not_meet(project: Project, words: tuple[str, ...]) -> None:
    changes = _work_begun(project)
    before = changes(project)
    copy = Project(project.path.with_name("copy"))
    shutil.copytree(project.path, copy.path, symlinks=True)
    copy.gt(*words)
    git("add", "f", at=copy.path / ".gitticks-work" / "m3xq")
    assert (changes(project), changes(copy)) == (before, "")
    for one in (copy, project):
        assert "no problems found" in one.ok("doctor")


def test_an_agent_goes_on_where_its_question_was_answered_after_a_move(project: Project) -> None:
    asked = "test -e asked || { touch asked; git add asked; git commit -qm asked; echo '<promise>INPUT_NEEDED: Which?</promise>'; exit; }\n"
    project.make("t5wq", body=SCRIPT.replace("echo done", f"{asked}echo done", 1))
    project.gt("run", "t5wq")
    moved = Project(project.path.rename(project.path.with_name("moved here")))
    assert moved.task("t5wq").awaiting is not None
    moved.ok("respond", "t5wq", "this one")
    moved.ok("run", "t5wq")
    assert moved.task("t5wq").status.value == "done"
