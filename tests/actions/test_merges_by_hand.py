from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.actions import merges_by_hand
from gitticks.actions.context import Context
from gitticks.errors import GitticksError
from gitticks.git.locks import hold_lock
from gitticks.model.status import Awaiting, Status
from tests.support.projects import Project, make_project, make_reviewing, make_working
from tests.support.repositories import commit_file, git


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def merge_by(how: str, project: Project) -> None:
    branch = "gitticks/work/k7f2"
    if how != "fast-forward":
        commit_file(project.path, "other.txt", "between\n")
    match how:
        case "merge":
            git("merge", "--quiet", "--no-edit", branch, at=project.path)
        case "fast-forward":
            git("merge", "--quiet", "--ff-only", branch, at=project.path)
        case "squash":
            git("merge", "--quiet", "--squash", branch, at=project.path)
            git("commit", "--quiet", "-m", "squashed", at=project.path)
        case _:
            git("cherry-pick", f"main..{branch}", at=project.path)
    commit_file(project.path, "later.txt", "later\n")


@pytest.mark.parametrize("how", ["merge", "fast-forward", "squash", "rebase"])
@pytest.mark.parametrize("command", ["status", "sync", "run"])
def test_work_that_a_person_merged_closes_its_task(project: Project, how: str, command: str) -> None:
    workspace = make_reviewing(project)
    if how in ("squash", "rebase"):
        commit_file(workspace, "second.txt", "second\n")
        project.change("k7f2", end_sha=git("rev-parse", "HEAD", at=workspace))
    assert "k7f2" not in project.ok("sync")
    merge_by(how, project)
    project.gt(command)
    assert project.task("k7f2").status is Status.DONE
    assert project.task("k7f2").merged_sha is not None


def test_it_is_reported(project: Project) -> None:
    make_reviewing(project)
    merge_by("merge", project)
    out = project.ok("status")
    assert "merged by hand\n  k7f2  found merged into main as " in out
    assert "merged by hand" not in project.ok("status")


@pytest.mark.parametrize("how", ["merge", "fast-forward"])
def test_who_merged_it_is_named_whatever_git_prints_logs_in(project: Project, how: str) -> None:
    git("config", "i18n.logOutputEncoding", "ISO-8859-1", at=project.path)
    git("config", "user.name", "José", at=project.path)
    make_reviewing(project)
    merge_by(how, project)
    project.ok("status")
    assert project.events("k7f2")[-1].actor.name == "José"


def test_work_in_progress_that_was_merged_asks_a_person_once(project: Project) -> None:
    make_working(project)
    merge_by("merge", project)
    project.ok("status")
    assert (project.task("k7f2").status, project.task("k7f2").awaiting) == (
        Status.WORKING,
        Awaiting.ESCALATION,
    )
    tip = project.tip()
    project.ok("status")
    project.ok("sync")
    assert project.tip() == tip
    why = f"its branch is merged as {(project.task('k7f2').merged_sha or '')[:7]} though it was working: `gt close k7f2`"
    for words in ("inbox", "status", "list --awaiting"):
        assert why in " ".join(project.ok(*words.split()).split()), words


def test_a_run_says_that_work_in_progress_which_was_merged_asks_a_person(project: Project) -> None:
    make_working(project)
    merge_by("merge", project)
    said = "`k7f2` has been merged into `main`: working, and waits for your decision"
    assert said in project.gt("run", "--headless").err


def test_a_person_who_awaits_work_closes_it_by_merging(project: Project) -> None:
    make_working(project, awaiting=Awaiting.WORK)
    merge_by("squash", project)
    project.ok("sync")
    assert project.task("k7f2").status is Status.DONE


def test_a_branch_without_a_commit_of_its_own_is_not_merged(project: Project) -> None:
    workspace = make_working(project)
    git("reset", "--quiet", "--hard", "main", at=workspace)
    commit_file(project.path, "other.txt", "other\n")
    git("merge", "--quiet", "--ff-only", "main", at=workspace)
    tip = project.tip()
    project.ok("status")
    assert project.tip() == tip


def test_nothing_is_asked_of_git_again_while_nothing_moves(project: Project) -> None:
    make_reviewing(project)
    project.ok("status")
    seen = project.path / ".git/gitticks/merges-seen"
    before = seen.read_text()
    assert before
    project.ok("status")
    assert seen.read_text() == before


@pytest.mark.parametrize("words", [("list",), ("inbox",), ("show", "k7f2"), ("next",)], ids=" ".join)
def test_the_next_command_notices(project: Project, words: tuple[str, ...]) -> None:
    make_reviewing(project)
    project.gt(*words)
    merge_by("merge", project)
    ran = project.gt(*words)
    assert "k7f2  found merged into main" in ran.err
    assert "review" not in ran.out.replace("reviewing → done", "")
    assert project.task("k7f2").status is Status.DONE
    assert "found merged" not in project.gt(*words).err


def test_approved_work_whose_merge_waits_is_noticed_too_unless_merges_are_made_now(project: Project) -> None:
    make_reviewing(project)
    (project.path / "login.txt").write_text("in the way\n")
    project.gt("approve", "k7f2")
    assert project.task("k7f2").is_merging
    (project.path / "login.txt").unlink()
    merge_by("merge", project)
    with hold_lock(project.path / ".git/gitticks/merge.lock"):
        assert "found merged" not in project.gt("list").seen
    assert "k7f2  found merged into main" in project.gt("list").err
    assert project.task("k7f2").status is Status.DONE
    assert project.gt("doctor").code == 0, project.gt("doctor").seen


def test_settings_that_cannot_be_read_keep_nobody_from_looking_at_tasks(project: Project) -> None:
    make_reviewing(project)
    (project.board / "config.yaml").write_text("version: 1\nparallel: many\n")
    git("-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-am", "broken", at=project.board)
    for command in ("status", "list", "inbox"):
        assert "k7f2" in project.ok(command)


def test_a_merge_that_cannot_be_recorded_is_noticed_once_it_can(project: Project) -> None:
    make_reviewing(project)
    git("config", "gitticks.review", "nonsense", at=project.path)
    merge_by("merge", project)
    for _ in range(2):
        assert "warning: cannot tell whether `k7f2` was merged by hand" in project.gt("list").err
    git("config", "--unset", "gitticks.review", at=project.path)
    assert "k7f2  found merged into main" in project.gt("list").err
    assert project.task("k7f2").status is Status.DONE


def test_only_what_could_not_be_looked_at_is_looked_at_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    notice = merges_by_hand._notice

    def noted(context: Context, candidate: merges_by_hand._Candidate) -> merges_by_hand.FoundMerge | None:
        looked.append(candidate.task.id)
        if candidate.task.id == "m3xq":
            raise GitticksError("its file is broken")
        return notice(context, candidate)

    monkeypatch.setattr(merges_by_hand, "_notice", noted)
    make_reviewing(project)
    make_reviewing(project, task_id="m3xq")
    for again in (["k7f2", "m3xq"], ["m3xq"], ["m3xq"]):
        looked.clear()
        merges_by_hand.notice_merges(Context(directory=project.path))
        assert sorted(looked) == again


def test_the_hook_of_the_main_checkout_notices_at_once(project: Project) -> None:
    make_reviewing(project)
    project.ok("hooks", "install", "--checkout")
    merge_by("merge", project)
    assert project.task("k7f2").status is Status.DONE
