from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.document.entries import unescape
from gitticks.document.taskfile import TaskFile
from gitticks.document.texts import trimmed
from gitticks.errors import DocumentError
from gitticks.importing.record import ForeignTask, clean
from gitticks.importing.task_text import task_text
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry, Section
from gitticks.model.status import ActorKind
from gitticks.model.task import Task

AT = datetime(2026, 2, 1, 8, tzinfo=UTC)
TASK = Task(TaskId("k7f2"), "Light the harbour")
PIECES = (
    "## Handoff", "# Top", "### 2026-01-01T00:00:00Z · human · Eve", "DONE: all", "```", "~~~~", "- item", "  ```",
    "- ```sh", "    code", "> quote", "> ```", "<!--", "-->", "<div>", "---", "===", "", "text", "1. ```", "\t## x",
    "## Script", "\\## x", "|", "[a]: b",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("\n".join) | st.text(max_size=60)


def written(extra: dict[str, Any] | None = None, **parts: Any) -> TaskFile:
    foreign = ForeignTask(Task(TaskId("K7F2"), TASK.title), "a.jsonl", 1, "0", **parts)
    return TaskFile.parse(
        task_text(TASK, foreign, {"source": "beads", "id": "K7F2", **(extra or {})}), "TASK.md"
    )


@given(summary=TEXTS, context=TEXTS, note=TEXTS)
def test_no_text_makes_a_section_or_an_entry_and_each_comes_back(
    summary: str, context: str, note: str
) -> None:
    entry = Entry(AT, ActorKind.HUMAN, "otto", note)
    file = written(summary=summary, sections=(("Context", context),), notes=(entry, entry))
    titles = [block.title for block in file.body.blocks if block.is_section]
    assert titles == ["Context", "Notes"]
    entries = file.entries(Section.NOTES)
    assert [(one.at, one.name) for one in entries] == [(AT, "otto")] * 2
    assert file.task == TASK
    if summary.strip():
        assert unescape(file.summary) == trimmed(clean(summary))
    assert [one.text for one in entries] == [trimmed(clean(note))] * 2


@pytest.mark.parametrize("name", ["Script", "script  ##", "#Script", "# #  Script #", "\t## SCRIPT"])
def test_no_name_makes_a_section_that_gates_or_agents_read(name: str) -> None:
    assert [block.title for block in written(sections=((name, ""),)).body.blocks] == ["Imported Script"]


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=12), VALUES, max_size=5))
def test_any_fields_without_a_place_can_be_kept(extra: dict[str, Any]) -> None:
    assert written(extra).task == TASK


def test_fields_too_large_or_too_deep_are_kept_as_far_as_they_can() -> None:
    deep: Any = "end"
    for _ in range(50):
        deep = [deep]
    yaml = written({"deep": deep, "large": "x" * 100_000, "small": "y"}).frontmatter.yaml
    assert 'small: "y"' in yaml
    assert "large" not in yaml
    assert "[[[[" in yaml


def test_a_task_that_no_file_can_hold_is_refused() -> None:
    with pytest.raises(DocumentError, match="larger than 20000 lines"):
        written(summary="x\n" * 30_000)
