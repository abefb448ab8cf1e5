"""Checks tasks and their files: unreadable or misplaced ones, cycles, dangling links, impossible states, conflicts."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from shlex import quote

from gitticks.actions.conflict_markers import marked_tasks, unmerged_on_board
from gitticks.actions.context import Context
from gitticks.actions.dependencies import cycles_of
from gitticks.actions.doctor import Finding, Repair, fault, warning
from gitticks.actions.doctor.machine import unknown_workers
from gitticks.board.judge_edit import home_of
from gitticks.document.history import read_history
from gitticks.document.sections import Body
from gitticks.document.taskfile import read_task
from gitticks.document.texts import Source
from gitticks.errors import GitticksError
from gitticks.git.process import run_git
from gitticks.model.ids import BOARD_FOLDER, TaskId, task_folder, task_path
from gitticks.model.notes import Section
from gitticks.model.queries import TaskGraph
from gitticks.model.status import Awaiting
from gitticks.model.task import Task
from gitticks.store import layout
from gitticks.store.index import BrokenFile, Index, open_index
from gitticks.store.layout import state_tip
from gitticks.store.merging.files import standing_beside
from gitticks.workflow.history_rules import impossible
from gitticks.workflow.transitions import AWAITED_IN

_NAMES = "|".join(name.replace(" ", r"[ \t]+") for name in Section)
_NAMED = re.compile(rf"^[ \t#]*({_NAMES})[ \t#\r]*$".encode(), re.IGNORECASE | re.MULTILINE)
"""Lines that may be the heading of a section, in code and quotes too; headings themselves take longer to find."""


def check_files(context: Context) -> Iterator[Finding]:
    """Yields what is wrong with the files of the tasks."""
    with open_index(context.repository) as index:
        ids = frozenset(index.find_ids(""))
        yield from (_broken(context, file, ids) for file in index.broken())
        yield from _unread_lines(index, sorted(ids))


def _broken(context: Context, file: BrokenFile, ids: frozenset[TaskId]) -> Finding:
    folder, home = file.path.rpartition("/")[0], _home(context, file.path, ids)
    what = f"{BOARD_FOLDER}/{file.message}"
    belongs = f"{BOARD_FOLDER}/{file.path}: the task belongs in `{home}`"
    if file.task_id is not None:
        log = (
            f"`git -C {BOARD_FOLDER} log --patch -- {quote(file.path)}` shows what it was: commit that again"
        )
        fix = f"`gt edit {file.task_id}`" if file.task_id in ids else log
    elif layout.task_of_path(file.path) is not None or not file.path.endswith(layout.TASK_FILE):
        fix = "`gt doctor --full` says what is damaged, and how to restore it"
    elif home is None:
        fix = "move the file to where it belongs"
    elif _named(home) in ids:
        what = f"{belongs}, where another one has that id"
        fix = (
            f"`diff -r {quote(f'{BOARD_FOLDER}/{folder}')} {BOARD_FOLDER}/{home}` compares them; "
            f"`git -C {BOARD_FOLDER} rm -rq {quote(folder)} && git -C {BOARD_FOLDER} commit --no-verify -m 'remove a double'` "
            "drops the one in the wrong place"
        )
    else:
        what = belongs
        fix = (
            f"`mkdir -p {BOARD_FOLDER}/{home.rpartition('/')[0]} && git -C {BOARD_FOLDER} mv {quote(folder)} {home} && "
            f"git -C {BOARD_FOLDER} commit -m 'move a task home'`"
        )
    return fault(what, fix, task=layout.task_of_path(file.path) or _named(home))


def _home(context: Context, path: str, ids: frozenset[TaskId]) -> str | None:
    """Returns the folder that a task in the wrong place belongs in: by the id in its file where no other task has that."""
    content = context.store.read(path) if layout.task_of_path(path) is None else None
    if content is not None and home_of(path) is not None:
        with contextlib.suppress(GitticksError):
            task_id = read_task(content, path).id
            if task_id not in ids:
                return task_folder(task_id)
    return home_of(path)


def _named(folder: str | None) -> TaskId | None:
    return None if folder is None else TaskId(folder.rpartition("/")[2])


def _unread_lines(index: Index, ids: Iterable[TaskId]) -> Iterator[Finding]:
    """Yields a warning for each history with lines that say nothing to this gitticks."""
    for task_id in ids:
        history = read_history(index.history(task_id))
        if not history.broken and not history.torn:
            continue
        place = f"{BOARD_FOLDER}/{layout.history_path(task_id)}"
        first = history.broken[0] if history.broken else None
        where = "its last line is cut off" if first is None else f"{first.problem} (line {first.line})"
        count = len(history.broken) + bool(history.torn)
        more = f", and {count - 1} more" if count > 1 else ""
        yield warning(
            f"{place}: {where}{more}",
            "such lines are kept but ignored; a newer gitticks may know them",
            task=task_id,
        )


def check_tasks(context: Context) -> Iterator[Finding]:
    """Yields what is wrong with the tasks."""
    with open_index(context.repository) as index:
        tasks, unreadable = index.tasks(), index.unreadable()
    graph = TaskGraph.of(tasks, unreadable)
    for cycle in cycles_of(graph):
        yield fault(f"tasks wait for one another in a cycle: {cycle.words}", cycle.fix)
    for task in tasks:
        yield from _impossible(task)
        if task.is_open:
            yield from _dangling(graph, task)
    yield from unknown_workers(context, (task for task in tasks if task.is_open))


def _dangling(graph: TaskGraph, task: Task) -> Iterator[Finding]:
    for blocker in graph.idle_blockers(task):
        is_missing = blocker not in graph.tasks
        yield warning(
            f"`{task.id}` is blocked by `{blocker}`, which {'does not exist' if is_missing else 'was cancelled'}",
            f"`gt unblock {task.id} {blocker}`",
            task=task.id,
        )
    if task.parent is not None and task.parent not in graph.tasks and task.parent not in graph.unreadable:
        yield warning(
            f"the parent of `{task.id}`, `{task.parent}`, does not exist",
            f"`gt update {task.id} --parent=null`",
            task=task.id,
        )


def _impossible(task: Task) -> Iterator[Finding]:
    """Yields an error for a task in a state that no decision leads to."""
    problem = impossible(task)
    if problem is None:
        return
    kind = AWAITED_IN.get(task.status, Awaiting.REVIEW)
    if kind is task.awaiting:
        kind = Awaiting.APPROVAL
    fix = f"`gt update {task.id} --awaiting {kind}` makes it a person's turn, and clears the rest"
    if not task.is_open:
        fix = f"`gt reopen {task.id}`, then close it again"
    yield fault(f"`{task.id}` {problem}", fix, task=task.id)


def check_texts(context: Context) -> Iterator[Finding]:
    """Yields the open tasks in which a section appears twice: what is in the first one reaches nobody.

    A conflict, which keeps both sides' section, is another check's.
    """
    with open_index(context.repository) as index:
        doubtful = [task_id for task_id, data, _ in index.texts(open_only=True) if _names_one_twice(data)]
        conflicts = index.conflicts()
        bodies = [(task_id, *index.body(task_id)) for task_id in doubtful if task_id not in conflicts]
    for task_id, text, first_line in bodies:
        body = Body(Source(text, f"{BOARD_FOLDER}/{task_path(task_id)}", first_line))
        for message in body.warnings:
            yield warning(message, f"`gt edit {task_id}` opens it", task=task_id)


def _names_one_twice(data: bytes) -> bool:
    names = [b" ".join(name.lower().split()) for name in _NAMED.findall(data)]
    return len(names) > len(set(names))


def check_conflicts(context: Context) -> Iterator[Finding]:
    """Yields each with the line where it begins; what git merged by lines the doctor can join by meaning."""
    marked = marked_tasks(context)
    with open_index(context.repository) as index:
        conflicts = index.conflicts()
    for task_id, line in sorted({**conflicts, **marked}.items()):
        what, fix = "both versions of a conflict are here, marked", f"`gt edit {task_id}`"
        if task_id in marked:
            what = "git merged this task line by line"
            fix = "`gt doctor --fix` merges both sides by meaning"
        repair = Repair.MARKERS if task_id in marked else None
        yield warning(f"{BOARD_FOLDER}/{task_path(task_id)}:{line}: {what}", fix, repair, task=task_id)
    for found in unmerged_on_board(context):
        yield warning(
            f"{BOARD_FOLDER}/{found.path}: one side deleted what the other changed, and the merge waits"
            if found.line is None
            else f"{BOARD_FOLDER}/{found.path}:{found.line}: git merged this {'task' if found.joined is None else 'file'} line by line, and the merge waits",
            "`gt doctor --fix` merges both sides, and says how to go on",
            Repair.MARKERS,
        )


def check_kept(context: Context) -> Iterator[Finding]:
    """Yields each text that a merge could not join and kept in a file of its own, until somebody takes that away."""
    asked = ["ls-tree", "-r", "-z", "--name-only", state_tip(context.repository)]
    for path in run_git(asked, repository_dir=context.repository.common_dir).text.split("\0"):
        standing = standing_beside(path)
        if standing is not None:
            yield _kept(path, standing)


def _kept(path: str, standing: str) -> Finding:
    here, there = quote(f"{BOARD_FOLDER}/{standing}"), quote(f"{BOARD_FOLDER}/{path}")
    git, file = f"git -C {BOARD_FOLDER}", quote(path)
    return warning(
        f"{BOARD_FOLDER}/{path}: a merge could not combine this with `{standing}` and kept both; "
        f"`diff {here} {there}` compares them",
        f"`{git} rm -q {file} && {git} commit -qm 'resolve a conflict' {file}` removes it, once the right text "
        f"is in `{standing}`",
        task=layout.task_around(path),
    )
