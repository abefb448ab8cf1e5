"""Hints as a person follows them: the first command is pasted into a shell."""

from __future__ import annotations

import subprocess
from pathlib import Path

from gitticks.errors import GitticksError


def follow_hint(error: GitticksError, *, at: Path) -> None:
    """Runs the command that a failure's hint begins with, in the directory `at`; it must succeed."""
    assert error.hint is not None
    command = error.hint.split("`")[1]
    done = subprocess.run(["sh", "-c", command], cwd=at, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr}"
