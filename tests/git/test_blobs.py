"""The id of bytes, without storing them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.git.blobs import blob_id
from tests.support.repositories import git


@pytest.mark.parametrize("text", ["", "one\n", "ü\r\n"])
def test_is_what_git_says(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_bytes(text.encode())
    assert blob_id(text.encode()) == git("hash-object", "file", at=tmp_path)
