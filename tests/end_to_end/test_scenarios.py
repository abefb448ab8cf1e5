"""Work that goes to and fro between agents and people, from the first command to the merge.

Each way in which an agent can hand a task to a person is gone whole, with both of the person's answers, by real
processes in a real repository.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import Ran, command, gt_process
from tests.support.agents import write_program
from tests.support.processes import has_read
from tests.support.repositories import git
from tests.support.runs import NO_REVIEW, RunProject, project, until

__all__ = ["project"]

AGENT = '''\
"""Does for each task, session by session, what its list of steps says, and keeps every prompt that it gets."""

import json, os, pathlib, subprocess, sys

top = pathlib.Path(sys.argv[1])
task, mailbox = os.environ["GITTICKS_TASK"], pathlib.Path(os.environ["GITTICKS_MAILBOX"])
prompts = top / "prompts" / task
prompts.mkdir(parents=True, exist_ok=True)
number = len(list(prompts.iterdir()))
(prompts / f"{number:02}").write_text(sys.stdin.read())
step = json.loads((top / "steps.json").read_text())[task][number]


def add_section(name, text):
    with (mailbox / "TASK.md").open("a") as file:
        file.write(f"\\n## {name}\\n\\n{text}\\n")


if step.startswith(("COMPLETE", "APPROVAL_NEEDED", "REVIEW_REQUESTED", "CONTENT_REVIEW")):
    pathlib.Path(f"{task}.txt").write_text(f"after {number + 1} sessions\\n")
    subprocess.run(["git", "add", "-A"], check=True)
    subprocess.run(["git", "commit", "-qm", f"{task}: {number + 1}"], check=True)
    add_section("Handoff", "- DONE: it\\n- REMAINING: nothing")
if step == "crash":
    sys.exit("no such module")
if step.startswith("{"):
    print(step)
elif step.startswith("PASS"):
    add_section("Review", step)
else:
    print("<promise>" + step + "</promise>")
'''


@dataclass(frozen=True, slots=True)
class Desk:
    """A person's place: a repository, an agent that is told what to do, and commands as processes."""

    project: RunProject

    @property
    def top(self) -> Path:
        """Returns where the agent keeps what it gets."""
        return self.project.path.parent

    def gt(self, *arguments: str, **more: Any) -> Ran:
        """Runs a command."""
        return gt_process(*arguments, at=self.project.path, **more)

    def ok(self, *arguments: str, **more: Any) -> str:
        """Runs a command that must succeed, and returns what it printed."""
        ran = self.gt(*arguments, **more)
        assert ran.code == 0, ran.seen
        return ran.out

    def create(self, *arguments: str, steps: list[str]) -> str:
        """Creates a task with what its agent will do, session by session."""
        task_id = self.project.ok("create", *arguments).strip()
        place = self.top / "steps.json"
        known = json.loads(place.read_text()) if place.exists() else {}
        place.write_text(json.dumps({**known, task_id: steps}))
        return task_id

    def run(self, code: int) -> None:
        """Runs what is ready, and expects an exit code."""
        ran = self.gt("run", "--headless", "--debounce", "0")
        assert ran.code == code, ran.seen

    def shown(self, task_id: str) -> dict[str, Any]:
        """Returns a task as JSON."""
        found = json.loads(self.project.ok("show", task_id, "--json"))["task"]
        assert isinstance(found, dict)
        return found

    def stands(self, task_id: str) -> tuple[str, str | None]:
        """Returns a task's status and what it awaits."""
        task = self.shown(task_id)
        return task["status"], task["awaiting"]

    def awaiting(self, *kinds: str) -> list[str]:
        """Returns the tasks that await a person, as `gt list` tells."""
        listed = json.loads(self.ok("list", "--awaiting", *kinds, "--json"))["tasks"]
        return [task["id"] for task in listed]

    def next(self, *arguments: str) -> str | None:
        """Returns what comes next."""
        ran = self.gt("next", *arguments, "--json")
        task = json.loads(ran.out)["task"]
        assert ran.code == (0 if task else 1)
        return None if task is None else str(task["id"])

    def prompts(self, task_id: str) -> list[str]:
        """Returns the prompts that the agent got for a task."""
        return [file.read_text() for file in sorted(self.top.glob(f"prompts/{task_id}/*"))]

    def commits(self) -> int:
        """Returns how many commits the state branch has."""
        return int(git("rev-list", "--count", "gitticks/state", at=self.project.path))

    def merged(self) -> list[str]:
        """Returns the files of the agent's on the base branch."""
        return [name for name in self.project.files() if name.endswith(".txt")]


@pytest.fixture
def desk(project: RunProject) -> Iterator[Desk]:
    """Gives a desk, and checks at the end that the whole branch is legal."""
    top = project.path.parent
    (top / "agent.py").write_text(AGENT)
    write_program(project.agent_file, f'exec {sys.executable} -IS "{top}/agent.py" "{top}"')
    project.settings(NO_REVIEW)
    desk = Desk(project)
    yield desk
    checked = project.gt("doctor", "--json")
    assert checked.code == 0, checked.seen


