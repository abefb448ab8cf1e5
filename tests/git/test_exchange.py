"""Swapping two files, and putting one where none is, in one step."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.git import exchange as module
from gitticks.git.exchange import exchange, move_to_free_place


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


@pytest.mark.parametrize("has_call", [True, False])
def test_a_file_is_moved_only_to_where_none_is(
    tmp_path: Path, has_call: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_call:
        monkeypatch.setattr(module, "_system_call", lambda: None)
    one, other = tmp_path / "one ü", tmp_path / "other"
    one.write_text("1")
    assert move_to_free_place(one, str(other))
    assert other.read_text() == "1"
    one.unlink(missing_ok=True)
    one.write_text("2")
    assert not move_to_free_place(one, str(other))
    assert (one.read_text(), other.read_text()) == ("2", "1")
    with pytest.raises(FileNotFoundError):
        move_to_free_place(one, str(tmp_path / "missing" / "file"))
