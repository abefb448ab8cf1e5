"""The command that tells people: of what, when again, and that it can do nothing to a run."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gitticks.model.ids import TaskId
from gitticks.model.settings import LimitSettings, MergeMode, Settings
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Approval, Task
from gitticks.runner.notifications import (
    Notice,
    NoticeKind,
    Notified,
    Notifier,
    kind_of,
    notice_text,
    read_notified,
    write_notified,
)
from tests.support.runs import DONE, NO_REVIEW, RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

AT = datetime(2026, 11, 22, 1, 0, tzinfo=UTC)
ASKS = "echo '<promise>INPUT_NEEDED: Which tone?</promise>'"
WAITING = Task(TaskId("k7f2"), "Login", status=Status.REVIEWING, awaiting=Awaiting.REVIEW, asked_at=AT)


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"status": Status.CLARIFICATION, "awaiting": Awaiting.INPUT}, NoticeKind.AWAITING),
        ({"status": Status.PENDING, "awaiting": Awaiting.WORK}, NoticeKind.AWAITING),
        ({"status": Status.STUCK, "awaiting": Awaiting.ESCALATION}, NoticeKind.STUCK),
        ({"status": Status.DONE}, NoticeKind.DONE),
        ({"status": Status.CANCELLED}, None),
        ({"status": Status.WORKING}, None),
    ],
)
def test_what_there_is_to_tell_of_a_task(fields: dict[str, Any], kind: NoticeKind | None) -> None:
    assert kind_of(Task(TaskId("k7f2"), "Login", **fields)) is kind


@pytest.mark.parametrize(
    ("awaiting", "command"),
    [
        (Awaiting.WORK, "gt close k7f2"),
        (Awaiting.APPROVAL, "gt review k7f2"),
        (Awaiting.REVIEW, "gt review k7f2"),
        (Awaiting.CONTENT, "gt review k7f2"),
        (Awaiting.INPUT, "gt respond k7f2"),
        (Awaiting.ESCALATION, "gt respond k7f2"),
        (Awaiting.CHECKPOINT, "gt respond k7f2"),
        (None, None),
    ],
)
def test_a_notice_names_the_next_command(awaiting: Awaiting | None, command: str | None) -> None:
    task = Task(TaskId("k7f2"), "Login", awaiting=awaiting, priority=1)
    said = json.loads(notice_text(Notice(NoticeKind.AWAITING, AT, task), "/repo", ("Which?",)))
    assert (said["command"], said["questions"], said["task"]["priority"]) == (command, ["Which?"], 1)
    assert said["task"]["awaiting"] == awaiting


@pytest.mark.parametrize(
    ("why", "command"),
    [
        ("crashed: exit code 3", "gt respond k7f2"),
        ("`budget.task.cost` is spent: $2 of $2", "gt approve k7f2"),
    ],
)
def test_why_a_task_is_stuck_is_its_reason(why: str, command: str) -> None:
    task = replace(WAITING, status=Status.STUCK, awaiting=Awaiting.ESCALATION)
    said = json.loads(notice_text(Notice(NoticeKind.STUCK, AT, task), "/repo", (), why))
    assert (said["reason"], said["command"]) == (why, command)


@pytest.mark.parametrize(
    ("mode", "pr", "command"),
    [
        (MergeMode.MANUAL, None, "git merge gitticks/work/k7f2 && gt status"),
        (MergeMode.PULL_REQUEST, "https://example.org/pull/7", "gt sync"),
        (MergeMode.QUEUE, None, "gt close k7f2"),
    ],
)
def test_approved_work_that_a_person_merges_comes_with_what_closes_it_after_its_merge(
    mode: MergeMode, pr: str | None, command: str
) -> None:
    task = replace(
        WAITING,
        awaiting=Awaiting.WORK,
        branch="gitticks/work/k7f2",
        end_sha="b" * 40,
        pr=pr,
        approval=Approval("Ada", AT, "b" * 40) if pr else None,
    )
    said = json.loads(notice_text(Notice(NoticeKind.AWAITING, AT, task), "/repo", mode=mode))
    assert said["command"] == command


def heard(project: RunProject) -> list[dict[str, Any]]:
    """Returns what the command was told."""
    place = project.path.parent / "heard"
    return [json.loads(line) for line in place.read_text().splitlines()] if place.exists() else []


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitticks.runner.loop.LONGEST_NOTIFYING_SECONDS", LONGEST_SECONDS)
    monkeypatch.setattr("gitticks.runner.notifications.LONGEST_COMMAND_SECONDS", LONGEST_SECONDS)


@pytest.fixture
def telling(project: RunProject) -> RunProject:
    """Gives a project whose command writes down what it is told, and whose agent asks first."""
    project.settings(f"{NO_REVIEW}notify: cat >> {project.path.parent}/heard\n")
    project.agent(f"if grep -q Friendly; then {DONE}else {ASKS}; fi")
    project.make(reviewer="Ada")
    return project


def test_people_are_told_what_waits_for_them_once(telling: RunProject) -> None:
    assert telling.run().code == 3
    (said,) = heard(telling)
    assert (said["event"], said["again"], said["schema"]) == ("task.awaiting", False, 1)
    assert (said["task"]["id"], said["task"]["awaiting"]) == ("k7f2", "input")
    assert (said["task"]["reviewer"], said["questions"]) == ("Ada", ["Which tone?"])
    assert said["command"] == "gt respond k7f2"
    assert said["repository"] == str(telling.path)
    telling.run()
    assert len(heard(telling)) == 1


def test_the_next_turn_is_reported_again_and_done_too(telling: RunProject) -> None:
    telling.settings("human: when-required\n")
    telling.run()
    telling.ok("respond", "k7f2", "Friendly.")
    assert telling.run().code == 0
    assert [(said["event"], said["command"]) for said in heard(telling)] == [
        ("task.awaiting", "gt respond k7f2"),
        ("task.done", None),
    ]


def test_another_question_is_reported_too(telling: RunProject) -> None:
    telling.run()
    asked_at = telling.task("k7f2").asked_at
    until(lambda: asked_at is not None and datetime.now(UTC) > asked_at + timedelta(seconds=1))
    telling.ok("ask", "k7f2", "Which size?")
    telling.run()
    assert [said["questions"] for said in heard(telling)] == [["Which tone?"], ["Which tone?", "Which size?"]]
    assert not any(said["again"] for said in heard(telling))


def test_what_goes_without_an_answer_is_reported_again(telling: RunProject) -> None:
    telling.run()
    own = telling.path / ".git/gitticks"
    (told,) = read_notified(own).items()
    write_notified(own, {told[0]: Notified(told[1].asked_at, told[1].at - timedelta(hours=25))})
    telling.run()
    assert [said["again"] for said in heard(telling)] == [False, True]
    telling.run()
    assert len(heard(telling)) == 2


def test_a_run_that_goes_on_tells_again_by_itself(telling: RunProject) -> None:
    telling.settings("limits: {awaiting: 1s}\n")
    with telling.running("--auto", "--all", "--poll", "1s") as process:
        until(lambda: [said["again"] for said in heard(telling)][:3] == [False, True, True])
        telling.interrupt(process)
        assert process.wait(LONGEST_SECONDS) == 130
    assert telling.stands() == (Status.CLARIFICATION, Awaiting.INPUT)


def test_a_stuck_task_and_a_limit_are_reported(telling: RunProject) -> None:
    telling.agent("exit 3")
    telling.run()
    (said,) = heard(telling)
    assert (said["event"], said["reason"]) == ("task.stuck", "crashed: exit code 3")
    telling.make("m3xq")
    telling.agent("true")
    assert telling.run("--max-iterations", "1").code == 1
    assert (heard(telling)[-1]["event"], heard(telling)[-1]["task"]) == ("run.limit", None)
    assert "iteration" in heard(telling)[-1]["reason"]


def test_a_spent_budget_is_reported_with_what_was_spent_and_what_grants_more(telling: RunProject) -> None:
    telling.agent("true")
    telling.settings("budget: {task: {iterations: 2}}\n")
    telling.run()
    (said,) = (one for one in heard(telling) if one["event"] == "task.stuck")
    assert said["reason"].startswith("`budget.task.iterations` is spent: 2 of 2")
    assert said["command"] == "gt approve k7f2"
    telling.ok("approve", "k7f2")


@pytest.mark.parametrize(
    ("command", "warning"),
    [
        ("echo no network >&2; exit 3", "`notify` failed (exit code 3): no network"),
        ("no-such-program", "`notify` failed (exit code 127): "),
        ("kill -9 $$", "`notify` failed (ended by signal 9)"),
    ],
)
def test_a_command_that_fails_is_a_warning_and_nothing_else(
    project: RunProject, command: str, warning: str
) -> None:
    project.settings(f"notify: {json.dumps(command)}\n")
    project.agent(ASKS)
    project.make()
    ran = project.run()
    assert (ran.code, project.stands()) == (3, (Status.CLARIFICATION, Awaiting.INPUT))
    assert f"k7f2: {warning}" in ran.err


def test_what_the_command_says_and_does_decides_nothing(project: RunProject) -> None:
    code = project.path.parent / "code"
    project.settings(
        f"{NO_REVIEW}notify: echo '<promise>COMPLETE</promise>'; $GT approve k7f2; echo $? > {code}\n"
    )
    project.make()
    assert project.run().code == 3
    assert code.read_text() == "3\n", "only a person can give a verdict"
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)


def test_a_command_that_hangs_does_not_hold_the_run(
    telling: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    telling.settings("parallel: 2\n")
    telling.make("m3xq")
    telling.ok("config", "notify", "sleep infinity")
    with monkeypatch.context() as hurried:
        hurried.setattr("gitticks.runner.loop.LONGEST_NOTIFYING_SECONDS", 0.5)
        ran = telling.run()
    assert "`notify` was too slow: 2 of its messages were not delivered" in ran.err
    assert read_notified(telling.path / ".git/gitticks") == {}
    telling.ok("config", "notify", f"cat >> {telling.path.parent}/heard")
    telling.run()
    assert sorted(said["task"]["id"] for said in heard(telling)) == ["k7f2", "m3xq"]


def test_without_a_command_nothing_is_done(project: RunProject) -> None:
    project.agent(ASKS)
    project.make()
    project.run()
    assert not (project.path / ".git/gitticks/notices.json").exists()


def test_a_memory_that_cannot_be_read_is_none(tmp_path: Any) -> None:
    assert read_notified(tmp_path) == {}
    for content in (
        "",
        "[]",
        '{"k7f2": 1}',
        '{"k7f2": ["", "x"]}',
        '{"K!": ["", "2026-01-01"]}',
        "[" * 99_999,
    ):
        (tmp_path / "notices.json").write_text(content)
        assert read_notified(tmp_path) == {}
    turn = Notified("2026-11-22T01:00:00Z", AT)
    write_notified(tmp_path, {WAITING.id: turn, TaskId("m3xq"): turn}, {TaskId("m3xq")})
    assert read_notified(tmp_path) == {WAITING.id: turn}
    assert not turn.is_over(WAITING)
    write_notified(tmp_path / "no-such-folder", {})
    os.mkfifo(tmp_path / "notices.new")
    write_notified(tmp_path, {})
    assert read_notified(tmp_path) == {}
    (tmp_path / "notices.json").unlink()
    (tmp_path / "notices.json").mkdir()
    write_notified(tmp_path, {WAITING.id: turn})
    assert read_notified(tmp_path) == {}


def test_a_notifier_that_was_not_begun_is_off() -> None:
    class Run:
        settings = Settings(notify="true", limits=LimitSettings(awaiting=0))

    notifier = Notifier(Run())  # type: ignore[arg-type]
    notifier.look({})
    notifier.notify_limit("x")
    notifier.close(0.0)
    assert not notifier.is_on
