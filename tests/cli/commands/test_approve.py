"""`gt approve` and `gt reject`: the specification's table of verdicts, races, and what follows."""

from __future__ import annotations

import fcntl
import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.verdict import approve_task, look_at, reject_task
from gitticks.document.taskfile import TaskFile
from gitticks.errors import RefusedError
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry, Section
from gitticks.model.status import ActorKind, Awaiting, Status
from gitticks.model.task import Usage
from gitticks.store.transaction import Transaction
from tests.support.agents import write_program
from tests.support.projects import SESSION, Project, make_project, make_reviewing
from tests.support.repositories import commit_file, fsck_problems, git
from tests.support.terminals import typed

QUESTION = "Text.\n\n## Questions\n\n### 2026-03-04T05:06:07Z · agent · claude\n\nWhich tone?\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


@pytest.mark.parametrize("kind", list(Awaiting))
@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_every_verdict_on_every_kind(project: Project, kind: Awaiting, verdict: str) -> None:
    status = {Awaiting.INPUT: Status.CLARIFICATION, Awaiting.ESCALATION: Status.STUCK}.get(
        kind, Status.REVIEWING
    )
    if kind in (Awaiting.WORK, Awaiting.CHECKPOINT):
        status = Status.WORKING
    project.make("k7f2", status=status, awaiting=kind)
    expected = {
        "approve": {
            Awaiting.INPUT: Status.WORKING,
            Awaiting.ESCALATION: Status.WORKING,
            Awaiting.CHECKPOINT: Status.WORKING,
        }.get(kind, Status.DONE),
        "reject": {
            Awaiting.INPUT: Status.CANCELLED,
            Awaiting.ESCALATION: Status.CANCELLED,
        }.get(kind, Status.WORKING),
    }[verdict]
    ran = project.gt(verdict, "k7f2", "because")
    is_refused = (verdict, kind) == ("reject", Awaiting.WORK)
    assert ran.code == (3 if is_refused else 0), ran.seen
    task = project.task("k7f2")
    assert (task.status, task.verdict) == (expected, None)
    assert task.awaiting is (kind if is_refused else None)
    assert project.notes("k7f2") == ([] if is_refused else ["because"])


def test_approved_code_is_merged_in_the_foreground(project: Project) -> None:
    workspace = make_reviewing(project)
    lines = project.ok("approve", "k7f2", "nice").splitlines()
    sha = git("rev-parse", "--short=7", "main", at=project.path)
    assert lines == [f"k7f2  merged into main as {sha}", "k7f2  done · Login loses the return URL"]
    assert git("show", "main:login.txt", at=project.path) == "k7f2"
    assert (project.path / "login.txt").read_text() == "k7f2\n"
    assert not workspace.exists()
    task = project.task("k7f2")
    assert (task.status, task.merged_sha) == (Status.DONE, git("rev-parse", "main", at=project.path))
    assert fsck_problems(project.path) == ""


def test_the_tests_of_the_merge_are_reported(project: Project) -> None:
    project.ok("config", "verify.test", "echo '5 passed in 0.01s'")
    make_reviewing(project)
    assert "tests pass" in project.ok("approve", "k7f2").splitlines()[0]


def test_no_wait_leaves_the_merge_to_others(project: Project) -> None:
    make_reviewing(project)
    ran = project.gt("approve", "k7f2", "--no-wait")
    assert ran.seen == (
        "k7f2  approved; merging · Login loses the return URL\n--- 0\n\n"
        "hint: `gt merge k7f2` or the next `gt run` merges it\n"
    )
    assert project.task("k7f2").is_merging
    assert project.gt("approve", "k7f2").out.splitlines()[-1] == "k7f2  done · Login loses the return URL"


def test_a_run_that_is_alive_does_the_merge(project: Project) -> None:
    make_reviewing(project)
    lock = project.path / ".git" / "gitticks" / "run.lock"
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        assert project.gt("approve", "k7f2").seen == (
            "k7f2  approved; merging · Login loses the return URL\n--- 0\n\nhint: `gt status` shows it\n"
        )
    finally:
        os.close(descriptor)
    assert project.task("k7f2").is_merging


def test_a_conflict_sends_the_task_back_and_is_reported(project: Project) -> None:
    make_reviewing(project)
    commit_file(project.path, "login.txt", "another\n")
    ran = project.gt("approve", "k7f2")
    assert ran.code == 1
    assert ran.out.startswith("k7f2  not merged, working again: conflicts with main in login.txt")
    assert ran.err == "\nhint: `gt show k7f2`\n"


