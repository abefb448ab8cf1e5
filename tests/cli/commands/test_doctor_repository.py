"""What the doctor finds in odd repositories and in locks that were left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitticks.errors import LostRaceError
from gitticks.git import locks
from gitticks.processes import own_identity
from tests.cli.support import gt
from tests.support.doctor import (
    findings,
    fixes,
    found_in,
    make_old,
    our_gt_on_path,
    project,
    type_fixes,
)
from tests.support.projects import Project, make_working
from tests.support.repositories import (
    add_linked_worktree,
    clone,
    commit_file,
    git,
    make_repository,
)
from tests.support.stores import make_queue

__all__ = ["our_gt_on_path", "project"]


class TestKinds:
    """What is special about a repository is noted, and hinders nothing."""

    def test_bare(self, tmp_path: Path) -> None:
        store = make_queue(tmp_path / "full")
        bare = make_repository(tmp_path / "bare", bare=True, commits=0)
        git("push", "--quiet", str(bare), "gitticks/state:gitticks/state", at=store.repository.common_dir)
        ran = gt("doctor", "--json", at=bare)
        assert findings(ran) == {
            "the repository is bare: tasks can be read and changed, but there is no board": "note"
        }
        assert ran.code == 0

    def test_linked(self, project: Project, tmp_path: Path) -> None:
        linked = add_linked_worktree(project.path, tmp_path / "linked", "side")
        assert found_in(linked) == {f"this is a linked worktree of `{project.path}`": "note"}

    def test_shallow(self, tmp_path: Path) -> None:
        source = make_repository(tmp_path / "source", commits=3)
        shallow = Project(clone(source, tmp_path / "shallow", "--depth=1"))
        shallow.ok("init")
        ((what, severity),) = found_in(shallow.path).items()
        assert severity == "note"
        assert what.startswith("the clone is shallow: ")
        type_fixes(shallow.path)
        assert found_in(shallow.path) == {}

    def test_a_filter_that_only_the_repository_defines(self, project: Project) -> None:
        git("config", "filter.crypt.smudge", "cat", at=project.path)
        commit_file(project.path, ".gitattributes", "*.md filter=crypt\n")
        assert found_in(project.path) == {
            "`README.md` needs the filter `crypt`, which only this repository's configuration defines: "
            "agents cannot work here": "warning"
        }
        git("config", "--global", "filter.crypt.smudge", "cat", at=project.path)
        assert found_in(project.path) == {}

    @pytest.mark.damages
    def test_borrowed_objects(self, tmp_path: Path) -> None:
        source = make_repository(tmp_path / "source")
        git("clone", "--quiet", "--shared", str(source), str(tmp_path / "shared"), at=tmp_path)
        shared = Project(tmp_path / "shared")
        shared.ok("init")
        objects = source / ".git" / "objects"
        assert found_in(shared.path) == {
            f"objects are borrowed from `{objects}`: if it is deleted, they are lost": "note"
        }
        objects.rename(tmp_path / "elsewhere")
        told = found_in(shared.path)
        assert told[f"objects are borrowed from `{objects}`, which does not exist"] == "error"


class TestLocks:
    """Locks that keep others waiting are named with their age and taker."""

    @pytest.fixture
    def held_lock(self, project: Project) -> Iterator[Path]:
        """Holds the lock of the state branch, as a writer that hangs."""
        import fcntl

        lock = project.store.repository.own_dir / "lock"
        with lock.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(f"{own_identity().to_json()}\n")
            file.flush()
            make_old(lock)
            yield lock

    @pytest.fixture
    def waits(self, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        """Returns how long each lock is asked for that is not free; nobody gets it."""
        asked: list[float] = []

        def give_up(_path: Path, _descriptor: int, wait_seconds: float) -> int:
            asked.append(wait_seconds)
            raise LostRaceError("it is held")

        monkeypatch.setattr(locks, "_take_in_turn", give_up)
        return asked

    def test_ours_that_is_held(self, project: Project, held_lock: Path, waits: list[float]) -> None:
        assert held_lock.exists()
        assert found_in(project.path) == {
            f"process {os.getpid()} has held the lock of the state branch for 60 min": "warning"
        }
        assert fixes(project.path) == [f"ps -fp {os.getpid()}"]
        assert not any(waits)

    def test_of_a_ref(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("gitticks.git.maintenance.AGE_SECONDS", 600)
        lock = project.path / ".git/refs/heads/gitticks/state.lock"
        lock.touch()
        assert found_in(project.path) == {}  # somebody may be at work
        make_old(lock)
        assert found_in(project.path) == {
            "`refs/heads/gitticks/state` has been locked for 60 min, and git does not say by whom": "warning"
        }
        type_fixes(project.path)
        assert found_in(project.path) == {}
        assert not lock.exists()

    def test_of_the_boards_index_by_us(self, project: Project) -> None:
        git_dir = Path(git("rev-parse", "--absolute-git-dir", at=project.board))
        (git_dir / "index.lock").write_text("gitticks 4242\n")
        make_old(git_dir / "index.lock")
        assert found_in(project.path) == {
            "the index of the board has been locked for 60 min by gitticks, process 4242, which was killed": "warning"
        }
        type_fixes(project.path)
        assert found_in(project.path) == {}

    def test_of_an_index_by_git(self, project: Project) -> None:
        workspace = make_working(project)
        for place, name in ((project.board, "the board"), (workspace, f"`{workspace}`")):
            lock = Path(git("rev-parse", "--absolute-git-dir", at=place)) / "index.lock"
            lock.touch()
            make_old(lock)
            assert found_in(project.path) == {
                f"the index of {name} has been locked for 60 min, and git does not say by whom": "warning"
            }
            type_fixes(project.path)
            assert not lock.exists()
        assert found_in(project.path) == {}
