"""What happens on a full disk: the program that `test_full_disk.py` starts where a small file system is mounted.

Its arguments are the name of a scene, the folder where the small file system is mounted, and an empty folder on a
disk with room. A scene that finds anything wrong ends with a traceback.
"""

from __future__ import annotations

import itertools
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gitticks.board.step import is_in_step
from gitticks.model.status import Status
from tests.cli.support import Ran, gt, gt_process
from tests.faults.writers import IS_FULL, Kind, Wish, assert_each_once, assert_sound
from tests.support.projects import Project, make_project, make_reviewing
from tests.support.repositories import commit_file, fsck_problems, git
from tests.support.runs import DONE, NO_REVIEW, TO_REVIEW, RunProject, make_run_project
from tests.support.waiting import until

KILOBYTE = 1024
TASK = "k7f2"
KEPT_KILOBYTES = 768
FAILURES_WHEN_FULL = 4
FILLING_LETTERS = 8000
LONG_AGO = 1_700_000_000
ROOMS = tuple(range(0, 60, 4)) if IS_FULL else (0, 4, 12, 28, 36, 40)
RUN_ROOMS = (0, 8, 32, 64, 96, 128, 200, 300, 500) if IS_FULL else (0, 96)
MERGE_ROOMS = (0, 16, 48, 64, 96, 128, 160, 200, 300, 500) if IS_FULL else (0, 64, 160)
READING = (
    ("list",),
    ("list", "--json"),
    ("next",),
    ("ready",),
    ("inbox",),
    ("tree",),
    ("show", TASK),
    ("show", TASK, "--json"),
    ("log", TASK),
    ("status",),
    ("health",),
    ("current",),
    ("path", TASK),
    ("config",),
)


@dataclass(frozen=True, slots=True)
class Disk:
    """The small file system, mounted at `place`."""

    place: Path

    @property
    def free_kilobytes(self) -> int:
        """Returns how much room is left."""
        told = os.statvfs(self.place)
        return told.f_bavail * told.f_frsize // KILOBYTE

    def take(self, name: str, kilobytes: int) -> None:
        """Takes that much room, and gives back what was taken under that name before."""
        with (self.place / name).open("wb") as ballast:
            if kilobytes > 0:
                os.posix_fallocate(ballast.fileno(), 0, kilobytes * KILOBYTE)

    def give(self, name: str) -> None:
        """Gives room back."""
        (self.place / name).unlink()

    @contextmanager
    def with_only(self, kilobytes: int) -> Iterator[None]:
        """Leaves no more than some room while the block runs."""
        self.take("ballast", self.free_kilobytes - kilobytes)
        try:
            yield
        finally:
            self.give("ballast")


def main() -> None:
    """Plays the scene that the arguments name."""
    name, place, outside = sys.argv[1:]
    SCENES[name](Disk(Path(place)), Path(outside))


def make_on(disk: Disk) -> Project:
    """Makes a project with one task, and an index, on the disk."""
    project = make_project(disk.place / "repository")
    project.make(TASK)
    project.ok("list")
    return project


def assert_told(ran: Ran, place: Path, *codes: int) -> None:
    """Fails unless a command failed as it must for want of room: the path, the room left, and no traceback."""
    assert ran.code in (codes or (1,)), ran.seen
    assert str(place) in ran.err, ran.seen
    assert "`df -h " in ran.err, ran.seen
    assert "Traceback" not in ran.seen, ran.seen


def assert_readable(project: Project, run: Callable[..., Ran] = gt) -> None:
    """Fails unless every reading command answers."""
    for words in READING:
        ran = run(*words, at=project.path)
        assert ran.code == 0, (words, ran.seen)
        assert "warning" not in ran.err, (words, ran.seen)


