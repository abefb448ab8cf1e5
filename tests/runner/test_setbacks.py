from __future__ import annotations

from datetime import UTC, datetime

from gitticks.model.event import ENGINE, Actor, Event, EventType
from gitticks.model.session import Ending
from gitticks.model.status import ActorKind, Role, Status
from gitticks.runner.setbacks import Setbacks, find_setbacks

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
AGENT = Actor(ActorKind.AGENT, "claude", Role.WORKER)


def started(role: Role = Role.WORKER) -> Event:
    return Event(EventType.SESSION_STARTED, AT, AGENT, data={"role": role.value})


def ended(ending: Ending = Ending.CLEAN, role: Role = Role.WORKER) -> Event:
    return Event(EventType.SESSION_ENDED, AT, AGENT, data={"role": role.value, "ending": ending.value})


def failed(reason: str) -> Event:
    return Event(EventType.GATE_FAILED, AT, ENGINE, reason=reason, data={"gate": "checks"})


def test_a_task_without_a_past_has_none() -> None:
    assert find_setbacks([started()]) == Setbacks()


def test_the_last_failure_and_the_warnings_of_the_last_session_count() -> None:
    warned = Event(EventType.WARNED, AT, AGENT, reason="changes to `status` were dropped")
    history = [
        started(),
        failed("old"),
        ended(),
        started(),
        warned,
        warned,
        failed("new"),
        ended(),
        started(),
    ]
    assert find_setbacks(history) == Setbacks("new", warnings=("changes to `status` were dropped",))


def test_what_a_session_passed_is_not_said_again() -> None:
    assert find_setbacks([started(), failed("old"), ended(), started(), ended(), started()]) == Setbacks()


def test_a_session_that_came_to_nothing_does_not_count_as_told() -> None:
    history = [started(), failed("red"), ended(), started(), ended(Ending.INTERRUPTED), started()]
    assert find_setbacks(history).failure == "red"


def test_a_reviewers_session_in_between_changes_nothing() -> None:
    history = [
        started(),
        failed("red"),
        ended(),
        started(Role.REVIEWER),
        ended(role=Role.REVIEWER),
        started(),
    ]
    assert find_setbacks(history).failure == "red"


def test_a_failed_merge_brings_its_paths() -> None:
    conflict = Event(
        EventType.MERGE_FAILED, AT, ENGINE, reason="conflicts", data={"conflicts": ["a.py", "b.py"]}
    )
    setbacks = find_setbacks([started(), ended(), conflict, started()])
    assert setbacks == Setbacks("The merge failed: conflicts", conflicts=("a.py", "b.py"))


def test_a_crash_is_told_where_no_gate_failed() -> None:
    crash = Event(EventType.CRASHED, AT, AGENT, reason="exit code 1")
    assert find_setbacks([started(), crash, ended(Ending.CRASHED), started()]).failure == (
        "The last session ended early: exit code 1"
    )


def test_a_way_out_of_stuck_is_seen() -> None:
    freed = Event(EventType.MOVED, AT, ENGINE, Status.STUCK, Status.WORKING)
    assert find_setbacks([started(), ended(), freed, started()]).was_stuck
