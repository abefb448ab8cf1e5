"""Checks files on the state branch: unreadable, misplaced or foreign ones, and meaningless lines."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from shlex import quote

from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Severity
from gitticks.board.moved_folders import home_of
from gitticks.document.history import read_history
from gitticks.document.taskfile import read_task
from gitticks.errors import GitticksError
from gitticks.git.objects.trees import Entry, tree_id_of
from gitticks.git.process import run_git
from gitticks.model.ids import BOARD_FOLDER, TaskId, task_folder
from gitticks.store import layout
from gitticks.store.index import BrokenFile, Index, open_index
from gitticks.store.merging.files import standing_beside
from gitticks.store.tip import state_tip

_SHOWN_PATHS = 3
_AT_THE_TOP = frozenset(
    {layout.ATTRIBUTES_PATH, layout.CONFIG_PATH, layout.PROMPTS_FOLDER, layout.TASKS_FOLDER}
)
_FOLDERS = frozenset(
    {layout.PROMPTS_FOLDER, layout.TASKS_FOLDER, layout.ROUNDS_FOLDER, layout.CHECKPOINTS_FOLDER}
)
_OF_A_TASK = frozenset(
    {
        layout.TASK_FILE,
        layout.HISTORY_FILE,
        layout.AUDIT_FILE,
        layout.WORKLOG_FILE,
        layout.SCRATCHPAD_FILE,
        layout.ROUNDS_FOLDER,
        layout.CHECKPOINTS_FOLDER,
    }
)


def check_files(context: Context) -> Iterator[Finding]:
    """Yields what is wrong with the files of the tasks."""
    with open_index(context.repository) as index:
        ids = frozenset(index.find_ids(""))
        yield from (_broken(context, file, ids) for file in index.broken())
        yield from _unread_lines(index, sorted(ids))


def check_foreign_files(context: Context) -> Iterator[Finding]:
    """Yields a note if there are files on the state branch that gitticks has no use for."""
    paths = sorted(path for path in _foreign(context) if standing_beside(path) is None)
    if paths:
        more = f" and {len(paths) - _SHOWN_PATHS} more" if len(paths) > _SHOWN_PATHS else ""
        shown = ", ".join(f"`{path}`" for path in paths[:_SHOWN_PATHS])
        yield Finding(Severity.NOTE, f"gitticks does not know {shown}{more} on the state branch")


def _foreign(context: Context) -> Iterator[str]:
    objects = context.store.objects
    top = objects.tree_of(state_tip(context.repository))
    yield from (one.name for one in objects.entries(top) if not _is_known(one, _AT_THE_TOP))
    tasks = tree_id_of(objects.find(top, layout.TASKS_FOLDER))
    for between in () if tasks is None else objects.entries(tasks):
        folder = f"{layout.TASKS_FOLDER}/{between.name}"
        if not between.is_tree:
            yield folder
            continue
        for task in objects.entries(between.object_id):
            inner = objects.entries(task.object_id) if task.is_tree else ()
            if task.is_tree and layout.is_task_folder(between.name, task.name):
                others = (one.name for one in inner if not _is_in_place(one))
                yield from (f"{folder}/{task.name}/{name}" for name in others)
            elif layout.TASK_FILE not in (one.name for one in inner):  # else it is a task in the wrong place
                yield f"{folder}/{task.name}"


def _is_known(entry: Entry, names: frozenset[str]) -> bool:
    """True for a name that gitticks uses, and what it is: a folder, or a file and no link."""
    return entry.name in names and (entry.is_tree if entry.name in _FOLDERS else entry.is_file)


def _is_in_place(entry: Entry) -> bool:
    """True for what is in a task's folder as it should; under other names people put what they like beside it."""
    return _is_known(entry, _OF_A_TASK) if entry.name in _OF_A_TASK else entry.is_file or entry.is_tree


def _broken(context: Context, file: BrokenFile, ids: frozenset[TaskId]) -> Finding:
    folder, home = file.path.rpartition("/")[0], _home(context, file.path, ids)
    what = f"{BOARD_FOLDER}/{file.message}"
    if file.task_id is not None:
        fix = f"`gt edit {file.task_id}`" if file.task_id in ids else _last_file(context, file.path)
    elif layout.task_of_path(file.path) is not None or not file.path.endswith(layout.TASK_FILE):
        fix = "`gt doctor --full` says what is damaged, and how to restore it"
    elif home is None:
        fix = "move the file to where it belongs"
    elif _named(home) in ids:
        what += ", where another one has that id"
        fix = (
            f"`diff -r {quote(f'{BOARD_FOLDER}/{folder}')} {BOARD_FOLDER}/{home}` compares them; "
            f"`git -C {BOARD_FOLDER} rm -rq {quote(folder)} && git -C {BOARD_FOLDER} commit --no-verify -m 'remove a double'` "
            "drops the one in the wrong place"
        )
    else:
        fix = (
            f"`mkdir -p {BOARD_FOLDER}/{home.rpartition('/')[0]} && git -C {BOARD_FOLDER} mv {quote(folder)} {home} && "
            f"git -C {BOARD_FOLDER} commit -m 'move a task home'`"
        )
    return Finding(Severity.ERROR, what, fix, task=layout.task_of_path(file.path) or _named(home))


def _home(context: Context, path: str, ids: frozenset[TaskId]) -> str | None:
    """Returns the folder that a task in the wrong place belongs in: by the id in its file where no other task has that."""
    content = context.store.read(path) if layout.task_of_path(path) is None else None
    if content is not None and home_of(path) is not None:
        with contextlib.suppress(GitticksError):
            task_id = read_task(content, path).id
            if task_id not in ids:
                return task_folder(task_id)
    return home_of(path)


def _last_file(context: Context, path: str) -> str:
    """Returns how to bring back what was a file before it became a link or the like."""
    asked = ["log", "-1", "--format=%P", "--diff-filter=T", layout.STATE_REF, "--", path]
    before = run_git(asked, repository_dir=context.repository.common_dir, check=False).text.split(" ")[0]
    if not before:
        return f"`git -C {BOARD_FOLDER} log -- {quote(path)}` shows what it was"
    return (
        f"`git -C {BOARD_FOLDER} checkout {before} -- {quote(path)} && "
        f"git -C {BOARD_FOLDER} commit -m 'put a file back'`"
    )


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
        yield Finding(
            Severity.WARNING,
            f"{place}: {where}{more}",
            "such lines are kept but ignored; a newer gitticks may know them",
            task=task_id,
        )
