"""An answer that stands in the file already is told with the verdict that it still needs."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from gitticks.model.event import ENGINE, Event, EventType
from gitticks.model.status import Awaiting, Status
from tests.support.projects import Project, make_project
from tests.support.stores import NOW

QUESTION = "## Questions\n\n### 2026-01-02T03:00:00Z · agent · claude\n\nWhich tone?\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    asks = {"status": Status.CLARIFICATION, "awaiting": Awaiting.INPUT}
    project.make("m3xq", body=QUESTION, asked_at=NOW - timedelta(minutes=2), **asks)
    return project


def _answer(project: Project, task: str = "m3xq") -> None:
    with project.board_file(task).open("a") as end:
        end.write("\nFriendly.\n")
    project.ok("status")


def test_an_answer_that_was_saved_by_hand_waits_for_its_approval(project: Project) -> None:
    assert project.ok("inbox").endswith('        Which tone?\n        gt respond m3xq "…"\n')
    _answer(project)
    assert project.ok("inbox").endswith(
        "        Which tone?\n"
        "        answer: Friendly.\n"
        "        answered by Ada Lovelace, counts once it is approved\n"
        '        gt approve m3xq · gt respond m3xq "…"\n'
    )
    [told] = json.loads(project.ok("inbox", "--json"))["tasks"]
    assert told["said"] == "Which tone?\nanswer: Friendly."
    assert "        Which tone?\n        answer: Friendly.\n" in project.ok("list", "--awaiting")
    assert told["commands"] == ["gt approve m3xq", 'gt respond m3xq "…"']
    project.ok("approve", "m3xq")
    assert project.task("m3xq").status is Status.WORKING
    assert project.ok("inbox") == ""


def test_an_answer_to_what_was_asked_before_is_none(project: Project) -> None:
    _answer(project)
    project.change("m3xq", asked_at=NOW + timedelta(days=9999))
    assert project.ok("inbox").endswith('\n        gt respond m3xq "…"\n')


def test_why_it_is_stuck_is_reported_beside_an_answer(project: Project) -> None:
    stuck = Event(EventType.ADVANCED, NOW, ENGINE, Status.WORKING, Status.STUCK, "crashed twice")
    asks = {"status": Status.STUCK, "awaiting": Awaiting.ESCALATION, "asked_at": NOW - timedelta(minutes=2)}
    project.change("m3xq", status=Status.CANCELLED, awaiting=None)
    project.make("st0k", body=QUESTION, events=[stuck], **asks)
    _answer(project, "st0k")
    assert project.ok("inbox").endswith(
        "        stuck: crashed twice\n"
        "        answered by Ada Lovelace, counts once it is approved\n"
        '        gt show st0k · gt approve st0k · gt respond st0k "…" · gt cancel st0k\n'
    )
