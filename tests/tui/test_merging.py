"""Merges and conflicts, by keys: a merge that was left, and work that conflicts, goes back and is merged in the end."""

from __future__ import annotations

import errno
from functools import partial
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Status, TaskType
from gitticks.tui.running import start_merge
from gitticks.tui.screens.home import Home
from tests.support.forges import StandIn
from tests.support.projects import make_project, make_reviewing
from tests.support.pull_requests import URL, recorded, token
from tests.support.repositories import commit_file, git
from tests.support.runs import HANDOFF, NO_REVIEW, RunProject
from tests.tui.support import Shown, play
from tests.tui.test_flow import _home, _is_looked_at

__all__ = ["recorded", "token"]

_AGENT = f"""\
echo "$GITTICKS_TASK" > shared.txt
git add -A
git commit -qm "work on $GITTICKS_TASK"
git merge -q -X ours -m "with main" main
{HANDOFF}echo '<promise>COMPLETE</promise>'
"""


def test_what_was_approved_is_merged_by_a_key_which_says_what_is_missing(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    make_reviewing(project, title="Keep the path")

    async def work(shown: Shown) -> None:
        await shown.sees("Keep the path")
        await shown.press("w")
        await shown.sees("In progress", "waits for you: k7f2")
        await shown.press("m")
        await shown.sees("k7f2 comes first: waits for your review")
        project.ok("approve", "k7f2", "--no-wait")
        await shown.until(lambda: (row := shown.app.snapshot.find("k7f2")) and row.is_merging, "the approval")
        await shown.press("m")
        await shown.sees("k7f2 merged into main as")

    play(project.path, work)
    assert project.task("k7f2").status is Status.DONE


def test_an_approval_whose_merge_cannot_begin_is_no_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(tmp_path / "project")
    make_reviewing(project, title="Keep the path")

    def no_process(*_: str) -> list[str]:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr("gitticks.tui.running.own_command", no_process)

    async def work(shown: Shown) -> None:
        await shown.sees("Keep the path")
        await shown.press("i", "y")
        await shown.sees("Approve k7f2 into main?")
        await shown.press("enter")
        await shown.reads("k7f2 is approved, but its merge did not begin")

    play(project.path, work)
    assert project.task("k7f2").is_merging


def test_the_tests_of_a_merge_are_told_nothing_of_the_interface(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(tmp_path / "project")
    project.ok("config", "verify.test", 'test -z "$TEXTUAL_DRIVER"')
    make_reviewing(project)
    project.ok("approve", "k7f2", "--no-wait")
    monkeypatch.setenv("TEXTUAL_DRIVER", "another")
    assert "merged into" in start_merge(Context(directory=project.path), "k7f2")()


def test_where_there_is_nothing_to_merge_no_merge_is_told(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    make_reviewing(project)
    project.ok("approve", "k7f2", "--no-wait")
    commit_file(project.path, "login.txt", "k7f2\n", "the same by hand")
    told = start_merge(Context(directory=project.path), "k7f2")()
    assert "merged into" not in told
    assert "done" in told


def test_the_tests_of_a_merge_know_nothing_of_the_interface(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(tmp_path / "project")
    make_reviewing(project)
    project.ok("config", "verify.test", "! env | grep TEXTUAL")
    project.ok("approve", "k7f2", "--no-wait")
    monkeypatch.setenv("TEXTUAL_FPS", "120")
    assert "merged into main" in start_merge(Context(directory=project.path), "k7f2")()


def test_a_merge_that_waits_is_in_the_inbox_with_its_reason_and_enter_tries_it_again(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    make_reviewing(project, title="Keep the path")
    (project.path / "login.txt").write_text("mine\n")
    assert project.gt("approve", "k7f2").code == 1

    async def work(shown: Shown) -> None:
        await shown.sees("Keep the path")
        await shown.press("i")
        await shown.sees("merge waits", "enter merge")
        await shown.reads("your uncommitted changes in")
        assert shown.app.snapshot.waiting == 1
        await shown.press("n")
        (project.path / "login.txt").unlink()
        await shown.press("enter")
        await shown.sees("k7f2 merged into main as")
        await shown.no_longer_sees("merge waits")

    play(project.path, work)
    assert project.task("k7f2").status is Status.DONE


def test_work_that_conflicts_goes_back_and_is_merged_in_the_end(played: RunProject) -> None:
    project = played
    project.settings(NO_REVIEW)
    project.agent(_AGENT)
    project.make("h8d4", title="Two that meet", type=TaskType.EPIC)
    for task_id in ("k7f2", "m3xq"):
        project.make(task_id, title=f"Work of {task_id}", parent="h8d4")

    def is_at(task_id: str, status: Status) -> bool:
        return project.task(task_id).status is status

    async def approve(shown: Shown, task_id: str, *words: str) -> None:
        inbox = _home(shown).pane("inbox")
        await shown.until(lambda: task_id in inbox.keys, task_id)
        inbox.go_to(task_id)
        await shown.until(partial(_is_looked_at, shown, task_id, Awaiting.REVIEW), "the look at the work")
        await shown.sees(words[0])
        await shown.press("y")
        await shown.sees(f"Approve {task_id} into main?", *words)
        await shown.press("enter")

    async def work(shown: Shown) -> None:
        await shown.sees("Two that meet", "ready")
        await shown.press("enter")
        for task_id in ("k7f2", "m3xq"):
            await shown.until(partial(is_at, task_id, Status.REVIEWING), "the hand-off")
        await shown.press("i")
        await approve(shown, "k7f2", "merges cleanly")
        await shown.until(partial(is_at, "k7f2", Status.DONE), "the merge")
        await approve(shown, "m3xq", "conflicts with main in shared.txt", "goes back to mine")
        await shown.until(lambda: EventType.MERGE_FAILED in project.kinds("m3xq"), "the refused merge")
        await shown.until(partial(is_at, "m3xq", Status.REVIEWING), "the second hand-off")
        await approve(shown, "m3xq", "merges cleanly")
        await shown.until(partial(is_at, "m3xq", Status.DONE), "the merge")

    play(project.path, work)
    assert sorted(project.merges()) == ["k7f2", "m3xq"]
    assert git("show", "main:shared.txt", at=project.path).strip() == "m3xq"


def test_a_pull_request_is_named_before_it_is_opened_and_until_its_task_is_closed_without_it(
    project: RunProject, recorded: StandIn
) -> None:
    make_reviewing(project, title="Keep the path")
    main = git("rev-parse", "main", at=project.path)

    async def work(shown: Shown) -> None:
        inbox = _home(shown).pane("inbox")

        def is_looked_at(awaiting: Awaiting, offered: str | None) -> bool:
            looked = _home(shown)._looked.get("k7f2")
            return looked is not None and (looked.seen.awaiting, looked.policy.offered) == (awaiting, offered)

        async def ask(awaiting: Awaiting, offered: str | None, *words: str) -> None:
            await shown.until(partial(is_looked_at, awaiting, offered), "the look at the work")
            await shown.press("y")
            for one in words:
                await shown.reads(one)

        await shown.sees("Keep the path")
        await shown.press("i")
        await ask(Awaiting.REVIEW, None, "Approve k7f2?", "A pull request is opened, and main moves once")
        await shown.press("enter")
        await shown.until(lambda: project.task("k7f2").is_offered, "the pull request")
        await shown.reads(f"its pull request waits for review and merge: {URL}")
        await ask(Awaiting.REVIEW, URL, "Approve k7f2?", f"Then merge its pull request: {URL}")
        await shown.press("escape", "enter")
        await shown.sees("Hand-off", "merges nothing now")
        await shown.press("y")
        await shown.reads("Approve k7f2?")
        await shown.reads(f"Then merge its pull request: {URL}")
        await shown.press("enter")
        await shown.until(lambda: project.task("k7f2").awaiting is Awaiting.WORK, "the approval")
        await shown.until(lambda: isinstance(shown.app.view, Home) and inbox.key == "k7f2", "Home")
        await ask(Awaiting.WORK, URL, f"Nothing is merged: its pull request stays open: {URL}")
        await shown.press("escape", "t", "y")
        await shown.sees("WHY IT IS WAITING", "closes the task")
        await shown.press("y")
        await shown.reads(
            f"This closes the task as done. Nothing is merged: its pull request stays open: {URL}"
        )
        await shown.press("enter")
        await shown.until(lambda: project.task("k7f2").status is Status.DONE, "the end")

    play(project.path, work)
    assert git("rev-parse", "main", at=project.path) == main


def test_who_merges_by_hand_is_told_so_before_approving_and_before_closing(project: RunProject) -> None:
    project.settings(f"merge: {{mode: manual}}\n{NO_REVIEW}")
    make_reviewing(project, title="Keep the path")

    async def work(shown: Shown) -> None:
        await shown.sees("Keep the path")
        await shown.press("i")
        await shown.until(partial(_is_looked_at, shown, "k7f2", Awaiting.REVIEW), "the look at the work")
        await shown.press("y")
        await shown.sees("Approve k7f2?", "Then merge it yourself: git merge gitticks/work/k7f2")
        await shown.press("escape", "enter")
        await shown.sees("Hand-off", "merges nothing now")
        await shown.press("escape", "y", "enter")
        await shown.reads("a person merges the branch")
        await shown.until(partial(_is_looked_at, shown, "k7f2", Awaiting.WORK), "the look at the work")
        await shown.press("y")
        await shown.reads("Nothing is merged: git merge gitticks/work/k7f2 comes first.")

    play(project.path, work)
    assert project.task("k7f2").awaiting is Awaiting.WORK


def test_a_review_of_work_that_conflicts_does_not_promise_a_merge(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    make_reviewing(project, title="Keep the path")
    commit_file(project.path, "login.txt", "theirs\n")

    async def work(shown: Shown) -> None:
        await shown.sees("Keep the path")
        await shown.press("i", "enter")
        await shown.sees("conflicts in login.txt", "does not merge cleanly: goes back to")

    play(project.path, work)
