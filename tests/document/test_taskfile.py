"""The whole file as one value: exact bytes, single changes, and nothing but a value or an error for any input."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gitticks.document.taskfile import TaskFile, new_task_file, read_task
from gitticks.errors import GitticksError
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry, ReviewOutcome, Section
from gitticks.model.status import ActorKind, Awaiting, Status
from gitticks.model.task import Approval, Task, Usage

AT = datetime(2026, 11, 22, 10, 2, 3, tzinfo=UTC)
TEXT = """\
---
# a task
id: k7f2
title: "Fix it"   # short

status: working
labels:   # several
  - a  # first
  - 'b'
mine: |
  kept

  as it is
---
# Fix it

It breaks.

## Context

See `x`.

---

## Questions

### 2026-11-22T10:02:03Z · agent · claude

Which?

## Review

**FAIL**: no tests

## Notes
<!-- nothing yet -->
"""


def parse(text: str = TEXT) -> TaskFile:
    return TaskFile.parse(text.encode(), "TASK.md")


def changed_lines(before: TaskFile, after: TaskFile) -> list[str]:
    lines = difflib.unified_diff(
        before.data.decode().split("\n"), after.data.decode().split("\n"), n=0, lineterm=""
    )
    return [line for line in lines if line[:4] not in ("--- ", "+++ ") and line[:2] != "@@"]


def test_everything_is_read() -> None:
    file = parse()
    assert file.data == TEXT.encode()
    assert (file.task.id, file.task.title, file.task.labels) == ("k7f2", "Fix it", ("a", "b"))
    assert file.summary == "# Fix it\n\nIt breaks."
    assert file.section(Section.CONTEXT) == "See `x`.\n\n---"
    assert file.section(Section.NOTES) is None
    assert file.section("no such") is None
    assert file.review_outcome is ReviewOutcome.FAIL
    assert [entry.text for entry in file.entries(Section.QUESTIONS)] == ["Which?"]
    assert file.warnings == ()
    assert file.scripts.worker == ()
    assert not file.is_manual
    assert read_task(file.data, "f") == file.task


def test_a_file_without_a_review_has_no_outcome() -> None:
    assert parse("---\nid: a\ntitle: T\n---\n").review_outcome is ReviewOutcome.MISSING
    assert (
        parse("---\nid: a\ntitle: T\n---\n## Review\n<!-- PASS -->\n").review_outcome is ReviewOutcome.MISSING
    )


def test_fields_are_spliced() -> None:
    file = parse()
    task = replace(
        file.task,
        status=Status.STUCK,
        labels=("b", "c"),
        awaiting=Awaiting.ESCALATION,
        usage=Usage(iterations=1, cost=0.5),
    )
    assert changed_lines(file, file.with_task(task)) == [
        "-status: working",
        "+status: stuck",
        "-  - a  # first",
        "+  - c",
        "+awaiting: escalation",
        "+usage: {iterations: 1, cost: 0.5}",
    ]
    assert file.with_task(file.task) is file
    assert file.with_task(task).with_task(task).data == file.with_task(task).data


def test_sections_entries_and_fields_go_together() -> None:
    file = parse()
    answer = Entry(AT, ActorKind.HUMAN, "Ada", "## The first\n")
    after = (
        file.with_section(Section.HANDOFF, "## DONE".replace("## ", "### "))
        .without_section(Section.REVIEW)
        .with_entry(Section.QUESTIONS, answer)
        .with_task(replace(file.task, status=Status.AGENT_REVIEW))
    )
    assert changed_lines(file, after) == [
        "-status: working",
        "+status: agent-review",
        "-## Review",
        "+### 2026-11-22T10:02:03Z · human · Ada",
        "-**FAIL**: no tests",
        "+\\## The first",
        "+",
        "+## Handoff",
        "+",
        "+### DONE",
    ]
    assert TaskFile.parse(after.data, "TASK.md") == after
    assert after.entries(Section.QUESTIONS)[-1].text == "## The first"


def test_all_that_is_taken_away_can_be_kept() -> None:
    file = parse(
        "---\nid: a\ntitle: T\n---\n## Handoff\none\n## B\n\n## handoff\n<!-- -->\n## Handoff\ntwo\n"
    )
    assert file.section(Section.HANDOFF) == "two"
    assert file.all_text(Section.HANDOFF) == "one\n\ntwo"
    assert file.without_section(Section.HANDOFF).body.text == "## B\n\n"
    assert file.all_text("B") is None


def test_lines_in_warnings_follow_the_frontmatter() -> None:
    file = parse("---\nid: a\ntitle: T\n---\n## A\n## A\n")
    assert file.warnings == ("TASK.md: `## A` is on lines 5 and 6: only the last one counts",)
    longer = file.with_task(replace(file.task, agent="claude", model="opus"))
    assert longer.warnings == ("TASK.md: `## A` is on lines 8 and 9: only the last one counts",)


def test_a_file_that_ends_with_its_fence() -> None:
    file = parse("---\r\nid: a\r\ntitle: T\r\n---").with_section(Section.HANDOFF, "done\nall")
    assert file.data == b"---\r\nid: a\r\ntitle: T\r\n---\r\n\r\n## Handoff\r\n\r\ndone\r\nall\r\n"
    assert TaskFile.parse(file.data, "TASK.md") == file


def test_the_body_can_be_replaced() -> None:
    file = parse().with_body("\nnew\n")
    assert file.data.decode().endswith("---\n\nnew\n")
    assert file.summary == "new"
    assert TaskFile.parse(file.data, "TASK.md") == file


def test_an_answer_without_a_heading_becomes_an_entry() -> None:
    before = parse()
    edited = parse(TEXT.replace("Which?\n", "Which?\n\nThe first one.\n"))
    loose = edited.loose_text(Section.QUESTIONS, before)
    assert loose is not None
    answer = Entry(AT, ActorKind.HUMAN, "Ada", loose.text)
    after = edited.with_section(Section.QUESTIONS, loose.rest).with_entry(Section.QUESTIONS, answer)
    assert after.data == before.with_entry(Section.QUESTIONS, answer).data


def test_a_new_file_has_what_is_not_default_and_its_body() -> None:
    file = new_task_file(
        Task(TaskId("k7f2"), "no: way\x07", labels=("no",)), "\nText\r\n\n## Context\n\nx\n\n"
    )
    assert file.data == (
        b'---\nid: k7f2\ntitle: "no: way\\u0007"\nstatus: pending\nlabels: ["no"]\n---\n\nText\n\n## Context\n\nx\n'
    )
    assert file.path == ".gitticks/tasks/f2/k7f2/TASK.md"


@pytest.mark.parametrize(
    "make",
    [
        lambda: new_task_file(Task(TaskId("a"), "T"), "x\ud800"),
        lambda: new_task_file(Task(TaskId("a"), "T\0")),
        lambda: new_task_file(Task(TaskId("a"), "")),
        lambda: new_task_file(Task(TaskId("../a"), "T")),
        lambda: new_task_file(Task(TaskId("a"), "T"), "x" * 1_000_001),
        lambda: parse().with_section(Section.HANDOFF, "x" * 1_000_000),
        lambda: parse().with_section(Section.HANDOFF, "x\n" * 20_000),
        lambda: parse().with_entry(Section.NOTES, Entry(AT, ActorKind.HUMAN, "Ada", "é" * 500_000)),
        lambda: parse().with_task(replace(parse().task, end_sha="-x")),
        lambda: parse().with_task(replace(parse().task, title="x" * 64_000)),
        lambda: parse().with_task(replace(parse().task, labels=("",))),
    ],
)
def test_what_could_not_be_read_back_is_never_made(make: Callable[[], TaskFile]) -> None:
    with pytest.raises(GitticksError):
        make()


def test_a_time_with_fractions_is_cut_to_what_the_file_holds() -> None:
    file = parse()
    task = replace(file.task, updated=AT.replace(microsecond=5), approval=Approval("Ada", AT, None))
    assert file.with_task(task).task.updated == AT
