"""What a person's answer does: every kind of awaiting, both verdicts, from every open status; races; who may answer."""

from __future__ import annotations

import pytest

from gitticks.errors import Exit, RefusedError
from gitticks.model.event import ENGINE, Actor, EventType
from gitticks.model.notes import Section
from gitticks.model.settings import MergeMode, Policy
from gitticks.model.status import ActorKind, Awaiting, Requires, Role, Status, Verdict
from gitticks.model.task import Approval, Task
from gitticks.workflow.artifacts import Artifacts
from gitticks.workflow.decision import Decision, Turn, whose_turn
from gitticks.workflow.transitions import VERDICTS
from gitticks.workflow.triggers import Closed, Proof, VerdictGiven
from tests.support.decisions import (
    ADA,
    AT,
    EARLIER,
    HANDED_OFF,
    HEAD,
    OTHER_HEAD,
    REVIEWER,
    WORKER,
    answer,
    kinds,
    make_epic,
    make_merging,
    make_task,
    run,
    waived,
    way,
)
from tests.workflow.steps import is_legal_step

NO_CODE = Artifacts()
OPEN = ["pending", "clarification", "working", "agent-review", "reviewing", "stuck"]
# awaiting, verdict, outcome
ROWS = [
    ("work", "approved", "close"),
    ("work", "rejected", "refuse"),
    ("approval", "approved", "close"),
    ("approval", "rejected", "return"),
    ("review", "approved", "close"),
    ("review", "rejected", "return"),
    ("content", "approved", "close"),
    ("content", "rejected", "return"),
    ("input", "approved", "return"),
    ("input", "rejected", "cancel"),
    ("escalation", "approved", "return"),
    ("escalation", "rejected", "cancel"),
    ("checkpoint", "approved", "return"),
    ("checkpoint", "rejected", "return"),
]
AFTER_RETURN = {
    "pending": "pending",
    "clarification": "working",
    "working": "working",
    "agent-review": "working",
    "reviewing": "working",
    "stuck": "working",
}
WAIVED_ON_THE_WAY = {
    "pending": ["handoff", "review"],
    "clarification": ["handoff", "review"],
    "working": ["handoff", "review"],
    "stuck": ["handoff", "review"],
    "agent-review": ["review"],
    "reviewing": [],
}


def awaiting_task(status: str, awaiting: str, **fields: object) -> Task:
    usual = {"awaiting": Awaiting(awaiting), "asked_at": EARLIER, "failed_reviews": 1, "crash_count": 1}
    return make_task(Status(status), **{**usual, "requires": Requires.CONTENT, **fields})


def give(status: str, awaiting: str, verdict: str, artifacts: Artifacts) -> Decision:
    return run(awaiting_task(status, awaiting), answer(Verdict(verdict), "so be it"), artifacts=artifacts)


def rows(outcome: str) -> list[tuple[str, str, str]]:
    return [
        (status, awaiting, verdict) for awaiting, verdict, row in ROWS if row == outcome for status in OPEN
    ]


def test_every_kind_of_awaiting_has_both_verdicts() -> None:
    assert {(str(awaiting), str(verdict)) for awaiting, verdict in VERDICTS} == {row[:2] for row in ROWS}


@pytest.mark.parametrize(("status", "awaiting", "verdict"), rows("close"))
def test_close_with_code_waits_for_the_merge(status: str, awaiting: str, verdict: str) -> None:
    decision = give(status, awaiting, verdict, Artifacts(head=HEAD))
    assert decision.task.status is Status.REVIEWING
    assert decision.task.is_merging
    assert decision.task.approval == Approval("Ada", AT, HEAD, "L0")
    assert whose_turn(decision.task) is Turn.MERGE
    assert waived(decision) == WAIVED_ON_THE_WAY[status]
    assert all(is_legal_step(step.from_status, step.to_status) for step in decision.steps)


