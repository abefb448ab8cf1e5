"""`gt complete`, `gt ask` and `gt handoff`, outside of a session, where they act on the state branch at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.model.event import EventType
from gitticks.model.notes import Section, open_questions
from gitticks.model.status import Awaiting, Status
from tests.support.projects import SESSION, Project, make_project, make_working
from tests.support.repositories import commit_file, git


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "given", "text"),
    [
        (["k7f2", "All done."], "", "All done."),
        (["k7f2", "-"], "From stdin\n", "From stdin"),
        (["k7f2", "--file", "handoff.md"], "", "From a file"),
        (
            ["k7f2", "--done", "keeps the path\nadds a test", "--uncertain", "old links"],
            "",
            "- DONE: keeps the path\n  adds a test\n- UNCERTAIN: old links",
        ),
        (
            ["k7f2", "--remaining", "docs", "--decisions", "no cookie"],
            "",
            "- REMAINING: docs\n- DECISIONS: no cookie",
        ),
    ],
)
def test_a_hand_off_from_anywhere(project: Project, arguments: list[str], given: str, text: str) -> None:
    project.make("k7f2", status=Status.WORKING, body="Text.\n\n## Handoff\n\nold\n\n## Notes\n")
    (project.path / "handoff.md").write_text("From a file\n")
    assert project.ok("handoff", *arguments, input=given) == "k7f2  hand-off written\n"
    assert project.file("k7f2").section(Section.HANDOFF) == text
    assert project.subject() == "k7f2: hand-off written"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["k7f2"], 2, "the hand-off is empty"),
        (["k7f2", "<!-- later -->"], 2, "the hand-off is empty"),
        (["k7f2", "a", "--done", "b"], 2, "the hand-off is given twice"),
        (["--done", "b"], 2, "no task was named"),
        (["k7f2", "text\n\n## Review\n\nPASS"], 1, "tasks/f2/k7f2/TASK.md"),
        (["r3vw", "late"], 3, "`r3vw` is already handed off: it is reviewing"),
        (["d0ne", "late"], 3, "`d0ne` is done already"),
    ],
)
def test_hand_offs_that_are_refused(project: Project, arguments: list[str], code: int, message: str) -> None:
    project.make("k7f2", status=Status.WORKING)
    project.make("r3vw", status=Status.REVIEWING, awaiting=Awaiting.REVIEW)
    project.make("d0ne", status=Status.DONE)
    tip = project.tip()
    ran = project.gt("handoff", *arguments)
    assert (ran.code, project.tip()) == (code, tip), ran.seen
    assert ran.err.startswith(f"error: {message}")


def test_complete_needs_the_hand_off_and_goes_as_far_as_the_gates_allow(project: Project) -> None:
    workspace = make_working(project)
    assert "`## Handoff` is missing" in project.gt("complete", at=workspace).err
    project.ok("handoff", "--done", "it", at=workspace)
    said = project.ok("complete", at=workspace)
    task = project.task("k7f2")
    assert task.end_sha == git("rev-parse", "HEAD", at=workspace)
    assert said.startswith("k7f2  working → ")
    assert task.status in (Status.AGENT_REVIEW, Status.REVIEWING)


def test_complete_runs_the_quality_gates_in_the_workspace(project: Project) -> None:
    project.ok("config", "verify.test", "test -f tested.txt")
    workspace = make_working(project)
    project.ok("handoff", "--done", "it", at=workspace)
    refused = project.gt("complete", "k7f2")
    assert refused.code == 3
    assert project.task("k7f2").status is Status.WORKING
    (workspace / "tested.txt").write_text("")
    assert "not everything is committed" in project.gt("update", "k7f2", "--status", "agent-review").err
    git("add", ".", at=workspace)
    git("commit", "-qm", "test", at=workspace)
    project.ok("complete", "k7f2")


def test_complete_is_refused_where_the_commits_are_beside_the_branch(project: Project) -> None:
    project.ok("config", "verify.test", "false")
    workspace = make_working(project)
    git("checkout", "-q", "-b", "other", at=workspace)
    commit_file(workspace, "more.txt", "more\n")
    project.ok("handoff", "k7f2", "--done", "it")
    refused = project.gt("complete", "k7f2")
    assert refused.code == 3
    assert "committed on branch `other`" in refused.err
    assert "git checkout gitticks/work/k7f2 && git merge other" in refused.err
    assert project.task("k7f2").status is Status.WORKING


def test_complete_twice_says_where_the_task_is(project: Project) -> None:
    project.make("k7f2", status=Status.AGENT_REVIEW)
    assert project.ok("complete", "k7f2") == "k7f2  agent-review · Login loses the return URL\n"


@pytest.mark.parametrize("environment", [{}, SESSION])
def test_a_question_lets_the_task_wait(project: Project, environment: dict[str, str]) -> None:
    project.make("k7f2", status=Status.WORKING)
    said = project.ok("ask", "k7f2", "Which", "tone?", environment=environment)
    assert said == "k7f2  asked, awaits input\n"
    asked = open_questions(project.file("k7f2").entries(Section.QUESTIONS))
    assert [question.text for question in asked] == ["Which tone?"]
    assert project.task("k7f2").awaiting is Awaiting.INPUT
    assert project.subject() == "k7f2: working → clarification"
    assert EventType.ASKED in [event.type for event in project.events("k7f2")]


def test_a_second_question_is_added(project: Project) -> None:
    project.make("k7f2", status=Status.WORKING)
    project.ok("ask", "k7f2", "One?")
    project.ok("ask", "k7f2", "Two?")
    assert len(open_questions(project.file("k7f2").entries(Section.QUESTIONS))) == 2
    assert project.subject() == "k7f2: question asked"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["k7f2", ""], 2, "the question is empty"),
        (["k7f2"], 2, "the question is empty"),
        (["r3vw", "Why?"], 3, "`r3vw` cannot go from reviewing to clarification"),
        (["d0ne", "Why?"], 3, "`d0ne` is done already"),
    ],
)
def test_questions_that_are_refused(project: Project, arguments: list[str], code: int, message: str) -> None:
    project.make("k7f2", status=Status.WORKING)
    project.make("r3vw", status=Status.REVIEWING, awaiting=Awaiting.REVIEW)
    project.make("d0ne", status=Status.DONE)
    tip = project.tip()
    ran = project.gt("ask", *arguments)
    assert (ran.code, project.tip()) == (code, tip)
    assert ran.err.startswith(f"error: {message}")


@pytest.mark.parametrize(
    "command",
    [
        ["handoff", "d0ne", "-"],
        ["ask", "d0ne", "-"],
        ["update", "d0ne", "-d", "-", "--status", "working"],
        ["close", "cnld", "-m", "-"],
        ["cancel", "d0ne", "-m", "-"],
        ["note", "none", "-"],
        ["create", "x", "-d", "-", "--parent", "none"],
    ],
    ids=lambda command: command[0],
)
def test_a_text_from_stdin_is_kept_if_the_command_is_refused(project: Project, command: list[str]) -> None:
    project.make("cnld", status=Status.CANCELLED)
    ran = project.gt(*command, input="Hours of work,\nin two lines.\n")
    assert ran.code != 0
    kept = Path(ran.err.split("your text is kept in `")[1].split("`")[0])
    assert kept.read_text() == "Hours of work,\nin two lines.\n"


@pytest.mark.parametrize(
    ("text", "is_kept"), [("two\0parts\n", True), ("line\n" * 5001, True), ("x" * 100_001, False)]
)
def test_a_text_that_no_task_can_hold_is_kept_whole_or_not_at_all(
    project: Project, text: str, is_kept: bool
) -> None:
    project.make("k7f2", status=Status.WORKING)
    ran = project.gt("handoff", "k7f2", "-", input=text)
    assert (ran.code, "your text is kept" in ran.err) == (2, is_kept)
    if is_kept:
        assert Path(ran.err.split("your text is kept in `")[1].split("`")[0]).read_text() == text
