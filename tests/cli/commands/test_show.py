from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

from gitticks.cli.text import width
from gitticks.model.event import ENGINE, Actor, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.status import ActorKind, Role, Status, TaskType
from gitticks.model.task import Usage
from tests.cli.support import gt, gt_on_terminal
from tests.support.projects import make_project
from tests.support.repositories import add_linked_worktree
from tests.support.stores import ADA_ACTOR, NOW, make_queue, make_store, make_task, write_task_file

CLAUDE = Actor(ActorKind.AGENT, "claude", Role.WORKER)
CODEX = Actor(ActorKind.AGENT, "codex", Role.REVIEWER)
BODY = """\
After SSO people land on / instead of where they were.

## Acceptance Criteria

- the path survives

## Handoff

DONE       keep the path in the state parameter; test added
DECISIONS  no cookie, it breaks private windows

## Review

PASS

Looks right to me.

## Questions

### 2026-03-04T05:20:00Z · agent · claude

Which parameter?

### 2026-03-04T05:21:00Z · human · Ada

`state`.

### 2026-03-04T05:22:00Z · agent · claude

And for POST?

## Notes

### 2026-03-04T05:30:00Z · human · Ada

Beware of private windows.
"""


def ended(role: str, actor: Actor, minutes: int) -> Event:
    at = NOW - timedelta(minutes=minutes)
    return Event(EventType.SESSION_ENDED, at, actor, data={"role": role, "ending": "clean"})


def moved(
    minutes: int, source: Status, target: Status, reason: str | None = None, actor: Actor = ENGINE
) -> Event:
    return Event(EventType.ADVANCED, NOW - timedelta(minutes=minutes), actor, source, target, reason)


EVENTS = (
    moved(26, Status.PENDING, Status.WORKING),
    moved(12, Status.WORKING, Status.AGENT_REVIEW, "hand-off"),
    ended("worker", CLAUDE, 12),
    moved(11, Status.AGENT_REVIEW, Status.REVIEWING, "PASS"),
    ended("reviewer", CODEX, 11),
    Event(EventType.MERGED, NOW - timedelta(minutes=10), ENGINE, data={"sha": "5c1f0de"}),
    moved(10, Status.REVIEWING, Status.DONE, "approved 5c1f0de", ADA_ACTOR),
)
PAGE = """\
Login loses the return URL                                            k7f2  done
priority 1 · auth · by Ada Lovelace · 16 min from start to merge · 2 iterations · $0.61

  After SSO people land on / instead of where they were.

Acceptance Criteria
  - the path survives
Handoff   claude, 12 min ago
  DONE       keep the path in the state parameter; test added
  DECISIONS  no cookie, it breaks private windows
Review    codex, 11 min ago: PASS
  PASS

  Looks right to me.
Questions
  claude, 40 min ago
    Which parameter?
  answered by Ada, 39 min ago
    `state`.
  claude, 38 min ago: open
    And for POST?
Notes
  Ada, 30 min ago
    Beware of private windows.
History
  05:34  pending → working         engine
  05:48  working → agent-review    engine        hand-off
  05:49  agent-review → reviewing  engine        PASS
  05:50  reviewing → done          Ada Lovelace  approved 5c1f0de
"""


def make_done(path: Path) -> None:
    make_task(
        make_store(path),
        id="k7f2",
        priority=1,
        labels=("auth",),
        status=Status.DONE,
        closed=NOW - timedelta(minutes=10),
        usage=Usage(iterations=2, cost=0.61),
        body=BODY,
        events=EVENTS,
    )


def test_one_task_on_one_page(tmp_path: Path) -> None:
    make_done(tmp_path)
    assert gt("show", "k7f2", at=tmp_path, now=NOW).seen == f"{PAGE}--- 0\n"


def test_json_adds_all_the_text(tmp_path: Path) -> None:
    make_done(tmp_path)
    task = json.loads(gt("show", "k7f2", "--json", at=tmp_path, now=NOW).out)["task"]
    assert task["id"] == "k7f2"
    assert task["summary"] == "After SSO people land on / instead of where they were."
    assert list(task["sections"]) == ["Acceptance Criteria", "Handoff", "Review"]
    assert task["sections"]["Acceptance Criteria"] == "- the path survives"
    assert [pair["answer"] and pair["answer"]["text"] for pair in task["questions"]] == ["`state`.", None]
    assert task["notes"] == [
        {"at": "2026-03-04T05:30:00Z", "from": "human", "name": "Ada", "text": "Beware of private windows."}
    ]
    assert [event["to"] for event in task["history"] if event["to"]] == [
        "working",
        "agent-review",
        "reviewing",
        "done",
    ]


def test_a_task_without_text_is_two_lines(tmp_path: Path) -> None:
    make_queue(tmp_path)
    assert (
        gt("show", "b1kd", at=tmp_path, now=NOW).out
        == """\
Log in by passkey                                                  b1kd  pending
priority 2 · by Ada Lovelace · for codex · after k7f2
"""
    )


def test_an_epic_counts_its_children_and_a_child_names_its_epic(tmp_path: Path) -> None:
    store = make_queue(tmp_path)
    make_task(store, "Old", id="c1ed", parent=TaskId("e0pc"), status=Status.DONE)
    assert "epic, 1 of 2 children closed" in gt("show", "e0pc", at=tmp_path, now=NOW).out
    assert "in e0pc (Accounts)" in gt("show", "c0de", at=tmp_path, now=NOW).out


