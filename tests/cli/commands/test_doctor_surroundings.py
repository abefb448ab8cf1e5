"""What the doctor finds around tasks: the machine, who commits, and workspaces that are left."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gitticks.actions.doctor import Severity, diagnosis, machine
from gitticks.model.status import Status
from tests.cli.support import command
from tests.support.doctor import (
    COMMAND,
    found_in,
    make_program,
    our_gt_on_path,
    project,
    type_fixes,
)
from tests.support.projects import Project, make_reviewing, make_working
from tests.support.repositories import (
    git,
)

__all__ = ["our_gt_on_path", "project"]


def test_nobody_to_commit_as(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gitconfig").write_text("")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    assert found_in(project.path) == {"git does not know your name": "error"}


def test_no_gt_on_path(tmp_path: Path) -> None:
    (finding,) = machine.check_program({"PATH": str(tmp_path)})
    assert finding.severity is Severity.NOTE
    assert finding.what == "`gt` is not on PATH, so hooks and agents may not find it"


def test_another_gt_on_path(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_program(tmp_path, "#!/bin/sh\nexec graphite\n")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    ran = project.gt("doctor")
    assert ran.out == (
        "machine\n"
        f"  warning  another tool's gt comes first on PATH: {tmp_path}/gt\n"
        "           type `gitticks` instead: it is the same command\n\n"
        "1 warning\n"
    )
    assert ran.code == 0


class TestMachine:
    """What is around the repository."""

    def test_a_git_that_is_missing(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        from gitticks.git.process import GitError

        def missing() -> None:
            raise GitError("there is no git on PATH")

        monkeypatch.setattr(diagnosis, "git_version", missing)
        assert found_in(project.path) == {"there is no git on PATH": "error"}

    def test_a_full_disk(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        from collections import namedtuple

        usage = namedtuple("usage", "total used free")  # noqa: PYI024 - as shutil's own
        for free, severity in ((50, "warning"), (3, "error")):
            monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: usage(1, 1, free * 1024 * 1024))
            what = f"the disk of `{project.path}/.git` is nearly full: {free} MB left"
            assert found_in(project.path) == {what: severity}

    @pytest.mark.debian("bubblewrap", program="bwrap")
    def test_a_repository_that_cannot_be_written(self, project: Project) -> None:
        place = str(project.path)
        walls = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", place, place, "--chdir", place]

        def gt(*words: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run([*walls, *command(*words)], capture_output=True, text=True, check=False)

        project.create()
        git("config", "--unset", "merge.gitticks.driver", at=project.path)
        for words in (["doctor"], ["doctor", "--fix"]):
            done = gt(*words)
            assert done.returncode == 1
            assert f"`{place}/.git` cannot be written to, so nothing can be changed" in done.stdout
            assert done.stdout.count("cannot be written to") == 1
            assert "git merges tasks line by line in this clone" in done.stdout
            assert "--fix" not in done.stdout
        for word in ("list", "status", "watch --once"):
            done = gt(*word.split())
            assert (done.returncode, "board" in done.stderr) == (0, False), done.stderr

    def test_a_file_system_without_locks(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        import errno

        def refuse(path: Path) -> bool:
            raise OSError(errno.ENOLCK, "No locks available", str(path))

        monkeypatch.setattr(machine, "is_lock_held", refuse)
        (what, severity) = next(iter(found_in(project.path).items()))
        assert what == f"the file system of `{project.path}/.git` has no locks: No locks available"
        assert severity == "error"

    def test_a_clock_that_is_ahead(self, project: Project) -> None:
        author = {"GIT_AUTHOR_DATE": "2099-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2099-01-01T00:00:00Z"}
        (project.board / "README.md").write_text("x")
        git("add", ".", at=project.board)
        git("commit", "--quiet", "-m", "from tomorrow", at=project.board, environment=author)
        told = found_in(project.path)
        (what,) = (one for one in told if one.startswith("the newest commit, "))
        assert re.search(r" by Ada Lovelace, is from \d+ h in the future$", what)
        assert told[what] == "warning"


class TestWorkspaces:
    """What is left of work that nobody does any more."""

    def test_a_folder_that_is_gone(self, project: Project) -> None:
        workspace = make_working(project)
        shutil.rmtree(workspace)
        assert found_in(project.path) == {
            f"the folder of the workspace `k7f2` is missing: `{workspace}`": "warning"
        }
        assert project.gt("doctor", "--fix").code == 0
        assert found_in(project.path) == {}

    def test_a_workspace_and_a_branch_without_a_task(self, project: Project) -> None:
        workspace = project.path / ".gitticks-work" / "zzzz"
        git("worktree", "add", "-q", "-b", "gitticks/work/zzzz", str(workspace), "main", at=project.path)
        assert found_in(project.path) == {
            f"the workspace `zzzz` belongs to no task: `{workspace}`": "warning"
        }
        type_fixes(project.path)
        assert found_in(project.path) == {
            "the branch `gitticks/work/zzzz` belongs to no task, and is merged": "warning"
        }
        type_fixes(project.path)
        assert found_in(project.path) == {}

    @pytest.mark.parametrize("has_workspace", [True, False], ids=["workspace", "branch"])
    @pytest.mark.parametrize(
        "mistake",
        [
            "sed -i 's/^status: .*/status: [/' tasks/f2/k7f2/TASK.md",
            "sed -i '/^awaiting/d; s/^status: .*/status: done/' tasks/f2/k7f2/TASK.md",
            "git rm -rq tasks/f2/k7f2",
            "git update-ref refs/heads/gitticks/state HEAD~",
        ],
        ids=["broken", "closed by hand", "deleted", "rewound"],
    )
    def test_the_work_of_a_task_that_is_wrong_itself_is_not_left_over(
        self, project: Project, mistake: str, has_workspace: bool
    ) -> None:
        workspace = make_reviewing(project)
        if not has_workspace:
            git("worktree", "remove", str(workspace), at=project.path)
        subprocess.run(["sh", "-ec", mistake], cwd=project.board, check=True)
        if "update-ref" not in mistake:
            git("-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-am", "a mistake", at=project.board)
        report = json.loads(project.gt("doctor", "--json").out)["findings"]
        assert report
        assert [one["what"] for one in report if one["topic"] == "workspaces"] == []
        if "done" not in mistake:
            assert json.loads(project.ok("worktree", "clean", "--json"))["workspaces"] == []

    def test_commits_of_a_closed_task(self, project: Project) -> None:
        make_reviewing(project)
        project.ok("cancel", "k7f2")
        assert found_in(project.path) == {
            "the workspace of `k7f2` is left over: the task is cancelled": "note"
        }
        type_fixes(project.path)
        assert found_in(project.path) == {
            "`k7f2` is cancelled, but its branch has 1 commit that `main` lacks": "note"
        }
        told = json.loads(project.gt("doctor", "--json").out)["findings"][0]["fix"]
        look, drop = COMMAND.findall(told)
        for typed in (look, drop):
            subprocess.run(["sh", "-ec", typed], cwd=project.path, check=True, capture_output=True)
        assert found_in(project.path) == {}

    def test_commits_that_a_done_task_never_merged(self, project: Project) -> None:
        workspace = make_reviewing(project, status=Status.DONE, awaiting=None)
        git("worktree", "remove", "--force", str(workspace), at=project.path)
        told = found_in(project.path)
        assert told["`k7f2` is done, but its branch has 1 commit that `main` lacks"] == "warning"

    def test_a_merged_branch_that_is_left(self, project: Project) -> None:
        git("branch", "gitticks/work/k7f2", "main", at=project.path)
        project.make("k7f2", status=Status.DONE)
        assert found_in(project.path) == {"the branch of `k7f2` is left over: the task is done": "note"}
        type_fixes(project.path)
        assert found_in(project.path) == {}
