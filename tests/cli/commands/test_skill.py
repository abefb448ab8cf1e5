from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from gitticks.cli.catalogue import CATALOGUE
from tests.cli.support import gt, gt_process
from tests.support.projects import make_project
from tests.support.repositories import make_repository

MINE = b"# Mine\n\nBe kind.\n"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "r")


def test_the_instructions_name_only_commands_that_there_are(tmp_path: Path) -> None:
    ran = gt("skill", at=tmp_path)
    assert (ran.code, ran.err) == (0, "")
    named = set(re.findall(r"`gt ([a-z]+)", ran.out)) | set(re.findall(r"\(gt ([a-z]+)", ran.out))
    assert {"next", "show", "complete", "handoff", "ask", "note", "start"} <= named
    assert named <= {entry.name for entry in CATALOGUE}
    assert ran.out.isascii()
    assert "promise" not in ran.out


def test_they_are_kept_in_agents_md_at_the_top(top: Path) -> None:
    (top / "AGENTS.md").write_bytes(MINE)
    inside = top / "deep" / "er"
    inside.mkdir(parents=True)
    assert gt("skill", "--install", at=inside).seen == "../../AGENTS.md: block added\n--- 0\n"
    held = (top / "AGENTS.md").read_text()
    assert held.startswith(MINE.decode())
    assert gt("skill", at=top).out.strip() in held
    assert gt("skill", "--install", at=top).seen == "AGENTS.md: is current\n--- 0\n"
    assert (top / "AGENTS.md").read_text() == held
    assert gt("skill", "--check", at=top).seen == "--- 0\n"
    assert gt("skill", "--remove", at=top).seen == "AGENTS.md: block removed\n--- 0\n"
    assert (top / "AGENTS.md").read_bytes() == MINE
    assert gt("skill", "--remove", at=top).seen == "AGENTS.md: has no block\n--- 0\n"


def test_a_missing_file_is_made_and_goes_again(top: Path) -> None:
    assert gt("skill", "--install", "docs.md", at=top).out == "docs.md: created\n"
    assert gt("skill", "--check", "docs.md", at=top).code == 0
    assert (
        gt("skill", "--remove", "docs.md", at=top).out == "docs.md: deleted, because it was empty otherwise\n"
    )
    assert gt("skill", "--remove", "docs.md", at=top).out == "docs.md: has no block\n"
    assert not (top / "docs.md").exists()


def test_check_fails_where_there_is_no_block_or_another(top: Path) -> None:
    assert gt("skill", "--check", at=top).seen == (
        "--- 1\nerror: `AGENTS.md` has no instructions from gitticks\n\nhint: `gt skill --install`\n"
    )
    gt("skill", "--install", at=top)
    file = top / "AGENTS.md"
    file.write_text(file.read_text().replace("Do not push", "Push"))
    assert "from another version, or they were edited" in gt("skill", "--check", at=top).err
    assert gt("skill", "--install", at=top).out == "AGENTS.md: block renewed\n"
    assert gt("skill", "--check", at=top).code == 0


def test_a_link_stays_a_link_and_the_mode_stays_too(top: Path) -> None:
    (top / "CLAUDE.md").write_bytes(MINE)
    (top / "CLAUDE.md").chmod(0o640)
    (top / "AGENTS.md").symlink_to("CLAUDE.md")
    gt("skill", "--install", at=top)
    assert (top / "AGENTS.md").readlink() == Path("CLAUDE.md")
    assert b"gitticks:begin" in (top / "CLAUDE.md").read_bytes()
    assert (top / "CLAUDE.md").stat().st_mode & 0o777 == 0o640
    gt("skill", "--remove", at=top)
    assert (top / "CLAUDE.md").read_bytes() == MINE


def test_where_a_link_led_nowhere_it_does_so_again(top: Path) -> None:
    (top / "AGENTS.md").symlink_to("CLAUDE.md")
    gt("skill", "--install", at=top)
    assert (top / "CLAUDE.md").is_file()
    gt("skill", "--remove", at=top)
    assert (top / "AGENTS.md").is_symlink()
    assert not (top / "CLAUDE.md").exists()


def test_a_link_in_the_place_of_a_draft_is_not_written_through(top: Path) -> None:
    (top / "mine").write_text("mine")
    (top / ".AGENTS.md.gitticks-tmp").symlink_to("mine")
    gt("skill", "--install", at=top)
    assert (top / "mine").read_text() == "mine"


@pytest.mark.parametrize("wish", ["--install", "--remove", "--check"])
def test_damaged_markers_and_what_is_no_text_are_refused_and_stay(top: Path, wish: str) -> None:
    for content in (b"<!-- gitticks:begin 0 -->\nmine\n", "wide".encode("utf-16"), b"\0"):
        (top / "AGENTS.md").write_bytes(content)
        ran = gt("skill", wish, at=top)
        assert (ran.code, ran.err.startswith("error: `AGENTS.md`"), "hint: " in ran.err) == (1, True, True)
        assert (top / "AGENTS.md").read_bytes() == content
    assert sorted(path.name for path in top.iterdir()) == [".git", "AGENTS.md", "README.md"]


@pytest.mark.parametrize("wish", ["--install", "--remove", "--check"])
def test_what_is_no_file_is_refused(top: Path, wish: str) -> None:
    (top / "AGENTS.md").mkdir()
    os.mkfifo(top / "pipe")
    for name in ("AGENTS.md", "pipe"):
        ran = gt_process("skill", wish, name, at=top)
        assert (ran.code, "Traceback" in ran.err) == (1, False)
    assert gt("skill", wish, "no/such/folder.md", at=top).code == (0 if wish == "--remove" else 1)


@pytest.mark.parametrize("wish", ["--install", "--remove", "--check"])
def test_a_device_is_refused_and_nothing_that_would_move_it_is_hinted(top: Path, wish: str) -> None:
    ran = gt("skill", wish, os.devnull, at=top)
    assert ran.seen == (
        "--- 1\nerror: `/dev/null` cannot be read: not a regular file\n\nhint: name a text file, such as `AGENTS.md`\n"
    )


def test_a_file_alone_is_wrong_usage(top: Path) -> None:
    assert gt("skill", "AGENTS.md", at=top).seen == (
        "--- 2\nerror: a file was named, but not what to do with it\n\nhint: `gt skill --install AGENTS.md`\n"
    )


def test_outside_of_a_repository_the_folder_counts(tmp_path: Path) -> None:
    assert gt("skill", "--install", at=tmp_path).out == "AGENTS.md: created\n"
    assert (tmp_path / "AGENTS.md").is_file()


def test_on_the_board_the_checkout_around_it_counts(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    assert gt("skill", "--install", at=project.board).out == "../AGENTS.md: created\n"
    assert project.board_status() == ""
