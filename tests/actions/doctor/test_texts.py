"""A section that stands twice is named: only the last one counts, and what is in the first reaches nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.model.status import Status
from tests.support.projects import make_project

NOTE = "### 2026-01-02T03:00:00Z · human · Ada\n\nMind the step.\n"


@pytest.mark.parametrize(
    ("heading", "body"),
    [
        ("## Notes", f"## Notes\n\n{NOTE}\n## Context\n\nText.\n\n## Notes\n\n{NOTE}"),
        ("## notes", f"Notes\n-----\n\n{NOTE}\n##  notes ##\n"),
        ("## Acceptance Criteria", "## Acceptance  criteria\n\na\n\n## Acceptance Criteria\n\nb\n"),
    ],
)
def test_the_lines_of_both_are_named(tmp_path: Path, heading: str, body: str) -> None:
    project = make_project(tmp_path)
    project.make("k7f2", body=body)
    lines = project.board_file("k7f2").read_text().splitlines()
    found = [
        number
        for number, line in enumerate(lines, 1)
        if line.strip(" #").lower().split() == heading.strip(" #").lower().split()
    ]
    told = f"`{heading}` is on lines {found[0]} and {found[1]}: only the last one counts\n"
    ran = project.gt("doctor")
    assert f"warning  .gitticks/tasks/f2/k7f2/TASK.md: {told}" in ran.out
    assert "`gt edit k7f2` opens it" in ran.out


@pytest.mark.parametrize(
    "body",
    [
        "## Notes\n\n```\n## Notes\n```\n",
        "## Notes\n\n## Context\n\nnotes\n",
        "## Mine\n\n## Mine\n",
        "No heading.\n",
    ],
)
def test_what_is_no_heading_or_no_section_of_gitticks_is_none(tmp_path: Path, body: str) -> None:
    project = make_project(tmp_path)
    project.make("k7f2", body=body)
    project.make("m3xq", body="## Notes\n\n## Notes\n", status=Status.CANCELLED)
    assert "the last one counts" not in project.gt("doctor").out
