"""The state of a session: what the status, whose turn it is, and what this clone knows make of it."""

from __future__ import annotations

from itertools import product

import pytest

from gitticks.model.status import Awaiting, Status
from gitticks.workflow.session_states import MEANINGS, session_state

IDLE, WORKING, COUNCIL, REVIEW, DONE, BLOCKED, FAILED, INTERRUPTED, STOPPED = MEANINGS
NOTHING: dict[str, object] = {}
LIVE, HELD = {"is_live": True}, {"is_held": True}
KILLED, ENDED = {"left": "interrupted"}, {"left": "stopped"}


@pytest.mark.parametrize(
    ("status", "awaiting", "known", "state"),
    [
        (Status.PENDING, None, NOTHING, IDLE),
        (Status.PENDING, None, HELD, STOPPED),
        (Status.PENDING, Awaiting.WORK, NOTHING, BLOCKED),
        (Status.WORKING, None, NOTHING, IDLE),
        (Status.WORKING, None, LIVE, WORKING),
        (Status.WORKING, None, HELD, STOPPED),
        (Status.WORKING, None, ENDED, STOPPED),
        (Status.WORKING, None, KILLED, INTERRUPTED),
        (Status.WORKING, None, KILLED | HELD, STOPPED),
        (Status.WORKING, None, KILLED | LIVE, WORKING),
        (Status.WORKING, None, HELD | LIVE, WORKING),
        (Status.WORKING, Awaiting.CHECKPOINT, NOTHING, BLOCKED),
        (Status.WORKING, Awaiting.WORK, LIVE, BLOCKED),
        (Status.CLARIFICATION, Awaiting.INPUT, NOTHING, BLOCKED),
        (Status.CLARIFICATION, Awaiting.ESCALATION, KILLED, BLOCKED),
        (Status.AGENT_REVIEW, None, NOTHING, COUNCIL),
        (Status.AGENT_REVIEW, None, LIVE, COUNCIL),
        (Status.AGENT_REVIEW, None, HELD, STOPPED),
        (Status.AGENT_REVIEW, None, KILLED, INTERRUPTED),
        (Status.AGENT_REVIEW, Awaiting.CONTENT, NOTHING, REVIEW),
        (Status.REVIEWING, Awaiting.REVIEW, NOTHING, REVIEW),
        (Status.REVIEWING, Awaiting.APPROVAL, HELD, REVIEW),
        (Status.REVIEWING, None, {"is_merging": True}, DONE),
        (Status.STUCK, Awaiting.ESCALATION, ENDED, FAILED),
        (Status.DONE, None, KILLED, DONE),
        (Status.CANCELLED, None, NOTHING, STOPPED),
    ],
)
def test_the_state(status: Status, awaiting: Awaiting | None, known: dict[str, object], state: str) -> None:
    assert session_state(status, awaiting, **known) == state  # type: ignore[arg-type]


def test_every_combination_has_a_state_and_every_state_a_meaning() -> None:
    found = {
        session_state(status, awaiting, is_merging=merging, is_live=live, left=left, is_held=held)
        for status, awaiting, merging, live, left, held in product(
            Status,
            (None, *Awaiting),
            (False, True),
            (False, True),
            (None, "stopped", "interrupted"),
            (False, True),
        )
    }
    assert found == set(MEANINGS)


def test_the_words_are_those_of_the_glossary() -> None:
    assert list(MEANINGS) == [
        "idle", "working", "awaiting_council", "needs_human_review", "done", "blocked", "failed", "interrupted",
        "stopped",
    ]  # fmt: skip
