"""A board, and the texts that the branch and a person make of its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.boards import LINES, BoardOfTest, make_board

NEW = LINES.replace("line 2\n", "line two\n")
EDITED = LINES.replace("line 19\n", "line nineteen\n")
BOTH = NEW.replace("line 19\n", "line nineteen\n")
OTHER_EDIT = LINES.replace("line 2\n", "line 2, mine\n")


@pytest.fixture
def board(tmp_path: Path) -> BoardOfTest:
    return make_board(tmp_path / "project")


def rescued(board: BoardOfTest) -> list[str]:
    folder = board.repository.own_dir / "rescue"
    return [file.read_text() for file in sorted(folder.iterdir())] if folder.exists() else []
