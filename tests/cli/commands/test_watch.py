"""`gt watch`: what is saved is taken up and told, line by line, until Ctrl-C or until nobody reads."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from gitticks.model.status import Status
from tests.cli.support import command, gt
from tests.support.projects import SESSION, Project, make_project
from tests.support.repositories import clone, git
from tests.support.waiting import LONGEST_SECONDS


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path / "project")
    project.make("k7f2")
    return project


NO_WATCHES = """\
import errno, watchfiles
def refuse(*paths, **options):
    raise OSError(errno.ENOSPC, "OS file watch limit reached.")
watchfiles.watch = refuse
"""


@contextmanager
def watching(project: Project, *options: str, first: str = "") -> Iterator[subprocess.Popen[str]]:
    """Runs `gt watch` until the block ends, in a process that does `first` before all else."""
    program, flag, how, script, *words = command("watch", *options)
    with subprocess.Popen(
        [program, flag, how, first + script, *words],
        cwd=project.path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            assert process.stderr.readline() == "watching .gitticks; Ctrl-C quits\n"
            yield process
        finally:
            process.kill()


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def _save(project: Project, old: str, new: str, task: str = "k7f2") -> None:
    file = project.board_file(task)
    file.write_text(file.read_text().replace(old, new, 1))


def test_once_takes_up_what_is_saved_and_ends(project: Project) -> None:
    _save(project, "status: pending", "priority: 0\nstatus: pending")
    ran = project.gt("watch", "--once")
    assert ran.code == 0
    assert ran.out.endswith("  k7f2: priority  Ada Lovelace\n")
    assert project.board_status() == ""
    assert project.ok("watch", "--once") == ""


def test_what_is_refused_is_reported_with_the_reason(project: Project) -> None:
    _save(project, "status: pending", "status: done")
    out = project.ok("watch", "--once")
    assert "  .gitticks/tasks/f2/k7f2/TASK.md  edited, refused: `k7f2` cannot go from pending" in out
    (told,) = (json.loads(line) for line in project.ok("watch", "--once", "--json").splitlines())
    assert (told["schema"], told["event"], told["path"]) == (1, "edit.left", "tasks/f2/k7f2/TASK.md")


def test_edits_and_commits_are_reported_as_they_happen_until_interrupted(project: Project) -> None:
    with watching(project, "--json") as process:
        _save(project, "status: pending", "status: cancelled")
        taken, edited, followed = (json.loads(_line(process)) for _ in range(3))
        assert (taken["event"], taken["path"]) == ("edit.taken", "tasks/f2/k7f2/TASK.md")
        assert (edited["event"], edited["author"]) == ("commit", "Ada Lovelace")
        assert followed["subject"].startswith("k7f2: pending → cancelled")
        assert project.task("k7f2").status is Status.CANCELLED
        project.make("m3xq")
        assert json.loads(_line(process))["event"] == "commit"
        process.send_signal(signal.SIGINT)
        assert process.wait(LONGEST_SECONDS) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_it_ends_when_its_reader_leaves(project: Project) -> None:
    with watching(project) as process:
        project.make("m3xq")
        assert "m3xq" in _line(process)
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(LONGEST_SECONDS) == 0


def test_boards_made_again_and_packed_refs_are_no_end(project: Project) -> None:
    with watching(project) as process:
        project.make("m3xq")
        assert "m3xq" in _line(process)
        git("pack-refs", "--all", at=project.path)
        shutil.rmtree(project.board)
        git("worktree", "prune", at=project.path)
        project.ok("doctor", "--fix")
        _save(project, "status: pending", "priority: 0\nstatus: pending")
        assert process.stdout is not None
        assert any("k7f2: priority" in line for line in process.stdout)
        assert project.task("k7f2").priority == 0


def test_where_there_is_no_board_it_says_so_and_tells_of_commits(project: Project, tmp_path: Path) -> None:
    words = "there is no board, so saved edits are not committed: `gt doctor` says why"
    bare = clone(project.path, tmp_path / "bare.git", "--bare")
    assert gt("watch", "--once", at=bare).err == f"warning: {words}\n"
    shutil.rmtree(project.board)
    assert project.gt("watch", "--once").err == f"warning: {words}\n"
    with watching(project, "--json") as process:
        assert json.loads(_line(process)) == {"schema": 1, "event": "warning", "message": words}
        project.ok("note", "k7f2", "Seen.")
        assert json.loads(_line(process))["subject"] == "k7f2: note added"


def test_hundreds_of_worktrees_are_not_watched(project: Project) -> None:
    first = project.path / ".gitticks-work/w0"
    git("worktree", "add", "--quiet", "--detach", "--no-checkout", str(first), at=project.path)
    for number in range(1, MANY):
        _copy_worktree(project, first, f"w{number}")
    assert git("worktree", "list", at=project.path).count("w") > MANY
    with watching(project) as process:
        _save(project, "status: pending", "priority: 0\nstatus: pending")
        assert "k7f2: priority" in _line(process)
        _save(project, "priority: 0", "priority: 1")
        assert "k7f2: priority" in _line(process)
        watches = _watches(process.pid)
    assert 0 < watches < 20


MANY = 300


def _copy_worktree(project: Project, first: Path, name: str) -> None:
    """Makes one more worktree as git would, without a process for each."""
    place = first.with_name(name)
    admin = project.path / ".git/worktrees" / name
    shutil.copytree(project.path / ".git/worktrees" / first.name, admin)
    place.mkdir()
    (place / ".git").write_text(f"gitdir: {admin}\n")
    (admin / "gitdir").write_text(f"{place}/.git\n")


def test_without_file_watches_it_looks_by_itself_and_says_so(project: Project) -> None:
    with watching(project, first=NO_WATCHES) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == (
            "warning: this machine allows no more file watches, so it looks for saved edits every few seconds\n"
        )
        _save(project, "status: pending", "priority: 0\nstatus: pending")
        project.make("m3xq")  # the branch is asked each second
        told = _line(process) + _line(process)
        assert "m3xq" in told
        assert "k7f2: priority" in told
        process.send_signal(signal.SIGINT)
        assert process.wait(LONGEST_SECONDS) == 0
        assert process.stderr.read() == "", "it is said once"


def test_a_repository_that_is_gone_for_a_while_is_waited_for(project: Project, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    with watching(project) as process:
        (project.path / ".git").rename(elsewhere)
        assert process.stderr is not None
        assert any("is not in a git repository" in line for line in process.stderr)
        elsewhere.rename(project.path / ".git")
        _save(project, "status: pending", "priority: 0\nstatus: pending")
        assert "k7f2: priority" in _line(process)


def test_two_beside_one_another_take_an_edit_up_once(project: Project) -> None:
    with watching(project) as one, watching(project) as other:
        for priority in (0, 1, 3):
            before = project.tip()
            file = project.board_file("k7f2")
            kept = [line for line in file.read_text().split("\n") if not line.startswith("priority:")]
            saved = project.path / "saved"
            saved.write_text("\n".join([*kept[:2], f"priority: {priority}", *kept[2:]]))
            saved.replace(file)  # in one step: what is half written is said by whoever looks at that moment
            assert "k7f2: priority" in _line(one)
            assert "k7f2: priority" in _line(other)
            assert git("rev-list", "--count", f"{before}..gitticks/state", at=project.path) == "1"
        assert project.task("k7f2").priority == 3
        assert project.board_status() == ""


def _watches(pid: int) -> int:
    """Returns how many folders a process watches."""
    found = 0
    for descriptor in Path(f"/proc/{pid}/fdinfo").iterdir():
        with suppress(OSError):  # it was closed meanwhile
            found += descriptor.read_text().count("inotify wd:")
    return found


def test_an_agent_takes_up_nothing(project: Project) -> None:
    assert project.gt("watch", environment=SESSION).code == 3
