"""Whatever a person does to files on the board: it is taken up, put back, or named with what to type; no word is lost."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.bad_boards import (
    WORDS,
    add_words,
    check_well,
    is_kept,
    make_edited_project,
    type_command,
    use,
)
from tests.support.projects import Project
from tests.support.repositories import git, run_git_command

PATH = "tasks/f2/k7f2/TASK.md"
BACK = f"`git -C .gitticks checkout HEAD -- {PATH}`"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_edited_project(tmp_path / "project")


def _folder(project: Project) -> Path:
    return project.board_file("k7f2").parent


def _take_away(project: Project, old: str, new: str = "") -> None:
    file = project.board_file("k7f2")
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def test_conflict_markers_in_the_frontmatter(project: Project) -> None:
    marked = "<<<<<<< HEAD\ntitle: mine\n=======\ntitle: theirs\n>>>>>>> other\n"
    title = next(line for line in project.board_file("k7f2").read_text().splitlines() if "title" in line)
    _take_away(project, f"{title}\n", marked)
    ran = use(project)
    assert f"{PATH}  edited, refused: line " in ran["status"].out
    assert "the YAML contains the conflict markers of a merge" in ran["status"].out
    assert f"{BACK} restores the committed one" in ran["doctor"].out
    assert is_kept(project)
    _take_away(project, marked, f"{title}\n")
    check_well(project)


def test_a_deleted_file(project: Project) -> None:
    add_words(project, "m3xq")
    _folder(project).joinpath("TASK.md").unlink()
    ran = use(project)
    assert f"tasks are cancelled, not deleted (`gt cancel k7f2`); {BACK} restores it" in ran["status"].out
    assert "fixed: restore what was deleted or renamed" in ran["doctor --fix"].out
    assert project.board_file("k7f2").read_bytes() == project.file("k7f2").data
    check_well(project)


def test_a_deleted_file_that_a_command_wrote_to_comes_back_as_is_said(project: Project) -> None:
    add_words(project, "m3xq")
    _folder(project).joinpath("TASK.md").unlink()
    project.ok("note", "k7f2", "a note")
    said = project.ok("status")
    assert f"{PATH}  not in step: conflict; it was deleted here and changed on the branch: {BACK}" in said
    type_command(project, BACK)
    assert project.board_file("k7f2").read_bytes() == project.file("k7f2").data
    check_well(project)


@pytest.mark.parametrize("looks", [(), ("status",), ("status", "doctor", "status")])
def test_a_conflict_with_an_old_buffer_is_settled_as_is_said(
    project: Project, looks: tuple[str, ...]
) -> None:
    task_id = project.create("Two texts", "-d", "one")
    file = project.board_file(task_id)
    shown = file.read_text()
    project.ok("update", task_id, "-d", "three", "-p", "0")
    file.write_text(shown.replace("\none\n", "\ntwo\n"))
    said = project.ok("status")
    diff, add = re.findall("`(git -C [^`]+)`", said[said.index("not in step: conflict; ") :])[:2]
    seen = subprocess.run(["sh", "-c", diff], cwd=project.path, capture_output=True, text=True, check=True)
    assert "-three\n+two\n" in seen.stdout
    file.write_text(file.read_text().replace("\ntwo\n", "\ntwo and three\n"))
    type_command(project, f"`{add}`")
    for command in looks:
        project.ok(command)
    git("commit", "-qm", "merged", at=project.board)
    project.ok("status")
    assert project.file(task_id).summary == "two and three"
    assert project.task(task_id).priority == 0
    assert git("status", "--porcelain", "--", file.name, at=file.parent) == ""


@pytest.mark.parametrize("name", ["tasks/f2/login", "tasks/f2/login-k7f2", "tasks/a b/c d"])
def test_a_folder_renamed_by_hand(project: Project, name: str) -> None:
    wrong = project.board / name
    wrong.parent.mkdir(exist_ok=True)
    _folder(project).rename(wrong)
    ran = use(project)
    why = "it is in the wrong folder, it belongs in `tasks/f2/k7f2`: `gt doctor --fix` moves it back"
    assert f"{name}/TASK.md  edited, refused: {why}" in ran["status"].out
    assert "fixed: restore what was deleted or renamed" in ran["doctor --fix"].out
    assert WORDS in project.file("k7f2").data.decode()
    check_well(project)


@pytest.mark.parametrize("staged", [["-A"], ["tasks/f2/login"]])
def test_a_renamed_folder_that_is_staged_is_put_back_in_the_index_too(
    project: Project, staged: list[str]
) -> None:
    add_words(project, "m3xq")
    _folder(project).rename(_folder(project).with_name("login"))
    git("add", *staged, at=project.board)
    assert run_git_command("commit", "-qm", "renamed", at=project.board).returncode == 1
    project.ok("doctor", "--fix")
    assert "login" not in git("status", "--porcelain", at=project.board)
    git("commit", "-qam", "the others", at=project.board)
    assert git("status", "--porcelain", at=project.board) == ""
    assert WORDS in project.file("k7f2").data.decode()
    check_well(project)


def test_a_folder_renamed_by_hand_goes_back_as_is_said(project: Project) -> None:
    _folder(project).rename(_folder(project).with_name("login"))
    project.ok("note", "k7f2", "a note")
    assert "`gt doctor --fix` moves it back" in project.ok("status")
    project.ok("doctor", "--fix")
    check_well(project)
    assert WORDS in project.file("k7f2").data.decode()
    assert project.notes("k7f2") == ["a note"]


@pytest.mark.parametrize("named", ["m3xq", "../x"])
def test_an_id_changed_in_the_file(project: Project, named: str) -> None:
    _take_away(project, "id: k7f2\n", f"id: {named}\n")
    ran = use(project)
    assert f"{PATH}  edited, refused: line 2: " in ran["status"].out
    assert f".gitticks/{PATH}: edited, refused: line 2: " in ran["doctor"].out
    assert is_kept(project)
    _take_away(project, f"id: {named}\n", "id: k7f2\n")
    check_well(project)


@pytest.mark.parametrize("junk", [bytes(range(256)) * 40, b"---\n" * 3000, b""])
def test_binary_junk(project: Project, junk: bytes) -> None:
    add_words(project, "m3xq")
    project.board_file("k7f2").write_bytes(junk)
    ran = use(project)
    assert f"{PATH}  edited, refused: " in ran["status"].out
    assert f".gitticks/{PATH}" in ran["doctor"].out
    assert project.board_file("k7f2").read_bytes() == junk
    type_command(project, BACK)
    check_well(project)


def test_a_link_to_a_file_beside_it(project: Project) -> None:
    file = project.board_file("k7f2")
    add_words(project, "m3xq")
    file.rename(file.with_name("real.md"))
    file.symlink_to("real.md")
    ran = use(project)
    assert (
        f"{PATH}  edited, refused: it is not a regular file; move it away, then {BACK}" in ran["status"].out
    )
    assert f".gitticks/{PATH} stands in the place of what was committed" in ran["doctor"].out
    assert WORDS in file.read_text()
    file.unlink()
    type_command(project, BACK)
    check_well(project)


@pytest.mark.parametrize("target", ["nothing", "../../../../outside.md", "TASK.md"])
def test_a_dangling_link_and_one_out_of_the_board(project: Project, target: str) -> None:
    outside = project.path.parent / "outside.md"
    outside.write_text("outside\n")
    file = project.board_file("k7f2")
    add_words(project, "m3xq")
    file.unlink()
    file.symlink_to(target)
    ran = use(project)
    assert "it is not a regular file; move it away, then " in ran["status"].out
    assert outside.read_text() == "outside\n"
    assert str(file.readlink()) == target
    file.unlink()
    type_command(project, BACK)
    check_well(project)


def test_a_link_that_came_to_the_branch_is_fixed_as_is_said(project: Project) -> None:
    project.ok("status")
    file = project.board_file("k7f2")
    file.unlink()
    file.symlink_to("/etc/hostname")
    git("-c", "core.hooksPath=/dev/null", "commit", "-qam", "a link", at=project.board)
    for command in (("status",), ("note", "k7f2", "no"), ("note", "m3xq", "yes"), ("doctor", "--fix")):
        project.gt(*command)
    assert project.board_status() == "", "it is as it was committed"
    assert f"`git -C .gitticks log --patch -- {PATH}` shows what it was" in project.gt("doctor").out
    before = git("rev-list", "-2", "HEAD", "--", PATH, at=project.board).split()[1]
    git("checkout", before, "--", PATH, at=project.board)
    git("commit", "-qm", "put a file back", at=project.board)
    assert WORDS in project.file("k7f2").data.decode()
    check_well(project)


def test_of_tasks_whose_files_are_broken_the_others_are_counted(project: Project) -> None:
    project.ok("status")
    for task, text in (("k7f2", b"\0\xff"), ("m3xq", b"---\nid: zzzz\ntitle: x\nstatus: pending\n---\n")):
        project.board_file(task).write_bytes(text)
    folder = _folder(project)
    shutil.copytree(folder, folder.with_name("other"))
    git("add", "-A", at=project.board)
    git("-c", "core.hooksPath=/dev/null", "commit", "-qm", "broken", at=project.board)
    assert project.gt("show", "k7f2").err.endswith("`gt edit k7f2` opens it at that line\n")


def test_a_link_in_the_place_of_the_tasks_folder(project: Project) -> None:
    elsewhere = project.path.parent / "elsewhere"
    _folder(project).rename(elsewhere)
    _folder(project).symlink_to(elsewhere)
    before = {file.name: file.read_bytes() for file in elsewhere.iterdir()}
    ran = use(project)
    assert f"{PATH}  edited, refused: it is not a regular file" in ran["status"].out
    assert ".gitticks/tasks/f2/k7f2 stands in the place of what was committed" in ran["doctor"].out
    assert {file.name: file.read_bytes() for file in elsewhere.iterdir()} == before
    _folder(project).unlink()
    elsewhere.rename(_folder(project))
    check_well(project)


def test_a_link_to_a_folder_beside_a_task_is_not_followed(project: Project) -> None:
    (_folder(project) / "far").symlink_to("/etc")
    ran = use(project)
    assert "tasks/f2/k7f2/far  left alone: it is not a regular file" in ran["status"].out
    assert project.store.list("tasks/f2/k7f2") == ("TASK.md", "history.jsonl")
    assert is_kept(project)


def test_files_by_another_tool(project: Project) -> None:
    names = (".obsidian/workspace.json", "README.md", "tasks/notes.txt", "tasks/f2/x.txt", "node/a/b.js")
    for name in (*names, "tasks/f2/k7f2/.TASK.md.swp"):
        (project.board / name).parent.mkdir(parents=True, exist_ok=True)
        (project.board / name).write_text("theirs\n")
    repository = project.board / "nested"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    tip = project.tip()
    ran = use(project)
    for name in (".obsidian/", *names[1:], "nested/"):
        assert f"  .gitticks/{name}  left alone: " in ran["status"].out
    assert ".swp" not in ran["status"].out
    assert all((project.board / name).read_text() == "theirs\n" for name in names)
    changed = subprocess.run(
        ["git", "diff", "--name-only", tip, "gitticks/state"],
        cwd=project.path,
        capture_output=True,
        check=True,
    ).stdout.decode()
    assert not [name for name in names if name in changed]
    assert WORDS in project.file("k7f2").data.decode()
    shutil.rmtree(repository)


def test_a_history_that_was_edited_or_deleted(project: Project) -> None:
    history = _folder(project) / "history.jsonl"
    before = history.read_bytes()
    history.write_bytes(before + b'{"type":"nonsense"}\n')
    said = project.ok("status")
    path = "tasks/f2/k7f2/history.jsonl"
    back = f"`git -C .gitticks checkout HEAD -- {path}`"
    assert f"{path}  edited, refused: it can only be written by gitticks; {back} restores it" in said
    history.unlink()
    use(project)
    assert history.read_bytes() == project.store.read(path)
    check_well(project)


@pytest.mark.debian("bubblewrap", program="bwrap")
def test_a_board_that_cannot_be_written_is_named(project: Project) -> None:
    board = str(project.board)
    walled = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", board, board, "--chdir", str(project.path)]

    def gt(*arguments: str) -> str:
        command = [*walled, sys.executable, "-m", "gitticks", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    assert "warning" not in gt("status")
    warned = f"warning: the board is behind the state branch, as `{board}` cannot be written to"
    assert gt("note", "m3xq", "a note").count(warned) == 1
    assert gt("create", "Another").count(warned) == 1
    assert gt("status").count(warned) == 1
    for found in (gt("doctor"), gt("doctor", "--fix")):
        assert f"`{board}` cannot be written to, so the board cannot follow the state branch" in found
        assert f"`findmnt -T {board}` how it is mounted" in found
        assert "deleted" not in found
        assert "behind" not in found
    check_well(project)
    assert project.notes("m3xq") == ["a note"]