def all_wishes(letters: int) -> Iterator[Wish]:
    """Yields changes without end, whose texts no compression makes small."""
    draw = random.Random(17)
    for number, kind in zip(itertools.count(), itertools.cycle(Kind), strict=False):
        filling = "" if kind is Kind.LABEL else f"-{draw.randbytes(letters // 2).hex()}"
        yield Wish(kind, f"w-{number}{filling}", TASK)


def fill(disk: Disk, _: Path) -> None:
    """Changes tasks until nothing fits any more, reads, makes room, and goes on."""
    project = make_on(disk)
    disk.take("kept", KEPT_KILOBYTES)
    acknowledged = _fill_up(disk, project)
    assert_readable(project, gt_process)
    (project.path / ".git/gitticks/index.sqlite3").unlink()
    disk.take("rest", disk.free_kilobytes)
    assert_readable(project)
    assert_listed(project, acknowledged)
    disk.give("kept")
    assert_goes_on(project, acknowledged)
    print(len(acknowledged))  # noqa: T201 - the test reads it


def _fill_up(disk: Disk, project: Project) -> list[Wish]:
    """Makes changes until several in a row fail, and returns those that were acknowledged."""
    acknowledged, failures = [], 0
    for wish in all_wishes(FILLING_LETTERS):
        ran = gt_process(*wish.arguments, at=project.path)
        if ran.code == 0:
            acknowledged.append(wish)
            failures = 0
            continue
        assert_told(ran, project.path)
        assert "no space left" in ran.err.lower(), ran.seen
        failures += 1
        disk.take(f"rest{failures}", disk.free_kilobytes)
        if failures == FAILURES_WHEN_FULL:
            break
    assert acknowledged
    return acknowledged


def assert_listed(project: Project, acknowledged: list[Wish]) -> None:
    """Fails unless the commands show all that was acknowledged."""
    listed = project.ok("list", "--all", "--json")
    shown = project.ok("show", TASK, "--json")
    for wish in acknowledged:
        assert wish.marker in (listed if wish.kind is Kind.CREATE else shown), wish.marker[:20]


def assert_goes_on(project: Project, acknowledged: list[Wish]) -> None:
    """Fails unless the very next command works, and everything is in order after it."""
    last = Wish(Kind.NOTE, "w-last", TASK)
    ran = gt_process(*last.arguments, at=project.path)
    assert (ran.code, ran.err) == (0, ""), ran.seen
    assert_each_once(project, [*acknowledged, last])
    assert_nothing_half_written(project)


def assert_nothing_half_written(project: Project) -> None:
    """Fails if a file of the board or one of ours was left that is only begun; git's gc clears away what git began."""
    ours = project.path / ".git" / "gitticks"
    left = [*ours.rglob("tmp_*"), *project.path.rglob("*.new"), *project.path.rglob("*-journal")]
    assert left == []
    empty = [path for path in project.path.rglob("*") if path.is_file() and path.stat().st_size == 0]
    assert [path for path in empty if not path.name.startswith("tmp_") and path.suffix != ".lock"] == []


def sweep(disk: Disk, _: Path) -> None:
    """Runs out of room at every step of a change: objects, ref, journal, board, index."""
    project = make_on(disk)
    acknowledged: list[Wish] = []
    changes = all_wishes(40)
    for room in ROOMS:
        for wish in itertools.islice(changes, len(Kind)):
            with disk.with_only(room):
                ran = gt_process(*wish.arguments, at=project.path)
                project.ok("list")
            if ran.code == 0:
                acknowledged.append(wish)
            else:
                assert_told(ran, project.path)
        after = Wish(Kind.NOTE, f"after-{room}", TASK)
        assert project.gt(*after.arguments).seen == f"{TASK}  note added\n--- 0\n"
        acknowledged.append(after)
        assert_sound(project)
    assert_each_once(project, acknowledged)
    assert_nothing_half_written(project)


