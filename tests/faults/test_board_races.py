"""A person saves on the board, in place and by renaming, beside writers, `git commit -am`, a watch, and kills.

Whatever they meet: every word that was saved is there in the end, and no count of ours ever goes back.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.taking_up import take_up
from gitticks.board.step import WORKTREE_BOARD, pending
from gitticks.model.ids import TaskId, task_path
from tests.cli.support import command
from tests.support.doses import LONGEST_TEST_SECONDS, dose
from tests.support.figures import record
from tests.support.projects import Project, make_project
from tests.support.repositories import fsck_problems, git

TASK = "k7f2"
SAVES = dose(24, 400)
COMMITS = dose(4, 100)
KILLS = dose(4, 40)
PATH = task_path(TaskId(TASK))
_SETTLING = 20
_COMMITTED = "committed"

WRITER = """
import sys
import time
from dataclasses import replace
from pathlib import Path
from gitticks.git.identity import Identity
from gitticks.git.repository import discover
from gitticks.model.ids import TaskId
from gitticks.board.step import WORKTREE_BOARD
from gitticks.store.branch import Store

store = Store(discover(Path(sys.argv[1])), WORKTREE_BOARD)

def count(transaction):
    file = transaction.task_file(TaskId(sys.argv[2]))
    transaction.put_task(file.with_task(replace(file.task, crash_count=file.task.crash_count + 1)))

while True:
    store.transact(count, author=Identity("engine", "engine@example.org"))
    print("x", flush=True)
    time.sleep(float(sys.argv[3]))
"""


class Person(threading.Thread):
    """Adds one line to the task's text at each save, in place and by renaming in turn."""

    def __init__(self, project: Project) -> None:
        super().__init__(daemon=True)
        self._file = project.board_file(TASK)
        self._over = threading.Event()
        self.saved: list[str] = []

    def run(self) -> None:
        """Saves until all is saved; what it read may be old when it writes, as in any editor."""
        for _ in range(SAVES):
            self.save_one_more()
            self._over.wait(0.03)

    def save_one_more(self) -> None:
        """Reads the file and saves it with one line more."""
        number = len(self.saved)
        text = self._file.read_text()
        word = f"edit {number:04}"
        changed = f"{text.rstrip()}\n\n{word}\n"
        if number % 2:
            aside = self._file.with_name(".TASK.md.swp")
            aside.write_text(changed)
            aside.replace(self._file)
        else:
            self._file.write_text(changed)
        self.saved.append(word)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path / "repository")
    made.make(TASK, body="The text.\n")
    with (made.path / ".git/info/exclude").open("a") as end:
        end.write(".TASK.md.swp\n")
    return made


@contextlib.contextmanager
def writer(project: Project, pause: float) -> Iterator[subprocess.Popen[str]]:
    """Runs a process that counts one up again and again, and says each that is acknowledged."""
    arguments = [sys.executable, "-c", WRITER, str(project.path), TASK, str(pause)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env={**os.environ}) as process:
        try:
            yield process
        finally:
            process.kill()


def lines_of(process: subprocess.Popen[str], count: int | None = None) -> int:
    """Reads what a writer acknowledged: `count` lines, or all until its end."""
    assert process.stdout is not None
    read = 0
    while read != count and process.stdout.readline():
        read += 1
    return read


def settle(project: Project) -> None:
    """Takes up what is left, as the person's next `gt status` does."""
    for _ in range(_SETTLING):
        take_up(Context(directory=project.path))
        if not project.board_status() and not pending(project.store.repository):
            return
        time.sleep(0.05)


def counts(project: Project) -> list[int]:
    """Returns our count in each commit of the state branch, oldest first."""
    commits = git("rev-list", "--reverse", "gitticks/state", "--", PATH, at=project.path).split()
    texts = (git("show", f"{commit}:{PATH}", at=project.path) for commit in commits)
    found = (re.search(r"^crash_count: (\d+)$", text, re.MULTILINE) for text in texts)
    return [int(match[1]) if match else 0 for match in found]


def assert_nothing_lost(project: Project, person: Person, acknowledged: int, name: str, **more: int) -> None:
    settle(project)
    on_board = project.board_file(TASK).read_text()
    on_branch = project.file(TASK).data.decode()
    lost = [word for word in person.saved if word not in on_board]
    numbers = counts(project)
    reverted = sum(after < before for before, after in itertools.pairwise(numbers))
    not_taken = len([word for word in person.saved if word not in on_branch])
    record(
        name,
        saves=len(person.saved),
        writes=acknowledged,
        lost_edits=len(lost),
        reverted_fields=reverted,
        left_in_conflict=not_taken,
        **more,
    )
    assert lost == []
    assert reverted == 0
    assert numbers[-1] >= acknowledged
    assert not_taken == 0
    assert fsck_problems(project.path) == ""


@pytest.mark.timeout(LONGEST_TEST_SECONDS)
def test_saves_beside_a_writer_and_commits(project: Project) -> None:
    person = Person(project)
    answers: Counter[str] = Counter()
    with writer(project, 0.3) as process:
        person.start()
        while answers[_COMMITTED] < COMMITS and answers.total() < 5 * COMMITS:  # slow machines refuse most
            answers[commit_by_hand(project)] += 1
            if not person.is_alive():
                person.save_one_more()
        person.join()
        process.kill()
        acknowledged = lines_of(process)
    name = "saves on the board beside a writer and `git commit -am`"
    assert_nothing_lost(project, person, acknowledged, name, **answers)


def commit_by_hand(project: Project) -> str:
    """Commits all that is saved as a person does, who follows the hint and tries again; returns what came of it."""
    done = subprocess.run(
        ["git", "commit", "-qam", "mine"], cwd=project.board, capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    time.sleep(0.05)
    if done.returncode == 0:
        return _COMMITTED
    if "lag" in said:
        project.ok("status")
        return "the board lagged"
    if "File exists" in said:
        return "git was locked"
    return "nothing to commit" if "nothing" in said else "refused"


@pytest.mark.timeout(LONGEST_TEST_SECONDS)
def test_saves_beside_a_writer_and_a_watch(project: Project) -> None:
    person = Person(project)
    watch = subprocess.Popen(
        command("watch", "--json"), cwd=project.path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        assert watch.stderr is not None
        watch.stderr.readline()
        with writer(project, 0.05) as process:
            person.start()
            person.join()
            process.kill()
            acknowledged = lines_of(process)
    finally:
        watch.terminate()
        watch.communicate()
    assert_nothing_lost(project, person, acknowledged, "saves on the board beside a writer and a watch")


@pytest.mark.timeout(LONGEST_TEST_SECONDS)
def test_saves_beside_writers_that_are_killed(project: Project) -> None:
    person = Person(project)
    person.start()
    acknowledged = 0
    for kill in range(KILLS):
        with writer(project, 0) as process:
            acknowledged += lines_of(process, 1)
            time.sleep(0.002 * (kill % 17))  # anywhere between two moves of the branch
            process.kill()
            acknowledged += lines_of(process)
    person.join()
    WORKTREE_BOARD.bring_in_step(project.store.repository)
    name = "saves on the board beside writers that are killed"
    assert_nothing_lost(project, person, acknowledged, name, kills=KILLS)
