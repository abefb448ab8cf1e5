"""Merges and conflicts, by keys: a merge that was left, and work that conflicts, goes back and is merged in the end."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Status, TaskType
from tests.support.projects import make_project, make_reviewing
from tests.support.repositories import git
from tests.support.runs import HANDOFF, NO_REVIEW, RunProject
from tests.tui.support import Shown, play
from tests.tui.test_flow import _home, _is_looked_at

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


def test_a_merge_that_waits_is_in_the_inbox_with_its_reason_and_enter_tries_it_again(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    make_reviewing(project, title="Keep the path")
    (project.path / "login.txt").write_text("mine\n")
    assert project.gt("approve", "k7f2").code == 1

    async def work(shown: Shown) -> None:
        await shown.sees("Keep the path")
        await shown.press("i")
        await shown.sees("merge waits", "enter merges it")
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
