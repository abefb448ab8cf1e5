"""Work that goes to and fro between agents and people, from the first command to the merge.

Each way in which an agent can hand a task to a person is gone whole, with both of the person's answers, by real
processes in a real repository.
"""

from __future__ import annotations

import pytest

from gitticks.model.status import Status, TaskType
from tests.support.desks import Desk, desk, in_one_commit
from tests.support.repositories import commit_file, git
from tests.support.runs import DONE, HANDOFF, NO_PERSON, RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["desk", "project"]

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
    assert "It was stuck" in prompt
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


@pytest.mark.parametrize("by_person", [False, True])
def test_a_task_that_is_done_without_commits_leaves_no_workspace(
    project: RunProject, by_person: bool
) -> None:
    project.settings("review: none\n" if by_person else NO_PERSON)
    project.agent(f"{HANDOFF}echo '<promise>COMPLETE</promise>'\n")
    project.make()
    project.run("k7f2")
    if by_person:
        assert project.workspace().is_dir()
        project.ok("approve", "k7f2")
    assert project.stands() == (Status.DONE, None)
    assert not project.workspace().exists()
    assert git("branch", "--list", "gitticks/work/k7f2", at=project.path) == ""


def test_what_is_uncommitted_where_nothing_was_merged_stays(project: RunProject) -> None:
    project.settings("review: none\n")
    project.agent(f"{HANDOFF}echo '<promise>COMPLETE</promise>'\n")
    project.make()
    project.run("k7f2")
    (project.workspace() / "mine.txt").write_text("mine\n")
    project.ok("approve", "k7f2")
    assert project.stands() == (Status.DONE, None)
    assert (project.workspace() / "mine.txt").read_text() == "mine\n"


def test_its_workspace_goes_while_the_run_lasts(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.agent(f"{HANDOFF}echo '<promise>COMPLETE</promise>'\n")
    project.make()
    with project.running("--auto", "--all") as process:
        until(lambda: project.stands() == (Status.DONE, None), "the end of the task")
        until(lambda: not project.workspace().exists(), "the end of its workspace")
        assert process.poll() is None
        project.interrupt(process)
        process.wait(LONGEST_SECONDS)


def test_of_tasks_that_share_a_branch_each_is_reviewed_for_its_own_changes(project: RunProject) -> None:
    project.settings("review: none\nisolation: epic\n")
    project.make("h8d", type=TaskType.EPIC)
    project.make("aaa1", parent="h8d")
    project.make("bbb2", parent="h8d")
    project.run()
    for name, other in (("aaa1", "bbb2"), ("bbb2", "aaa1")):
        shown = project.ok("review", name)
        assert f"{name}.txt" in shown
        assert f"{other}.txt" not in shown
    assert project.ok("inbox").count("1 file, +1 -0") == 2


def test_a_branch_that_was_updated_from_its_base_shows_its_own_changes(project: RunProject) -> None:
    project.settings("review: none\n")
    project.agent(f"git merge -q --no-edit main\n{DONE}")
    project.make()
    project.run("k7f2")
    commit_file(project.path, "other.txt", "other\n", "meanwhile")
    project.ok("reject", "k7f2", "-m", "once more")
    project.run("k7f2")
    shown = project.ok("review", "k7f2")
    assert "k7f2.txt" in shown
    assert "other.txt" not in shown