@pytest.mark.parametrize(("status", "awaiting", "verdict"), rows("close"))
def test_close_without_code_is_done_at_once(status: str, awaiting: str, verdict: str) -> None:
    task = awaiting_task(status, awaiting, branch=None, start_sha=None, end_sha=None)
    decision = run(task, answer(Verdict(verdict)), artifacts=NO_CODE)
    assert decision.task.status is Status.DONE
    assert (decision.task.awaiting, decision.task.verdict, decision.task.approval) == (None, None, None)
    assert decision.task.closed == AT
    assert decision.task.requires is Requires.CONTENT
    assert waived(decision) == WAIVED_ON_THE_WAY[status]
    assert way(decision)[-2:] == ["reviewing", "done"]
    assert all(is_legal_step(step.from_status, step.to_status) for step in decision.steps)
    assert whose_turn(decision.task) is Turn.NOBODY


@pytest.mark.parametrize(("status", "awaiting", "verdict"), rows("return"))
def test_return(status: str, awaiting: str, verdict: str) -> None:
    decision = give(status, awaiting, verdict, HANDED_OFF)
    task = decision.task
    assert task.status is Status(AFTER_RETURN[status])
    assert (task.awaiting, task.verdict, task.asked, task.approval) == (None, None, None, None)
    assert task.requires is Requires.CONTENT
    assert (task.failed_reviews, task.crash_count) == (0, 0)
    assert task.responded_at == AT
    assert (Section.HANDOFF in decision.archived) is (status != "pending")
    assert Section.REVIEW not in decision.archived
    assert [(section, entry.text, entry.kind) for section, entry in decision.entries] == [
        (Section.NOTES, "so be it", ActorKind.HUMAN)
    ]
    assert whose_turn(decision.task) is Turn.WORKER


@pytest.mark.parametrize(("status", "awaiting", "verdict"), rows("cancel"))
def test_cancel(status: str, awaiting: str, verdict: str) -> None:
    decision = give(status, awaiting, verdict, HANDED_OFF)
    assert way(decision) == [status, "cancelled"]
    assert (decision.task.awaiting, decision.task.closed) == (None, AT)
    assert decision.task.closed_reason == "so be it"


@pytest.mark.parametrize(("status", "awaiting", "verdict"), rows("refuse"))
def test_refuse_changes_nothing_and_says_what_else(status: str, awaiting: str, verdict: str) -> None:
    with pytest.raises(RefusedError) as refused:
        give(status, awaiting, verdict, HANDED_OFF)
    assert refused.value.exit_code is Exit.REFUSED
    assert "--awaiting=null" in str(refused.value.hint)
    assert "gt cancel" in str(refused.value.hint)


@pytest.mark.parametrize("status", ["pending", "working", "agent-review"])
@pytest.mark.parametrize("verdict", Verdict)
def test_verdict_where_nothing_is_awaited(status: str, verdict: Verdict) -> None:
    with pytest.raises(RefusedError, match=f"is not waiting for anyone: it is {status}"):
        run(make_task(Status(status)), answer(verdict))


@pytest.mark.parametrize("status", [Status.DONE, Status.CANCELLED])
@pytest.mark.parametrize("verdict", Verdict)
def test_verdict_on_a_closed_task(status: Status, verdict: Verdict) -> None:
    with pytest.raises(RefusedError, match="already"):
        run(make_task(status), answer(verdict))


@pytest.mark.parametrize("actor", [WORKER, REVIEWER, ENGINE, Actor(ActorKind.AGENT, "x", Role.CLARIFIER)])
@pytest.mark.parametrize("verdict", Verdict)
def test_only_people_answer(actor: Actor, verdict: Verdict) -> None:
    for trigger in (VerdictGiven(actor, verdict), Closed(actor)):
        with pytest.raises(RefusedError, match="only a person"):
            run(make_task(Status.REVIEWING), trigger)


def test_verdict_is_an_event_with_what_it_answered_and_goes_first() -> None:
    decision = run(
        make_task(Status.REVIEWING), answer(Verdict.APPROVED, "fine", proof=Proof("L2", {"head": HEAD}))
    )
    first = decision.events[0]
    assert (first.type, first.actor, first.reason) == (EventType.VERDICT, ADA, "fine")
    assert first.data == {"verdict": "approved", "awaiting": "review", "strength": "L2", "head": HEAD}
    assert decision.task.approval is not None
    assert decision.task.approval.strength == "L2"


