"""The driver replaces one file whole or not at all, loads little, and never ends in a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gitticks.actions.merge_driver import merge_in_place
from gitticks.document.taskfile import TaskFile
from gitticks.errors import GitticksError
from gitticks.model.notes import Section
from tests.cli.support import Ran, gt
from tests.support.versions import PATH, make_base

BASE = make_base()
OURS = BASE.replace(b"priority: 1", b"priority: 0")
THEIRS = BASE.replace(b"[one, two]", b"[two]")
WRITTEN = OURS.replace(b"The second line.", b"Ours."), THEIRS.replace(b"The second line.", b"Theirs.")


def put(folder: Path, *contents: bytes) -> tuple[Path, Path, Path]:
    files = (folder / "base", folder / "ours", folder / "theirs")
    for file, content in zip(files, contents, strict=True):
        file.write_bytes(content)
    return files


def drive(folder: Path, *contents: bytes, path: str = PATH) -> Ran:
    return gt("merge-driver", *map(str, put(folder, *contents)), "7", path, at=folder)


def test_the_result_replaces_ours(tmp_path: Path) -> None:
    done = drive(tmp_path, BASE, OURS, THEIRS)
    assert done.seen == "--- 0\n"
    assert (tmp_path / "ours").read_bytes() == OURS.replace(b"[one, two]", b"[two]")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["base", "ours", "theirs"]


def test_what_both_wrote_is_said(tmp_path: Path) -> None:
    done = drive(tmp_path, BASE, *WRITTEN)
    assert done.code == 0
    assert done.err == (
        f"gitticks: {PATH}: both sides changed ## Context: both versions are there, marked, until you choose\n"
    )


def test_a_value_that_does_not_stand_is_written_out(tmp_path: Path) -> None:
    mine, theirs = (BASE.replace(b"priority: 1", b"priority: " + one) for one in (b"0", b"4"))
    done = drive(tmp_path, BASE, mine, theirs)
    stands = TaskFile.parse((tmp_path / "ours").read_bytes(), PATH).task.priority
    other = {0: 4, 4: 0}[stands]
    assert f"both sides set `priority`: `{stands}` is later and stands, `{other}` is dropped\n" in done.err


def test_what_is_said_steers_no_terminal(tmp_path: Path) -> None:
    named = (text.replace(b"## Context", b"## \x1b[31mRed") for text in (BASE, *WRITTEN))
    assert "both sides changed ## \\x1b[31mRed:" in drive(tmp_path, *named).err


def test_two_births_stand_in_one_file(tmp_path: Path) -> None:
    later = THEIRS.replace(b"created: 2026-01-02", b"created: 2026-01-05").replace(b"Say hello", b"Say bye")
    done = drive(tmp_path, b"", OURS, later)
    assert done.code == 0
    assert "two tasks were created with this id" in done.err
    data = (tmp_path / "ours").read_bytes()
    assert data.startswith(OURS[: OURS.index(b"\n---\n", 5)])
    assert later.strip() in data


@pytest.mark.parametrize("junk", [b"", b"\xff\0", b"---\nid: [\n---\n", b"---\nid: k7f2\n<<<<<<< a\n---\n"])
def test_a_side_that_cannot_be_read_leaves_the_file_to_git(tmp_path: Path, junk: bytes) -> None:
    for contents in ((BASE, OURS, junk), (BASE, junk, THEIRS)):
        done = drive(tmp_path, *contents)
        assert (done.code, done.out) == (1, "")
        assert "cannot be read on one side, so it is merged line by line" in done.err
        assert (tmp_path / "ours").read_bytes() == contents[1]


def test_a_base_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    assert drive(tmp_path, b"junk", OURS, THEIRS).code == 0


def test_logs_take_the_lines_of_both(tmp_path: Path) -> None:
    lines = [b'{"at":"1"}\n', b'{"at":"1"}\n{"at":"3"}\n', b'{"at":"1"}\n{"at":"2"}\n']
    assert drive(tmp_path, *lines, path="tasks/f2/k7f2/history.jsonl").code == 0
    assert (tmp_path / "ours").read_bytes() == b'{"at":"1"}\n{"at":"2"}\n{"at":"3"}\n'


def test_a_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    files = put(tmp_path, BASE, OURS, THEIRS)
    with pytest.raises(GitticksError, match="none"):
        merge_in_place(tmp_path / "none", files[1], files[2], PATH, {})
    done = gt("merge-driver", "none", *map(str, files[1:]), "7", PATH, at=tmp_path)
    assert done.code == 2


def test_it_loads_neither_git_nor_markdown(tmp_path: Path) -> None:
    files = put(tmp_path, BASE, OURS, THEIRS)
    code = (
        "import sys; from gitticks.cli.app import run\n"
        f"code = run(['merge-driver', *{[str(file) for file in files]!r}, '7', {PATH!r}])\n"
        "print(code, sorted({'pygit2', 'markdown_it', 'ruamel', 'rich', 'jinja2', 'sqlite3'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0 []\n"


def test_a_hand_off_that_does_not_stand_becomes_a_note(tmp_path: Path) -> None:
    ours = OURS + b"\n## Handoff\n\nDone by us.\n"
    theirs = THEIRS.replace(b"status: working", b"status: stuck") + b"\n## Handoff\n\nDone by them.\n"
    done = drive(tmp_path, BASE, ours, theirs)
    assert "`## Handoff` of one side was kept; that of the other is now a note" in done.err
    merged = (tmp_path / "ours").read_bytes()
    assert TaskFile.parse(merged, PATH).section(Section.HANDOFF) == "Done by them."
    (note,) = [
        entry for entry in TaskFile.parse(merged, PATH).entries(Section.NOTES) if entry.name == "gitticks"
    ]
    assert note.text == "`## Handoff` of the other side:\n\nDone by us."
    drive(tmp_path, BASE, ours, merged)
    assert (tmp_path / "ours").read_bytes() == merged
