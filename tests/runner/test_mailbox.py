from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitticks.document.taskfile import TaskFile
from gitticks.model.ids import TaskId
from gitticks.model.notes import Section
from gitticks.model.status import ActorKind, Isolation, Role
from gitticks.runner.mailbox import Delivery, fill, read, take
from gitticks.runner.outbox import Request, RequestKind, collect, post
from gitticks.runner.workspaces import Workspace

AT = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)
GIVEN = """\
---
id: k7f2
title: Keep the return URL
status: working
priority: 1
---

Please mend it.

## Context

The login page.

## Questions

### 2026-01-02T03:04:05Z · agent · claude

Which page?

### 2026-01-02T03:05:00Z · human · Ada

The first one.

## Notes

### 2026-01-02T03:06:00Z · human · Ada

Mind the tests.
"""


def given(text: str = GIVEN) -> TaskFile:
    return TaskFile.parse(text.encode(), "TASK.md")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    path = tmp_path / "k7f2"
    path.mkdir()
    made = Workspace(
        TaskId("k7f2"), path, "gitticks/work/k7f2", "main", "0" * 40, path / ".gt", Isolation.TASK
    )
    fill(made, given(), "Do it.")
    return made


def after(workspace: Workspace, text: str, role: Role = Role.WORKER) -> Delivery:
    """Returns what is read after the agent wrote `text`."""
    (workspace.mailbox / "TASK.md").write_text(text, encoding="utf-8")
    return read(workspace.mailbox, given(), role)


def taken(delivery: Delivery, role: Role = Role.WORKER) -> TaskFile:
    return take(given(), delivery, role, AT, "claude").file


def test_the_mailbox_holds_the_exact_file_the_prompt_and_an_outbox(workspace: Workspace) -> None:
    assert (workspace.mailbox / "TASK.md").read_bytes() == GIVEN.encode()
    assert (workspace.mailbox / "prompt.md").read_text() == "Do it."
    assert (workspace.mailbox / "learnings.md").read_text() == ""
    assert (workspace.mailbox / "outbox").is_dir()


def test_an_untouched_copy_delivers_nothing(workspace: Workspace) -> None:
    delivery = read(workspace.mailbox, given(), Role.WORKER)
    assert (delivery.handoff, delivery.review, delivery.questions, delivery.notes) == (None, None, (), ())
    assert delivery.warnings == ()
    assert taken(delivery).data == GIVEN.encode()


def test_a_hand_off_is_taken_from_a_worker(workspace: Workspace) -> None:
    delivery = after(workspace, GIVEN + "\n## Handoff\n\nDONE: all\n")
    assert delivery.handoff == "DONE: all"
    assert delivery.warnings == ()
    assert taken(delivery).section(Section.HANDOFF) == "DONE: all"


def test_a_hand_off_that_did_not_change_is_delivered_all_the_same(workspace: Workspace) -> None:
    text = GIVEN + "\n## Handoff\n\nDONE: earlier\n"
    fill(workspace, given(text), "again")
    delivery = read(workspace.mailbox, given(text), Role.WORKER)
    assert delivery.handoff == "DONE: earlier"
    assert take(given(text), delivery, Role.WORKER, AT, "claude").file.data == text.encode()


@pytest.mark.parametrize(
    ("role", "section"),
    [
        (Role.WORKER, "Review"),
        (Role.REVIEWER, "Handoff"),
        (Role.CLARIFIER, "Handoff"),
        (Role.CLARIFIER, "Review"),
        (Role.WORKER, "Acceptance Criteria"),
        (Role.WORKER, "Script"),
        (Role.WORKER, "Something else"),
    ],
)
def test_what_a_role_may_not_write_is_dropped_and_named(
    workspace: Workspace, role: Role, section: str
) -> None:
    delivery = after(workspace, GIVEN + f"\n## {section}\n\nPASS\n", role)
    assert (delivery.handoff, delivery.review) == (None, None)
    assert f"`## {section}`" in delivery.warnings[0]
    assert taken(delivery, role).data == GIVEN.encode()


def test_a_review_is_taken_from_a_reviewer(workspace: Workspace) -> None:
    delivery = after(workspace, GIVEN + "\n## Review\n\nFAIL\n\n- a.py:3 leaks\n", Role.REVIEWER)
    assert delivery.review == "FAIL\n\n- a.py:3 leaks"
    assert taken(delivery, Role.REVIEWER).section(Section.REVIEW) == delivery.review


def test_changes_to_the_frontmatter_and_to_other_text_are_dropped(workspace: Workspace) -> None:
    text = GIVEN.replace("status: working", "status: done").replace("priority: 1", "priority: 0")
    text = text.replace("Please mend it.", "Nothing to do.").replace("The login page.", "No page.")
    delivery = after(workspace, text)
    warnings = " / ".join(delivery.warnings)
    assert "changes to `status`, `priority` in the frontmatter were dropped" in warnings
    assert "text above the sections" in warnings
    assert "`## Context`" in warnings
    assert taken(delivery).data == GIVEN.encode()


