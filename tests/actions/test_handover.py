"""What an agent asks for inside its session: nothing touches the state branch, and the runner finds the request."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gitticks.document.taskfile import TaskFile
from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Role, Status
from gitticks.runner import mailbox as mailboxes
from gitticks.runner import workspaces
from gitticks.runner.outbox import Request, RequestKind, collect
from tests.cli.support import Ran, command
from tests.support.projects import Project, make_project, make_working

PASSED = "Text.\n\n## Review\n\nPASS\n"
FAILED = "Text.\n\n## Review\n\nFAIL: no test\n"


class Session:
    """An agent's session in a workspace with a mailbox, as a runner prepares it."""

    def __init__(self, project: Project, role: Role = Role.WORKER, **fields: Any) -> None:
        self.project = project
        self.workspace = make_working(project, **fields)
        found = workspaces.find(project.store.repository, project.task("k7f2"), self.workspace)
        assert found is not None
        mailboxes.fill(found, project.file("k7f2"), "prompt")
        self.mailbox = found.mailbox
        self.tip = project.tip()
        self.environment = {
            "GITTICKS_AGENT": "1",
            "GITTICKS_TASK": "k7f2",
            "GITTICKS_ROLE": role.value,
            "GITTICKS_MAILBOX": str(self.mailbox),
        }

    def gt(self, *arguments: str, **more: str) -> Ran:
        """Runs a command as the agent; the state branch never moves."""
        ran = self.project.gt(*arguments, at=self.workspace, environment=self.environment, **more)
        assert self.project.tip() == self.tip
        return ran

    def requests(self) -> list[Request]:
        """Returns what waits for the runner."""
        return [request for _, request in collect(self.mailbox).requests]

    def file(self) -> TaskFile:
        """Returns the agent's copy of the task."""
        return TaskFile.parse((self.mailbox / "TASK.md").read_bytes(), "TASK.md")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


def test_the_hand_off_is_written_into_the_copy_and_completed(project: Project) -> None:
    session = Session(project)
    refused = session.gt("complete")
    assert refused.code == 3
    assert refused.err == (
        "error: `k7f2` cannot go from working to agent-review: "
        f"`## Handoff` is missing from {session.mailbox}/TASK.md\n\n"
        'hint: `gt handoff --done "…" --remaining "…"` writes it\n'
    )
    assert (
        session.gt("handoff", "--done", "it").out
        == "k7f2  hand-off written; `gt complete` hands off the work\n"
    )
    assert session.file().section(Section.HANDOFF) == "- DONE: it"
    assert session.gt("complete").code == 0
    assert [request.kind for request in session.requests()] == [RequestKind.HANDOFF, RequestKind.COMPLETE]


def test_questions_and_notes_stand_in_the_copy_too(project: Project) -> None:
    session = Session(project)
    assert session.gt("note", "Mind the cookie").code == 0
    assert session.gt("ask", "Which tone?").code == 0
    assert session.requests() == [
        Request(RequestKind.NOTE, "Mind the cookie"),
        Request(RequestKind.ASK, "Which tone?"),
    ]
    assert [entry.text for entry in session.file().entries(Section.QUESTIONS)] == ["Which tone?"]
    assert [entry.text for entry in session.file().entries(Section.NOTES)] == ["Mind the cookie"]


def test_what_several_commands_note_at_once_all_stands_there(project: Project) -> None:
    session = Session(project)
    environment = {**os.environ, **session.environment}
    words = [f"note {number}" for number in range(12)]
    running = [
        subprocess.Popen(command("note", one), cwd=session.workspace, env=environment) for one in words
    ]
    assert [one.wait() for one in running] == [0] * len(words)
    notes = [entry.text for entry in session.file().entries(Section.NOTES)]
    assert sorted(notes) == sorted(words)


def test_a_status_that_is_refused_leaves_no_note(project: Project) -> None:
    session = Session(project)
    assert session.gt("update", "--status", "agent-review", "--note", "see the test").code == 3
    assert session.requests() == []
    assert session.file().entries(Section.NOTES) == ()


def test_a_status_is_asked_for(project: Project) -> None:
    session = Session(project, body="Text.\n\n## Handoff\n\nall\n")
    assert session.gt("update", "--status", "agent-review", "--note", "see the test").code == 0
    assert session.requests() == [
        Request(RequestKind.NOTE, "see the test"),
        Request(RequestKind.STATUS, status=Status.AGENT_REVIEW),
    ]


