"""Which side's state stands, row by row, and the same whichever side is asked first."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitticks.model.status import Awaiting, Status, Verdict
from gitticks.model.task import HUMAN_FIELDS, Approval
from gitticks.workflow.bundle import BUNDLE_FIELDS, BUNDLE_SECTIONS, Side, is_late, may_stand, stands_before
from tests.support.tasks import CREATED, make_task

LATER = CREATED + timedelta(minutes=1)


def side(status: Status = Status.WORKING, *texts: str | None, **fields: Any) -> Side:
    return Side(replace(make_task("k7f2"), status=status, **fields), texts)


BASE = side(Status.PENDING)
ROWS = [
    ("closed before open", side(Status.DONE, merged_sha="ab12"), side(Status.STUCK, review_round=5)),
    ("merged before cancelled", side(Status.DONE, merged_sha="ab12"), side(Status.CANCELLED, updated=LATER)),
    ("cancelled before done and not merged", side(Status.CANCELLED), side(Status.DONE, updated=LATER)),
    (
        "the higher round",
        side(Status.WORKING, review_round=2),
        side(Status.REVIEWING, review_round=1, awaiting=Awaiting.REVIEW),
    ),
    ("the status further along", side(Status.AGENT_REVIEW), side(Status.CLARIFICATION, updated=LATER)),
    ("the later write", side(crash_count=1, updated=LATER), side(crash_count=2)),
]


@pytest.mark.parametrize(("first", "second"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_order_of_two_changed_states(first: Side, second: Side) -> None:
    for base in (BASE, None):
        assert stands_before(base, first, second) is True
        assert stands_before(base, second, first) is False


@pytest.mark.parametrize(
    "base", [side(Status.AGENT_REVIEW), side(Status.REVIEWING, awaiting=Awaiting.REVIEW)]
)
def test_what_a_person_sent_back_stands_before_an_approval_whose_merge_is_to_come(base: Side) -> None:
    sent_back = side(Status.WORKING, responded_at=CREATED)
    approved = side(
        Status.REVIEWING, approval=Approval("Bob", LATER, "ab12"), responded_at=LATER, updated=LATER
    )
    failed = side(Status.WORKING, failed_reviews=1)
    for one, other in ((sent_back, approved), (approved, failed), (side(Status.DONE), sent_back)):
        assert stands_before(base, one, other) is True
        assert stands_before(base, other, one) is False
        assert may_stand(one, other)


def test_what_one_side_changed_stands_also_where_it_is_further_back() -> None:
    base = side(Status.DONE)
    reopened = side(Status.PENDING, updated=LATER)
    assert stands_before(base, reopened, base) is True
    assert stands_before(base, base, reopened) is False


def test_artifacts_move_with_the_state() -> None:
    base, written = side(Status.WORKING, None), side(Status.WORKING, "DONE: all")
    assert stands_before(base, written, base) is True
    assert stands_before(base, base, base) is None


def test_equal_keys_are_distinguished_by_their_values() -> None:
    one, other = side(crash_count=1), side(crash_count=2)
    assert stands_before(None, one, other) is not stands_before(None, other, one)


def test_what_belongs_to_the_state_moves_together_and_nothing_of_a_persons() -> None:
    states = {"status", "awaiting", "verdict", "asked", "asked_at", "responded_at", "approval", "claim"}
    counters = {"review_round", "failed_reviews", "crash_count", "usage"}
    code = {"base", "branch", "start_sha", "end_sha", "merged_sha", "pr", "agent_sessions"}
    assert states | counters | code | {"closed", "closed_reason"} == BUNDLE_FIELDS
    assert {"awaiting", "verdict"} == BUNDLE_FIELDS & HUMAN_FIELDS
    assert [section.value for section in BUNDLE_SECTIONS] == ["Handoff", "Review"]


TURN: dict[str, Any] = {
    "awaiting": Awaiting.REVIEW,
    "asked_at": CREATED,
    "end_sha": "ab12",
    "review_round": 1,
}


@pytest.mark.parametrize(
    ("edited", "now", "late"),
    [
        ({"verdict": Verdict.APPROVED}, {"crash_count": 1}, False),
        ({"verdict": Verdict.APPROVED}, {"end_sha": "cd34"}, True),
        ({"verdict": Verdict.REJECTED}, {"asked_at": LATER}, True),
        ({"verdict": Verdict.APPROVED}, {"awaiting": Awaiting.INPUT}, True),
        ({"verdict": Verdict.APPROVED, "awaiting": Awaiting.WORK}, {}, False),
        ({"verdict": Verdict.APPROVED, "asked_at": LATER, "end_sha": "cd34"}, {"end_sha": "cd34"}, True),
        ({"priority": 0}, {"end_sha": "cd34", "review_round": 2}, False),
    ],
)
def test_a_verdict_is_for_what_its_file_shows(
    edited: dict[str, Any], now: dict[str, Any], late: bool
) -> None:
    base, *sides = (side(Status.REVIEWING, **TURN | more) for more in ({}, edited, now))
    assert is_late(base, *sides) is late


@pytest.mark.parametrize(
    ("old", "new", "current", "now", "late"),
    [
        (None, "PASS", None, {}, False),
        (None, "PASS", None, {"review_round": 2}, True),
        (None, "PASS", None, {"end_sha": "cd34"}, True),
        ("FAIL", "PASS", "FAIL", {"end_sha": "cd34"}, True),
        ("FAIL", "FAIL", None, {"review_round": 2}, False),
        ("FAIL", None, "FAIL", {"review_round": 2}, False),
    ],
)
def test_a_review_is_for_its_round(
    old: str | None, new: str | None, current: str | None, now: dict[str, Any], late: bool
) -> None:
    base, edited = (side(Status.AGENT_REVIEW, text, **TURN) for text in (old, new))
    assert is_late(base, edited, side(Status.AGENT_REVIEW, current, **TURN | now)) is late
