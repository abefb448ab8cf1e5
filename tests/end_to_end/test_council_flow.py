"""The loop of worker, gates, council and person, from the first iteration to the merge, by real processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitticks.document.verdict_line import last_verdict
from gitticks.model.ids import TaskId
from gitticks.model.notes import ReviewOutcome
from gitticks.model.status import Awaiting, Status
from gitticks.runner.outcome import RunExit
from gitticks.store.layout import rounds_folder
from tests.support.agents import write_program
from tests.support.repositories import commit_file, git
from tests.support.runs import DONE, PASS, RunProject, project
from tests.support.tasks import write_files
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

WORKER = """
cp "$GITTICKS_MAILBOX/prompt.md" "{folder}/prompt-$GITTICKS_TASK-$(ls "{folder}" | grep -c "^prompt-$GITTICKS_TASK")"
if [ "$GITTICKS_ITERATION" = 1 ]; then echo half >> half.txt; git add -A; git commit -qm half; exit; fi
if [ "$GITTICKS_ITERATION" -ge 3 ]; then touch tested.txt; fi
"""
"""A worker that goes on once, hands in what fails the tests once, and then what passes them."""
REVIEWER = """
touch "{folder}/$GITTICKS_REVIEWER-asked"
cp "$GITTICKS_MAILBOX/prompt.md" "{folder}/review-$GITTICKS_REVIEWER"
until [ -e "{folder}/$GITTICKS_REVIEWER-$GITTICKS_ROUND" ]; do sleep 0.05; done
cat "{folder}/$GITTICKS_REVIEWER-$GITTICKS_ROUND"
"""
NAMES = ("careful", "quick")


def make_council(project: RunProject, more: str = "") -> Path:
    """Makes a worker, tests that want `tested.txt`, and a council of two whose answers are files; returns their folder."""
    folder = project.shared / "council"
    folder.mkdir()
    reviewer = write_program(folder / "reviewer.sh", REVIEWER.format(folder=folder))
    project.agent(WORKER.format(folder=folder) + DONE)
    text = (
        "version: 1\nagent: mine\nreview: council\nhuman: always\nverify: {test: 'test -e tested.txt'}\n"
        f"reviewers: [{', '.join(f'{{name: {one}, agent: looks}}' for one in NAMES)}]\n{more}"
        f"agents: {{mine: {{type: command, argv: ['{project.agent_file}']}}, "
        f"looks: {{type: command, argv: ['{reviewer}']}}}}\n"
    )
    write_files(project.store, {"config.yaml": text.encode()})
    return folder


def answer(folder: Path, careful: str, *rounds: int) -> None:
    """Lets the reviewers answer in these rounds; the quick one approves."""
    for number in rounds:
        for name, verdict in zip(NAMES, (careful, "APPROVED"), strict=True):
            words = "src:1 leaks" if verdict == "BLOCKING" else "fine"
            file = folder / f"{name}-{number}"
            file.with_suffix(".new").write_text(f"{words}\nVERDICT: {verdict}\n")
            file.with_suffix(".new").replace(file)


def listed(project: RunProject, *words: str) -> dict[str, dict[str, object]]:
    return {one["id"]: one for one in json.loads(project.ok(*words, "--json"))["tasks"]}


def session_state(project: RunProject) -> object:
    return listed(project, "list")["k7f2"]["session_state"]


def test_the_way_from_open_over_gates_and_council_to_a_person_and_the_base(project: RunProject) -> None:
    folder = make_council(project)
    project.make(priority=0)
    start = git("rev-parse", "main", at=project.path)
    assert session_state(project) == "idle"
    with project.running("k7f2") as process:
        until(lambda: all((folder / f"{one}-asked").exists() for one in NAMES), "the council")
        commit_file(project.path, "meanwhile.txt", "noise\n")
        task = project.task("k7f2")
        assert (task.status, task.start_sha, task.usage.iterations) == (Status.AGENT_REVIEW, start, 3)
        assert session_state(project) == "awaiting_council"
        assert json.loads(project.ok("status", "--json"))["counts"]["agent-review"] == 1
        assert set(listed(project, "list", "--status", "agent-review")) == {"k7f2"}
        assert listed(project, "ready") == {}
        assert project.gt("start", "k7f2").code != 0
        answer(folder, "BLOCKING", 1)
        until(lambda: project.task("k7f2").failed_reviews == 1, "the count of the rejection")
        answer(folder, "APPROVED", 2, 3, 4)
        process.communicate(timeout=LONGEST_SECONDS)
    assert process.returncode == RunExit.WAITS
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)
    assert session_state(project) == "needs_human_review"
    seen = (folder / "review-careful").read_text()
    assert "the word VERDICT in capitals, a colon, and one of the words APPROVED or BLOCKING" in seen
    assert last_verdict(seen) is ReviewOutcome.UNCLEAR, "a reviewer that repeats its prompt has said nothing"
    assert "meanwhile.txt" not in seen
    assert "half.txt" in seen
    prompts = [path.read_text() for path in sorted(folder.glob("prompt-k7f2-*"))]
    assert len(prompts) == 4
    assert "test -e tested.txt" in prompts[2]
    assert "> src:1 leaks" in prompts[3]
    kept = project.store.list(rounds_folder(TaskId("k7f2")))
    assert [name for name in kept if "careful" in name] == ["01-review-careful.md", "02-review-careful.md"]

    shown = project.ok("review", "k7f2")
    for words in ("fine", "half.txt", "tested.txt"):
        assert words in shown
    rejected = project.ok("review", "k7f2", "--reject", "Name it better.", "--no-resume")
    assert "sent back with your feedback" in rejected
    assert project.stands() == (Status.WORKING, None)
    assert project.task("k7f2").failed_reviews == 0
    assert project.run("k7f2").code == RunExit.WAITS
    last = max(folder.glob("prompt-k7f2-*"), key=lambda path: int(path.name.rpartition("-")[2]))
    assert "Name it better." in last.read_text()

    project.ok("review", "k7f2", "--reject", "And once more.")
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW), "the agent went on by itself"
    assert "done" in project.ok("review", "k7f2", "--accept")
    assert project.stands() == (Status.DONE, None)
    assert session_state_of_closed(project) == "done"
    assert {"half.txt", "tested.txt", "k7f2.txt"} <= set(project.files())


def session_state_of_closed(project: RunProject) -> object:
    return listed(project, "list", "--all")["k7f2"]["session_state"]


def test_a_council_that_blocks_again_and_again_hands_over_also_after_a_kill(project: RunProject) -> None:
    folder = make_council(project)
    project.make()
    answer(folder, "BLOCKING", 1, 2)
    with project.running("k7f2") as process:
        until(lambda: project.task("k7f2").failed_reviews == 2, "the second rejection")
        process.kill()
        process.wait(LONGEST_SECONDS)
    answer(folder, "BLOCKING", 3, 4)
    until(
        lambda: (
            project.gt("health").code == 0 and not list(project.path.glob(".git/gitticks/sessions/*.json"))
        )
    )
    assert "review  blocked in every round" in project.run("k7f2").out
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)
    assert project.task("k7f2").failed_reviews == 4
    assert project.ok("review", "k7f2").count("src:1 leaks") >= 1
    kept = project.store.list(rounds_folder(TaskId("k7f2")))
    assert {f"{one:02}-review-careful.md" for one in range(1, 5)} <= set(kept)


def test_a_council_that_is_late_leaves_what_came_to_a_person(project: RunProject) -> None:
    folder = make_council(project, "council: {timeout: 1s}\n")
    project.make()
    write_program(
        folder / "reviewer.sh",
        'test "$GITTICKS_REVIEWER" = quick || sleep 600; echo "fine"; echo "VERDICT: APPROVED"',
    )
    ran = project.run("k7f2")
    assert ran.code == RunExit.WAITS
    assert "review  time is up before all have answered" in ran.out
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)
    assert "time is up" in project.ok("review", "k7f2")


MEDDLE = "echo mine > mine.txt; git add -A; git commit -qm 'by a reviewer'\n"


@pytest.mark.parametrize("kind", ["agent", "council"])
@pytest.mark.parametrize(
    "meddle", [MEDDLE, f"git checkout -q gitticks/work/k7f2; {MEDDLE}"], ids=["detached", "on the branch"]
)
def test_what_a_reviewer_commits_in_its_sandbox_is_kept_and_said(
    project: RunProject, kind: str, meddle: str
) -> None:
    project.settings(f"review: {kind}\n")
    project.agent(
        f'if [ "$GITTICKS_ROLE" = reviewer ]; then {meddle}{PASS}echo "VERDICT: APPROVED"; exit; fi\n{DONE}'
    )
    project.make()
    assert "a reviewer made the commit" in (seen := project.run("k7f2").seen)
    assert "it is kept at `refs/gitticks/rescued/review-k7f2`" in seen
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)
    assert git("show", "refs/gitticks/rescued/review-k7f2:mine.txt", at=project.path) == "mine"
    assert git("rev-parse", "gitticks/work/k7f2", at=project.path) == project.task("k7f2").end_sha


def test_what_a_reviewer_committed_in_its_sandbox_before_its_run_was_killed_is_kept(
    project: RunProject,
) -> None:
    made = project.shared / "made"
    project.settings("review: agent\n")
    project.agent(f'if [ "$GITTICKS_ROLE" = reviewer ]; then {MEDDLE}touch "{made}"; sleep 600; fi\n{DONE}')
    project.make()
    with project.running("k7f2") as process:
        until(made.exists, "the commit")
        process.kill()
        process.wait(LONGEST_SECONDS)
    until(lambda: "kept at `refs/gitticks/rescued/review-k7f2`" in project.gt("health").seen)
    assert git("show", "refs/gitticks/rescued/review-k7f2:mine.txt", at=project.path) == "mine"


def test_a_review_that_passes_is_said_also_where_nothing_else_is_asked(project: RunProject) -> None:
    project.settings("review: agent\nhuman: when-required\n")
    project.agent(f'if [ "$GITTICKS_ROLE" = reviewer ]; then {PASS}exit; fi\n{DONE}')
    project.make()
    assert "review  PASS by mine" in project.run("k7f2").out
