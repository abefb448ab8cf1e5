"""A base that was moved back, so that it lacks what tasks that are done had merged, is named with the way back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.doctor import found_in, our_gt_on_path, project, type_fixes
from tests.support.projects import Project, make_reviewing
from tests.support.repositories import clone, commit_file, git

__all__ = ["our_gt_on_path", "project"]

ONE = "`main` lacks the code of `k7f2`, which is done"


def merge(project: Project, task: str) -> str:
    """Lets a task's work be approved and merged, and returns where the base stands then."""
    make_reviewing(project, task)
    project.ok("approve", task)
    assert project.task(task).status == "done"
    return git("rev-parse", "main", at=project.path)


@pytest.mark.parametrize(
    "move",
    [
        ("reset", "--quiet", "--hard", "HEAD~1"),
        ("update-ref", "refs/heads/main", "HEAD~1"),
        ("checkout", "--quiet", "-B", "main", "HEAD~1"),
    ],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize("was_seen", [False, True])
def test_what_a_base_that_was_moved_back_lacks_is_named(
    project: Project, move: tuple[str, ...], was_seen: bool
) -> None:
    merged = merge(project, "k7f2")
    if was_seen:
        assert "warning" not in project.gt("status").err
        assert found_in(project.path) == {}
    git(*move, at=project.path)
    git("reset", "--quiet", "--hard", at=project.path)
    back = f"`git merge --no-edit {merged}` on `main` restores it"
    for _ in range(2):
        assert f"warning: {ONE}: {back}" in project.gt("status").err
    assert found_in(project.path) == {ONE: "warning"}
    assert f"{back}; `git branch rescue {merged}` keeps it" in project.ok("doctor")
    type_fixes(project.path)
    assert (project.path / "login.txt").exists()
    assert "warning" not in project.gt("status").err
    assert found_in(project.path) == {}


def test_a_base_that_was_deleted_is_named_and_comes_back(project: Project) -> None:
    merged = merge(project, "k7f2")
    make_reviewing(project, "m3xq")
    git("checkout", "--quiet", "-b", "other", at=project.path)
    git("branch", "--quiet", "-D", "main", at=project.path)
    waits = project.gt("approve", "m3xq")
    assert "approved; the merge waits: the base branch `main` does not exist here" in waits.out
    began = str(project.task("m3xq").start_sha)[:10]
    assert f"`git branch main {began}` recreates it where this work began; `gt doctor` lists" in waits.out
    what = "the base branch `main` is missing, with the code of `k7f2`, which is done"
    assert f"warning: {what}: `git branch main {merged}` restores it" in project.gt("status").err
    assert found_in(project.path)[what] == "warning"
    git("branch", "main", merged, at=project.path)
    assert what not in found_in(project.path)
    assert "warning" not in project.gt("status").err


def test_two_that_are_missing_come_back_by_one_merge(project: Project) -> None:
    before = git("rev-parse", "main", at=project.path)
    for task in ("k7f2", "m3xq"):
        start = git("rev-parse", "main", at=project.path)
        branch = f"gitticks/work/{task}"
        workspace = project.path / ".gitticks-work" / task
        git("worktree", "add", "--quiet", "-b", branch, str(workspace), "main", at=project.path)
        head = commit_file(workspace, f"{task}.txt", "x\n", "work")
        git("merge", "--quiet", "--no-ff", "--no-edit", branch, at=project.path)
        merged = git("rev-parse", "main", at=project.path)
        fields = {"base": "main", "branch": branch, "start_sha": start, "end_sha": head, "merged_sha": merged}
        project.make(task, status="done", **fields)
        git("worktree", "remove", str(workspace), at=project.path)
        git("branch", "-D", branch, at=project.path)
    git("reset", "--quiet", "--hard", before, at=project.path)
    what = "`main` lacks the code of `k7f2`, `m3xq`, which are done"
    assert f"{what}: `git merge --no-edit {merged}` on `main`" in project.gt("status").err
    type_fixes(project.path)
    assert found_in(project.path) == {}


@pytest.mark.parametrize("other", ["a2aa", "m3xq"])
def test_who_had_nothing_to_merge_hides_no_other_whose_merge_is_missing(project: Project, other: str) -> None:
    workspace = make_reviewing(project, other)
    git("revert", "--no-edit", "HEAD", at=workspace)
    project.change(other, end_sha=git("rev-parse", "HEAD", at=workspace))
    merge(project, "k7f2")
    project.ok("approve", other)
    assert project.task(other).merged_sha == project.task("k7f2").merged_sha
    git("reset", "--quiet", "--hard", "HEAD~1", at=project.path)
    assert f"warning: {ONE}" in project.gt("status").err
    assert found_in(project.path) == {ONE: "warning"}


def test_all_tasks_of_a_merge_that_is_missing_are_named(project: Project) -> None:
    merged = merge(project, "k7f2")
    project.make("m3xq", status="done", base="main", end_sha=project.task("k7f2").end_sha, merged_sha=merged)
    git("reset", "--quiet", "--hard", "HEAD~1", at=project.path)
    what = "`main` lacks the code of `k7f2`, `m3xq`, which are done"
    assert f"warning: {what}" in project.gt("status").err
    git("branch", "--quiet", "-m", "main", "old", at=project.path)
    git("branch", "--quiet", "main", "old", at=project.path)
    assert what in found_in(project.path)


def test_code_that_came_again_is_not_missing(project: Project) -> None:
    before = git("rev-parse", "main", at=project.path)
    merge(project, "k7f2")
    head = project.task("k7f2").end_sha
    assert head is not None
    git("reset", "--quiet", "--hard", before, at=project.path)
    commit_file(project.path, "other.txt", "x\n", "something else")
    git("cherry-pick", head, at=project.path)
    assert "warning" not in project.gt("status").err
    assert found_in(project.path) == {}


@pytest.mark.parametrize("is_later", [False, True], ids=["side by side", "one on the other"])
def test_code_that_was_squashed_with_that_of_others_is_not_missing(project: Project, is_later: bool) -> None:
    before = git("rev-parse", "main", at=project.path)
    merge(project, "k7f2")
    git("branch", "--quiet", "merged", at=project.path)
    if not is_later:
        git("reset", "--quiet", "--hard", before, at=project.path)
    workspace = make_reviewing(project, "m3xq")
    if not is_later:
        git("mv", "login.txt", "logout.txt", at=workspace)
        git("commit", "--quiet", "--amend", "--no-edit", at=workspace)
        project.change("m3xq", end_sha=git("rev-parse", "HEAD", at=workspace))
        git("reset", "--quiet", "--hard", "merged", at=project.path)
    project.ok("approve", "m3xq")
    git("reset", "--quiet", "--soft", before, at=project.path)
    git("commit", "--quiet", "-m", "squashed", at=project.path)
    assert "warning" not in project.gt("status").err
    assert found_in(project.path) == {}
    (project.path / "login.txt").unlink()
    git("commit", "--quiet", "--all", "--amend", "--no-edit", "--allow-empty", at=project.path)
    assert "warning: `main` lacks the code of `k7f2`" in project.gt("status").err


def test_what_only_a_pull_brings_is_a_note(project: Project) -> None:
    merged = merge(project, "k7f2")
    git("update-ref", "refs/remotes/origin/main", merged, at=project.path)
    git("reset", "--quiet", "--hard", "HEAD~1", at=project.path)
    assert "warning" not in project.gt("status").err
    assert found_in(project.path) == {f"{ONE}; `origin/main` has it": "note"}
    assert "`git pull --no-rebase origin main` on `main`" in project.gt("doctor").out


def test_what_is_not_stored_here_is_a_note_since_nobody_can_know_whether_it_is_lost(project: Project) -> None:
    project.make("k7f2", status="done", base="main", merged_sha="a" * 40)
    assert "warning" not in project.gt("status").err
    what = "the merge of `k7f2` is not in this clone"
    assert found_in(project.path) == {what: "note"}
    (project.path / ".git" / "shallow").write_text(git("rev-parse", "main", at=project.path) + "\n")
    assert what not in found_in(project.path)


def test_a_base_that_is_not_here_is_named_with_the_way_back(project: Project) -> None:
    make_reviewing(project, "k7f2")
    git("branch", "--quiet", "-m", "main", "trunk", at=project.path)
    what = "the base branch `main` does not exist here, which the work on `k7f2` is for"
    assert found_in(project.path)[what] == "warning"
    began = str(project.task("k7f2").start_sha)
    assert f"`git branch main {began[:10]}` creates it" in project.gt("doctor").out
    git("branch", "main", began, at=project.path)
    assert what not in found_in(project.path)


def test_the_work_on_a_base_that_was_renamed_moves_to_its_new_name(project: Project) -> None:
    make_reviewing(project, "k7f2")
    make_reviewing(project, "m3xq")
    git("branch", "--quiet", "-m", "main", "trunk", at=project.path)
    way = "`gt config base NAME`, then `gt cancel k7f2 m3xq` and `gt reopen k7f2 m3xq` move the work there"
    said = project.gt("status").err
    assert "the base branch `main` does not exist here, which the work on `k7f2`, `m3xq` is for" in said
    assert f"if it was renamed, {way}" in said
    project.ok("config", "base", "trunk")
    way = "if it is `trunk` now, `gt cancel k7f2 m3xq` and `gt reopen k7f2 m3xq` move the work there"
    assert way in project.gt("status").err
    assert "`gt cancel k7f2` and `gt reopen k7f2` move" in project.gt("approve", "k7f2").out
    project.ok("cancel", "k7f2", "m3xq")
    project.ok("reopen", "k7f2", "m3xq")
    assert "main" not in project.gt("status").seen
    project.ok("config", "review", "none")
    project.ok("start", "k7f2")
    project.ok("handoff", "k7f2", "--done", "as before")
    project.ok("complete", "k7f2")
    assert "k7f2  merged into trunk" in project.ok("approve", "k7f2")
    assert git("show", "trunk:login.txt", at=project.path) == "k7f2"


def test_a_base_that_only_the_settings_name_is_named(project: Project) -> None:
    git("branch", "stable", at=project.path)
    project.ok("config", "base", "stable")
    git("branch", "--quiet", "-D", "stable", at=project.path)
    assert found_in(project.path) == {"the base branch `stable` does not exist here": "warning"}
    git("branch", "stable", at=project.path)
    assert found_in(project.path) == {}


def test_a_base_that_got_another_name_lacks_nothing(project: Project) -> None:
    merge(project, "k7f2")
    git("branch", "--quiet", "-m", "main", "trunk", at=project.path)
    project.ok("config", "base", "trunk")
    assert "warning" not in project.gt("status").err
    assert found_in(project.path) == {}


def test_a_shallow_clone_does_not_know_what_its_base_lacks(project: Project, tmp_path: Path) -> None:
    merged = merge(project, "k7f2")
    git("commit", "--quiet", "--allow-empty", "-m", "later", at=project.path)
    shallow = Project(clone(project.path, tmp_path / "shallow", "--depth=1"))
    shallow.ok("init")
    git("fetch", "--quiet", "--depth=1", "origin", merged, at=shallow.path)
    assert "lacks" not in shallow.gt("status").err
    assert [what for what in found_in(shallow.path) if "lacks" in what] == []
