"""Drafts of editors, and what becomes of those whose command was killed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.drafts import Draft, make_draft
from gitticks.world import World
from tests.support.projects import make_project


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    monkeypatch.chdir(make_project(tmp_path).path)
    return Context(World())


def kill(draft: Draft) -> None:
    """Lets go of a draft as a killed process does."""
    os.close(draft.lock)


def test_a_draft_is_a_copy_that_goes_with_its_folder(context: Context) -> None:
    draft = make_draft(context, b"old\n", "TASK.md", line=3)
    assert (draft.path.read_bytes(), draft.is_changed, draft.line) == (b"old\n", False, 3)
    draft.path.write_bytes(b"new\n")
    assert draft.is_changed
    draft.drop()
    assert not draft.path.parent.exists()


@pytest.mark.parametrize("left", [b"old\n", b"", None])
def test_a_dead_commands_draft_without_anything_new_goes_with_the_next(
    context: Context, left: bytes | None
) -> None:
    draft = make_draft(context, b"old\n", "TASK.md")
    draft.path.unlink() if left is None else draft.path.write_bytes(left)
    kill(draft)
    make_draft(context, b"other\n", "TASK.md").drop()
    assert not draft.path.parent.exists()


def test_what_a_person_wrote_outlives_its_command(context: Context) -> None:
    draft = make_draft(context, b"old\n", "TASK.md")
    draft.path.write_bytes(b"new\n")
    kill(draft)
    make_draft(context, b"other\n", "TASK.md").drop()
    assert draft.path.read_bytes() == b"new\n"


def test_a_draft_in_use_is_left_alone(context: Context) -> None:
    draft = make_draft(context, b"old\n", "TASK.md")
    make_draft(context, b"other\n", "TASK.md").drop()
    assert draft.path.exists()
    draft.drop()


def test_an_editor_that_outlives_its_command_keeps_the_draft(context: Context) -> None:
    draft = make_draft(context, b"old\n", "TASK.md")
    with subprocess.Popen(["sleep", "600"], pass_fds=[draft.lock]) as editor:
        kill(draft)
        make_draft(context, b"other\n", "TASK.md").drop()
        assert draft.path.exists()
        editor.kill()
    make_draft(context, b"other\n", "TASK.md").drop()
    assert not draft.path.parent.exists()