def test_what_blocks_nothing_is_said(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, id="k7f2", type=TaskType.EPIC, blocked_by=(TaskId("gone"),))
    assert "`gone` blocks nothing: it is missing or cancelled" in gt("show", "k7f2", at=tmp_path).out


def test_without_an_id_it_is_the_task_of_this_workspace(tmp_path: Path) -> None:
    make_queue(tmp_path / "repository")
    workspace = add_linked_worktree(tmp_path / "repository", tmp_path / "work", "gitticks/work/k7f2")
    assert gt("show", at=workspace, now=NOW).out.startswith("Login loses the return URL")


def test_a_broken_file_is_an_error_with_its_place(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, id="k7f2")
    write_task_file(store, "m3xq", "---\nid: m3xq\ntitle: x\nstatus: pending\npriority: high\n---\n")
    assert (
        gt("show", "m3", at=tmp_path).seen
        == """\
--- 1
error: .gitticks/tasks/xq/m3xq/TASK.md:5:11: `priority` is not a number from 0 to 4: 'high'

hint: `gt edit m3xq` opens it at that line
"""
    )


def test_a_file_that_is_doubtful_is_shown_with_a_warning(tmp_path: Path) -> None:
    make_task(make_store(tmp_path), id="k7f2", body="## Review\n\nFAIL\n\n## Review\n\nPASS")
    ran = gt("show", "k7f2", at=tmp_path)
    assert "Review    PASS\n" in ran.out
    assert ran.err.startswith("warning: .gitticks/tasks/f2/k7f2/TASK.md: `## Review` is on lines ")


def test_an_unknown_id_and_an_ambiguous_one(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, id="k7f2")
    make_task(store, "Other", id="k7zz")
    assert gt("show", "k7g2", at=tmp_path).err == (
        "error: there is no task `k7g2`\n\nhint: did you mean `k7f2` (Login loses the return URL)?\n"
    )
    assert gt("show", "k7", at=tmp_path).err == (
        "error: `k7` matches 2 ids\n\nhint: one of `k7f2` (Login loses the return URL), `k7zz` (Other)\n"
    )


def test_text_cannot_steer_the_screen(tmp_path: Path) -> None:
    make_task(make_store(tmp_path), "a\x1b[2J", id="k7f2", body="\x1b[31mred\u202e\n\n## Handoff\n\n\x07bell")
    assert "\x1b" not in (out := gt("show", "k7f2", at=tmp_path).out)
    assert r"\x1b[31mred\u202e" in out
    assert r"\x07bell" in out


def test_forty_columns(tmp_path: Path) -> None:
    make_done(tmp_path)
    out = gt_on_terminal("show", "k7f2", at=tmp_path, columns=40, environment={"NO_COLOR": "1"}).out
    assert out.splitlines()[:5] == [
        "Login loses the return URL    k7f2  done",
        "priority 1 · auth · by Ada Lovelace",
        "16 min from start to merge",
        "2 iterations · $0.61",
        "",
    ]


# Earlier rounds, changes, mentions


def test_other_tasks_that_the_text_names_are_listed_with_their_titles(tmp_path: Path) -> None:
    store = make_queue(tmp_path)
    make_task(store, id="n4me", body="See m3xq, `b1kd`; n4me itself, nope, tasks/f2/k7f2 and d0ne.")
    out = gt("show", "n4me", at=tmp_path, now=NOW).out
    assert out.endswith(
        "Mentions\n  ? m3xq  Rename the error page\n  ○ b1kd  Log in by passkey\n  ✓ d0ne  Say hello\n"
    )
    task = json.loads(gt("show", "n4me", "--json", at=tmp_path, now=NOW).out)["task"]
    assert task["mentions"] == ["m3xq", "b1kd", "d0ne"]
    assert json.loads(gt("show", "k7f2", "--json", at=tmp_path).out)["task"]["mentions"] == []


def test_the_page_as_a_terminal_with_colour_shows_it(tmp_path: Path) -> None:
    make_task(make_store(tmp_path), id="k7f2", body="Some **bold**\n\n## Handoff\n\n- `one`\n- two")
    out = gt_on_terminal("show", "k7f2", at=tmp_path).out
    assert "  Some \x1b[1mbold\x1b[0m\n" in out
    assert "\x1b[36mone\x1b[0m\n" in out
    plain = gt_on_terminal("show", "k7f2", at=tmp_path, environment={"NO_COLOR": "1"}).out
    assert plain.endswith("  Some **bold**\n\nHandoff\n  - `one`\n  - two\n")


def test_no_line_is_wider_than_the_terminal(tmp_path: Path) -> None:
    body = BODY.replace("After", "日本語 " * 30 + "x" * 200).replace("claude", "claude" * 10)
    make_task(make_store(tmp_path), "Long " * 30, id="k7f2", body=body, events=EVENTS, status=Status.DONE)
    for columns in (20, 40, 80, 120):
        for environment in ({}, {"NO_COLOR": "1"}):
            out = gt_on_terminal("show", "k7f2", at=tmp_path, columns=columns, environment=environment).out
            lines = re.sub("\x1b\\[[0-9;]*m", "", out).splitlines()
            assert [line for line in lines if width(line) > columns] == []


def test_what_was_done_without_a_merge_is_not_called_merged(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.ok("start", project.make("k7f2"))
    project.ok("close", "k7f2")
    shown = project.ok("show", "k7f2")
    assert re.search(r" (s|min) from start to done", shown)
    assert "merge" not in shown.splitlines()[1]