@pytest.mark.parametrize(
    ("body", "failed_reviews"),
    [(PASSED, 0), (FAILED, 0), (FAILED, 1)],
)
def test_a_reviewer_completes_by_its_verdict(project: Project, body: str, failed_reviews: int) -> None:
    session = Session(
        project, Role.REVIEWER, status=Status.AGENT_REVIEW, body=body, failed_reviews=failed_reviews
    )
    assert session.gt("complete").code == 0
    assert session.requests() == [Request(RequestKind.COMPLETE)]


def test_a_reviewer_without_a_verdict_is_reported(project: Project) -> None:
    session = Session(project, Role.REVIEWER, status=Status.AGENT_REVIEW, body="Text.\n\n## Review\n\nfine\n")
    ran = session.gt("complete")
    assert ran.code == 3
    assert "does not clearly begin with PASS or FAIL" in ran.err
    assert session.requests() == []


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["ask", ""], 2, "the question is empty"),
        (["note", " "], 2, "the note is empty"),
        (["handoff", ""], 2, "the hand-off is empty"),
        (["complete", "m3xq"], 3, "this session works on `k7f2`, not on `m3xq`"),
        (["update", "--status", "cancelled"], 3, "`k7f2` cannot go from working to cancelled"),
        (["update", "--status", "done"], 3, "`k7f2` cannot go from working to done"),
        (["update", "-p", "0"], 3, "only a person can change a task's fields"),
        (["update", "--verdict", "approved"], 3, "only a person can"),
        (["note", "ok", "--from", "human"], 3, "only a person can write a person's note"),
        (["create", "Mine"], 3, "only a person can create a task"),
        (["approve", "k7f2"], 3, "only a person can give a verdict"),
        (["reject", "k7f2"], 3, "only a person can give a verdict"),
        (["respond", "k7f2", "yes"], 3, "only a person can answer for a person"),
        (["close", "k7f2"], 3, "only a person can close a task"),
        (["cancel", "k7f2"], 3, "only a person can cancel a task"),
        (["reopen", "k7f2"], 3, "only a person can reopen a task"),
        (["edit", "k7f2"], 3, "only a person can edit a task by hand"),
        (["defer", "k7f2", "+1d"], 3, "only a person can defer a task"),
        (["block", "k7f2", "m3xq"], 3, "only a person can say what a task waits for"),
        (["unblock", "k7f2", "m3xq"], 3, "only a person can say what a task waits for"),
        (["init"], 3, "only a person can set up tasks in a repository"),
    ],
)
def test_what_a_session_is_refused(project: Project, arguments: list[str], code: int, message: str) -> None:
    project.make("m3xq")
    session = Session(project)
    ran = session.gt(*arguments)
    assert (ran.code, session.requests()) == (code, [])
    assert ran.err.startswith(f"error: {message}")


def test_a_reviewers_hand_off_is_refused(project: Project) -> None:
    session = Session(project, Role.REVIEWER, status=Status.AGENT_REVIEW)
    assert session.gt("handoff", "mine").code == 3


@pytest.mark.parametrize(
    ("role", "status", "hint"),
    [
        (Role.WORKER, Status.WORKING, "`gt complete` hands off"),
        (Role.REVIEWER, Status.AGENT_REVIEW, '`gt review "PASS: …"`'),
    ],
)
def test_only_a_reviewer_is_told_to_write_the_review(
    project: Project, role: Role, status: Status, hint: str
) -> None:
    refused = Session(project, role, status=status).gt("update", "--status", "reviewing")
    assert refused.code == 3
    assert f"hint: {hint}" in refused.err


def test_what_awaits_a_person_stays_with_them(project: Project) -> None:
    session = Session(project, body="## Handoff\n\nall\n", awaiting=Awaiting.WORK)
    assert "it awaits a person (work)" in session.gt("complete").err


@pytest.mark.parametrize("wreck", ["remove", "link", "garbage"])
def test_a_mailbox_that_is_broken_is_said(project: Project, tmp_path: Path, wreck: str) -> None:
    session = Session(project)
    copy = session.mailbox / "TASK.md"
    copy.unlink()
    if wreck == "link":
        copy.symlink_to(tmp_path / "elsewhere")
    elif wreck == "garbage":
        copy.write_bytes(b"\xff\xfe")
    ran = session.gt("complete")
    assert ran.code == 1
    assert "TASK.md" in ran.err
    assert "hint: " in ran.err


def test_a_request_can_be_reported_in_json(project: Project) -> None:
    session = Session(project)
    assert json.loads(session.gt("note", "Mind the cookie", "--json").out) == {
        "schema": 1,
        "request": {"task": "k7f2", "kind": "note", "text": "Mind the cookie", "status": None},
    }
    assert json.loads(session.gt("ask", "Why?", "--json").out)["request"]["kind"] == "ask"
