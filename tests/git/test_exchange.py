"""Swapping two files in one step."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.git.exchange import exchange


def test_swaps_content_and_identity(tmp_path: Path) -> None:
    one, other = tmp_path / "one ü", tmp_path / "other"
    one.write_text("1")
    other.write_text("2")
    before = one.stat().st_ino
    if exchange(one, other):
        assert (one.read_text(), other.read_text(), other.stat().st_ino) == ("2", "1", before)


def test_a_missing_file_is_an_error_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("1")
    with pytest.raises(FileNotFoundError):
        exchange(tmp_path / "one", tmp_path / "missing")
    assert (tmp_path / "one").read_text() == "1"
