"""A bare repository in a folder with its linked worktrees: the board and the workspaces stand in that folder."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.support import gt
from tests.support.repositories import git, make_repository
from tests.support.runs import COMMIT, HANDOFF

SCRIPT = f"```sh\n{COMMIT}{HANDOFF}```\n"


@pytest.fixture(params=[".bare", ".git"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Gives a folder with a bare repository and the worktree `main`."""
    make_repository(tmp_path / "source")
    folder = tmp_path / "project"
    folder.mkdir()
    git("clone", "--quiet", "--bare", "../source", request.param, at=folder)
    if request.param != ".git":
        (folder / ".git").write_text(f"gitdir: ./{request.param}\n")
    git("worktree", "add", "--quiet", "main", "main", at=folder)
    return folder


@pytest.mark.parametrize("here", [".", "main"])
def test_a_task_goes_its_whole_way(folder: Path, here: str) -> None:
    at = folder / here
    board = ".gitticks" if here == "." else "../.gitticks"
    assert f"the board at {board}/" in gt("init", at=at).out
    task = gt("create", "Work", "--script", "-", input=SCRIPT, at=at).out.strip()
    assert gt("run", "--headless", "--debounce", "0", at=at).code == 3
    workspace = folder / ".gitticks-work" / task
    assert (workspace / f"{task}.txt").is_file()
    file = Path(gt("path", task, at=at).out.strip())
    assert file.is_relative_to(folder / ".gitticks")
    file.write_text(file.read_text().replace("title: Work", "title: Work by hand"))
    assert "Work by hand" in gt("status", at=at).out
    assert gt("approve", task, at=at).code == 0
    assert (folder / "main" / f"{task}.txt").is_file()
    assert git("status", "--porcelain", at=folder / "main") == ""
    assert not workspace.exists()
    hooks = gt("hooks", "status", at=at).out
    assert "board" in hooks
    assert "server" not in hooks
    doctor = gt("doctor", at=at)
    assert doctor.code == 0, doctor.seen
    assert "cannot work here" not in doctor.seen


@pytest.mark.without_sandbox("none works in your own checkout")
def test_work_without_a_workspace_needs_a_checkout(folder: Path) -> None:
    gt("init", at=folder)
    task = gt("create", "Work", "--script", "-", "--isolation", "none", input=SCRIPT, at=folder).out.strip()
    ran = gt("run", "--headless", "--debounce", "0", "--isolation", "none", at=folder)
    assert "work without a workspace needs a checkout" in ran.seen
    assert f"`gt update {task} --isolation task`" in ran.seen


def test_without_a_folder_around_it_is_said_what_makes_one(tmp_path: Path) -> None:
    bare = make_repository(tmp_path / "r.git", bare=True)
    git("worktree", "add", "--quiet", "../w", "main", at=bare)
    assert f"`git clone {bare}`" in gt("init", at=bare).err
    ran = gt("init", at=tmp_path / "w")
    assert ran.code == 1
    hint = f"echo 'gitdir: ./r.git' > {tmp_path}/.git"
    assert f"`{hint}`" in ran.err
    subprocess.run(["sh", "-c", hint], check=True)
    assert gt("init", at=tmp_path / "w").code == 0
    assert (tmp_path / ".gitticks").is_dir()
