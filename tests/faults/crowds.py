"""State branches with more tasks than commands could write one by one, made by git's fast import in one commit."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator

from gitticks.model.ids import TaskId, task_path
from tests.faults.scene import STATE, Scene

_COMMITTER = "Ada Lovelace <ada@example.org> 1772600400 +0000"


def put_crowd(scene: Scene, tasks: Iterable[tuple[str, str]]) -> None:
    """Adds tasks, each an id and lines of its frontmatter, to the state branch by one commit past every check."""
    importing = ["git", "-C", str(scene.path), "fast-import", "--quiet", "--done"]
    with subprocess.Popen(importing, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.writelines(_stream(tasks))
    assert process.returncode == 0


def _stream(tasks: Iterable[tuple[str, str]]) -> Iterator[bytes]:
    yield (
        f"commit {STATE}\ncommitter {_COMMITTER}\n".encode() + _data("a crowd") + f"from {STATE}^0\n".encode()
    )
    for task, lines in tasks:
        text = f"---\nid: {task}\ntitle: Task {task}\nstatus: pending\n{lines}created: 2026-03-04T05:00:00Z\n---\n"
        yield f"M 100644 inline {task_path(TaskId(task))}\n".encode() + _data(text)
    yield b"done\n"


def _data(text: str) -> bytes:
    content = text.encode()
    return b"data %d\n%s\n" % (len(content), content)


def in_one_epic(count: int) -> Iterator[tuple[str, str]]:
    """Yields an epic, `big`, and `count` tasks in it."""
    yield "big", "type: epic\n"
    yield from ((_id(number), "parent: big\n") for number in range(count))


def in_a_cycle(count: int) -> Iterator[tuple[str, str]]:
    """Yields tasks of which each waits for the next and the last for the first."""
    yield from ((_id(number), f"blocked_by: [{_id((number + 1) % count)}]\n") for number in range(count))


def in_one_line(count: int) -> Iterator[tuple[str, str]]:
    """Yields epics of which each is in the one before."""
    yield from (
        (_id(number), "type: epic\n" + (f"parent: {_id(number - 1)}\n" if number else ""))
        for number in range(count)
    )


def in_a_cycle_of_parents(count: int) -> Iterator[tuple[str, str]]:
    """Yields epics of which each is in the next and the last in the first."""
    yield from (
        (_id(number), f"type: epic\nparent: {_id((number + 1) % count)}\n") for number in range(count)
    )


def _id(number: int) -> str:
    return f"t{number:06}"
