"""A person's saved edit meets a change of ours: joined wherever they did not write the same."""

from __future__ import annotations

import pytest

from gitticks.document.taskfile import TaskFile
from gitticks.model.status import Status, Verdict
from gitticks.store.merging.checkout import merge_saved, merge_waiting
from tests.support.versions import PATH, make_base, parse

BASE = make_base()
NOTE = "\n### 2026-01-02T0{}:00:00Z · human · {}\n\nSaid by {}.\n"


def noted(data: bytes, hour: int, name: str) -> bytes:
    return data + NOTE.format(hour, name, name).encode()


def test_neighbouring_lines_are_joined() -> None:
    saved = BASE.replace(b"priority: 1", b"priority: 0")
    ours = BASE.replace(b"[one, two]", b"[one]").replace(b"status: working", b"status: agent-review")
    merged = merge_saved(PATH, BASE, saved, ours)
    assert merged == ours.replace(b"priority: 1", b"priority: 0")


def test_notes_of_both_stand_in_the_order_of_their_times() -> None:
    merged = merge_saved(PATH, BASE, noted(BASE, 5, "Ada"), noted(BASE, 4, "claude"))
    assert merged == noted(noted(BASE, 4, "claude"), 5, "Ada")


LOOSE = b"\nPlease keep the old URLs.\n"


def test_text_below_the_last_note_stays_below_the_last_one() -> None:
    """Till it is recorded it is nobody's entry, and in another one it would be its author's."""
    ours = noted(BASE, 4, "claude")
    assert merge_saved(PATH, BASE, BASE + LOOSE, ours) == ours + LOOSE
    bare = BASE[: BASE.index(b"\n### ")]
    first = noted(bare, 4, "claude")
    assert merge_saved(PATH, bare, bare + LOOSE, first) == first + LOOSE
    none = bare.removesuffix(b"\n## Notes\n")
    assert merge_saved(PATH, none, bare + LOOSE, first) == first + LOOSE


def test_text_below_the_last_note_stays_where_only_a_person_wrote_in_the_section() -> None:
    fenced = LOOSE + b"\n\n```\nnever closed\n"
    saved = BASE.replace(b"priority: 1", b"priority: 0") + fenced
    ours = BASE.replace(b"[one, two]", b"[one]")
    assert merge_saved(PATH, BASE, saved, ours) == saved.replace(b"[one, two]", b"[one]")


ASKED = BASE + b"\n## Questions\n\n### 2026-01-02T03:30:00Z \xc2\xb7 agent \xc2\xb7 claude\n\nWhich colour?\n"


def test_an_answer_stays_below_the_question_that_it_was_given_to() -> None:
    answered = noted(ASKED, 4, "Bob")
    assert merge_saved(PATH, ASKED, ASKED + LOOSE, answered) == answered + LOOSE
    asked_more = noted(ASKED, 4, "claude").replace(b"human \xc2\xb7 claude", b"agent \xc2\xb7 claude")
    assert merge_saved(PATH, ASKED, ASKED + LOOSE, asked_more) is None


@pytest.mark.parametrize("section", ["Handoff", "Review"])
def test_an_edit_of_an_artifact_brings_it_not_back_once_its_round_is_over(section: str) -> None:
    written = BASE.replace(b"## Notes", f"## {section}\n\nAll is doen.\n\n## Notes".encode())
    edited = written.replace(b"doen", b"done")
    assert merge_saved(PATH, written, edited, BASE) is None
    other = written.replace(b"priority: 1", b"priority: 0")
    assert merge_saved(PATH, written, other, noted(BASE, 4, "claude")) == noted(
        BASE.replace(b"priority: 1", b"priority: 0"), 4, "claude"
    )
    assert merge_saved(PATH, BASE, written, noted(BASE, 4, "claude")) == noted(written, 4, "claude")


def test_an_edit_of_a_review_is_none_of_the_next_one() -> None:
    """Joined by lines, what was typed into the first review would turn the second one's FAIL into a PASS."""
    first, edited, second = (
        BASE.replace(b"## Notes", f"## Review\n\n{verdict}\n\n{reasons}\n\n## Notes".encode())
        for verdict, reasons in (("FAIL", "Old."), ("PASS", "Old."), ("FAIL", "New."))
    )
    assert merge_saved(PATH, first, edited, second) is None
    assert merge_saved(PATH, first, edited, edited) == edited


def test_a_wish_for_a_status_stays_a_wish() -> None:
    saved = BASE.replace(b"status: working", b"status: cancelled")
    ours = BASE.replace(b"labels: [one, two]", b"labels: [one, two]\nreview_round: 3")
    merged = merge_saved(PATH, BASE, saved, ours)
    assert merged is not None
    task = parse(merged).task
    assert (task.status, task.review_round) == (Status.CANCELLED, 3)


@pytest.mark.parametrize(
    ("saved", "ours"),
    [
        (b"status: cancelled", b"status: agent-review"),
        (b"status: working\nreviewer: Ada", b"status: working\nreviewer: Bob"),
    ],
)
def test_the_same_field_written_by_both_is_left_to_the_person(saved: bytes, ours: bytes) -> None:
    sides = [BASE.replace(b"status: working", one) for one in (saved, ours)]
    assert merge_saved(PATH, BASE, *sides) is None


def test_an_old_buffer_is_no_edit_of_what_it_was_not_made_of() -> None:
    newer = BASE.replace(b"updated: 2026-01-02", b"updated: 2026-01-03").replace(b"working", b"agent-review")
    newest = newer.replace(b"updated: 2026-01-03", b"updated: 2026-01-04")
    stale = noted(BASE, 5, "Ada")
    assert merge_saved(PATH, newer, stale, newest) is None
    assert merge_saved(PATH, BASE, stale, newest) == noted(newest, 5, "Ada")