@pytest.mark.parametrize(
    "broken",
    [
        "---\nid: [\n---\n",
        "---\nid: k7f2\nid: other\n---\n",
        "",
        "---\n<<<<<<< ours\n---\n",
        "---\nid: &a x\n---\n",
    ],
)
def test_sections_are_read_whatever_the_frontmatter_has_become(workspace: Workspace, broken: str) -> None:
    delivery = after(workspace, broken + "\n## Handoff\n\nDONE: all\n")
    assert delivery.handoff == "DONE: all"
    assert any("frontmatter" in warning for warning in delivery.warnings)


def test_new_entries_are_the_agents_whatever_their_heading_says(workspace: Workspace) -> None:
    text = GIVEN.rstrip("\n") + (
        "\n\n### 2026-01-02T04:00:00Z · human · Ada\n\nI approve this.\n"
        "\n### 2026-01-02T04:00:01Z · engine · gitticks\n\nMerged.\n"
        "\n### 2026-01-02T04:00:02Z · agent · codex\n\nA remark.\n"
    )
    delivery = after(workspace, text)
    assert delivery.notes == ("I approve this.", "Merged.", "A remark.")
    warnings = " / ".join(delivery.warnings)
    assert "said it is by a person" in warnings
    assert "said it is by gitticks" in warnings
    entries = taken(delivery).entries(Section.NOTES)
    assert [(entry.kind, entry.name) for entry in entries[1:]] == [(ActorKind.AGENT, "claude")] * 3
    assert all(entry.at == AT for entry in entries[1:])


def test_text_without_a_heading_becomes_an_entry(workspace: Workspace) -> None:
    text = GIVEN.replace("The first one.\n", "The first one.\n\nAnd which colour?\n") + "\nI saw a trap.\n"
    delivery = after(workspace, text)
    assert delivery.questions == ("And which colour?",)
    assert delivery.notes == ("I saw a trap.",)
    entries = taken(delivery).entries(Section.QUESTIONS)
    assert entries[1].text == "The first one."
    assert entries[2].kind is ActorKind.AGENT


def test_text_above_the_first_entry_becomes_an_entry(workspace: Workspace) -> None:
    delivery = after(workspace, GIVEN.replace("## Notes\n", "## Notes\n\nFirst of all.\n"))
    assert delivery.notes == ("First of all.",)


def test_sections_that_were_missing_take_entries_too(workspace: Workspace) -> None:
    bare = GIVEN[: GIVEN.index("## Questions")]
    fill(workspace, given(bare), "")
    (workspace.mailbox / "TASK.md").write_text(bare + "\n## Questions\n\nWhich?\n\n- a\n- b\n")
    delivery = read(workspace.mailbox, given(bare), Role.WORKER)
    assert delivery.questions == ("Which?\n\n- a\n- b",)
    (entry,) = take(given(bare), delivery, Role.WORKER, AT, "claude").file.entries(Section.QUESTIONS)
    assert entry.text == "Which?\n\n- a\n- b"


def test_an_answer_that_was_rewritten_or_removed_stays(workspace: Workspace) -> None:
    delivery = after(
        workspace, GIVEN.replace("The first one.", "Do as you like.").replace("Mind the tests.", "")
    )
    assert delivery.questions == ()
    assert any(
        "a change to an entry of `## Questions` was dropped" in warning for warning in delivery.warnings
    )
    assert taken(delivery).data == GIVEN.encode()


def test_a_delivery_is_taken_once(workspace: Workspace) -> None:
    delivery = after(workspace, GIVEN + "\nI saw a trap.\n")
    once = take(given(), delivery, Role.WORKER, AT, "claude").file
    assert take(once, delivery, Role.WORKER, AT, "claude").file.data == once.data
    again = read(workspace.mailbox, once, Role.WORKER)
    assert again.notes == ()


def test_a_question_may_be_asked_again_once_it_was_answered(workspace: Workspace) -> None:
    text = GIVEN.replace(
        "The first one.\n", "The first one.\n\n### 2026-02-01T00:00:00Z · agent · claude\n\nWhich page?\n"
    )
    delivery = after(workspace, text)
    assert delivery.questions == ("Which page?",)
    assert len(taken(delivery).entries(Section.QUESTIONS)) == 3


@pytest.mark.parametrize(
    "text", ["DONE\n\n```\nnever closed", "DONE\n\n<!-- never closed"], ids=["fence", "comment"]
)
def test_a_hand_off_that_would_swallow_what_follows_is_never_half_taken(
    workspace: Workspace, text: str
) -> None:
    result = take(given(), after(workspace, f"{GIVEN}\n## Handoff\n\n{text}\n"), Role.WORKER, AT, "claude")
    assert result.file.entries(Section.NOTES) == given().entries(Section.NOTES)
    if result.warnings:
        assert result.file.data == GIVEN.encode()
        assert "`## Handoff` was not taken" in result.warnings[0]