@pytest.mark.parametrize("status", OPEN)
def test_work_of_a_person_takes_the_head_that_is_there(status: str) -> None:
    decision = give(status, "work", "approved", Artifacts(head=OTHER_HEAD))
    assert decision.task.end_sha == OTHER_HEAD
    assert decision.task.approval == Approval("Ada", AT, OTHER_HEAD, "L0")


# Notes and answers


def test_answer_to_an_open_question_needs_words() -> None:
    task = make_task(Status.CLARIFICATION)
    with pytest.raises(RefusedError, match="has no answer"):
        run(task, answer(Verdict.APPROVED, "  "), artifacts=Artifacts(open_question=True))
    assert run(task, answer(Verdict.APPROVED), artifacts=NO_CODE).task.status is Status.WORKING
    assert (
        run(task, answer(Verdict.REJECTED), artifacts=Artifacts(open_question=True)).task.status
        is Status.CANCELLED
    )


@pytest.mark.parametrize(
    ("is_response", "open_question", "sections"),
    [
        (True, True, [Section.QUESTIONS]),
        (True, False, [Section.NOTES]),
        (False, True, [Section.QUESTIONS, Section.NOTES]),
        (False, False, [Section.NOTES]),
    ],
)
@pytest.mark.parametrize("verdict", Verdict)
def test_where_the_words_go(
    verdict: Verdict, *, is_response: bool, open_question: bool, sections: list[Section]
) -> None:
    decision = run(
        make_task(Status.CLARIFICATION),
        answer(verdict, "the left one", is_response=is_response),
        artifacts=Artifacts(open_question=open_question),
    )
    assert [section for section, _ in decision.entries] == sections
    assert {entry.text for _, entry in decision.entries} == {"the left one"}
    assert (EventType.ANSWERED in kinds(decision)) is open_question


# Closing by hand


@pytest.mark.parametrize("status", OPEN)
def test_close_is_work_approved(status: str) -> None:
    decision = run(make_task(Status(status)), Closed(ADA, "did it myself"), artifacts=Artifacts(head=HEAD))
    assert decision.task.is_merging
    assert decision.events[0].data["awaiting"] == "work"
    assert waived(decision) == WAIVED_ON_THE_WAY[status]


def test_close_without_code_keeps_the_reason_as_a_note_too() -> None:
    decision = run(make_task(Status.PENDING), Closed(ADA, "a duplicate"), artifacts=NO_CODE)
    assert (decision.task.status, decision.task.closed_reason) == (Status.DONE, "a duplicate")
    assert [entry.text for _, entry in decision.entries] == ["a duplicate"]
    assert way(decision) == ["pending", "working", "agent-review", "reviewing", "done"]


def test_close_of_what_is_merging_or_closed() -> None:
    with pytest.raises(RefusedError, match="approved and merging"):
        run(make_merging(), Closed(ADA))
    with pytest.raises(RefusedError, match="done already"):
        run(make_task(Status.DONE), Closed(ADA))


# Merging by hand


def test_manual_mode_hands_the_merge_to_a_person() -> None:
    manual = Policy(merge_mode=MergeMode.MANUAL)
    decision = run(make_task(Status.REVIEWING), answer(Verdict.APPROVED), policy=manual)
    assert (decision.task.status, decision.task.awaiting) == (Status.REVIEWING, Awaiting.WORK)
    assert decision.task.approval is None
    closed = run(decision.task, answer(Verdict.APPROVED), policy=manual)
    assert way(closed) == ["reviewing", "done"]
    assert closed.task.merged_sha is None


def test_epic_that_is_sent_back_has_a_child_with_the_feedback() -> None:
    review = run(make_epic(Status.REVIEWING), answer(Verdict.REJECTED, "no tests"))
    assert review.rework == "no tests"
    stuck = run(make_epic(Status.STUCK), answer(Verdict.APPROVED, "smaller steps"))
    assert stuck.rework == "smaller steps"
    assert run(make_epic(Status.STUCK), answer(Verdict.APPROVED)).rework is None
    assert run(make_epic(Status.CLARIFICATION), answer(Verdict.APPROVED, "yes")).rework is None
    assert run(make_task(Status.REVIEWING), answer(Verdict.REJECTED, "no tests")).rework is None
