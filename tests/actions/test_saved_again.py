"""What a person saves once more, and what another editor saves that was open meanwhile, are told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.model.status import Awaiting
from tests.support.projects import Project, make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    project.make("k7f2", awaiting=Awaiting.WORK, body="Text.\n\n## Context\n\nold\n")
    return project


@pytest.mark.parametrize(
    ("first", "then", "gone"),
    [
        ("labels: [bug]", "labels: [bugs]", "bug,"),
        ("reviewer: Ada", "agent: claude", "reviewer"),
        ("blocked_by: [m3xq]", "labels: [bug]", "m3xq"),
    ],
)
def test_a_line_that_was_saved_and_is_saved_otherwise_stays_as_it_is_then(
    project: Project, first: str, then: str, gone: str
) -> None:
    project.make("m3xq")
    project.save("k7f2", "awaiting: work", f"awaiting: work\n{first}")
    project.ok("status")
    project.save("k7f2", first, then)
    project.ok("status")
    text = project.file("k7f2").data.decode()
    assert f"\n{then}\n" in text
    assert gone not in text
    assert project.board_file("k7f2").read_text() == text


def test_what_another_editor_saved_stays_when_an_old_buffer_is_saved(project: Project) -> None:
    buffer = project.board_file("k7f2").read_text()
    project.save("k7f2", "awaiting: work", "awaiting: work\nlabels: [bug]")
    project.ok("status")
    project.board_file("k7f2").write_text(buffer.replace("old", "new"))
    project.ok("status")
    assert project.task("k7f2").labels == ("bug",)
    assert project.file("k7f2").section("Context") == "new"
