"""Checkpoints on the state branch, a JSON file each, and the refs that keep their code in this clone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

from gitticks.document.values import format_time, parse_time
from gitticks.errors import DocumentError, GitticksError
from gitticks.git.process import run_git
from gitticks.git.refs import is_object_id
from gitticks.git.sharing import local_refs
from gitticks.model.checkpoint import Cause, Checkpoint, checkpoint_id, next_number
from gitticks.model.ids import WORK_BRANCH, TaskId, is_valid_id
from gitticks.model.queries import TaskGraph
from gitticks.model.status import Status
from gitticks.model.task import NOTHING_SPENT, Task, Usage
from gitticks.store import layout
from gitticks.store.branch import Store
from gitticks.store.transaction import Transaction

REFS = "refs/gitticks/checkpoints/"
SCHEMA = 1
_ENDING = ".json"
_MOST_DIGITS = 9


def ref_of(workspace: TaskId, number: int) -> str:
    """Returns the ref that keeps a checkpoint's code."""
    return f"{REFS}{workspace}/{number}"


def path_of(workspace: TaskId, number: int) -> str:
    """Returns where a checkpoint is on the state branch."""
    return f"{layout.checkpoints_folder(workspace)}/{number:04}{_ENDING}"


def workspace_of(task: Task) -> TaskId:
    """Returns the task or epic whose workspace a task is worked on in."""
    branch = task.branch or ""
    owner = branch.removeprefix(WORK_BRANCH)
    return TaskId(owner) if owner != branch and is_valid_id(owner) else task.id


def members(transaction: Transaction, workspace: TaskId) -> tuple[Task, ...]:
    """Returns the tasks that are worked on in a workspace, with the epic it is of, sorted by id."""
    try:
        owner = transaction.task_file(workspace).task
    except GitticksError:  # somebody removed it, or its file is broken
        return ()
    if not owner.is_epic:
        return (owner,)
    tasks = transaction.all_tasks().values()
    return tuple(
        sorted(
            (one for one in tasks if one.id == workspace or workspace_of(one) == workspace),
            key=attrgetter("id"),
        )
    )


def scratchpad_of(task: Task) -> str:
    """Returns the path of the scratchpad that a task's agents add to."""
    return layout.scratchpad_path(task.id if task.is_epic else task.parent or task.id)


def iterations_around(store: Store, task: Task) -> int:
    """Returns how many iterations the tasks of a task's workspace took."""
    workspace = workspace_of(task)
    is_alone = workspace == task.id and not task.is_epic
    there = (task,) if is_alone else members(store.snapshot(), workspace)
    return sum(one.usage.iterations for one in there)


def put(
    transaction: Transaction, task: Task, cause: Cause, *, at: datetime, head: str, commit: str
) -> Checkpoint:
    """Writes a checkpoint of a task's workspace and returns it; one that says the same again is not written twice."""
    workspace = workspace_of(task)
    usage = {one.id: one.usage for one in members(transaction, workspace) if one.usage != NOTHING_SPENT}
    taken = numbers(transaction, workspace)
    iterations = sum(one.iterations for one in usage.values())
    epic, completed = _of_epic(transaction, task)
    made = Checkpoint(
        workspace,
        next_number(iterations, taken),
        at,
        cause,
        task.id,
        epic,
        usage,
        completed,
        (transaction.read(scratchpad_of(task)) or b"").decode("utf-8", "replace"),
        head,
        commit,
    )
    before = read(transaction, workspace, taken[-1]) if taken else None
    if before is not None and (before.usage, before.commit) == (made.usage, made.commit):
        return before
    transaction.write(path_of(workspace, made.number), render(made))
    return made


def _of_epic(transaction: Transaction, task: Task) -> tuple[TaskId | None, tuple[TaskId, ...]]:
    if task.parent is None and not task.is_epic:
        return None, ()
    graph = TaskGraph.of(transaction.all_tasks().values())
    epic = task if task.is_epic else next((one for one in graph.ancestors(task) if one.is_epic), None)
    if epic is None:
        return None, ()
    done = (one for one in graph.below(epic.id) if graph.tasks[one].status is Status.DONE)
    return epic.id, tuple(sorted(done))


def numbers(source: Transaction, workspace: TaskId) -> list[int]:
    """Returns the numbers of a workspace's checkpoints, in order; files of other names are none."""
    names = source.list(layout.checkpoints_folder(workspace))
    found = (name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING))
    return sorted(int(one) for one in found if is_number(one))


def is_number(text: str) -> bool:
    """True for what may be the number of a checkpoint."""
    return text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS


def read(source: Transaction, workspace: TaskId, number: int) -> Checkpoint | None:
    """Returns a checkpoint; None if there is none of that number, or its file cannot be read."""
    path = path_of(workspace, number)
    content = source.read(path)
    try:
        return None if content is None else parse(content, workspace, number)
    except DocumentError:
        return None


class StoredCheckpoint(NamedTuple):
    """A checkpoint as it is on the branch; `checkpoint` is None where its file cannot be read, for `problem`."""

    workspace: TaskId
    number: int
    path: str
    checkpoint: Checkpoint | None
    problem: str = ""

    @property
    def id(self) -> str:
        """Returns `k7f2-14`."""
        return checkpoint_id(self.workspace, self.number)


