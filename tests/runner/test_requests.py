"""What an agent asks for by command while it runs is acted on while it runs."""

from __future__ import annotations

import re

import pytest

from gitticks.model.event import EventType
from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Status
from gitticks.runner.outcome import RunExit
from tests.support.repositories import git
from tests.support.runs import COMMIT, FAIL, HANDOFF, NO_REVIEW, PASS, TO_REVIEW, RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

HAND_OVER = '"$GT" handoff --done "all of it" --remaining nothing && "$GT" complete\n'


def ended(project: RunProject) -> list[object]:
    return [event.data["ending"] for event in project.events("k7f2") if event.type is EventType.SESSION_ENDED]


def test_complete_hands_over_at_once_and_the_end_is_only_recorded(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.agent(f"{COMMIT}{HAND_OVER}sleep 600")
    project.make()
    assert project.run().code == RunExit.WAITS
    assert project.stands() == TO_REVIEW
    assert project.file("k7f2").section(Section.HANDOFF) == "- DONE: all of it\n- REMAINING: nothing"
    assert ended(project) == ["stopped"]
    assert EventType.NOTED not in project.kinds("k7f2")
    assert re.search("hand-off written +mine", project.ok("log", "k7f2"))
    assert "note added" not in project.ok("log", "k7f2")
    subjects = git("log", "--format=%s", "gitticks/state", at=project.path).splitlines()
    assert "k7f2: hand-off written" in subjects
    assert project.task("k7f2").crash_count == 0


def test_a_session_that_ends_after_its_request_is_not_told_twice(project: RunProject) -> None:
    project.agent('"$GT" ask "Which tone?"; sleep 600')
    project.make()
    code, events = project.events_of_run()
    assert code == RunExit.WAITS
    moves = [event["awaiting"] for event in events if event["event"] == "task.moved"]
    assert moves == ["input"]
    assert ended(project) == ["stopped"]


def test_a_reviewer_that_completes_passes_its_review(project: RunProject) -> None:
    project.agent(
        f'if [ $GITTICKS_ROLE = reviewer ]; then {PASS}"$GT" complete; sleep 600; else {COMMIT}{HAND_OVER}sleep 600; fi'
    )
    project.make()
    assert project.run().code == RunExit.WAITS
    assert project.stands() == TO_REVIEW
    assert ended(project) == ["stopped", "stopped"]


@pytest.mark.parametrize(
    ("limit", "stands", "reason"),
    [(1, (Status.STUCK, Awaiting.ESCALATION), "1 failed review"), (3, (Status.WORKING, None), "FAIL")],
)
def test_a_reviewer_that_completes_with_a_fail_sends_back_as_far_as_the_settings_allow(
    project: RunProject, limit: int, stands: tuple[Status, Awaiting | None], reason: str
) -> None:
    project.settings(f"review_limit: {limit}\n")
    project.agent(
        f'if [ $GITTICKS_ROLE = reviewer ]; then {FAIL}"$GT" complete; sleep 600; else {COMMIT}{HAND_OVER}sleep 600; fi'
    )
    project.make(failed_reviews=1 if limit == 3 else 0)
    project.run("--max-iterations", "1")
    assert project.stands() == stands
    moved = project.last(EventType.MOVED)
    assert (moved.from_status, moved.reason) == (Status.AGENT_REVIEW, reason)


def test_complete_without_a_hand_off_is_refused_at_once(project: RunProject) -> None:
    said = project.shared / "said"
    project.agent(f'"$GT" complete > "{said}" 2>&1; echo $? >> "{said}"')
    project.make()
    project.run("--max-iterations", "1")
    assert said.read_text().endswith("\n3\n")
    assert "Handoff" in said.read_text()
    assert project.stands() == (Status.WORKING, None)


def test_a_request_with_red_tests_is_refused_and_the_agent_goes_on(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}verify: {{test: 'test -e fixed'}}\n")
    here = project.shared
    project.agent(
        f"{COMMIT}{HAND_OVER}"
        f'while [ ! -e "{here}/go" ]; do sleep 0.05; done\n'
        f"touch fixed; {COMMIT}echo '<promise>COMPLETE</promise>'"
    )
    project.make()
    with project.running() as process:
        until(lambda: EventType.GATE_FAILED in project.kinds())
        (here / "go").touch()
        assert process.wait(LONGEST_SECONDS) == RunExit.WAITS
    assert project.stands() == TO_REVIEW
    assert ended(project) == ["clean"]


def test_a_question_is_put_while_the_agent_still_runs(project: RunProject) -> None:
    project.agent('echo half > half.txt; "$GT" ask "Which port?"; sleep 600')
    project.make()
    assert project.run().code == RunExit.WAITS
    assert project.stands() == (Status.CLARIFICATION, Awaiting.INPUT)
    assert [entry.text for entry in project.file("k7f2").entries(Section.QUESTIONS)] == ["Which port?"]
    assert (project.workspace() / "half.txt").exists()


def test_a_note_is_there_before_the_agent_ends_and_only_once(project: RunProject) -> None:
    here = project.shared
    project.agent(f'"$GT" note "I found it."; while [ ! -e "{here}/go" ]; do sleep 0.05; done')
    project.make()
    with project.running("--max-iterations", "1") as process:
        until(lambda: project.notes("k7f2") == ["I found it."])
        (here / "go").touch()
        assert process.wait(LONGEST_SECONDS) == RunExit.LIMIT
    assert project.notes("k7f2") == ["I found it."]
    assert project.file("k7f2").data.count(b"agent") >= 1


@pytest.mark.parametrize(
    ("status", "code"), [("agent-review", 0), ("done", 3), ("cancelled", 3), ("stuck", 3), ("reviewing", 3)]
)
def test_update_status_goes_only_where_an_agent_may(project: RunProject, status: str, code: int) -> None:
    project.settings(NO_REVIEW)
    said = project.shared / "said"
    project.agent(
        f"trap '' TERM\n{COMMIT}{HANDOFF}"
        f'"$GT" update --status {status} 2> "{said}.words"; echo $? > "{said}"; sleep 1'
    )
    project.make()
    project.run("--max-iterations", "1")
    assert said.read_text().strip() == str(code), (project.shared / "said.words").read_text()


def test_a_forged_request_is_set_aside_with_a_warning(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.agent(
        'printf "{" > "$GITTICKS_MAILBOX/outbox/000001-0123abcd.json"\n'
        'printf \'{"kind": "status", "status": "done"}\' > "$GITTICKS_MAILBOX/whole"\n'
        'mv "$GITTICKS_MAILBOX/whole" "$GITTICKS_MAILBOX/outbox/000002-0123abcd.json"\n'
        f"sleep 1\n{COMMIT}{HANDOFF}"
    )
    project.make()
    ran = project.run()
    assert "is not JSON" in ran.err
    assert project.stands() == TO_REVIEW
    assert "from working to done" in (project.last(EventType.GATE_FAILED).reason or "")


def test_an_agent_that_is_refused_again_and_again_is_not_heard_for_ever(project: RunProject) -> None:
    project.agent(
        'for number in $(seq 10 59); do printf \'{"kind": "status", "status": "done"}\' > whole\n'
        'mv whole "$GITTICKS_MAILBOX/outbox/0000$number-0123abcd.json"; done; sleep 1\n'
    )
    project.make()
    ran = project.run("--max-iterations", "1")
    assert ran.err.count("no more are read") == 1
    assert project.kinds().count(EventType.GATE_FAILED) <= 21


def test_an_outbox_that_was_replaced_is_told_once(project: RunProject) -> None:
    project.agent('cd "$GITTICKS_MAILBOX"; rm -r outbox; touch outbox; sleep 1.5')
    project.make()
    assert project.run("--max-iterations", "1").err.count("its requests were not read") == 1


def test_what_is_still_in_the_outbox_at_the_end_is_acted_on_before_the_end(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.agent(f"{COMMIT}{HAND_OVER}exit 1")
    project.make()
    project.run("--max-iterations", "1")
    assert project.stands() == TO_REVIEW
    assert EventType.CRASHED not in project.kinds()
