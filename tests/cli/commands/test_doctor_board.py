"""How bad each thing is that the doctor finds on the board, and what the exit code says of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitticks.document.merging.three_way import Version, marked
from tests.support.doctor import found_in, make_old, our_gt_on_path, project
from tests.support.projects import Project
from tests.support.repositories import git
from tests.support.stores import write_task_file

__all__ = ["our_gt_on_path", "project"]

TASK = "tasks/f2/k7f2"


def _admin(project: Project) -> Path:
    return Path(git("rev-parse", "--absolute-git-dir", at=project.board))


def _moved(project: Project) -> None:
    project.board.rename(project.path / "moved")


def _replaced(project: Project) -> None:
    shutil.rmtree(project.board)
    project.board.mkdir()


def _odd_head(project: Project) -> None:
    (_admin(project) / "HEAD").write_text("garbage\n")


def _odd_settings(project: Project) -> None:
    (_admin(project) / "config.worktree").write_text("[garbage\n")


def _odd_index(project: Project) -> None:
    (_admin(project) / "index").write_bytes(b"garbage")


def _merging(project: Project) -> None:
    (_admin(project) / "MERGE_HEAD").write_text(f"{project.tip()}\n")


def _renamed(project: Project) -> None:
    (project.board / TASK).rename(project.board / "tasks/f2/login")


def _refused(project: Project) -> None:
    file = project.board_file("k7f2")
    file.write_text(file.read_text().replace("id: k7f2", "id: m3f2"))


def _linked(project: Project) -> None:
    project.board_file("k7f2").unlink()
    project.board_file("k7f2").symlink_to(project.board / "config.yaml")


def _deleted(project: Project) -> None:
    project.board_file("k7f2").unlink()


def _no_folder(project: Project) -> None:
    shutil.rmtree(project.board / TASK)
    (project.board / TASK).write_text("a file\n")


def _conflict(project: Project) -> None:
    file = project.board_file("k7f2")
    project.change("k7f2", title="By a command")
    file.write_text(file.read_text().replace("By a command", "By hand"))
    make_old(file)
    project.change("k7f2", title="By another command")


def _both_texts(project: Project) -> None:
    text = marked([Version("1", "Mine."), Version("2", "Theirs.")])
    write_task_file(project.store, "k7f2", project.file("k7f2").data.decode() + f"\n## Context\n\n{text}")


def _no_driver(project: Project) -> None:
    git("config", "--remove-section", "merge.gitticks", at=project.path)


def _no_branch(project: Project) -> None:
    (project.path / ".git/refs/heads/gitticks/state").unlink()


def _no_own_hooks(project: Project) -> None:
    git("config", "core.hooksPath", ".husky/_", at=project.path)


def _no_hooks(project: Project) -> None:
    project.ok("hooks", "uninstall")


def _odd_checkout_hooks(project: Project) -> None:
    project.ok("hooks", "install", "--checkout")
    (project.path / ".git/hooks/post-merge").unlink()


@pytest.mark.damages
@pytest.mark.parametrize(
    ("damage", "severity", "words"),
    [
        (_moved, "error", "there is no board at .gitticks/: it was moved to"),
        (_replaced, "error", "there is no board at .gitticks/: what is there is not a board"),
        (_odd_head, "error", "checked out in .gitticks/: its HEAD is damaged"),
        (_odd_settings, "error", "it cannot be determined what was saved on the board"),
        (_odd_index, "error", "git cannot tell what was edited in .gitticks/"),
        (_merging, "warning", "git is in the middle of a merge in .gitticks/"),
        (_renamed, "warning", "is a renamed task folder"),
        (_refused, "warning", f"{TASK}/TASK.md: edited, refused: line 2: "),
        (_linked, "warning", f"{TASK}/TASK.md stands in the place of what was committed"),
        (_deleted, "warning", f"{TASK}/TASK.md: edited, refused: tasks are cancelled, not deleted"),
        (_no_folder, "warning", f"{TASK} stands in the place of what was committed"),
        (_conflict, "warning", f"{TASK}/TASK.md: not in step: conflict"),
        (_both_texts, "warning", "both versions of a conflict are here, marked"),
        (_no_driver, "note", "git merges tasks line by line in this clone"),
        (_no_branch, "error", "the branch `gitticks/state` is missing, but it existed here"),
        (_no_own_hooks, "warning", "none of your own hooks run: `.husky/_`"),
        (_no_hooks, "note", "the board's hooks were uninstalled"),
        (_odd_checkout_hooks, "warning", "the hooks of your checkout do not work"),
    ],
)
def test_only_errors_fail(
    project: Project, damage: Callable[[Project], None], severity: str, words: str
) -> None:
    project.make("k7f2")
    damage(project)
    ran = project.gt("doctor", "--json")
    found = json.loads(ran.out)["findings"]
    assert [one["severity"] for one in found if words in one["what"]] == [severity], ran.out
    assert ran.code == any(one["severity"] == "error" for one in found)
    assert ran.code == (severity == "error"), ran.out


def test_a_clone_that_merges_by_lines_is_taught(project: Project) -> None:
    _no_driver(project)
    assert (
        project.gt("doctor", "--fix").seen
        == "fixed: install hooks and the merge driver\nno problems found\n--- 0\n"
    )
    assert "merge-driver" in git("config", "merge.gitticks.driver", at=project.path)
    assert found_in(project.path) == {}
