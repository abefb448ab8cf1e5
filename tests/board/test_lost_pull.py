"""A pull on the board that loses its race to a command, at the one moment that counts."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from tests.support.clones import Clone, make_clones, make_first_clone
from tests.support.repositories import fsck_problems, git

WRITER = """#!/bin/sh
rm -f "$0"
unset $(git rev-parse --local-env-vars)
cd {top} && exec {gt} note {task} racing
"""


@pytest.fixture
def tasks(tmp_path: Path) -> tuple[Clone, Clone, str, str]:
    """Two clones, a task that the second has changed and pushed, and one that nobody has."""
    first = make_first_clone(tmp_path)
    theirs, ours = first.create("Theirs"), first.create("Ours")
    one, other = make_clones(tmp_path, first, 2)
    other.ok("note", theirs, "from afar")
    other.ok("create", "New from afar")
    assert other.push().returncode == 0
    return one, other, theirs, ours


def lose_pull(clone: Clone, task: str) -> None:
    """Pulls, with a command that moves the branch after git wrote the index and before it moves the branch."""
    gt = shlex.join([sys.executable, "-m", "gitticks"])
    hook = Path(git("rev-parse", "--path-format=absolute", "--git-path", "hooks", at=clone.board).strip())
    hook /= "post-index-change"
    hook.write_text(WRITER.format(top=shlex.quote(str(clone.path)), gt=gt, task=task))
    hook.chmod(0o755)
    pulled = clone.pull()
    assert pulled.returncode != 0
    assert "cannot lock ref" in pulled.stderr
    assert not clone.is_merging


def test_what_it_left_is_brought_in_step_by_the_next_sync(tasks: tuple[Clone, Clone, str, str]) -> None:
    one, other, theirs, ours = tasks
    lose_pull(one, ours)
    assert "local changes" in one.pull().stderr
    one.ok("sync")
    assert git("status", "--porcelain", at=one.board) == ""
    assert "no problems found" in one.gt("doctor").out
    assert one.pull().returncode == 0
    assert other.pull().returncode == 0
    assert one.tip() == other.tip()
    assert "from afar" in one.ok("show", theirs)
    assert "racing" in other.ok("show", ours)
    assert fsck_problems(one.path) == ""


def test_a_persons_edit_survives_it(tasks: tuple[Clone, Clone, str, str]) -> None:
    one, _, theirs, ours = tasks
    lose_pull(one, ours)
    file = one.board_file(theirs)
    file.write_text(file.read_text() + "\nMine.\n")
    one.gt("sync")
    assert "Mine." in file.read_text()