def test_edits_in_the_way_let_the_merge_wait(project: Project) -> None:
    make_reviewing(project)
    (project.path / "login.txt").write_text("mine, not committed\n")
    ran = project.gt("approve", "k7f2")
    assert ran.code == 1
    assert ran.out.startswith("k7f2  approved; the merge waits: your uncommitted changes")
    assert ran.err == "\nhint: `gt merge k7f2` tries again\n"
    assert project.task("k7f2").is_merging
    assert (project.path / "login.txt").read_text() == "mine, not committed\n"


def test_an_approval_holds_where_its_merge_cannot_be_tried(project: Project) -> None:
    make_reviewing(project)
    make_reviewing(project, "m3xq", base="nowhere")
    project.ok("config", "agents.mine.argv", '["./mine.sh"]')
    gone = project.gt("approve", "m3xq")
    (project.path / ".git/gitticks/trust").write_bytes(b"")
    untrusted = project.gt("approve", "k7f2")
    assert (gone.code, untrusted.code) == (1, 1)
    waits = "approved; the merge waits:"
    assert gone.out.startswith(
        f"m3xq  {waits} the base branch `nowhere` does not exist here; `git branch nowhere "
    )
    assert untrusted.out.startswith(f"k7f2  {waits} ")
    assert "came from elsewhere" in untrusted.out
    assert untrusted.err.endswith("hint: `gt merge k7f2` tries again\n")
    assert project.task("k7f2").is_merging
    assert project.task("m3xq").is_merging


def test_approved_work_is_sent_back_before_its_merge(project: Project) -> None:
    make_reviewing(project)
    project.ok("approve", "k7f2", "--no-wait")
    ran = project.gt("update", "k7f2", "--awaiting=null")
    assert ran.code == 3
    assert 'hint: `gt reject k7f2 "…"` sends it back' in ran.err
    assert project.gt("reject", "k7f2").err.startswith("error: there is no feedback for the agent of `k7f2`")
    said = project.ok("reject", "k7f2", "rename it")
    assert said == "k7f2  rejected; back to its agent with your feedback · Login loses the return URL\n"
    task = project.task("k7f2")
    assert (task.status, task.awaiting, task.approval) == (Status.WORKING, None, None)
    assert project.notes("k7f2") == ["rename it"]
    assert project.gt("doctor").code == 0


def test_repeating_an_approval_says_so_and_keeps_its_note(project: Project) -> None:
    project.make("k7f2", status=Status.REVIEWING, awaiting=Awaiting.REVIEW)
    assert project.ok("approve", "k7f2") == "k7f2  done · Login loses the return URL\n"
    said = project.ok("approve", "k7f2", "and thank you")
    assert re.fullmatch(r"k7f2  done already since .* UTC, your note was added · Login .*\n", said)
    assert "UTC, nothing was changed" in project.ok("approve", "k7f2")
    assert project.notes("k7f2") == ["and thank you"]


@pytest.mark.parametrize(
    ("fields", "arguments", "message", "hint"),
    [
        (
            {"status": Status.WORKING},
            ["approve"],
            "`k7f2` is not waiting for anyone: it is working",
            "`gt show k7f2`",
        ),
        (
            {"status": Status.WORKING},
            ["reject", "no"],
            "`k7f2` is not waiting for anyone: it is working",
            "`gt show k7f2`",
        ),
        (
            {"status": Status.AGENT_REVIEW},
            ["approve"],
            "`k7f2` is not waiting for anyone: it is agent-review, and its reviewers have not decided",
            '`gt review k7f2` shows the work, `gt review k7f2 --reject "…"` sends it back now',
        ),
        ({"status": Status.CANCELLED}, ["approve"], "`k7f2` is cancelled already", "`gt reopen k7f2`"),
        ({"status": Status.DONE}, ["reject", "no"], "`k7f2` is done already", "`gt reopen k7f2`"),
        (
            {"status": Status.CLARIFICATION, "awaiting": Awaiting.INPUT, "body": QUESTION},
            ["approve"],
            "`k7f2` asks a question that has no answer",
            '`gt respond k7f2 "…"`',
        ),
    ],
)
def test_what_is_refused(
    project: Project, fields: dict[str, object], arguments: list[str], message: str, hint: str
) -> None:
    project.make("k7f2", **fields)
    tip = project.tip()
    command, *rest = arguments
    assert project.gt(command, "k7f2", *rest).seen == f"--- 3\nerror: {message}\n\nhint: {hint}\n"
    assert project.tip() == tip


