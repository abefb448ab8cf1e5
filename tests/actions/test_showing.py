from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from gitticks.actions.context import Context
from gitticks.actions.showing import show_task
from gitticks.model.event import ENGINE, Actor, Event, EventType
from gitticks.model.notes import ReviewOutcome, Section
from gitticks.model.status import ActorKind, Role, Status
from tests.support.stores import NOW, make_store, make_task

STARTED = Event(EventType.ADVANCED, NOW - timedelta(minutes=5), ENGINE, Status.PENDING, Status.WORKING)


def test_sections_have_their_own_names_and_empty_ones_are_left_out(tmp_path: Path) -> None:
    body = "Sum\n\n## context\n\nc\n\n## Handoff\n\n<!-- nothing -->\n\n## My own\n\no\n\n## REVIEW\n\nfail"
    make_task(make_store(tmp_path), id="k7f2", body=body)
    shown = show_task(Context(directory=tmp_path), "k7f2")
    assert shown.summary == "Sum"
    assert shown.sections == {"Context": "c", "My own": "o", "Review": "fail"}
    assert shown.review_outcome == ReviewOutcome.FAIL
    assert shown.last_handoff is None


def test_what_a_person_wrote_after_an_agents_session_is_theirs(tmp_path: Path) -> None:
    claude, ada = Actor(ActorKind.AGENT, "claude"), Actor(ActorKind.HUMAN, "Ada")
    earlier = NOW - timedelta(minutes=5)
    events = [Event(EventType.SESSION_ENDED, earlier, claude, data={"role": role}) for role in Role]
    written = Event(EventType.TEXT_CHANGED, NOW, ada, data={"sections": ["handoff"]})
    make_task(make_store(tmp_path), id="k7f2", events=(*events, written))
    shown = show_task(Context(directory=tmp_path), "k7f2")
    assert shown.last_handoff == written
    assert shown.last_review is not None
    assert (shown.last_review.actor, shown.last_review.at) == (claude, earlier)


def test_what_a_person_wrote_during_a_reviewers_session_is_theirs(tmp_path: Path) -> None:
    claude, ada = Actor(ActorKind.AGENT, "claude"), Actor(ActorKind.HUMAN, "Ada")
    began = Event(EventType.SESSION_STARTED, NOW, claude, data={"role": Role.REVIEWER})
    written = Event(EventType.TEXT_CHANGED, NOW, ada, data={"sections": [Section.REVIEW]})
    ended = Event(EventType.SESSION_ENDED, NOW, claude, data={"role": Role.REVIEWER})
    store = make_store(tmp_path)
    make_task(store, id="k7f2", events=(began, written, ended))
    make_task(store, id="m3xq", events=(began, written, ended, began, ended))
    shown = [show_task(Context(directory=tmp_path), one).last_review for one in ("k7f2", "m3xq")]
    assert [event and event.actor for event in shown] == [ada, claude]


def test_what_a_person_wrote_among_the_questions_is_shown_though_it_answers_none(tmp_path: Path) -> None:
    remark = "### 2026-01-02T03:04:05Z · human · Ada\n\nMind the step.\n"
    asked = "### 2026-01-02T03:04:06Z · agent · claude\n\nWhich tone?\n"
    note = "### 2026-01-02T03:04:07Z · human · Ada\n\nHurry.\n"
    body = f"## Questions\n\n{remark}\n{asked}\n## Notes\n\n{note}"
    make_task(make_store(tmp_path), id="k7f2", body=body)
    shown = show_task(Context(directory=tmp_path), "k7f2")
    assert [entry.text for entry in shown.notes] == ["Mind the step.", "Hurry."]
    assert [pair.question.text for pair in shown.questions] == ["Which tone?"]


def test_the_time_to_close_counts_from_the_first_start_and_only_for_done(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, id="k7f2", status=Status.DONE, closed=NOW, events=(STARTED,))
    make_task(store, id="m3xq", status=Status.CANCELLED, closed=NOW, events=(STARTED,))
    context = Context(directory=tmp_path)
    assert show_task(context, "k7f2").seconds_to_close == 300
    assert show_task(context, "m3xq").seconds_to_close is None


def test_as_many_sections_and_notes_as_a_file_can_hold_are_shown_at_once(tmp_path: Path) -> None:
    sections = "".join(f"## a{number}\n{number}\n" for number in range(5_000))
    headings = (
        f"### {NOW + timedelta(seconds=one):%Y-%m-%dT%H:%M:%SZ} · human · Ada\n" for one in range(4_000)
    )
    entries = "".join(headings)
    body = f"{sections}## Questions\n{entries}## Notes\n{entries}"
    make_task(make_store(tmp_path), id="k7f2", body=body)
    shown = show_task(Context(directory=tmp_path), "k7f2")
    assert shown.sections["a4999"] == "4999"
    assert len(shown.sections) == 5_000
    assert len(shown.notes) == 4_000
