"""The next merges are checked while the first is checked: the base only gets what passed, whatever comes in between."""

from __future__ import annotations

import json
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Status
from tests.runner.merges import approve, head
from tests.runner.test_session_costs import told
from tests.support.agents import processes_with
from tests.support.projects import make_reviewing
from tests.support.repositories import commit_file, git
from tests.support.runs import RunProject, project
from tests.support.waiting import until

__all__ = ["project"]

TASKS = ("aaaa", "bbbb", "cccc")
TOGETHER = "until [ $(grep -c begun {said}) -ge 2 ]; do sleep 0.05; done"
"""A check that only ends once two were begun."""


def waiting(project: RunProject, check: str, *names: str, ahead: int = 1, settings: str = "") -> Path:
    """Makes tasks whose work, a file of their name, waits to be merged; returns where checks say that they began."""
    said = project.path.parent / "said"
    said.touch()
    project.agent("exit 1\n")
    project.settings(f"verify: {{test: 'echo begun >> {said}; {check.format(said=said)}'}}\n{settings}")
    for name in names or TASKS:
        workspace = make_reviewing(project, name)
        git("reset", "--quiet", "--hard", "HEAD~1", at=workspace)
        commit_file(workspace, f"{name}.txt", "x\n")
        project.change(name, end_sha=git("rev-parse", "HEAD", at=workspace))
    project.ok("config", "merge.mode", "queue")
    project.ok("config", "merge.ahead", str(ahead))
    for name in names or TASKS:
        approve(project, name)
    return said


def begun(said: Path) -> int:
    return said.read_text().count("begun")


def assert_nothing_is_aside(project: RunProject) -> None:
    folder = project.path / ".git/gitticks/merge"
    assert not folder.exists() or list(folder.iterdir()) == []
    assert "gitticks/merge" not in git("worktree", "list", at=project.path)


@pytest.mark.parametrize("strategy", ["merge", "squash", "rebase"])
def test_the_next_is_checked_beside_the_first_and_once(project: RunProject, strategy: str) -> None:
    said = waiting(project, TOGETHER)
    project.ok("config", "merge.strategy", strategy)
    ran = project.run("--parallel", "2")
    assert ran.code == 0, ran.seen
    assert sorted(project.merges()) == sorted(TASKS)
    assert begun(said) == len(TASKS)
    assert_nothing_is_aside(project)


@pytest.mark.parametrize(("ahead", "parallel", "others"), [(0, 3, 0), (1, 1, 0), (2, 2, 1), (2, 3, 2)])
def test_no_more_are_checked_at_once_than_the_settings_and_the_run_allow(
    project: RunProject, ahead: int, parallel: int, others: int
) -> None:
    said = waiting(project, "until [ -e {said}.go ]; do sleep 0.05; done", ahead=ahead)
    with project.running("--parallel", str(parallel)) as process:
        until(lambda: begun(said) == 1 + others, "the checks")
        Path(f"{said}.go").touch()
        assert process.wait() == 0, process.stdout
    assert begun(said) == len(TASKS)
    assert sorted(project.merges()) == sorted(TASKS)


def test_what_breaks_only_with_the_first_is_sent_back(project: RunProject) -> None:
    waiting(project, "! {{ [ -e aaaa.txt ] && [ -e bbbb.txt ]; }}", ahead=2)
    project.run("--parallel", "3")
    assert sorted(project.merges()) == ["aaaa", "cccc"]
    assert EventType.MERGE_FAILED in project.kinds("bbbb")
    assert "bbbb.txt" not in project.files()
    assert project.task("cccc").status is Status.DONE


def test_what_was_checked_with_a_first_that_fails_is_checked_without_it(project: RunProject) -> None:
    said = waiting(project, f"{TOGETHER}; [ ! -e aaaa.txt ]")
    project.run("--parallel", "2")
    assert sorted(project.merges()) == ["bbbb", "cccc"]
    assert EventType.MERGE_FAILED in project.kinds("aaaa")
    assert "aaaa.txt" not in project.files()
    assert begun(said) > len(TASKS)


def test_a_failure_beside_another_check_sends_nobody_back(project: RunProject) -> None:
    """As of tests that use the same port."""
    said = waiting(
        project,
        "if [ ! -e bbbb.txt ]; then until [ -e {said}.failed ]; do sleep 0.05; done; "
        "elif [ ! -e {said}.failed ]; then touch {said}.failed; exit 1; fi",
    )
    project.ok("config", "verify.retries", "0")
    ran = project.run("--parallel", "2")
    assert ran.code == 0, ran.seen
    assert sorted(project.merges()) == sorted(TASKS)
    assert EventType.MERGE_FAILED not in project.kinds("bbbb")
    assert begun(said) == 1 + len(TASKS)


def test_a_base_that_moved_meanwhile_makes_all_checks_again(project: RunProject) -> None:
    said = waiting(project, "until [ -e {said}.go ]; do sleep 0.05; done")
    with project.running("--parallel", "2") as process:
        until(lambda: begun(said) == 2, "two checks")
        moved = commit_file(project.path, "meanwhile.txt", "a person\n")
        Path(f"{said}.go").touch()
        assert process.wait() == 0
    assert begun(said) == 2 + len(TASKS)
    assert sorted(project.merges()) == sorted(TASKS)
    git("merge-base", "--is-ancestor", moved, "main", at=project.path)
    assert_nothing_is_aside(project)


