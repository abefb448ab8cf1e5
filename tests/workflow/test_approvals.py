"""What makes an approval count, rule by rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitticks.model.approval import SIGNATURE, Statement
from gitticks.model.event import ENGINE, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.settings import ApprovalSettings, HumanPolicy, Settings, VerifySettings
from gitticks.model.status import Awaiting, Status, TaskType, Verdict
from gitticks.model.task import Approval, Task
from gitticks.workflow.approvals import (
    Signed,
    approval_of,
    claimed,
    gates_digest,
    is_approval,
    policy_digest,
    valid_approvals,
    why_void,
)
from gitticks.workflow.artifacts import left_on_epic
from tests.support.decisions import (
    ADA,
    AT,
    EARLIER,
    HANDED_OFF,
    HEAD,
    OTHER_HEAD,
    WORKER,
    answer,
    make_merging,
    make_task,
    run,
)

SIGNED_AT = "2026-03-04T05:06:07Z"
STATEMENT = Statement("k7f2", HEAD, "tree", "main", "base", "gates", "policy", "Ada <ada@x.org>", SIGNED_AT)


def verdict(strength: str = "L0", statement: Statement | None = None, **more: Any) -> Event:
    said = {} if statement is None else {**statement.to_data(), SIGNATURE: "armored"}
    data = {"verdict": "approved", "awaiting": "approval", "strength": strength, **said, **more}
    return Event(EventType.VERDICT, AT, ADA, data=data)


def read_by(*strangers: str) -> Event:
    return Event(EventType.SESSION_STARTED, AT, ENGINE, data={"strangers": list(strangers)})


PLAIN, TYPED, BY_KEY = verdict(), verdict("L1"), verdict("L2", STATEMENT)
WAIVER = Event(EventType.WAIVED, AT, ENGINE, data={"gate": "person"})
HANDOFF = Event(EventType.ADVANCED, AT, WORKER, Status.WORKING, Status.AGENT_REVIEW)
REOPENED = Event(EventType.REOPENED, AT, ADA)
VOIDED = Event(EventType.VOIDED, AT, ADA)
HAND = Event(EventType.TEXT_CHANGED, AT, ADA, data={"sections": ["Handoff"]})


@pytest.mark.parametrize(
    ("event", "is_one"),
    [
        *((verdict(awaiting=one), True) for one in ("work", "approval", "review", "content")),
        *((verdict(awaiting=one), False) for one in ("input", "escalation", "checkpoint")),
        (verdict(verdict="rejected"), False),
        (PLAIN._replace(type=EventType.MERGED), False),
    ],
)
def test_which_verdicts_close_or_merge_work(event: Event, *, is_one: bool) -> None:
    assert is_approval(event) is is_one
    assert valid_approvals([TYPED, event, read_by()]) == [TYPED, event][: 1 + is_one]


@pytest.mark.parametrize(
    ("history", "left"),
    [
        ([HANDOFF, PLAIN, TYPED], [PLAIN, TYPED]),
        ([PLAIN, HANDOFF], []),
        ([PLAIN, VOIDED, HANDOFF, WAIVER], [WAIVER]),
        ([HANDOFF, PLAIN, VOIDED], []),
        ([PLAIN, HANDOFF._replace(type=EventType.VERDICT, actor=ADA)], [PLAIN]),
        ([WAIVER._replace(data={"gate": "review"}), WAIVER._replace(actor=ADA)], []),
        ([PLAIN._replace(actor=WORKER), PLAIN._replace(actor=ENGINE)], []),
    ],
)
def test_which_approvals_are_valid_at_the_end_of_a_history(history: list[Event], left: list[Event]) -> None:
    assert valid_approvals(history) == left


@pytest.mark.parametrize(
    ("approval", "history", "given"),
    [
        (Approval("Ada", EARLIER, HEAD), [PLAIN, PLAIN._replace(actor=ADA._replace(name="Bob"))], PLAIN),
        (Approval("Bob", EARLIER, HEAD), [PLAIN], None),
        (Approval("Ada", EARLIER, HEAD, "L2"), [PLAIN], None),
        (Approval("Ada", EARLIER, HEAD), [WAIVER], None),
        (Approval("gitticks", EARLIER, HEAD, "waived"), [WAIVER, PLAIN], WAIVER),
        (None, [PLAIN], None),
    ],
)
def test_the_event_that_gave_an_approval_names_its_person_and_strength(
    approval: Approval | None, history: list[Event], given: Event | None
) -> None:
    assert approval_of(make_merging(approval=approval), history) == given


@pytest.mark.parametrize(
    "task",
    [
        make_task(Status.REVIEWING),
        make_task(Status.WORKING, awaiting=Awaiting.APPROVAL),
        make_task(Status.WORKING, awaiting=Awaiting.WORK),
    ],
)
def test_what_a_verdict_approves_is_in_its_event_from_any_status(task: Task) -> None:
    decision = run(task, answer(Verdict.APPROVED), artifacts=HANDED_OFF)
    given = approval_of(decision.task, [HANDOFF, *decision.events])
    assert given is not None
    assert given.data["head"] == decision.task.end_sha == HEAD
    moved = replace(decision.task, end_sha=OTHER_HEAD, approval=Approval("Ada", AT, OTHER_HEAD))
    found = [
        why_void(one, decision.events, base="main", minimum="L0", gates="", policy="")
        for one in (decision.task, moved, replace(moved, end_sha=HEAD))
    ]
    assert found == [None, *["it was approved for another commit"] * 2]


@pytest.mark.parametrize(
    ("strength", "history", "minimum", "void"),
    [
        (None, [PLAIN], "L0", "nobody approved it"),
        ("L0", [PLAIN], "L0", None),
        ("L0", [], "L0", "its history has no approval"),
        ("L1", [], "L1", "its history has no approval"),
        ("L0", [PLAIN, HANDOFF], "L0", "its history has no approval"),
        ("L0", [PLAIN], "L1", "it was approved by a name alone, but policy requires confirmed on a terminal"),
        ("L2", [TYPED], "L2", "its history has no approval"),
        ("L1", [TYPED], "L1", None),
        ("waived", [], "L1", "it was approved by nobody, but policy requires confirmed on a terminal"),
        ("waived", [read_by("Eve")], "L0", "its agent read text by Eve, a stranger here"),
        ("waived", [read_by("Eve"), REOPENED, WAIVER], "L0", "its agent read text by Eve, a stranger here"),
        ("L0", [read_by("Eve"), PLAIN], "L0", None),
        ("L2", [verdict("L2")], "L2", "its history has no signature"),
        ("L2", [BY_KEY], "L2", None),
        ("L2", [verdict("L2", STATEMENT._replace(head=OTHER_HEAD))], "L0", "approved for another commit"),
        ("L2", [verdict("L2", STATEMENT._replace(base="next"))], "L0", "approved for the base `next`"),
        ("L2", [verdict("L2", STATEMENT._replace(gates="none"))], "L0", "approved for other quality gates"),
        ("L2", [verdict("L2", STATEMENT._replace(policy="none"))], "L0", "approved for another policy"),
        ("L2", [verdict("L2", STATEMENT._replace(head=OTHER_HEAD)), BY_KEY], "L2", None),
    ],
)
def test_whether_an_approval_carries_a_merge(
    strength: str | None, history: list[Event], minimum: str, void: str | None
) -> None:
    task = make_merging(approval=None if strength is None else Approval("Ada", EARLIER, HEAD, strength))
    found = why_void(task, history, base="main", minimum=minimum, gates="gates", policy="policy")
    assert found == void or (void is not None and void in str(found)), found


@pytest.mark.parametrize(
    ("by", "strength", "history", "void"),
    [
        ("Ada", "L0", [PLAIN], None),
        ("Grace", "L0", [PLAIN], "policy requires a second person, and Grace created it or worked on it"),
        ("Ada", "L1", [HAND, HANDOFF, TYPED], "a second person, and Ada created it or worked on it"),
        ("gitticks", "waived", [WAIVER], "policy requires a second person, and nobody approved it"),
    ],
)
def test_whether_an_approval_is_a_second_persons(
    by: str, strength: str, history: list[Event], void: str | None
) -> None:
    task = make_merging(approval=Approval(by, EARLIER, HEAD, strength), created_by="Grace")
    found = why_void(task, history, base="main", minimum="L0", four_eyes=True, gates="", policy="")
    assert found == void or (void is not None and void in str(found)), found


@pytest.mark.parametrize(("approval", "is_void"), [(("gitticks", "waived"), True), (("Ada", "L0"), False)])
def test_a_waiver_does_not_carry_a_merge_once_a_person_is_required(
    approval: tuple[str, str], is_void: bool
) -> None:
    task = make_merging(approval=Approval(approval[0], EARLIER, HEAD, approval[1]))
    history = [WAIVER if is_void else PLAIN]
    found = why_void(task, history, base="main", minimum="L0", gates="", policy="", is_person_waived=False)
    assert (found is not None) is is_void, found


def test_an_epic_is_merged_by_a_person_if_its_branch_has_what_began_with_a_strangers_text() -> None:
    task = make_merging(approval=Approval("gitticks", EARLIER, HEAD, "waived"), type=TaskType.EPIC)
    left = left_on_epic(TaskId("m3xq"), [read_by("Eve")], AT)
    assert left is not None
    for history, void in (([WAIVER], False), ([left, WAIVER], True)):
        found = why_void(task, history, base="main", minimum="L0", gates="", policy="")
        assert ("text by Eve" in str(found)) is void


@pytest.mark.parametrize(
    ("event", "found"),
    [
        (PLAIN, None),
        (TYPED, None),
        (BY_KEY, Signed(STATEMENT, "armored", AT)),
        (verdict("L3", STATEMENT), Signed(STATEMENT, "armored", AT, is_by_hardware=True)),
        (verdict("L1", STATEMENT), Signed(STATEMENT, "armored", AT)),
        (verdict("L2"), "it says L2, but has no signature"),
        (verdict("L0", signature="armored"), "it says L0, but has no signature"),
        (verdict("L2", STATEMENT._replace(at="soon")), "it has no valid time"),
    ],
)
def test_what_its_signature_has_to_prove(event: Event, found: Signed | str | None) -> None:
    assert claimed("k7f2", event) == found


def test_an_approval_is_bound_to_the_rules_it_was_given_under() -> None:
    plain = Settings()
    tested = plain._replace(verify=VerifySettings(test="make"))
    loose = plain._replace(human=HumanPolicy.WHEN_REQUIRED)
    signed = plain._replace(approvals=ApprovalSettings("L2"))
    assert len({gates_digest(one) for one in (plain, tested, loose)}) == 2
    assert len({policy_digest(one) for one in (plain, tested, loose, signed)}) == 3