def test_the_same_lines_of_text_are_left_to_the_person() -> None:
    sides = [BASE.replace(b"The second line.", one) for one in (b"Ada's.", b"Ours.")]
    assert merge_saved(PATH, BASE, *sides) is None


def test_a_file_that_cannot_be_read_is_joined_by_lines_or_left() -> None:
    broken = BASE.replace(b"status: working", b"status: [")
    assert merge_saved(PATH, BASE, broken, BASE + b"\nmore\n") == broken + b"\nmore\n"
    assert merge_saved(PATH, BASE, broken, BASE.replace(b"status: working", b"status: done")) is None


def test_other_files_are_joined_by_lines() -> None:
    assert merge_saved("config.yaml", b"a\nb\nc\n", b"A\nb\nc\n", b"a\nb\nC\n") == b"A\nb\nC\n"
    assert merge_saved("config.yaml", b"a\n", b"b\n", b"c\n") is None


def test_a_setting_that_both_added_in_different_places_is_there_once() -> None:
    base = b"# Ours.\nbase: main\nprompt: x\n"
    one, other = (
        place.join((b"# Ours.\nbase: main\n", b"prompt: x\n")) for place in (b"", b"agent: claude\n")
    )
    top = b"agent: claude\n" + one
    merged = merge_saved("config.yaml", base, top, other)
    assert merged is not None
    assert merged.count(b"agent: claude") == 1
    assert merge_saved("config.yaml", base, top.replace(b"claude", b"codex"), other) is None


TEAM = """\
---
id: k7f2
title: Login  # the usual one
status: working
priority: 1
x-team: blue
---

Summary.

## Context

Context.
"""


def merged_with_team(mine: str, theirs: str) -> TaskFile | None:
    merged = merge_saved(PATH, TEAM.encode(), mine.encode(), theirs.encode())
    return None if merged is None else TaskFile.parse(merged, PATH)


def test_a_comment_behind_a_value_stays_where_only_the_value_changes() -> None:
    mine = TEAM.replace("status: working", "status: working  # waits for ops")
    merged = merge_saved(PATH, TEAM.encode(), mine.encode(), TEAM.replace("working", "stuck").encode())
    assert merged == mine.replace("working", "stuck").encode()


def test_a_comment_above_a_key_that_a_person_deleted_stays_deleted() -> None:
    base = TEAM.replace("priority: 1", "# ask Ada\npriority: 1")
    merged = merge_saved(
        PATH, base.encode(), TEAM.encode(), base.replace("priority: 1", "priority: 0").encode()
    )
    assert merged == TEAM.replace("priority: 1", "priority: 0").encode()


def test_neighbouring_lines_of_the_frontmatter_do_not_conflict() -> None:
    mine = TEAM.replace("title: Login ", "title: The login ")
    theirs = TEAM.replace("working", "clarification").replace("priority: 1", "priority: 0")
    merged = merged_with_team(mine, theirs)
    assert merged is not None
    assert (merged.task.title, merged.task.status, merged.task.priority) == (
        "The login",
        Status.CLARIFICATION,
        0,
    )
    assert "# the usual one" in merged.data.decode()


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (TEAM.replace("x-team: blue", "x-team: red"), TEAM.replace("priority: 1", "priority: 0")),
        (TEAM.replace("priority: 1", "priority: 0"), TEAM.replace("x-team: blue", "x-team: red")),
    ],
)
def test_unknown_keys_of_either_side_stay(mine: str, theirs: str) -> None:
    merged = merged_with_team(mine, theirs)
    assert merged is not None
    assert merged.data.decode() == TEAM.replace("blue", "red").replace("priority: 1", "priority: 0")


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (TEAM.replace("priority: 1", "priority: 0"), TEAM.replace("priority: 1", "priority: 3")),
        (TEAM.replace("blue", "red"), TEAM.replace("blue", "green")),
        (TEAM.replace("Summary", "Mine"), TEAM.replace("Summary", "Theirs")),
        (
            TEAM.replace("status: working", "status: stuck"),
            TEAM.replace("status: working", "status: cancelled"),
        ),
    ],
)
def test_the_same_changed_twice_is_a_conflict(mine: str, theirs: str) -> None:
    assert merged_with_team(mine, theirs) is None


def test_a_verdict_of_the_editors_is_kept_as_a_wish() -> None:
    mine = TEAM.replace("priority: 1", "verdict: approved\npriority: 1")
    merged = merged_with_team(mine, TEAM.replace("priority: 1", "priority: 0"))
    assert merged is not None
    assert (merged.task.verdict, merged.task.priority) == (Verdict.APPROVED, 0)


def test_what_a_waiting_merge_was_joined_with_before_is_not_there_twice() -> None:
    events = [f'{{"type":"note.added","at":"2026-01-02T0{hour}:00:00Z"}}\n'.encode() for hour in range(5)]
    base, theirs, first, second = events[0], events[1], events[2], events[3]
    path = PATH.replace("TASK.md", "history.jsonl")
    once = merge_waiting(path, base, base + theirs, base + first)
    assert once == b"".join(events[:3])
    assert merge_waiting(path, base, once, base + first + second) == b"".join(events[:4])


def test_settings_that_both_sides_set_are_left_to_a_person() -> None:
    assert merge_waiting("config.yaml", b"parallel: 1\n", b"parallel: 2\n", b"parallel: 3\n") is None
    both = merge_waiting("config.yaml", b"parallel: 1\n", b"parallel: 2\n", b"parallel: 1\niterations: 3\n")
    assert both == b"parallel: 2\niterations: 3\n"
