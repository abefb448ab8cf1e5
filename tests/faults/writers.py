"""Writers that work at once: what each asks for, and what must stand on the branch when all are done.

Every change carries a marker of its own, so that a lost one and a doubled one are both seen. Started as a program,
this module is one living writer: it opens the repository, waits for a line, and then makes its changes one after the
other, printing each once it is acknowledged.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum

from gitticks.actions.context import Context
from gitticks.actions.update import Changes, NewTask, create_task, note_task, update_task
from gitticks.board.step import is_in_step
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId
from gitticks.store import layout
from gitticks.store.index import open_index
from tests.cli.support import gt_process
from tests.support.projects import Project
from tests.support.repositories import fsck_problems, git
from tests.support.waiting import LONGEST_SECONDS

IS_FULL = os.environ.get("GITTICKS_DOSE") == "full"


class Kind(StrEnum):
    """The three changes that writers make."""

    CREATE = "create"
    NOTE = "note"
    LABEL = "label"


@dataclass(frozen=True, slots=True)
class Wish:
    """One change; `marker` is its title, its note's text or its label, and `task` the task that it is made to."""

    kind: Kind
    marker: str
    task: str

    @property
    def arguments(self) -> list[str]:
        """Returns the words that ask `gt` for it."""
        if self.kind is Kind.CREATE:
            return ["create", self.marker]
        if self.kind is Kind.NOTE:
            return ["note", self.task, self.marker]
        return ["update", self.task, "--label", f"+{self.marker}"]

    def make(self, context: Context) -> None:
        """Makes the change in this process."""
        if self.kind is Kind.CREATE:
            create_task(context, NewTask(self.marker, {}))
        elif self.kind is Kind.NOTE:
            note_task(context, TaskId(self.task), self.marker)
        else:
            update_task(context, TaskId(self.task), Changes({"labels": (f"+{self.marker}",)}))


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A change that was acknowledged; times are seconds of the machine's monotonic clock."""

    wish: Wish
    begun: float
    ended: float

    @property
    def seconds(self) -> float:
        """Returns how long its writer waited."""
        return self.ended - self.begun


def wishes_of(writer: str, count: int, tasks: Sequence[str]) -> list[Wish]:
    """Returns what a writer asks for: each kind in turn, over all the tasks."""
    kinds = list(Kind)
    return [
        Wish(kinds[number % len(kinds)], f"{writer}-{number}", tasks[number % len(tasks)])
        for number in range(count)
    ]


def live_writers(project: Project, plans: Sequence[Sequence[Wish]]) -> list[Acknowledged]:
    """Lets one living process carry out each plan, all at once, and returns everything that was acknowledged."""
    writers = [_start(project, plan) for plan in plans]
    try:
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
        answers = _let_go(writers)
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
    return [
        Acknowledged(wish, *times)
        for plan, times_of in zip(plans, answers, strict=True)
        for wish, times in zip(plan, times_of, strict=True)
    ]


def _start(project: Project, plan: Sequence[Wish]) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.writers"],
        cwd=project.path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps([[wish.kind, wish.marker, wish.task] for wish in plan]) + "\n")
    process.stdin.flush()
    return process


def _let_go(writers: Sequence[subprocess.Popen[str]]) -> list[list[tuple[float, float]]]:
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    with ThreadPoolExecutor(len(writers)) as readers:
        outs = list(readers.map(lambda writer: writer.communicate(timeout=LONGEST_SECONDS)[0], writers))
    assert [writer.returncode for writer in writers] == [0] * len(writers)
    return [
        [(float(begun), float(ended)) for begun, ended in map(str.split, out.splitlines())] for out in outs
    ]


def gt_writers(project: Project, plans: Sequence[Sequence[Wish]]) -> list[Acknowledged]:
    """Lets `gt` carry out each plan, a process for each change, and returns everything that was acknowledged."""

    def carry_out(plan: Sequence[Wish]) -> list[Acknowledged]:
        return [_acknowledged_by_gt(project, wish) for wish in plan]

    with ThreadPoolExecutor(len(plans)) as pool:
        return [one for done in pool.map(carry_out, plans) for one in done]