def run(disk: Disk, outside: Path) -> None:
    """Runs agents, edits, begins work and merges with too little room, and then with enough."""
    project = make_run_project(disk.place / "repository", "unmarked", NO_REVIEW)
    editor = outside / "editor"
    editor.write_text('#!/bin/sh\necho more >> "$1"\n')
    editor.chmod(0o755)
    for room in RUN_ROOMS:
        name = f"r{room:03}"
        project.make(name)
        with disk.with_only(room):
            _try_everything(project, name, {"EDITOR": str(editor)})
        _do_everything(project, name)
    assert_sound(project)


def merge(disk: Disk, _: Path) -> None:
    """Approves and merges with too little room, and then with enough: each work reaches the base once, or waits."""
    project = make_run_project(
        disk.place / "repository", "unmarked", NO_REVIEW + "verify: {test: 'echo x > left'}\n"
    )
    for room in MERGE_ROOMS:
        name = f"m{room:03}"
        workspace = make_reviewing(project, name)
        git("reset", "--quiet", "--hard", "HEAD~1", at=workspace)
        commit_file(workspace, f"{name}.txt", "x\n")
        project.change(name, end_sha=git("rev-parse", "HEAD", at=workspace))
        before = git("rev-parse", "main", at=project.path)
        with disk.with_only(room):
            ran = gt_process("approve", name, at=project.path)
            assert ran.code != 70, ran.seen
            assert "Traceback" not in ran.seen, ran.seen
        merged = git("rev-parse", "main", at=project.path) != before
        task = project.task(name)
        assert task.is_open or merged, ran.seen
        if task.is_open:
            project.ok("merge" if task.is_merging else "approve", name)
        assert project.task(name).status is Status.DONE
        assert (project.path / f"{name}.txt").exists()
        assert git("status", "--porcelain", at=project.path) == ""
        assert project.merges().count(name) == 1
    assert_sound(project)


def _try_everything(project: RunProject, name: str, environment: dict[str, str]) -> None:
    commands = (
        ("run", "--headless", "--debounce", "0"),
        ("edit", name),
        ("config", "review_limit", "3"),
        ("init",),
        ("start", name),
        ("stop",),
    )
    for words in commands:
        ran = gt_process(*words, at=project.path, environment=environment)
        if "`df -h" in ran.err:
            assert_told(ran, project.path, 1, 64)
        assert ran.code != 70, (words, ran.seen)
        assert "Traceback" not in ran.seen, (words, ran.seen)
    assert gt_process("status", at=project.path).code == 0


def _do_everything(project: RunProject, name: str) -> None:
    if project.task(name).claim is not None:  # there was room enough to begin by hand
        workspace = project.workspace(name)
        git("commit", "-q", "--allow-empty", "-m", "by hand", at=workspace)
        project.ok("handoff", "it", at=workspace)
        project.ok("complete", at=workspace)
    ran = project.run(name)
    assert "warning" not in ran.err.replace("warning: no sandbox", ""), ran.seen
    project.ok("approve", name)
    assert project.task(name).status is Status.DONE, ran.seen


def board(disk: Disk, outside: Path) -> None:
    """Keeps the board on a full file system of its own: changes are acknowledged, and it follows once there is room."""
    project = make_project(outside / "repository")
    assert project.board.stat().st_dev == disk.place.stat().st_dev != outside.stat().st_dev
    project.make(TASK)
    project.ok("list")
    acknowledged: list[Wish] = []
    changes = all_wishes(40)
    for room in ROOMS[:3]:
        with disk.with_only(room):
            for wish in itertools.islice(changes, len(Kind)):
                ran = gt_process(*wish.arguments, at=project.path)
                assert ran.code == 0, ran.seen
                acknowledged.append(wish)
            assert_readable(project)
        after = Wish(Kind.NOTE, f"after-{room}", TASK)
        assert project.gt(*after.arguments).seen == f"{TASK}  note added\n--- 0\n"
        acknowledged.append(after)
        assert is_in_step(project.store.repository)
    assert_each_once(project, acknowledged)


