from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

from gitticks.model.event import ENGINE, Event, EventType
from gitticks.model.status import Awaiting, Status
from tests.cli.support import gt
from tests.support.stores import NOW, make_queue, make_store, make_task


def test_what_awaits_a_person_shows_kind_question_context_and_age(tmp_path: Path) -> None:
    make_queue(tmp_path)
    assert (
        gt("list", "--awaiting", at=tmp_path, now=NOW).seen
        == """\
⊙ r3vw  Faster start                                           review, waits 3 h
        gt review r3vw · gt approve r3vw · gt reject r3vw "…"
? m3xq  Rename the error page                             input, asked 2 min ago
        Which tone: friendly or formal?
        The page has both now.
        gt respond m3xq "…"
--- 0
"""
    )


def test_the_json_of_what_awaits_holds_the_open_questions(tmp_path: Path) -> None:
    make_queue(tmp_path)
    found = json.loads(gt("list", "--awaiting", "input", "--json", at=tmp_path, now=NOW).out)
    assert found["tasks"][0]["open_questions"] == [
        {
            "at": "2026-03-04T05:58:00Z",
            "from": "agent",
            "name": "claude",
            "text": "Which tone: friendly or formal?\nThe page has both now.",
        }
    ]


def test_a_question_in_the_list_cannot_steer_the_screen(tmp_path: Path) -> None:
    asked = "## Questions\n\n### 2026-03-04T05:00:00Z · agent · x\n\n\x1b[2Jwhich \u202e日本 one?\n"
    make_task(
        make_store(tmp_path), id="m3xq", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, body=asked
    )  # fmt: skip
    shown = gt("list", at=tmp_path, columns=140).out
    assert shown.endswith("  ⚑ input: \\x1b[2Jwhich \\u202e日本 one?\n")


def test_what_awaits_a_person_without_a_question_shows_what_the_agent_said(tmp_path: Path) -> None:
    said = "##  notes\n\n### 2026-03-04T05:00:00Z · agent · claude\n\nThe schema is moved; look before I fill it.\n"
    make_task(
        make_store(tmp_path), id="m3xq", status=Status.WORKING, awaiting=Awaiting.CHECKPOINT, body=said,
        asked_at=NOW - timedelta(hours=1),
    )  # fmt: skip
    assert gt("list", "--awaiting", at=tmp_path, now=NOW).out.splitlines()[1:] == [
        "        The schema is moved; look before I fill it.",
        '        gt respond m3xq "…"',
    ]
    found = json.loads(gt("list", "--awaiting", "--json", at=tmp_path).out)
    assert found["tasks"][0]["said"] == "The schema is moved; look before I fill it."


def test_why_a_task_is_stuck(tmp_path: Path) -> None:
    reason = "crashed twice: " + "\x1b[31m" + "x" * 60
    stuck = Event(EventType.ADVANCED, NOW, ENGINE, Status.WORKING, Status.STUCK, reason)
    make_task(
        make_store(tmp_path), id="k7f2", status=Status.STUCK, awaiting=Awaiting.ESCALATION, events=[stuck]
    )  # fmt: skip
    shown = "crashed twice: \\x1b[31m" + "x" * 60
    assert gt("list", "--status", "stuck", at=tmp_path).out.endswith(f"  escalation: {shown}\n")
    assert f"        stuck: {shown}\n" in gt("list", "--awaiting", at=tmp_path).out
    assert "crashed twice: \\x1b[31m" in gt("list", "--status", "stuck", at=tmp_path, columns=100).out
    assert "crashed" not in gt("list", at=tmp_path).out


def test_a_question_is_broken_to_the_width_of_a_terminal(tmp_path: Path) -> None:
    make_queue(tmp_path)
    out = gt("list", "--awaiting", "input", at=tmp_path, now=NOW, columns=24).out
    assert out.splitlines()[2:5] == ["  Which tone: friendly", "  or formal?", "  The page has both now."]