def _acknowledged_by_gt(project: Project, wish: Wish) -> Acknowledged:
    begun = time.monotonic()
    ran = gt_process(*wish.arguments, at=project.path)
    assert (ran.code, ran.err) == (0, ""), ran.seen
    return Acknowledged(wish, begun, time.monotonic())


def longest_wait(acknowledged: Iterable[Acknowledged]) -> float:
    """Returns how long the writer waited that waited longest, in seconds."""
    return round(max(one.seconds for one in acknowledged), 3)


def most_overtaken(acknowledged: Sequence[Acknowledged]) -> int:
    """Returns how many other changes were acknowledged while one waited, for the one that was passed over most often.

    Where writers get their turn in the order they asked, that is about their number; it does not grow with a slow or
    busy machine, as the seconds do.
    """
    ends = sorted(one.ended for one in acknowledged)
    return max(bisect_left(ends, one.ended) - bisect_right(ends, one.begun) for one in acknowledged)


def assert_each_once(project: Project, wishes: Iterable[Wish]) -> None:
    """Fails if a change is missing, is there twice, or stands half; and if the board or the index does not agree."""
    wanted = {kind: Counter(wish.marker for wish in wishes if wish.kind is kind) for kind in Kind}
    assert max(max(markers.values()) for markers in wanted.values() if markers) == 1, "a marker is no marker"
    assert _found(project) == wanted
    assert_events_match(project)
    assert_sound(project)


def _found(project: Project) -> dict[Kind, Counter[str]]:
    tasks = project.store.snapshot().all_tasks()
    marked = [task.title for task in tasks.values() if "-" in task.title]
    return {
        Kind.CREATE: Counter(marked),
        Kind.NOTE: Counter(text for task_id in tasks for text in project.notes(task_id)),
        Kind.LABEL: Counter(label for task in tasks.values() for label in task.labels),
    }


def assert_events_match(project: Project) -> None:
    """Fails if a history has other events than its task shows, or a line that cannot be read."""
    for task_id, task in project.store.snapshot().all_tasks().items():
        lines = (project.store.read(layout.history_path(task_id)) or b"").decode().splitlines()
        kinds = Counter(json.loads(line)["type"] for line in lines)
        assert kinds == +Counter(
            {
                EventType.CREATED.value: 1,
                EventType.NOTED.value: len(project.notes(task_id)),
                EventType.FIELDS_CHANGED.value: len(task.labels),
            }
        )


def assert_sound(project: Project) -> None:
    """Fails if git finds a fault, a lock or half a file lies about, or the board or the index is behind."""
    assert fsck_problems(project.path) == ""
    assert project.board_status() == ""
    assert is_in_step(project.store.repository)
    with open_index(project.store.repository) as index:
        shown = {task.id: task for task in index.tasks()}
        assert not index.broken()
    assert shown == project.store.snapshot().all_tasks()
    git_dir = project.path / ".git"
    own = git_dir / "gitticks"
    assert [path for path in git_dir.rglob("*.lock") if own not in path.parents] == []
    assert [path for path in (own / "tmp").rglob("*") if path.is_file()] == []


def commits_since(project: Project, commit: str) -> int:
    """Returns how many commits the state branch has on top of one."""
    return int(git("rev-list", "--count", f"{commit}..gitticks/state", at=project.path))


def main() -> None:
    """Carries out the plan on stdin's first line once a second line comes."""
    plan = [Wish(Kind(kind), marker, task) for kind, marker, task in json.loads(sys.stdin.readline())]
    context = Context()
    context.store.tip()
    print("ready", flush=True)  # noqa: T201 - the test waits for it
    sys.stdin.readline()
    for wish in plan:
        begun = time.monotonic()
        wish.make(context)
        print(begun, time.monotonic(), flush=True)  # noqa: T201 - the acknowledgement


if __name__ == "__main__":
    main()
