from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.git.own_state import read_own_state
from gitticks.git.repository import discover
from tests.support.repositories import commit_file, git


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_a_hook_that_is_as_committed_is_no_state_of_its_own(tmp_path: Path, object_format: str) -> None:
    git("init", "--quiet", f"--object-format={object_format}", at=tmp_path)
    git("config", "core.hooksPath", ".hooks", at=tmp_path)
    commit_file(tmp_path, ".hooks/pre-push", "#!/bin/sh\n")
    assert "file .hooks/pre-push" not in read_own_state(discover(tmp_path))
    (tmp_path / ".hooks/pre-push").write_text("#!/bin/sh\nexit 1\n")
    assert "file .hooks/pre-push" in read_own_state(discover(tmp_path))
