"""Task files as two clones write them: strategies of a base and of what each side makes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from gitticks.document.taskfile import TaskFile
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry, Section
from gitticks.model.status import ActorKind, Awaiting, Status
from gitticks.model.task import Approval

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PATH = "tasks/f2/k7f2/TASK.md"

_HEAD = """\
---
# made by hand
id: k7f2
title: Say hello   # to everybody
status: {status}
labels: [one, two]
priority: 1
team: {{lead: ada, size: 3}}
estimate: "5"
created: 2026-01-02T03:04:05Z
created_by: Ada Lovelace
updated: 2026-01-02T03:04:05Z
---

What this is about.

## Context

The first line.
The second line.
The third line.

## Notes

### 2026-01-02T03:04:05Z · human · Ada

Begin with the tests.
"""


@dataclass(frozen=True, slots=True)
class Versions:
    """A base and the versions that sides made of it."""

    base: bytes
    sides: tuple[bytes, ...]


def make_base(status: Status = Status.WORKING, newline: str = "\n") -> bytes:
    """Returns a task's file with comments, foreign keys, a section and a note."""
    return _HEAD.format(status=status).replace("\n", newline).encode()


Step = tuple[str, Any]

STEPS: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("title"), st.sampled_from(["Say hello twice", "no: #1", "Greet"])),
    st.tuples(st.just("priority"), st.sampled_from([0, 3])),
    st.tuples(st.just("reviewer"), st.sampled_from(["Ada", "Bob"])),
    st.tuples(st.just("labels"), st.sets(st.sampled_from(["one", "two", "three", "four"]), max_size=4)),
    st.tuples(st.just("blocked_by"), st.sets(st.sampled_from(["a1", "b2", "c3"]), max_size=3)),
    st.tuples(st.just("state"), st.sampled_from(range(6))),
    st.tuples(st.just("note"), st.text("ab\n#`<=-é ", min_size=1, max_size=12)),
    st.tuples(st.just("ask"), st.sampled_from(["Which colour?", "Why?"])),
    st.tuples(st.just("answer"), st.sampled_from(["Blue.", "Because."])),
    st.tuples(st.just("context"), st.sampled_from(["first", "second", "third"])),
    st.tuples(st.just("section"), st.sampled_from(["Context", "Plan", "Risks"])),
    st.tuples(st.just("key"), st.sampled_from(["mine", "theirs", "estimate"])),
    st.tuples(st.just("comment"), st.sampled_from(["# why", "# how"])),
    st.tuples(st.just("remark"), st.sampled_from(["# why", "# how"])),
)


def apply_steps(data: bytes, steps: list[Step], name: str, start_minutes: int) -> bytes:
    """Returns a file after one side's changes, each a minute after the last; `name` tells the side's texts."""
    file = TaskFile.parse(data, PATH)
    for number, (kind, value) in enumerate(steps):
        at = START + timedelta(minutes=start_minutes + number)
        file = _applied(file, kind, value, name, at)
        file = file.with_task(replace(file.task, updated=at))
    return file.data


def _applied(file: TaskFile, kind: str, value: Any, name: str, at: datetime) -> TaskFile:
    if kind in ("title", "priority", "reviewer"):
        field: dict[str, Any] = {kind: value}
        return file.with_task(replace(file.task, **field))
    if kind in ("labels", "blocked_by"):
        items: dict[str, Any] = {kind: tuple(sorted(value))}
        return file.with_task(replace(file.task, **items))
    if kind == "state":
        return _moved(file, value, name, at)
    if kind == "note":
        return file.with_entry(Section.NOTES, Entry(at, ActorKind.AGENT, name, f"{value}{name}"))
    if kind in ("ask", "answer"):
        who = ActorKind.AGENT if kind == "ask" else ActorKind.HUMAN
        return file.with_entry(Section.QUESTIONS, Entry(at, who, name, f"{value} {name}"))
    if kind == "context":
        text = file.section("Context") or ""
        return file.with_section("Context", text.replace(f"{value} line", f"{value} line of {name}"))
    if kind == "section":
        return file.with_section(value, f"Written by {name}.")
    newline = file.frontmatter.newline
    if kind == "comment":
        return _replaced(file, "priority:", f"{value} {name}{newline}priority:")
    if kind == "remark":
        return _replaced(
            file, f"priority: {file.task.priority}", f"priority: {file.task.priority} {value} {name}"
        )
    line = f"{value}: by {name}{newline}"
    old = next(
        (one for one in file.frontmatter.yaml.splitlines(keepends=True) if one.startswith(f"{value}:")), ""
    )
    return _replaced(file, old or "created:", line if old else f"{line}created:")


def _replaced(file: TaskFile, old: str, new: str) -> TaskFile:
    return TaskFile.parse(file.data.replace(old.encode(), new.encode(), 1), PATH)


def _moved(file: TaskFile, number: int, name: str, at: datetime) -> TaskFile:
    task = file.task
    states: tuple[dict[str, Any], ...] = (
        {"status": Status.AGENT_REVIEW, "end_sha": "ab" * 20, "review_round": 1},
        {"status": Status.REVIEWING, "awaiting": Awaiting.REVIEW, "asked_at": at, "review_round": 2},
        {"status": Status.REVIEWING, "approval": Approval(name, at, "cd" * 20), "review_round": 2},
        {"status": Status.CLARIFICATION, "awaiting": Awaiting.INPUT, "asked_at": at},
        {"status": Status.DONE, "closed": at, "merged_sha": "ef" * 20},
        {"status": Status.CANCELLED, "closed": at, "closed_reason": f"{name} said so"},
    )
    cleared: dict[str, Any] = {"awaiting": None, "approval": None, "asked_at": None}
    file = file.with_task(replace(task, **{**cleared, **states[number]}))
    if number == 0:
        file = file.with_section(Section.HANDOFF, f"DONE: all, by {name}")
    if number == 1:
        file = file.with_section(Section.REVIEW, f"PASS, says {name}")
    return file


@st.composite
def versions(draw: st.DrawFn, count: int = 2) -> Versions:
    """Draws a base and `count` sides of it."""
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    base = make_base(draw(st.sampled_from([Status.WORKING, Status.PENDING])), newline)
    base = apply_steps(base, draw(st.lists(STEPS, max_size=2)), "base", 0)
    sides = tuple(
        apply_steps(
            base, draw(st.lists(STEPS, max_size=5)), f"side{number}", 10 + number * draw(st.integers(0, 3))
        )
        for number in range(count)
    )
    return Versions(base, sides)


def parse(data: bytes) -> TaskFile:
    """Returns the file, which must be a valid one of this task."""
    file = TaskFile.parse(data, PATH)
    assert file.task.id == TaskId("k7f2")
    return file