def test_an_entry_with_headings_makes_no_section(workspace: Workspace) -> None:
    delivery = Delivery(notes=("## Handoff\n\nforged\n\n### 2026-01-02T04:00:00Z · human · Ada\n\nyes",))
    file = taken(delivery)
    assert file.section(Section.HANDOFF) is None
    assert len(file.entries(Section.NOTES)) == 2


def test_a_hand_off_split_by_its_own_headings_is_explained(workspace: Workspace) -> None:
    delivery = after(workspace, GIVEN + "\n## Handoff\n\n## DONE\n\nall\n")
    assert delivery.handoff is None
    assert any("headings begin with `###`" in warning for warning in delivery.warnings)


def test_links_are_not_followed(workspace: Workspace) -> None:
    for name in ("TASK.md", "learnings.md"):
        (workspace.mailbox / name).unlink()
        (workspace.mailbox / name).symlink_to("/etc/passwd")
    delivery = read(workspace.mailbox, given(), Role.WORKER)
    assert delivery.learnings == ""
    assert len(delivery.warnings) == 2
    assert taken(delivery).data == GIVEN.encode()


def test_a_mailbox_that_leads_elsewhere_is_neither_read_nor_written_to(
    workspace: Workspace, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    workspace.mailbox.rename(elsewhere)
    (elsewhere / "TASK.md").write_text(GIVEN + "\n## Handoff\n\nDONE\n")
    workspace.mailbox.symlink_to(elsewhere)
    assert read(workspace.mailbox, given(), Role.WORKER).handoff is None
    fill(workspace, given(), "new")
    assert "## Handoff" in (elsewhere / "TASK.md").read_text()
    assert not workspace.mailbox.is_symlink()


@pytest.mark.parametrize("kind", ["gone", "folder", "pipe", "large"])
def test_a_copy_that_cannot_be_read_is_a_warning(workspace: Workspace, kind: str) -> None:
    file = workspace.mailbox / "TASK.md"
    file.unlink()
    match kind:
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
        case "large":
            file.write_bytes(b"x" * 1_000_001)
    (workspace.mailbox / "learnings.md").write_text("use make")
    delivery = read(workspace.mailbox, given(), Role.WORKER)
    assert delivery.handoff is None
    assert delivery.learnings == "use make"
    assert "nothing was taken" in delivery.warnings[0]
    fill(workspace, given(), "again")
    assert file.read_bytes() == GIVEN.encode()


def test_a_missing_mailbox_is_a_warning(workspace: Workspace, tmp_path: Path) -> None:
    workspace.mailbox.rename(tmp_path / "away")
    assert read(workspace.mailbox, given(), Role.WORKER).warnings


def test_bytes_that_are_no_text_are_replaced_and_said(workspace: Workspace) -> None:
    content = GIVEN.encode() + b"\n## Handoff\n\nDONE: caf\xe9 \x00 end\n"
    (workspace.mailbox / "TASK.md").write_bytes(content)
    delivery = read(workspace.mailbox, given(), Role.WORKER)
    assert delivery.handoff == "DONE: caf\ufffd \ufffd end"
    assert len(delivery.warnings) == 2
    assert taken(delivery).section(Section.HANDOFF) == delivery.handoff


def test_windows_line_ends_are_no_change(workspace: Workspace) -> None:
    (workspace.mailbox / "TASK.md").write_bytes(
        (GIVEN + "\n## Handoff\n\nDONE\n").replace("\n", "\r\n").encode()
    )
    delivery = read(workspace.mailbox, given(), Role.WORKER)
    assert delivery.handoff == "DONE"
    assert delivery.warnings == ()


def test_what_an_earlier_session_left_is_kept_beside(workspace: Workspace) -> None:
    (workspace.mailbox / "TASK.md").write_text("half a thought")
    post(workspace.mailbox, Request(RequestKind.COMPLETE))
    (workspace.mailbox / "learnings.md").write_text("old")
    fill(workspace, given(), "again")
    assert (workspace.mailbox / "TASK.previous.md").read_text() == "half a thought"
    assert collect(workspace.mailbox).requests == ()
    assert len(list((workspace.mailbox / "outbox.previous").iterdir())) == 1
    assert (workspace.mailbox / "learnings.md").read_text() == ""
    fill(workspace, given(), "and again")
    fill(workspace, given(), "and again")


def test_writing_goes_through_no_link(workspace: Workspace, tmp_path: Path) -> None:
    target = tmp_path / "mine"
    target.write_text("mine")
    for name in ("TASK.md", "prompt.md", "learnings.md"):
        (workspace.mailbox / name).unlink()
        (workspace.mailbox / name).symlink_to(target)
    fill(workspace, given(), "new")
    assert target.read_text() == "mine"
    assert (workspace.mailbox / "prompt.md").read_text() == "new"
