"""However deep a text is nested, what stands below it is seen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.document.sections import Body, find_headings, parse_blocks
from gitticks.document.taskfile import TaskFile
from gitticks.document.texts import Source
from gitticks.document.verdict_line import MOST_INLINE_CHARACTERS, review_outcome
from gitticks.model.notes import ReviewOutcome, Section

DEEP = (
    "- " * 30 + "x",
    "> " * 30 + "x",
    "1. " * 30 + "x",
    "> - " * 30 + "x",
    "- " * 50_000 + "x",
    "> " * 50_000 + "x",
    "\n".join("  " * depth + "- x" for depth in range(200)),
)


@pytest.mark.parametrize("deep", DEEP, ids=range(len(DEEP)))
def test_a_section_below_it_is_a_section(deep: str) -> None:
    body = Body(Source(f"{deep}\n\n## Handoff\n\nDONE: all\n\n```\ncode\n```\n\n## Review\n\nPASS\n", "f"))
    assert [block.title for block in body.blocks] == ["Handoff", "Review"]
    assert body.get("Review") == "PASS"
    if len(deep) < MOST_INLINE_CHARACTERS:
        assert review_outcome(f"{deep}\n\nFAIL\n") is ReviewOutcome.FAIL


@pytest.mark.parametrize("deep", DEEP[:4], ids=range(4))
def test_a_note_holds_it_and_the_next_one_may_hold_code(deep: str) -> None:
    file = TaskFile.parse(
        f"---\nid: a\ntitle: T\n---\n\n## Notes\n\n### 2026-03-04T05:00:00Z · agent · x\n\n{deep}\n".encode(),
        "f",
    )
    changed = file.with_section(Section.HANDOFF, "```\ncode\n```")
    assert changed.section(Section.HANDOFF) == "```\ncode\n```"
    assert [entry.text for entry in changed.entries(Section.NOTES)] == [deep]


@given(st.lists(st.sampled_from(["- ", "> ", "1. ", "  ", "* "]), max_size=40).map("".join))
def test_the_short_cut_sees_the_same(markers: str) -> None:
    text = f"{markers}x\n\n## Below\n"
    source = Source(text, "f")
    plain = find_headings(source)
    if plain is not None:
        found = [token for token in parse_blocks(source) if token.type == "heading_open"]
        assert len(plain) == len([token for token in found if token.level == 0])
