from __future__ import annotations

import pytest

from gitticks.model.status import Awaiting, Phase, Requires, Status

PHASES = {
    "pending": "open",
    "clarification": "in_progress",
    "working": "in_progress",
    "agent-review": "in_review",
    "reviewing": "in_review",
    "stuck": "in_progress",
    "done": "closed",
    "cancelled": "closed",
}


def test_the_statuses_in_the_order_of_the_way() -> None:
    assert [status.value for status in Status] == list(PHASES)


@pytest.mark.parametrize("status", list(Status))
def test_each_status_has_its_phase(status: Status) -> None:
    assert status.phase.value == PHASES[status.value]
    assert status.is_terminal is (status.phase is Phase.CLOSED)


@pytest.mark.parametrize("gate", list(Requires))
def test_a_required_gate_awaits_its_own_kind(gate: Requires) -> None:
    assert gate.awaiting.value == gate.value


def test_the_kinds_of_awaiting() -> None:
    assert {kind.value for kind in Awaiting} == {
        "work",
        "approval",
        "input",
        "review",
        "content",
        "escalation",
        "checkpoint",
    }
