from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gitticks.cli.render import Screen
from gitticks.cli.views.history import clock, details, event_lines, turns, what_happened
from gitticks.model.event import ENGINE, Actor, Event, EventType
from gitticks.model.status import ActorKind, Role, Status

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
ADA = Actor(ActorKind.HUMAN, "Ada")
CLAUDE = Actor(ActorKind.AGENT, "claude", Role.WORKER)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Event(EventType.ADVANCED, NOW, ENGINE, Status.PENDING, Status.WORKING), "pending → working"),
        (Event(EventType.IMPORTED, NOW, ADA, data={"source": "github"}), "imported from github"),
        (Event(EventType.IMPORTED, NOW, ADA, Status.DONE, Status.DONE), "imported again"),
        (Event(EventType.IMPORTED, NOW, ADA, Status.PENDING, Status.DONE), "pending → done"),
        (Event(EventType.WAIVED, NOW, ENGINE, data={"gate": "review"}), "review waived"),
        (Event(EventType.WAIVED, NOW, ENGINE), "gate waived"),
        (
            Event(EventType.VERDICT, NOW, ADA, data={"awaiting": "work", "verdict": "approved"}),
            "approved",
        ),
        (Event(EventType.AWAITING_SET, NOW, ADA, data={"awaiting": None}), "is not waiting for anyone"),
        (Event(EventType.AWAITING_SET, NOW, ADA, data={"awaiting": "input"}), "awaits input"),
        (Event(EventType.MERGED, NOW, ENGINE, data={"sha": "0123456789"}), "merged as 0123456"),
        (Event(EventType.MERGED, NOW, ENGINE, data={"sha": None}), "nothing to merge"),
        (Event(EventType.SESSION_STARTED, NOW, CLAUDE, data={"role": "worker"}), "worker started"),
    ],
)
def test_events_are_reported_in_a_few_words(event: Event, words: str) -> None:
    assert what_happened(event) == words


@pytest.mark.parametrize("kind", list(EventType))
def test_every_kind_of_event_has_words_even_without_its_data(kind: EventType) -> None:
    assert what_happened(Event(kind, NOW, ADA)).strip()


def test_details_are_one_line_and_do_not_repeat_the_actor() -> None:
    event = Event(
        EventType.SESSION_ENDED, NOW, CLAUDE, reason="a\nb", data={"agent": "claude", "ending": "crashed"}
    )
    assert details(event) == "a b, crashed"
    assert details(Event(EventType.MERGE_FAILED, NOW, ENGINE, data={"conflicts": ["a", "b"]})) == "a, b"


def test_the_clock_names_the_day_only_when_it_is_not_today() -> None:
    assert clock(NOW - timedelta(hours=2), NOW) == "10:00"
    assert clock(NOW - timedelta(days=2), NOW) == "2026-03-02 12:00"


def test_lines_are_aligned() -> None:
    events = [
        Event(EventType.ADVANCED, NOW, ENGINE, Status.PENDING, Status.WORKING),
        Event(EventType.VERDICT, NOW, ADA, Status.REVIEWING, Status.DONE, "fine"),
    ]
    assert event_lines(Screen(), events, NOW) == [
        "12:00  pending → working  engine",
        "12:00  reviewing → done   Ada     fine",
    ]


def test_turns_leave_out_comings_and_goings() -> None:
    kinds = (EventType.CREATED, EventType.SESSION_STARTED, EventType.CRASHED, EventType.NOTED)
    assert [event.type for event in turns(Event(kind, NOW, ENGINE) for kind in kinds)] == [EventType.CRASHED]


def test_a_step_takes_in_why_its_gate_was_waived() -> None:
    why = "the settings ask for no review"
    waived = Event(EventType.WAIVED, NOW, ENGINE, reason=why, data={"gate": "review"})
    step = Event(EventType.ADVANCED, NOW, ENGINE, Status.AGENT_REVIEW, Status.REVIEWING, why)
    assert [details(event) for event in turns([waived, step])] == [f"review waived: {why}"]
    assert turns([waived]) == [waived]


def test_a_step_takes_in_the_verdict_that_caused_it() -> None:
    data = {"awaiting": "review", "verdict": "rejected"}
    verdict = Event(EventType.VERDICT, NOW, ADA, reason="Don't shout.", data=data)
    step = Event(EventType.MOVED, NOW, ADA, Status.REVIEWING, Status.WORKING, "Don't shout.")
    assert [details(event) for event in turns([verdict, step])] == ["rejected: Don't shout."]
    by_gitticks = step._replace(actor=ENGINE)
    assert turns([verdict, by_gitticks]) == [verdict, by_gitticks]


def test_a_step_takes_in_the_merge_that_it_names() -> None:
    merged = Event(EventType.MERGED, NOW, ENGINE, data={"sha": "0123456789"})
    step = Event(EventType.ADVANCED, NOW, ENGINE, Status.REVIEWING, Status.DONE, "merged 0123456")
    other = Event(EventType.ADVANCED, NOW, ENGINE, Status.REVIEWING, Status.DONE, "merged 9876543")
    assert turns([merged, step]) == [step]
    assert turns([merged, other]) == [merged, other]


def test_a_step_with_nothing_to_merge_says_so_once() -> None:
    nothing = Event(EventType.MERGED, NOW, ENGINE, data={"sha": None})
    done = Event(EventType.ADVANCED, NOW, ENGINE, Status.REVIEWING, Status.DONE, "nothing to merge")
    assert turns([nothing, done]) == [done]


def test_a_person_who_began_by_hand_is_named_once() -> None:
    event = Event(EventType.MOVED, NOW, ADA, Status.PENDING, Status.WORKING, "Ada, main@3f2a91c")
    assert details(event) == "main@3f2a91c"


def test_a_failed_merge_names_its_conflicts_once() -> None:
    why = "conflicts with main in README"
    failed = Event(EventType.MERGE_FAILED, NOW, ENGINE, reason=why, data={"conflicts": ["README", "other"]})
    step = Event(EventType.ADVANCED, NOW, ENGINE, Status.REVIEWING, Status.WORKING, f"merge-failed: {why}")
    assert details(failed) == f"{why}, other"
    assert turns([failed, step]) == [step]