def read_all(store: Store, workspace: TaskId | None = None) -> list[StoredCheckpoint]:
    """Returns the checkpoints of one workspace, or of all, sorted by workspace and number."""
    top = layout.TASKS_FOLDER if workspace is None else layout.checkpoints_folder(workspace)
    listed = run_git(
        ["ls-tree", "-r", "-z", "--full-tree", "--end-of-options", store.tip(), f"{top}/"],
        repository_dir=store.repository.common_dir,
    ).stdout.split(b"\0")
    blobs: dict[tuple[TaskId, int], tuple[str, str]] = {}
    for line in listed:
        header, _, name = line.partition(b"\t")
        path = name.decode("utf-8", "replace")
        place = _place_of(path)
        if place is not None and header.startswith(b"100"):
            blobs[place] = (path, header.split(b" ")[2].decode())
    contents = store.objects.read_blobs([blob for _, blob in blobs.values()]) if blobs else {}
    return [_stored(place, path, contents.get(blob)) for place, (path, blob) in sorted(blobs.items())]


def _place_of(path: str) -> tuple[TaskId, int] | None:
    task_id = layout.task_around(path)
    if task_id is None:
        return None
    name = path.removeprefix(f"{layout.checkpoints_folder(task_id)}/").removesuffix(_ENDING)
    return (task_id, int(name)) if is_number(name) and path == path_of(task_id, int(name)) else None


def _stored(place: tuple[TaskId, int], path: str, content: bytes | None) -> StoredCheckpoint:
    if content is None:
        return StoredCheckpoint(*place, path, None, "its object cannot be read")
    try:
        return StoredCheckpoint(*place, path, parse(content, *place))
    except DocumentError as error:
        return StoredCheckpoint(*place, path, None, error.problem)


def kept_refs(store: Store) -> dict[tuple[TaskId, int], str]:
    """Returns the commits that this clone keeps for checkpoints."""
    found = {}
    for name, commit in local_refs(store.repository, REFS).items():
        workspace, _, number = name.removeprefix(REFS).rpartition("/")
        if is_valid_id(workspace) and is_number(number):
            found[TaskId(workspace), int(number)] = commit
    return found


def missing_commits(store: Store, commits: Iterable[str]) -> frozenset[str]:
    """Returns those of some commits that are not stored in this clone."""
    return frozenset(commit for commit in commits if not store.objects.has(commit))


def render(checkpoint: Checkpoint) -> bytes:
    """Returns a checkpoint's file."""
    total = checkpoint.total
    body = {
        "schema": SCHEMA,
        "id": checkpoint.id,
        "time": format_time(checkpoint.at),
        "cause": checkpoint.cause.value,
        "workspace": checkpoint.workspace,
        "task": checkpoint.task,
        "epic": checkpoint.epic,
        "iteration": total.iterations,
        "tokens": total.tokens_in + total.tokens_out,
        "cost": total.cost,
        "usage": {one: spent._asdict() for one, spent in sorted(checkpoint.usage.items())},
        "completed_tasks": list(checkpoint.completed),
        "head": checkpoint.head,
        "git_commit": checkpoint.commit,
        "scratchpad": checkpoint.scratchpad,
    }
    return json.dumps(body, ensure_ascii=False, indent=1).encode("utf-8", "replace") + b"\n"


def parse(content: bytes, workspace: TaskId, number: int) -> Checkpoint:
    """Returns the checkpoint that a file holds; anybody may have written it.

    Raises:
        DocumentError: it holds none.
    """
    path = path_of(workspace, number)
    try:
        body = json.loads(content)
        at = parse_time(body["time"])
        ids = (
            body["task"],
            *body["usage"],
            *body["completed_tasks"],
            *([body["epic"]] if body["epic"] else []),
        )
        commits = (body["head"], body["git_commit"])
        if at is None or not all(map(is_valid_id, ids)) or not all(map(is_object_id, commits)):
            raise DocumentError("it is not a checkpoint", path=path)
        return Checkpoint(
            workspace,
            number,
            at,
            Cause(body["cause"]),
            TaskId(body["task"]),
            None if body["epic"] is None else TaskId(body["epic"]),
            {TaskId(one): _usage(spent) for one, spent in body["usage"].items()},
            tuple(map(TaskId, body["completed_tasks"])),
            str(body["scratchpad"]),
            *commits,
        )
    except json.JSONDecodeError as error:
        raise DocumentError(error.msg, path=path, line=error.lineno, column=error.colno) from None
    except (ValueError, OverflowError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DocumentError("it is not a checkpoint", path=path) from error


def _usage(spent: Mapping[str, Any]) -> Usage:
    usage = Usage(
        int(spent["iterations"]),
        int(spent["tokens_in"]),
        int(spent["tokens_out"]),
        float(spent["cost"]),
        float(spent["seconds"]),
    )
    if not all(0 <= figure < 1e15 for figure in usage):  # noqa: PLR2004 - more than anybody spends
        raise ValueError(usage)
    return usage
