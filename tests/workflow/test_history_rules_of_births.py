"""What git replayed upon another version of a task: births with one id, and events of a side that does not stand."""

from __future__ import annotations

from dataclasses import replace

from gitticks.model.event import Event, EventType
from gitticks.model.status import Status
from gitticks.workflow.artifacts import Artifacts
from gitticks.workflow.history_rules import PastChange, problems_of
from tests.support.decisions import ADA, AT, make_task


def test_either_birth_may_stand_and_nothing_else_changes_it() -> None:
    here = replace(make_task(Status.PENDING), created=AT, created_by=ADA.name)
    twin = replace(here, created_by="Eve")
    for kind, is_legal in ((EventType.CREATED, True), (EventType.NOTED, False)):
        change = PastChange(here, twin, (Event(kind, AT, ADA),), Artifacts)
        assert (problems_of(change) == ()) is is_legal


def test_a_picked_commit_may_bring_events_of_a_state_that_does_not_stand() -> None:
    here = make_task(Status.PENDING)
    given_up = Event(EventType.MOVED, AT, ADA, Status.PENDING, Status.CANCELLED)
    for is_replayed in (True, False):
        found = problems_of(PastChange(here, here, (given_up,), Artifacts, is_replayed))
        assert (found == ()) is is_replayed