def test_one_that_is_taken_back_is_checked_no_further(project: RunProject) -> None:
    said = waiting(
        project,
        "echo $$ > {said}.pid; [ -e bbbb.txt ] && touch {said}.b; until [ -e {said}.go ]; do sleep 0.05; done",
    )
    with project.running("--parallel", "2") as process:
        until(Path(f"{said}.b").exists, "the check of the second")
        project.ok("update", "bbbb", "--awaiting", "review")
        until(lambda: begun(said) == 3, "the check of the third in its place")
        Path(f"{said}.go").touch()
        process.wait()
    assert sorted(project.merges()) == ["aaaa", "cccc"]
    assert project.task("bbbb").status is Status.REVIEWING


@pytest.mark.parametrize("end", ["Ctrl-C", "gt stop", "budget"])
def test_a_run_that_is_about_to_end_checks_nothing_ahead(project: RunProject, end: str) -> None:
    said = waiting(
        project,
        "[ -e bbbb.txt ] && echo $GITTICKS_PORT_BASE > {said}.port; "
        "until [ -e {said}.go ]; do sleep 0.05; done",
    )
    project.agent(f"until [ -e {said}.spent ]; do sleep 0.05; done\n{told(cost=1.0)}")
    if end == "budget":
        project.make()
    noted = Path(f"{said}.port")
    with project.running("--parallel", "2", "--max-cost", "1") as process:
        until(lambda: noted.exists() and noted.read_text().endswith("\n"), "the check of the second")
        mark = f"GITTICKS_PORT_BASE={noted.read_text().strip()}"
        assert processes_with(mark)
        match end:
            case "Ctrl-C":
                project.interrupt(process)
            case "gt stop":
                project.ok("stop")
            case _:
                Path(f"{said}.spent").touch()
        until(lambda: not processes_with(mark), "the end of what is only ahead")
        Path(f"{said}.go").touch()
        process.communicate()
    assert project.merges() == ["aaaa"]
    assert begun(said) == 2
    assert project.task("bbbb").is_merging
    assert_nothing_is_aside(project)


def test_the_status_tells_the_queue_in_its_order_and_what_is_checked_ahead(project: RunProject) -> None:
    said = waiting(project, "until [ -e {said}.go ]; do sleep 0.05; done")
    for name, hour in zip(TASKS, (3, 1, 2), strict=True):
        approval = project.task(name).approval
        assert approval is not None
        project.change(name, approval=approval._replace(at=datetime(2026, 1, 1, hour, tzinfo=UTC)))
    assert queue_of(project) == [("bbbb", None), ("cccc", None), ("aaaa", None)]
    with project.running("--parallel", "2") as process:
        wanted = [("bbbb", "merging"), ("cccc", "ahead"), ("aaaa", "queued")]
        until(lambda: queue_of(project) == wanted, "the queue in the status")
        shown = project.ok("status")
        assert "merging\n  bbbb  now  " in shown
        assert "\n  cccc  checked ahead  " in shown
        Path(f"{said}.go").touch()
        assert process.wait() == 0
    assert project.merges() == ["aaaa", "cccc", "bbbb"]
    assert not (project.path / ".git/gitticks/merging.json").exists()


def queue_of(project: RunProject) -> list[tuple[str, str | None]]:
    found = json.loads(project.ok("status", "--json"))["merging"]
    return [(one["id"], one["merge"] and one["merge"]["state"]) for one in found]


def test_the_status_says_what_a_merge_waits_for(project: RunProject) -> None:
    waiting(project, "true", "aaaa")
    (project.path / "aaaa.txt").write_text("mine\n")
    with project.running("--auto", "--all") as process:
        until(lambda: queue_of(project) == [("aaaa", "waiting")], "the reason")
        assert "aaaa  waits  " in project.ok("status")
        assert "your uncommitted changes in" in project.ok("status")
        (project.path / "aaaa.txt").unlink()
        until(lambda: project.task("aaaa").status is Status.DONE, "the merge")
        project.interrupt(process)
        process.communicate()


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_leaves_no_process_and_no_checkout(
    project: RunProject, sign: signal.Signals
) -> None:
    said = waiting(project, "until [ -e {said}.go ]; do sleep 0.05; done", ahead=2)
    before = head(project)
    with project.running("--parallel", "3") as process:
        until(lambda: begun(said) == 3, "three checks")
        process.send_signal(sign)
        if sign is signal.SIGINT:
            until(
                lambda: "Ctrl-C again" in (process.stdout.readline() if process.stdout else ""), "its answer"
            )
            process.send_signal(sign)
        process.communicate()
    assert head(project) == before
    if sign is signal.SIGINT:
        assert_nothing_is_aside(project)
    Path(f"{said}.go").touch()
    assert project.run("--parallel", "3").code == 0
    assert sorted(project.merges()) == sorted(TASKS)
    assert_nothing_is_aside(project)