def test_an_unknown_task_is_nearly_known(project: Project) -> None:
    project.make("k7f2")
    assert project.gt("approve", "k7g2").seen == (
        "--- 1\nerror: there is no task `k7g2`\n\nhint: did you mean `k7f2` (Login loses the return URL)?\n"
    )


def test_a_verdict_on_a_question_is_its_answer_too(project: Project) -> None:
    project.make("k7f2", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, body=QUESTION)
    assert (
        project.ok("approve", "k7f2", "friendly")
        == "k7f2  approved; back to its agent · Login loses the return URL\n"
    )
    assert project.file("k7f2").entries(Section.QUESTIONS)[-1].text == "friendly"


def test_a_rejection_takes_its_feedback_from_stdin(project: Project) -> None:
    make_reviewing(project)
    said = project.ok("reject", "k7f2", "-", input="The test is missing.\n\nAdd it.\n")
    assert said == "k7f2  rejected; back to its agent with your feedback · Login loses the return URL\n"
    assert project.notes("k7f2") == ["The test is missing.\n\nAdd it."]
    assert project.task("k7f2").status is Status.WORKING


def test_a_note_that_is_not_utf_8_is_said_to_be(project: Project) -> None:
    make_reviewing(project)
    ran = project.gt("approve", "k7f2", "caf\udce9")
    assert (ran.code, ran.err.splitlines()[0]) == (2, "error: the note is not UTF-8")


@pytest.mark.parametrize("feedback", [[], [""], ["-"]])
def test_a_rejection_without_feedback_is_refused_and_says_how_to_give_it(
    project: Project, feedback: list[str]
) -> None:
    make_reviewing(project)
    before = project.tip()
    ran = project.gt("reject", "k7f2", *feedback, input="")
    assert (ran.code, project.tip()) == (2, before), ran.seen
    assert ran.err.startswith("error: there is no feedback for the agent of `k7f2`\n")
    assert "`gt reject k7f2 --no-feedback`" in ran.err
    said = project.ok("reject", "k7f2", "--no-feedback")
    assert said == "k7f2  rejected; back to its agent · Login loses the return URL\n"
    assert project.notes("k7f2") == []


def test_a_rejection_on_a_terminal_is_written_below_the_hand_off(project: Project, tmp_path: Path) -> None:
    make_reviewing(project, body="## Handoff\n\n- DONE: the border\n")
    seen = tmp_path / "seen"
    editor = write_program(tmp_path / "editor", f'cat "$1" > "{seen}"; echo "It is too thick." >> "$1"')
    ran = typed("reject", "k7f2", at=project.path, answers=(), environment={"GIT_EDITOR": str(editor)})
    assert ran.out == "k7f2  rejected; back to its agent with your feedback · Login loses the return URL\n"
    assert "# - DONE: the border" in seen.read_text()
    assert project.notes("k7f2") == ["It is too thick."]
    assert project.task("k7f2").status is Status.WORKING


def test_what_a_rejection_cancels_needs_no_feedback(project: Project) -> None:
    project.make("k7f2", status=Status.STUCK, awaiting=Awaiting.ESCALATION)
    assert project.ok("reject", "k7f2") == "k7f2  cancelled · Login loses the return URL\n"


def test_only_people_give_verdicts(project: Project) -> None:
    make_reviewing(project)
    for command in ("approve", "reject", "respond"):
        ran = project.gt(command, "k7f2", "text", environment=SESSION)
        assert ran.code == 3
        assert ran.err.startswith("error: only a person can")
    assert project.task("k7f2").awaiting is Awaiting.REVIEW


