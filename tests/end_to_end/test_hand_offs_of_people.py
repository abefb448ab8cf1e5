"""What a person hands off or reviews while an agent works on the task: it stays, and the agent's words stand beside it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from gitticks.actions.context import Context
from gitticks.actions.review import view
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import Section
from gitticks.model.status import Status
from gitticks.tui.widgets.lines import words
from gitticks.tui.widgets.review_rows import check_rows
from tests.support.repositories import git, run_git_command
from tests.support.runs import COMMIT, DONE, FAIL, NO_REVIEW, TO_REVIEW, RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

MINE = "Done by me, and only half."


@contextmanager
def working(project: RunProject, work: str) -> Iterator[None]:
    """Runs an agent that waits until the block is over, and then does `work`."""
    here = project.shared
    project.agent(f'touch "{here}/up"; while [ ! -e "{here}/go" ]; do sleep 0.05; done\n{work}')
    with project.running() as process:
        until((here / "up").exists, "the agent")
        yield
        (here / "go").touch()
        process.wait(LONGEST_SECONDS)


def save(project: RunProject, section: Section, text: str) -> None:
    """Saves a section on the board and commits it, unless the run took it up before."""
    with project.board_file("k7f2").open("a") as file:
        file.write(f"\n## {section}\n\n{text}\n")
    run_git_command("commit", "-qam", "by hand", at=project.board)
    until(lambda: project.file("k7f2").section(section) == text, "what was saved")


def by_command(project: RunProject) -> None:
    project.ok("handoff", "k7f2", MINE)


def by_commit(project: RunProject) -> None:
    save(project, Section.HANDOFF, MINE)


@pytest.mark.parametrize("way", [by_command, by_commit])
@pytest.mark.parametrize("work", [DONE, f'{COMMIT}"$GT" handoff --done it\n"$GT" complete\nsleep 600'])
def test_a_persons_hand_off_stays_and_the_agents_is_a_note(
    project: RunProject, way: object, work: str
) -> None:
    project.settings(NO_REVIEW)
    project.make()
    with working(project, work):
        assert callable(way)
        way(project)
    assert project.stands() == TO_REVIEW
    assert project.file("k7f2").section(Section.HANDOFF) == MINE
    (note,) = project.notes("k7f2")
    assert note.startswith(
        "`## Handoff` of this session, in addition to the one that a person wrote in the meantime:"
    )
    assert note.endswith("- DONE: it")
    (warned,) = [one.reason for one in project.events("k7f2") if one.type is EventType.WARNED]
    assert warned == "a person wrote `## Handoff` while mine worked: it stays, and the agent's is a note"
    assert "a person wrote `## Handoff`" in project.ok("log", "k7f2")


def test_a_persons_hand_off_is_checked_as_the_agents_own(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}verify: {{test: 'exit 3'}}\niterations: 1\n")
    project.make()
    with working(project, f"{COMMIT}echo '<promise>COMPLETE</promise>'\n"):
        by_command(project)
    assert project.last(EventType.GATE_FAILED).data["gate"] == "checks"
    assert project.stands()[0] is Status.STUCK


def by_saving(project: RunProject) -> str:
    return project.gt("status").seen


def by_plain_commit(project: RunProject) -> str:
    ran = subprocess.run(
        ("git", "commit", "-am", "x"), cwd=project.board, capture_output=True, text=True, check=False
    )
    return ran.stdout + ran.stderr


def by_commit_without_checks(project: RunProject) -> str:
    git("commit", "--no-verify", "-qam", "x", at=project.board)
    return project.ok("log", "k7f2")


@pytest.mark.parametrize("way", [by_saving, by_plain_commit, by_commit_without_checks])
def test_a_status_in_the_file_hands_off_nothing_whose_checks_have_not_run(
    project: RunProject, way: Callable[[RunProject], str]
) -> None:
    project.settings(NO_REVIEW)
    project.make()
    project.ok("start", "k7f2")
    (project.workspace() / "left.txt").write_text("not committed\n")
    by_command(project)
    project.save("k7f2", "status: working", "status: agent-review")
    assert "its checks have not run" in " ".join(way(project).split())
    assert project.stands() == (Status.WORKING, None)
    refused = project.gt("complete", "k7f2")
    assert (refused.code, "left.txt" in refused.err) == (3, True), refused.seen


def test_without_a_workspace_here_a_status_in_the_file_hands_off_as_a_command_does(
    project: RunProject,
) -> None:
    project.settings(NO_REVIEW)
    project.make()
    project.ok("start", "k7f2")
    by_command(project)
    project.ok("worktree", "clean", "k7f2")
    project.save("k7f2", "status: working", "status: agent-review")
    project.ok("status")
    assert project.stands() == TO_REVIEW


@pytest.mark.parametrize("is_started", [False, True])
def test_a_status_in_the_file_hands_off_what_has_nothing_to_check(
    project: RunProject, is_started: bool
) -> None:
    project.settings(NO_REVIEW + ("verify: {committed: false}\n" if is_started else ""))
    project.make(status=Status.PENDING if is_started else Status.WORKING, body=f"## Handoff\n\n{MINE}\n")
    if is_started:
        project.ok("start", "k7f2")
    project.save("k7f2", "status: working", "status: agent-review")
    project.ok("status")
    assert project.stands() == TO_REVIEW


def test_a_persons_review_stays_too(project: RunProject) -> None:
    project.make(
        status=Status.AGENT_REVIEW, review_round=1, start_sha=git("rev-parse", "main", at=project.path)
    )
    with working(project, FAIL):
        save(project, Section.REVIEW, "PASS, I looked")
    assert project.stands() == TO_REVIEW
    assert project.file("k7f2").section(Section.REVIEW) == "PASS, I looked"
    assert project.notes("k7f2")[0].endswith("FAIL, not yet")


def test_what_an_agent_was_given_it_may_replace(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.make(body=f"## Handoff\n\n{MINE}\n")
    project.agent(
        f'{COMMIT}sed -i "s/by me/by the agent/" "$GITTICKS_MAILBOX/TASK.md"\n'
        "echo '<promise>COMPLETE</promise>'"
    )
    project.run()
    assert "by the agent" in (project.file("k7f2").section(Section.HANDOFF) or "")


@pytest.mark.parametrize("by_request", [False, True])
def test_a_review_has_the_checks_of_the_work_in_review(project: RunProject, by_request: bool) -> None:
    project.settings(f"{NO_REVIEW}verify: {{test: 'test -e sound'}}\niterations: 1\n")
    project.make()
    project.agent(DONE)
    project.run()
    assert project.stands()[0] is Status.STUCK
    if by_request:
        project.agent(f'touch sound\n{COMMIT}"$GT" handoff --done it\n"$GT" complete\nsleep 600')
        project.ok("respond", "k7f2", "It lacks a file.")
        project.run()
    else:
        (project.workspace() / "sound").touch()
        git("add", "-A", at=project.workspace())
        git("commit", "-qm", "sound", at=project.workspace())
        by_command(project)
        project.ok("complete", "k7f2")
    assert project.stands() == TO_REVIEW
    seen = view(Context(directory=project.path), TaskId("k7f2"))
    assert seen.checks is not None
    assert seen.checks.startswith("tests pass (")
    (row,) = [words(one) for one in check_rows(seen, 60) if "tests" in words(one)]
    assert "✓ tests pass" in row
