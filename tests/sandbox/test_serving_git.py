"""The git that serves what was committed in a sandbox, and what is no agent's fault where it cannot."""

from __future__ import annotations

import os
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from gitticks.errors import MachineError
from gitticks.git.checkouts import Checkout
from gitticks.git.process import GitResult, run_git
from gitticks.git.repository import Repository
from gitticks.sandbox import bringing_home
from gitticks.sandbox.private_git import FOLDER
from tests.sandbox.test_never_our_own_git import BRANCH, COMMIT, checkout, home, inside, repository
from tests.support.agents import write_program
from tests.support.repositories import git

pytestmark = pytest.mark.debian("bubblewrap", program="bwrap")
__all__ = ["checkout", "repository"]


def test_commits_are_fetched_by_the_git_that_is_first_on_path(
    repository: Repository, checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = f'[ "$3" != upload-pack ] || touch served; exec {shutil.which("git")} "$@"'
    program = write_program(tmp_path / "conda/bin/git", served)
    inside(repository, checkout, COMMIT)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    assert home(repository, checkout) == ()
    assert (checkout.git_dir / FOLDER / "served").exists()
    assert git("log", "-1", "--format=%s", BRANCH, at=repository.common_dir) == "work"


def impatient(*rest: Any, **named: Any) -> GitResult:
    """Runs git, and waits for it for a second."""
    return run_git(*rest, **named, timeout_seconds=1.0)


def test_what_fails_by_the_machine_is_not_laid_to_the_commits(
    repository: Repository, checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside(repository, checkout, COMMIT)
    with monkeypatch.context() as patched:
        patched.setattr(bringing_home, "_UPLOAD_PACK", "no-such-git upload-pack")
        with pytest.raises(MachineError, match="execvp no-such-git"):
            home(repository, checkout)
    with monkeypatch.context() as patched:
        broken = write_program(tmp_path / "broken/bwrap", "sleep 600")
        patched.setenv("PATH", f"{broken.parent}{os.pathsep}{os.environ['PATH']}")
        patched.setattr(bringing_home, "run_git", impatient)
        with pytest.raises(MachineError, match="took longer than 1 s"):
            home(repository, checkout)
    with monkeypatch.context() as patched:
        tools = tmp_path / "tools"
        tools.mkdir()
        (tools / "git").symlink_to(shutil.which("git") or "")
        patched.setenv("PATH", str(tools))
        with pytest.raises(MachineError, match="bubblewrap"):
            home(repository, checkout)


def large(content: str) -> tuple[str, str]:
    """Returns where git-lfs would keep this content, and a script that stores it there and commits."""
    name = sha256(content.encode()).hexdigest()
    place = f"lfs/objects/{name[:2]}/{name[2:4]}/{name}"
    store = f"d=$(git rev-parse --git-common-dir); mkdir -p $d/{Path(place).parent}; printf {content} > $d/{place}; "
    return place, store


def test_large_files_that_were_stored_for_the_commits_come_with_them(
    repository: Repository, checkout: Checkout
) -> None:
    (first, store_first), (second, store_second) = large("one"), large("two")
    false = large("other")[0]
    inside(
        repository,
        checkout,
        f"{store_first}{store_second}mkdir -p $d/{Path(false).parent}; echo evil > $d/{false}; {COMMIT}",
    )
    assert home(repository, checkout) == ()
    stored = {
        path.relative_to(repository.common_dir).as_posix()
        for path in repository.common_dir.glob("lfs/objects/*/*/*")
    }
    assert stored == {first, second}
    assert (repository.common_dir / second).read_text() == "two"
