"""A mailbox whose files are links, folders, too large, gone, no text, or left by an earlier session."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitticks.model.notes import Section
from gitticks.model.status import Role
from gitticks.runner.mailbox import fill, read
from gitticks.runner.outbox import Request, RequestKind, collect, post
from gitticks.runner.workspaces import Workspace
from tests.runner.mailboxes import GIVEN, given, taken, workspace

__all__ = ["workspace"]


def test_the_mailbox_holds_the_exact_file_the_prompt_and_an_outbox(workspace: Workspace) -> None:
    assert (workspace.mailbox / "TASK.md").read_bytes() == GIVEN.encode()
    assert (workspace.mailbox / "prompt.md").read_text() == "Do it."
    assert (workspace.mailbox / "learnings.md").read_text() == ""
    assert (workspace.mailbox / "outbox").is_dir()


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
