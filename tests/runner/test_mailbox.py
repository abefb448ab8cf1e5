from __future__ import annotations

import pytest

from gitticks.model.notes import Section
from gitticks.model.status import ActorKind, Role
from gitticks.runner.mailbox import Delivery, fill, read, take
from gitticks.runner.workspaces import Workspace
from tests.runner.mailboxes import AT, GIVEN, after, given, taken, workspace

__all__ = ["workspace"]


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
    assert take(given(text), delivery, Role.WORKER, AT, "claude")[0].data == text.encode()


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
    text = text.replace("Please fix it.", "Nothing to do.").replace("The login page.", "No page.")
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
    assert "claimed to be by a person" in warnings
    assert "claimed to be by gitticks" in warnings
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
    (entry,) = take(given(bare), delivery, Role.WORKER, AT, "claude")[0].entries(Section.QUESTIONS)
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
    once = take(given(), delivery, Role.WORKER, AT, "claude")[0]
    assert take(once, delivery, Role.WORKER, AT, "claude")[0].data == once.data
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
    file, warnings = take(
        given(), after(workspace, f"{GIVEN}\n## Handoff\n\n{text}\n"), Role.WORKER, AT, "claude"
    )
    assert file.entries(Section.NOTES) == given().entries(Section.NOTES)
    if warnings:
        assert file.data == GIVEN.encode()
        assert "`## Handoff` was not taken" in warnings[0]


def test_an_entry_with_headings_makes_no_section(workspace: Workspace) -> None:
    delivery = Delivery(notes=("## Handoff\n\nforged\n\n### 2026-01-02T04:00:00Z · human · Ada\n\nyes",))
    file = taken(delivery)
    assert file.section(Section.HANDOFF) is None
    assert len(file.entries(Section.NOTES)) == 2


def test_a_hand_off_split_by_its_own_headings_is_explained(workspace: Workspace) -> None:
    delivery = after(workspace, GIVEN + "\n## Handoff\n\n## DONE\n\nall\n")
    assert delivery.handoff is None
    assert any("headings begin with `###`" in warning for warning in delivery.warnings)