def in_one_commit(desk: Desk, *arguments: str) -> str:
    """Runs a command that must succeed with exactly one commit on the state branch."""
    before = desk.commits()
    said = desk.ok(*arguments)
    assert desk.commits() == before + 1
    return said


SIGN_OFFS = [
    ("APPROVAL_NEEDED: it touches the login", "approval"),
    ("REVIEW_REQUESTED: https://git.example/pull/7", "review"),
    ("CONTENT_REVIEW: the new words of the error page", "content"),
]


@pytest.mark.parametrize(("signal", "kind"), SIGN_OFFS)
def test_work_that_a_person_signs_off(desk: Desk, signal: str, kind: str) -> None:
    """Scenarios 1, 3 and 4: the agent is done and asks; a person sends it back once, then approves."""
    task = desk.create("Keep the return URL", steps=[signal, signal])
    other = desk.create("Something else", "-p", "4", steps=["COMPLETE"])
    desk.run(3)
    assert desk.stands(task) == ("reviewing", kind)
    assert desk.stands(other) == ("reviewing", "review"), "the run went on with the next task"
    assert desk.next() is None
    assert (desk.next("--awaiting"), desk.next("--awaiting", kind)) == (task, task)
    assert task in desk.awaiting(kind)
    assert desk.awaiting("input,work") == []
    text = signal.partition(": ")[2]
    assert desk.shown(task)["notes"][-1]["text"] == text
    assert desk.shown(task)["pr"] == (text if kind == "review" else None)

    in_one_commit(desk, "reject", task, "Test the empty case.")
    sent_back = desk.shown(task)
    assert (sent_back["status"], sent_back["awaiting"], sent_back["verdict"]) == ("working", None, None)
    assert sent_back["notes"][-1] | {"at": ""} == {
        "at": "",
        "from": "human",
        "name": "Ada Lovelace",
        "text": "Test the empty case.",
    }
    assert desk.next() == task
    desk.run(3)
    assert "> Test the empty case." in desk.prompts(task)[1]
    assert desk.stands(task) == ("reviewing", kind)

    assert f"{task}  done" in desk.ok("approve", task, "Nice.")
    assert desk.stands(task) == ("done", None)
    assert desk.merged() == [f"{task}.txt"]
    again = desk.ok("approve", task)
    assert "done already" in again


@pytest.mark.parametrize("way", ["respond", "approve"])
def test_a_question_that_a_person_answers(desk: Desk, way: str) -> None:
    """Scenario 2, answered: the answer stands with the question in the next prompt."""
    task = desk.create("Choose a tone", steps=["INPUT_NEEDED: Friendly or formal?", "COMPLETE"])
    desk.run(3)
    assert desk.stands(task) == ("clarification", "input")
    assert desk.shown(task)["questions"][-1]["question"]["text"] == "Friendly or formal?"
    assert "Friendly or formal?" in desk.ok("list", "--awaiting")
    refused = desk.gt("approve", task)
    assert (refused.code, f"hint: `gt respond {task}" in refused.err) == (3, True)
    in_one_commit(desk, way, task, "Friendly.")
    assert desk.stands(task) == ("working", None)
    desk.run(3)
    prompt = desk.prompts(task)[1]
    assert prompt.index("> Friendly or formal?") < prompt.index("> Friendly.\n")
    (pair,) = desk.shown(task)["questions"]
    assert (pair["question"]["text"], pair["answer"]["text"]) == ("Friendly or formal?", "Friendly.")
    desk.ok("approve", task)
    assert desk.merged() == [f"{task}.txt"]


@pytest.mark.parametrize(
    ("signal", "kind"),
    [("INPUT_NEEDED: Which key signs it?", "input"), ("ESCALATE: the library is gone", "escalation")],
)
def test_a_question_that_ends_the_task(desk: Desk, signal: str, kind: str) -> None:
    """Scenarios 2 and 5, rejected: what cannot or shall not be done is cancelled, with the reason as a note."""
    task = desk.create("Sign the release", steps=[signal])
    desk.run(3)
    assert desk.stands(task) == ("clarification", kind)
    in_one_commit(desk, "reject", task, "Nobody knows.")
    gone = desk.shown(task)
    assert (gone["status"], gone["awaiting"]) == ("cancelled", None)
    assert gone["notes"][-1]["text"] == "Nobody knows."
    assert gone["questions"][0]["answer"]["text"] == "Nobody knows."
    assert desk.awaiting() == []
    desk.run(0)
    assert len(desk.prompts(task)) == 1


def test_an_escalation_that_gets_a_direction(desk: Desk) -> None:
    """Scenario 5, approved: the agent goes on as it was told."""
    steps = ["ESCALATE: the token is logged in plain text", "COMPLETE"]
    task = desk.create("Log sign-ins", steps=steps)
    desk.run(3)
    assert desk.next("--awaiting", "escalation") == task
    in_one_commit(desk, "approve", task, "Leave tokens out, whole.")
    assert desk.stands(task) == ("working", None)
    desk.run(3)
    assert "> Leave tokens out, whole." in desk.prompts(task)[1]
    assert desk.stands(task) == ("reviewing", "review")


