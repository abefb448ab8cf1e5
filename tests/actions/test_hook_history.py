"""What git says of a push, and what speaks against it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.hook_history import check_push, check_receive
from gitticks.store.layout import STATE_REF
from tests.support.projects import Project, make_project

NO_COMMIT = "0" * 40


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def receive(project: Project, text: bytes) -> list[str]:
    return [one.message for one in check_receive(Context(directory=project.path), text)]


def push(project: Project, text: str) -> list[str]:
    return [one.message for one in check_push(Context(directory=project.path), text.encode())]


def test_what_is_legal_passes(project: Project) -> None:
    before = project.tip()
    project.create()
    assert receive(project, f"{before} {project.tip()} {STATE_REF}\n".encode()) == []
    assert push(project, f"{STATE_REF} {project.tip()} {STATE_REF} {NO_COMMIT}\n") == []
    assert push(project, f"HEAD~1 and more {project.tip()} {STATE_REF} {before}\n") == []


@pytest.mark.parametrize(
    "text", [b"", b"\n", b"nonsense\n", b"a b refs/heads/caf\xe9\n", b"a b refs/heads/main\n", b"\0 \0 \0"]
)
def test_what_concerns_no_state_branch_passes(project: Project, text: bytes) -> None:
    assert receive(project, text) == []
    assert push(project, text.decode("utf-8", "replace")) == []


@pytest.mark.parametrize("sides", ["--help x", f"{NO_COMMIT} ..", "HEAD HEAD"])
def test_what_is_no_commit_is_refused(project: Project, sides: str) -> None:
    (told,) = receive(project, f"{sides} {STATE_REF}\n".encode())
    assert told.endswith("are not commits")


def test_what_would_be_lost_is_refused(project: Project) -> None:
    before = project.tip()
    project.create()
    (told,) = receive(project, f"{project.tip()} {before} {STATE_REF}\n".encode())
    assert "leaves 1 commit behind" in told
    (told,) = push(project, f"(delete) {NO_COMMIT} {STATE_REF} {before}\n")
    assert "would delete the state branch" in told
    (told,) = push(project, f"x {before} {STATE_REF} {'a' * 40}\n")
    assert "has commits that you do not have" in told
