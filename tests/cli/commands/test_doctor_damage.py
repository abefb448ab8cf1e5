"""What the doctor finds where objects and refs are damaged, each with a fix that takes it away."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from gitticks.actions.doctor import repository
from tests.support.doctor import (
    COMMAND,
    fixes,
    found_in,
    our_gt_on_path,
    project,
    type_fixes,
)
from tests.support.loose_objects import plant
from tests.support.projects import Project
from tests.support.repositories import (
    git,
    make_repository,
)

__all__ = ["our_gt_on_path", "project"]


def forget_copies(project: Project, task_id: str) -> None:
    """Takes away what the board could bring a task's file back from."""
    with project.board_file(task_id).open("a", encoding="utf-8") as file:
        file.write("\nAnd more.\n")


class TestDamage:
    """A state branch that is damaged or was moved back is told with the way to bring it back."""

    def test_a_missing_object_comes_back_from_a_clone(self, project: Project, tmp_path: Path) -> None:
        task_id = project.create()
        bare = make_repository(tmp_path / "bare", bare=True, commits=0)
        git("remote", "add", "origin", str(bare), at=project.path)
        git("push", "--quiet", "origin", "gitticks/state", at=project.path)
        blob = git("rev-parse", f"gitticks/state:tasks/{task_id[-2:]}/{task_id}/TASK.md", at=project.path)
        (project.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
        forget_copies(project, task_id)
        ((what, severity),) = found_in(project.path).items()
        assert severity == "error"
        assert what.startswith(f".gitticks/tasks/{task_id[-2:]}/{task_id}/TASK.md is damaged")
        assert blob in what
        (typed,) = fixes(project.path)
        subprocess.run(
            ["sh", "-ec", typed.replace("<remote>", "origin")],
            cwd=project.path,
            check=True,
            capture_output=True,
        )
        assert found_in(project.path) == {}

    def test_a_damaged_object_is_found_by_reading_it_whole(self, project: Project, tmp_path: Path) -> None:
        task_id = project.create()
        bare = make_repository(tmp_path / "bare", bare=True, commits=0)
        git("push", "--quiet", str(bare), "gitticks/state", at=project.path)
        path = f"tasks/{task_id[-2:]}/{task_id}/TASK.md"
        blob = git("rev-parse", f"gitticks/state:{path}", at=project.path)
        other = git("rev-parse", "gitticks/state:config.yaml", at=project.path)
        file = project.path / ".git/objects" / blob[:2] / blob[2:]
        file.unlink()
        shutil.copy(project.path / ".git/objects" / other[:2] / other[2:], file)
        forget_copies(project, task_id)
        ran = project.gt("doctor", "--full", "--json")
        (finding,) = json.loads(ran.out)["findings"]
        assert finding["what"].startswith(f".gitticks/{path} is damaged on the state branch: ")
        assert ran.code == 1
        for typed in COMMAND.findall(finding["fix"]):
            shell = typed.replace("<remote>", str(bare))
            subprocess.run(["sh", "-ec", shell], cwd=project.path, check=True, capture_output=True)
        assert found_in(project.path, "--full") == {}

    def test_the_file_on_the_board_is_stored_again_by_git(self, project: Project) -> None:
        task_id = project.create()
        project.ok("list")
        blob = git("rev-parse", f"gitticks/state:tasks/{task_id[-2:]}/{task_id}/TASK.md", at=project.path)
        file = project.path / ".git/objects" / blob[:2] / blob[2:]
        file.chmod(0o644)
        file.write_bytes(file.read_bytes()[:20])
        assert {*found_in(project.path, "--full").values()} == {"error"}
        type_fixes(project.path, "--full")
        assert git("cat-file", "-t", blob, at=project.path) == "blob"
        assert found_in(project.path, "--full") == {}

    @pytest.mark.damages
    def test_a_folder_that_is_lost_is_named(self, project: Project) -> None:
        task_id = project.create()
        tree = git("rev-parse", f"gitticks/state:tasks/{task_id[-2:]}", at=project.path)
        (project.path / ".git/objects" / tree[:2] / tree[2:]).unlink()
        assert {*found_in(project.path).values()} == {"error"}
        for words in (["show", task_id], ["note", task_id, "Hear."], ["approve", task_id]):
            ran = project.gt(*words)
            assert ran.err.startswith("error: .gitticks/tasks/")
            assert f"the object `{tree}` is missing" in ran.err
        assert project.ok("path", task_id) == f"{project.board_file(task_id)}\n"
        (typed,) = fixes(project.path)
        assert typed == "git fetch --refetch <remote> gitticks/state"

    @pytest.mark.damages
    def test_a_branch_at_no_commit_goes_back_to_one_that_is_whole(self, project: Project) -> None:
        project.create()
        before = project.tip()
        project.create("Another")
        tip = project.tip()
        (project.path / ".git/objects" / tip[:2] / tip[2:]).unlink()
        ((what, severity),) = found_in(project.path).items()
        assert what.startswith("`refs/heads/gitticks/state` points to no commit that can be read")
        assert severity == "error"
        type_fixes(project.path)
        assert project.tip() == before

    @pytest.mark.damages
    def test_a_branch_at_no_commit_whose_log_is_gone_comes_from_another_clone(self, project: Project) -> None:
        tip = project.tip()
        (project.path / ".git/objects" / tip[:2] / tip[2:]).unlink()
        (project.path / ".git/logs/refs/heads/gitticks/state").write_text("")
        ran = project.gt("doctor", "--json")
        (finding,) = json.loads(ran.out)["findings"]
        assert "points to no commit that can be read" in finding["what"]
        assert (ran.code, finding["severity"]) == (1, "error")
        assert "`git fetch --refetch <remote> gitticks/state`" in finding["fix"]

    @pytest.mark.damages
    def test_of_many_damaged_files_some_are_named(
        self, project: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(repository, "_MOST_SHOWN", 1)
        for number in range(3):
            task_id = project.create(f"Task {number}")
            blob = git("rev-parse", f"gitticks/state:tasks/{task_id[-2:]}/{task_id}/TASK.md", at=project.path)
            (project.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
        told = found_in(project.path)
        assert told["2 more files of the state branch are damaged"] == "error"
        assert sum("is damaged on the state branch" in what for what in told) == 1

    @pytest.mark.damages
    def test_damage_of_older_history_keeps_nobody_from_work(self, project: Project) -> None:
        task_id = project.create()
        place = f"tasks/{task_id[-2:]}/{task_id}/TASK.md"
        blob = git("rev-parse", f"gitticks/state:{place}", at=project.path)
        project.ok("update", task_id, "-p", "0")
        (project.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
        ran = project.gt("doctor", "--full", "--json")
        told = {found["what"]: found["severity"] for found in json.loads(ran.out)["findings"]}
        (what,) = [
            what for what in told if what.startswith("the older history of the state branch is damaged")
        ]
        assert (told[what], ran.code) == ("warning", 0)

    def test_a_branch_that_was_moved_back(self, project: Project) -> None:
        before = project.tip()
        task = project.create()
        tip = project.tip()
        assert found_in(project.path) == {}
        git("update-ref", "refs/heads/gitticks/state", before, at=project.path)
        project.ok("status")  # forgets what the index and the board knew
        what = (
            f"the state branch was rewound: it lacks 1 commit (`{task}: created: Login loses the return URL`)"
        )
        assert found_in(project.path) == {what: "warning"}
        assert found_in(project.path) == {what: "warning"}  # until somebody says which is right
        type_fixes(project.path)
        assert project.tip() == tip
        project.ok("status")
        assert found_in(project.path) == {}

    @pytest.mark.parametrize("how", ["moved back", "begun anew", "without a board"])
    def test_what_came_since_a_branch_was_moved_back_is_joined_with_what_was_there(
        self, project: Project, how: str
    ) -> None:
        task = project.create()
        before = project.tip()
        project.ok("note", task, "Before.")
        project.ok("doctor")
        new = git("commit-tree", f"{before}^{{tree}}", "-m", "x", at=project.path)
        git(
            "update-ref",
            "refs/heads/gitticks/state",
            new if how == "begun anew" else before,
            at=project.path,
        )
        project.ok("note", task, "Since.")
        if how == "without a board":
            shutil.rmtree(project.board)
        assert any(what.startswith("the state branch was rewound: ") for what in found_in(project.path))
        type_fixes(project.path)
        assert project.notes(task) == ["Before.", "Since."]
        assert found_in(project.path) == {}

    @pytest.mark.parametrize("how", ["a symbolic ref", "another beginning"])
    def test_code_in_the_place_of_the_tasks_goes_away_and_moves_no_other_branch(
        self, project: Project, how: str
    ) -> None:
        task = project.create()
        project.ok("doctor")
        tip, main = project.tip(), git("rev-parse", "main", at=project.path)
        if how == "a symbolic ref":
            git("symbolic-ref", "refs/heads/gitticks/state", "refs/heads/main", at=project.path)
        else:
            code = git("commit-tree", "main^{tree}", "-m", "code", at=project.path)
            git("update-ref", "refs/heads/gitticks/state", code, at=project.path)
        findings = json.loads(project.gt("doctor", "--json").out)["findings"]
        finding = next(one for one in findings if "gitticks/state" in one["what"])
        assert finding["what"].startswith("`refs/heads/gitticks/state` points to ")
        assert f", which has no tasks: it lacks 2 commits (`{task}: created: " in finding["what"]
        subprocess.run(["sh", "-ec", COMMAND.findall(finding["fix"])[0]], cwd=project.path, check=True)
        assert project.tip() == tip
        assert git("rev-parse", "main", at=project.path) == main
        project.ok("status")
        assert found_in(project.path) == {}

    def test_a_branch_that_was_moved_back_on_purpose(self, project: Project) -> None:
        before = project.tip()
        project.create()
        project.ok("doctor")
        git("update-ref", "refs/heads/gitticks/state", before, at=project.path)
        project.ok("status")
        (finding,) = json.loads(project.gt("doctor", "--json").out)["findings"]
        forget = COMMAND.findall(finding["fix"])[-1]
        subprocess.run(["sh", "-ec", forget], cwd=project.path, check=True)
        assert found_in(project.path) == {}

    def test_many_loose_objects(self, project: Project) -> None:
        git("config", "gc.auto", "1000", at=project.path)
        git("config", "maintenance.auto", "true", at=project.path)
        plant(project.path, 5)
        assert found_in(project.path) == {"many loose objects slow git down": "warning"}
        assert fixes(project.path) == ["git maintenance run"]