@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_a_task_that_is_stuck(desk: Desk, verdict: str) -> None:
    """A halt is an escalation too: with a direction the agent goes on, without one the task is dropped."""
    task = desk.create("Use the new parser", steps=["crash", "crash", "COMPLETE"])
    desk.run(4)
    assert desk.stands(task) == ("stuck", "escalation")
    assert "no such module" in desk.ok("inbox")
    in_one_commit(desk, verdict, task, "Use the old one.")
    if verdict == "reject":
        assert desk.stands(task) == ("cancelled", None)
        return
    assert desk.shown(task)["crash_count"] == 0
    desk.run(3)
    prompt = desk.prompts(task)[2]
    assert "It had come to a halt" in prompt
    assert "> Use the old one." in prompt
    assert desk.stands(task) == ("reviewing", "review")


@pytest.mark.parametrize(("verdict", "word"), [("approved", "Phase 2, please."), ("rejected", "Not yet.")])
def test_a_phase_that_a_person_looks_at(desk: Desk, verdict: str, word: str) -> None:
    """Scenario 6: both answers give the task back, and the prompt says which it was."""
    task = desk.create("Move the data", steps=["CHECKPOINT: phase 1 is done", "COMPLETE"])
    desk.run(3)
    assert desk.stands(task) == ("working", "checkpoint")
    assert desk.next() is None, "a task that awaits a person is not ready"
    in_one_commit(desk, "approve" if verdict == "approved" else "reject", task, word)
    assert desk.stands(task) == ("working", None)
    desk.run(3)
    assert f"> {word}" in desk.prompts(task)[1]
    assert desk.stands(task) == ("reviewing", "review")
    given = [event for event in desk.shown(task)["history"] if event["type"] == "verdict.given"]
    assert [(event["verdict"], event["awaiting"]) for event in given] == [(verdict, "checkpoint")]


@pytest.mark.parametrize("way", ["approve", "close"])
def test_work_that_only_a_person_can_do(desk: Desk, way: str) -> None:
    """Scenario 7: the agent gives up, a person does it and says so; there is nothing to reject."""
    task = desk.create("Order the certificate", steps=["EJECT: it takes a credit card"])
    desk.run(2)
    assert desk.stands(task) == ("working", "work")
    before = desk.commits()
    refused = desk.gt("reject", task, "no")
    assert (refused.code, desk.commits()) == (3, before)
    assert "awaits work by a person" in refused.err
    assert f"hint: `gt update {task} --awaiting=null`" in refused.err
    in_one_commit(desk, way, task)
    assert desk.stands(task) == ("done", None)


def test_a_gate_that_was_set_beforehand(desk: Desk) -> None:
    """Scenario 8: `requires` outlives every rejection, whatever the agent signals."""
    task = desk.create(
        "Change the schema", "--requires", "approval", steps=["COMPLETE", "COMPLETE", "COMPLETE"]
    )
    assert desk.next() == task
    desk.ok("config", "human", "when-required")
    for round_ in (1, 2):
        desk.run(3)
        shown = desk.shown(task)
        assert (shown["status"], shown["awaiting"], shown["requires"]) == (
            "reviewing",
            "approval",
            "approval",
        )
        assert shown["review_round"] == round_
        in_one_commit(desk, "reject", task, f"Once more, {round_}.")
        assert desk.shown(task)["requires"] == "approval"
    desk.run(3)
    assert desk.stands(task) == ("reviewing", "approval")
    desk.ok("update", task, "--verdict", "approved")
    desk.run(0)
    assert desk.stands(task) == ("done", None)
    assert desk.merged() == [f"{task}.txt"]
    assert [prompt.count("> Once more, ") for prompt in desk.prompts(task)] == [0, 1, 2]


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


def test_a_note_that_follows_a_rejection_reaches_the_same_prompt(desk: Desk) -> None:
    """A run that goes on lets a person finish before it takes the task again."""
    task = desk.create("Move the data", steps=["CHECKPOINT: phase 1 is done", "COMPLETE"])
    with desk.project.running("--auto", "--all", "--debounce", "2s") as process:
        until(lambda: desk.stands(task) == ("working", "checkpoint"))
        desk.ok("reject", task, "Not like this.")
        desk.ok("note", task, "Begin with the old rows.")
        until(lambda: len(desk.prompts(task)) == 2)
        desk.project.interrupt(process)
        assert process.wait(60) == 130
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
    codes = [person.wait(60) for person in people]
    assert sorted(codes) == [0, 3]
    (pair,) = desk.shown(task)["questions"]
    assert pair["answer"]["text"] == answers[codes.index(0)]
    kept = re.search(r"your text is kept in `(.+)`", errors[codes.index(3)])
    assert kept is not None, errors
    assert Path(kept[1]).read_text() == f"{answers[codes.index(3)]}\n"
