from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from gitticks.cli.editor import open_editor
from gitticks.errors import GitticksError


def _editor(folder: Path, name: str) -> str:
    """Puts an editor there that writes down what it was called with, and returns its command line."""
    program = folder / name
    program.write_text(f'#!/bin/sh\nprintf "%s|" "$@" >"{folder}/called"\n')
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("name", "options", "called"),
    [
        ("vim", "", "+7|a file|"),
        ("nano", "-w", "-w|+7|a file|"),
        ("code", "--wait", "--wait|--goto|a file:7|"),
        ("hx", "", "a file:7|"),
        ("my-editor", "", "a file|"),
    ],
)
def test_the_line_is_given_in_the_way_that_the_editor_knows(
    tmp_path: Path, name: str, options: str, called: str
) -> None:
    open_editor(f"{_editor(tmp_path, name)} {options}".strip(), Path("a file"), 7)
    assert (tmp_path / "called").read_text() == called


def test_without_a_line_only_the_file_is_named(tmp_path: Path) -> None:
    open_editor(_editor(tmp_path, "vim"), Path("file"))
    assert (tmp_path / "called").read_text() == "file|"


@pytest.mark.parametrize(
    ("editor", "message"),
    [
        ("no-such-editor -x", "the editor `no-such-editor -x` was not found; nothing was changed"),
        ("exit 3;", "the editor `exit 3;` failed with 3; nothing was changed"),
        ("'", "the editor `'` failed with 2; nothing was changed"),
    ],
)
def test_an_editor_that_cannot_or_does_not_work(editor: str, message: str) -> None:
    with pytest.raises(GitticksError, match=f"^{message}$"):
        open_editor(editor, Path("file"))


def test_an_interrupt_is_the_editors_while_it_is_open() -> None:
    before = signal.getsignal(signal.SIGINT)
    open_editor(f"kill -INT {os.getpid()}; true", Path("file"))
    assert signal.getsignal(signal.SIGINT) is before
