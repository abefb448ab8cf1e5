"""Answers of people between agents' sessions: with what was asked, to whom it was for, in time and too late."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.support import command
from tests.support.clocks import Clock
from tests.support.desks import Desk, desk, in_one_commit
from tests.support.processes import has_read
from tests.support.repositories import git
from tests.support.runs import project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["desk", "project"]


def test_an_answer_to_a_question_in_json_with_its_context(desk: Desk) -> None:
    """The worked example: partial work stays, question and context are shown, the answer goes on with both."""
    asks = {
        "status": "needs_input",
        "summary": "Need clarification on the method",
        "question": "Should the API use tokens or session cookies?",
        "questionContext": "Tokens suit stateless APIs.\nThe code has neither yet.",
        "details": "The user model is there.",
    }
    above = desk.ok("create", "Design payments", "-t", "epic").strip()
    task = desk.create("Add sign-in", "--parent", above, steps=[json.dumps(asks), "COMPLETE", "PASS: fine"])
    later = desk.create("Write tests", "--parent", above, "--blocked-by", task, steps=["COMPLETE"])
    desk.ok("config", "review", "agent")
    desk.run(3)
    assert desk.stands(task) == ("clarification", "input")
    assert not desk.shown(later)["ready"]
    listed = desk.ok("list", "--awaiting")
    assert "Should the API use tokens or session cookies?" in listed
    assert "Tokens suit stateless APIs." in listed
    answer = "Tokens. We build for phones first."
    assert "answered; back to" in in_one_commit(desk, "respond", task, answer)
    desk.run(3)
    prompt = desk.prompts(task)[1]
    for part in (asks["question"], "The code has neither yet.", answer):
        assert f"> {part}" in prompt
    assert desk.stands(task) == ("reviewing", "review")
    (pair,) = desk.shown(task)["questions"]
    assert pair["question"]["text"] == f"{asks['question']}\n\n{asks['questionContext']}"
    assert (pair["answer"]["from"], pair["answer"]["text"]) == ("human", answer)
    worklog = git("show", f"gitticks/state:tasks/{task[-2:]}/{task}/worklog.md", at=desk.project.path)
    assert "The user model is there." in worklog
    desk.ok("approve", task)
    assert desk.next() == later


def test_whom_a_task_is_for_and_the_kinds_that_wait(desk: Desk) -> None:
    """Every filter tells the same tasks, in the order of their urgency."""
    mine = desk.create("Read the texts", "--reviewer", "Ada Lovelace", steps=["CONTENT_REVIEW: texts"])
    others = desk.create("Read more texts", "--reviewer", "Grace", "-p", "0", steps=["CONTENT_REVIEW: texts"])
    asks = desk.create("Ask me", "-p", "1", steps=["INPUT_NEEDED: Which?"])
    gone = desk.create("Ask nobody", "-p", "3", steps=["INPUT_NEEDED: Which?"])
    desk.run(3)
    desk.ok("cancel", gone)
    assert sorted(desk.awaiting()) == sorted([mine, others, asks])
    assert desk.awaiting("content") == [others, mine]
    assert sorted(desk.awaiting("content,input")) == sorted([mine, others, asks])
    listed = json.loads(desk.ok("list", "--awaiting", "--reviewer", "Grace", "--json"))["tasks"]
    assert [task["id"] for task in listed] == [others]
    assert desk.next("--awaiting") == others
    assert desk.next("--awaiting", "input") == asks
    assert desk.next("--awaiting", "--reviewer", "Ada Lovelace") == mine
    inbox = desk.ok("inbox")
    assert (mine in inbox, asks in inbox, others in inbox) == (True, True, False)
    assert others in desk.ok("inbox", "--all")
    assert desk.gt("next", "--awaiting", "work").code == 1


@pytest.mark.debian("faketime")
def test_a_note_that_follows_a_rejection_reaches_the_same_prompt(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that goes on lets a person finish before it takes the task again, by a clock that the test sets."""
    task = desk.create("Move the data", steps=["CHECKPOINT: phase 1 is done", "COMPLETE"])
    clock = Clock.make(tmp_path / "clock")
    clock.set("+2h")
    with contextlib.ExitStack() as stack:
        with monkeypatch.context() as patched:
            for name, value in clock.environment(os.environ).items():
                patched.setenv(name, value)
            process = stack.enter_context(desk.project.running("--auto", "--all", "--debounce", "1h"))
        until(lambda: desk.stands(task) == ("working", "checkpoint"))
        clock.set("+0")
        desk.ok("reject", task, "Not like this.")
        desk.ok("note", task, "Begin with the old rows.")
        clock.set("+2h")
        until(lambda: len(desk.prompts(task)) == 2)
        desk.project.interrupt(process)
        assert process.wait(LONGEST_SECONDS) == 130
    for said in ("> Not like this.", "> Begin with the old rows."):
        assert said in desk.prompts(task)[1]


def test_of_two_answers_at_once_one_counts_and_the_other_is_kept(desk: Desk) -> None:
    """Whoever comes second is refused, and loses nothing of what was written."""
    task = desk.create("Choose a tone", steps=["INPUT_NEEDED: Friendly or formal?"])
    desk.run(3)
    answers = ("Friendly.", "Formal.")
    people = [
        subprocess.Popen(
            command("respond", task, "-"),
            cwd=desk.project.path,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in answers
    ]
    pipes = [person.stdin for person in people if person.stdin is not None]
    for pipe, answer in zip(pipes, answers, strict=True):
        pipe.write(answer[:2])
        pipe.flush()
    until(lambda: all(map(has_read, pipes)), "the time at which both have looked")
    for pipe, answer in zip(pipes, answers, strict=True):
        pipe.write(answer[2:])
        pipe.close()
    errors = [person.stderr.read() if person.stderr else "" for person in people]
    codes = [person.wait(LONGEST_SECONDS) for person in people]
    assert sorted(codes) == [0, 3]
    (pair,) = desk.shown(task)["questions"]
    assert pair["answer"]["text"] == answers[codes.index(0)]
    kept = re.search(r"your text is kept in `(.+)`", errors[codes.index(3)])
    assert kept is not None, errors
    assert Path(kept[1]).read_text() == f"{answers[codes.index(3)]}\n"