def test_new_commits_void_what_was_seen(project: Project) -> None:
    workspace = make_reviewing(project)
    commit_file(workspace, "more.txt", "more\n")
    ran = project.gt("approve", "k7f2")
    assert ran.code == 3
    assert "`k7f2` has new commits since it was handed off" in ran.err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"awaiting": Awaiting.INPUT}, "it awaits input now, not review"),
        ({"awaiting": None, "status": Status.WORKING}, "it is working and is not waiting for anyone now"),
        ({"end_sha": "b" * 40}, "its head is bbbbbbb now"),
        ({"asked_at": None}, "it asked again for review"),
    ],
)
@pytest.mark.parametrize("give", [approve_task, reject_task])
def test_a_verdict_is_never_applied_to_what_was_not_seen(
    project: Project, change: dict[str, object], message: str, give: object
) -> None:
    make_reviewing(project)
    project.change("k7f2", asked_at=project.task("k7f2").created)
    context = Context(directory=project.path)
    seen = look_at(context, TaskId("k7f2"))
    project.change("k7f2", **change)
    tip = project.tip()
    assert callable(give)
    with pytest.raises(RefusedError, match=f"`k7f2` changed since you looked: {message}"):
        give(context, TaskId("k7f2"), "fine", seen)
    assert project.tip() == tip


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        (("update", "k7f2", "--title", "Another"), "its title changed"),
        (("note", "k7f2", "do not merge"), "its notes changed"),
    ],
)
def test_a_verdict_is_not_applied_to_a_text_that_was_not_seen(
    project: Project, words: tuple[str, ...], changed: str
) -> None:
    make_reviewing(project)
    context = Context(directory=project.path)
    seen = look_at(context, TaskId("k7f2"))
    project.change("k7f2", priority=0)
    project.ok(*words)
    with pytest.raises(RefusedError, match=f"`k7f2` changed since you looked: {changed}"):
        approve_task(context, TaskId("k7f2"), None, seen)
    assert approve_task(context, TaskId("k7f2"), None, look_at(context, TaskId("k7f2"))).after.is_merging


def test_what_agents_and_the_engine_write_meanwhile_refuses_no_verdict(project: Project) -> None:
    make_reviewing(project)
    context = Context(directory=project.path)
    seen = look_at(context, TaskId("k7f2"))
    project.change("k7f2", usage=Usage(iterations=3))
    project.store.transact(
        lambda transaction: transaction.put_task(_noted(transaction)), author=context.author
    )
    assert approve_task(context, TaskId("k7f2"), None, seen).after.is_merging


def _noted(transaction: Transaction) -> TaskFile:
    entry = Entry(datetime.now(UTC), ActorKind.AGENT, "claude", "Odd.")
    return transaction.task_file(TaskId("k7f2")).with_entry(Section.NOTES, entry)


def test_of_two_approvals_at_once_the_second_is_a_repetition(project: Project) -> None:
    make_reviewing(project)
    first, second = Context(directory=project.path), Context(directory=project.path)
    seen = look_at(second, TaskId("k7f2"))
    before, after = approve_task(first, TaskId("k7f2"), None, look_at(first, TaskId("k7f2")))
    assert before != after
    assert approve_task(second, TaskId("k7f2"), None, seen) == (after, after)
    given = [event for event in project.events("k7f2") if event.type is EventType.VERDICT]
    assert len([event for event in given if "awaiting" in event.data]) == 1


def test_json_is_the_task_after_it_all(project: Project) -> None:
    make_reviewing(project)
    assert json.loads(project.ok("approve", "k7f2", "--json"))["task"]["status"] == "done"


def test_what_was_saved_by_hand_is_seen_but_a_saved_verdict_does_not_count(project: Project) -> None:
    make_reviewing(project)
    file = project.board_file("k7f2")
    file.write_text(file.read_text().replace("awaiting: review", "awaiting: review\nverdict: rejected"))
    assert project.ok("approve", "k7f2").splitlines()[-1] == "k7f2  done · Login loses the return URL"


def test_where_people_merge_it_says_how_and_that_closes_the_task(project: Project) -> None:
    project.ok("config", "merge.mode", "manual")
    make_reviewing(project)
    ran = project.gt("approve", "k7f2")
    assert (ran.code, ran.out) == (0, "k7f2  approved, awaits work · Login loses the return URL\n")
    assert ran.err.startswith("\nhint: `git merge gitticks/work/k7f2` on `main` merges it, ")
    git(*ran.err.split("`")[1].split()[1:], at=project.path)
    project.ok("status")
    assert project.task("k7f2").status is Status.DONE


def test_what_is_uncommitted_in_the_workspace_is_said_not_to_be_merged(project: Project) -> None:
    workspace = make_reviewing(project, "k7f2")
    (workspace / "mended.txt").write_text("by the reviewer\n")
    ran = project.gt("approve", "k7f2")
    assert (ran.code, project.task("k7f2").status) == (0, Status.DONE)
    assert "warning: k7f2: its workspace stays: " in ran.err
    assert "has uncommitted work: `mended.txt`" in ran.err
    assert (workspace / "mended.txt").exists()
