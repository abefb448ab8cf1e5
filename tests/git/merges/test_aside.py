"""Checkouts aside, where merges are tried out."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gitticks.git.checkouts import current_branch, head
from gitticks.git.merges.commits import checkout_aside, sweep_asides
from gitticks.git.repository import discover
from tests.support.repositories import git, make_repository

HOLD = """
import sys
from pathlib import Path
from gitticks.git.merges.commits import checkout_aside
from gitticks.git.repository import discover
with checkout_aside(discover(Path(sys.argv[1])), "HEAD") as checkout:
    print(checkout.path, flush=True)
    sys.stdin.read()
"""


def test_is_removed_with_all_that_was_made_in_it(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    tip = git("rev-parse", "HEAD", at=root)
    with pytest.raises(ZeroDivisionError), checkout_aside(discover(root), tip) as checkout:  # noqa: PT012
        assert (head(checkout), current_branch(checkout)) == (tip, None)
        (checkout.path / "built").write_text("")
        (checkout.path / "README.md").write_text("changed")
        raise ZeroDivisionError
    assert len(git("worktree", "list", at=root).splitlines()) == 1
    assert list((root / ".git" / "gitticks" / "merge").iterdir()) == []


def test_what_a_killed_process_left_is_swept_and_the_living_are_spared(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    holders = [
        subprocess.Popen(
            [sys.executable, "-c", HOLD, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    paths = [Path(holder.stdout.readline().strip()) for holder in holders if holder.stdout is not None]
    os.kill(holders[0].pid, signal.SIGKILL)
    holders[0].communicate()
    sweep_asides(discover(root))
    assert [path.exists() for path in paths] == [False, True]
    holders[1].communicate("")
    assert holders[1].returncode == 0
    assert list((root / ".git" / "gitticks" / "merge").iterdir()) == []