def temporary(disk: Disk, outside: Path) -> None:
    """Has no room where temporary files belong: edits are joined and work is merged all the same."""
    project = make_project(outside / "repository")
    make_reviewing(project, TASK)
    project.make("m3xq", body="First.\n\nSecond.\n")
    with disk.with_only(0):
        environment = {"TMPDIR": str(disk.place)}
        file = project.board_file("m3xq")
        file.write_text(file.read_text().replace("First.", "First, by hand."))
        os.utime(file, (LONG_AGO, LONG_AGO))
        for words in (("note", "m3xq", "w-note"), ("create", "New"), ("list",), ("approve", TASK)):
            ran = gt_process(*words, at=project.path, environment=environment)
            assert ran.code == 0, ran.seen
    assert project.task(TASK).status is Status.DONE
    assert b"First, by hand." in project.file("m3xq").data
    assert project.notes("m3xq") == ["w-note"]
    assert fsck_problems(project.path) == ""
    assert project.board_status() == ""


def agent(disk: Disk, _: Path) -> None:
    """Lets an agent fill the disk: a run says so and loses nothing, one that goes on for ever works on once there is room."""
    project = make_run_project(disk.place / "repository", "unmarked", NO_REVIEW)
    project.settings("limits: {rest: 1s}\n")
    project.agent(f"cat /dev/zero > big.bin\n{DONE}")
    project.make(TASK)
    big = project.workspace(TASK) / "big.bin"
    ran = gt_process("run", "--headless", "--debounce", "0", at=project.path)
    assert (ran.code, "Traceback" in ran.seen) == (1, False), ran.seen
    assert "k7f2: skipped in this run: " in ran.err, ran.seen
    assert "no space left" in ran.err.lower(), ran.seen
    assert "its dead session could not be processed yet" in gt_process("health", at=project.path).out
    big.unlink()
    project.agent("[ -e once ] || { touch once; cat /dev/zero > big.bin; exit 1; }; rm once\n" + DONE)
    with project.running("--auto", "--all") as process:
        until(lambda: disk.free_kilobytes < 64 or process.poll() is not None, "the full disk")
        time.sleep(3)
        assert process.poll() is None, process.communicate()
        big.unlink()
        until(lambda: project.stands(TASK) == TO_REVIEW or process.poll() is not None, "the work")
        project.interrupt(process)
        said = process.communicate()[0]
    assert project.stands(TASK) == TO_REVIEW, said
    assert "Traceback" not in said, said
    assert_sound(project)


def sandboxed(disk: Disk, _: Path) -> None:
    """Lets an agent fill the disk after it committed in a sandbox: that is no fault of what it committed."""
    os.environ["GITTICKS_CONFIG_SANDBOX_PRESET"] = "permissive"
    project = make_run_project(disk.place / "repository", "unmarked", NO_REVIEW)
    commits = "head -c 500000 /dev/urandom > data.bin; git add data.bin; git commit -qm data\n"
    project.agent(f"{commits}cat /dev/zero > big.bin\ntruncate -s -400K big.bin\n")
    project.make(TASK)
    ran = gt_process("run", "--headless", "--debounce", "0", at=project.path)
    assert "no space left" in ran.err.lower(), ran.seen
    assert "refused" not in ran.seen, ran.seen
    (project.workspace(TASK) / "big.bin").unlink()
    project.agent(DONE)
    ran = gt_process("run", "--headless", "--debounce", "0", at=project.path)
    assert project.stands(TASK) == TO_REVIEW, ran.seen
    subjects = git("log", "--format=%s", "main..gitticks/work/k7f2", at=project.path).splitlines()
    assert "data" in subjects, ran.seen
    assert_sound(project)


SCENES = {
    "agent": agent,
    "sandboxed": sandboxed,
    "fill": fill,
    "sweep": sweep,
    "run": run,
    "merge": merge,
    "board": board,
    "temporary": temporary,
}

if __name__ == "__main__":
    main()
