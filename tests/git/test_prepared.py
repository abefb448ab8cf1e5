from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.git.files import CheckoutFiles, PreparedFiles


def test_each_is_taken_once_and_the_rest_is_removed(tmp_path: Path) -> None:
    ready = PreparedFiles()
    ready.add(tmp_path / "aside", [b"one", b"two", b"one"])
    first, second = ready.take(b"one"), ready.take(b"one")
    assert first is not None
    assert second is not None
    assert first != second
    assert first.read_bytes() == second.read_bytes() == b"one"
    assert ready.take(b"one") is None
    assert ready.take(b"three") is None
    ready.drop()
    assert sorted((tmp_path / "aside").iterdir()) == sorted([first, second])


def test_nothing_is_left_where_they_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "aside").write_text("no folder")
    ready = PreparedFiles()
    with pytest.raises(OSError, match="aside"):
        ready.add(tmp_path / "aside", [b"one"])
    assert ready.take(b"one") is None


def test_a_checkout_puts_what_is_ready_in_place(tmp_path: Path) -> None:
    files = CheckoutFiles.at(tmp_path / "own", tmp_path / "own", "board")
    files.ready.add(files.scratch, [b"one", b"two"])
    assert files.replace("a/file", None, b"one").is_done
    assert files.replace("a/file", b"one", b"two").is_done
    assert (files.root / "a" / "file").read_bytes() == b"two"
    assert list(files.scratch.iterdir()) == []
