"""One operation on the state branch in progress: a base commit, and the changes on top of it.

Nothing here writes. An operation may be run again on a newer base, so it must take all it knows of the branch from
its transaction.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from gitticks.errors import DocumentError, GitticksError, NotFoundError
from gitticks.git.objects.failures import TooLargeError
from gitticks.git.objects.trees import DEEPEST, tree_id_of
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.model.ids import BOARD_FOLDER, TaskId, is_valid_id, task_folder, task_path
from gitticks.store import layout

if TYPE_CHECKING:
    from datetime import datetime

    from gitticks.document.taskfile import TaskFile
    from gitticks.git.objects import Objects
    from gitticks.model.event import Actor, Event
    from gitticks.model.task import Task

LONGEST_SUBJECT = 200
LONGEST_TRAILER = 500


class Transaction:
    """Reads the state branch at one commit, with the changes made so far visible; the changes come with it.

    What is written of tasks, and said in the commit's message, passes `masked` first, which no secret survives.

    Attributes:
        base: the commit that is read.
    """

    def __init__(
        self,
        objects: Objects,
        base: str,
        load_tasks: Callable[[str], Mapping[TaskId, Task]],
        masked: Callable[[bytes], bytes] = bytes,
    ) -> None:
        self.base = base
        self._masked = masked
        self._objects = objects
        self._tree = objects.tree_of(base)
        self._load_tasks = load_tasks
        self._base_tasks: Mapping[TaskId, Task] | None = None
        self._changes: dict[str, bytes | None] = {}
        self._task_files: dict[TaskId, TaskFile] = {}
        self._described: list[tuple[bool, str, Sequence[tuple[str, str]]]] = []

    @property
    def changes(self) -> Mapping[str, bytes | None]:
        """Returns what is to change: contents by path, None for a file to remove."""
        return {path: content for path, content in self._changes.items() if self.read_base(path) != content}

    def read(self, path: str) -> bytes | None:
        """Returns the file's bytes, None if there is not a regular file of that path."""
        return self._changes[path] if path in self._changes else self.read_base(path)

    def write(self, path: str, content: bytes) -> None:
        """Sets the file's whole content.

        Raises:
            GitticksError: the path could leave the branch's tree.
        """
        is_tasks = path.startswith(f"{layout.TASKS_FOLDER}/")
        self._set(path, self._masked(content) if is_tasks and content != self.read_base(path) else content)

    def remove(self, path: str) -> None:
        """Removes the file; a file that is not there may be removed too."""
        self._set(path, None)

    def list(self, folder: str) -> tuple[str, ...]:
        """Returns the sorted names of files and folders directly in `folder`; empty if there is no such folder.

        The top of the branch is the empty string.
        """
        prefix = f"{folder}/" if folder else ""
        inside = (path.removeprefix(prefix) for path in self._changes if path.startswith(prefix))
        touched = {path.partition("/")[0] for path in inside}
        names = touched.union(list_folder(self._objects, self._tree, folder))
        return tuple(sorted(name for name in names if name not in touched or self._stays(prefix + name)))

    def task_file(self, task_id: TaskId) -> TaskFile:
        """Returns the task's parsed TASK.md."""
        if task_id not in self._task_files:
            from gitticks.document.taskfile import TaskFile

            path = task_path(task_id)
            content = self.read(path)
            if content is None:
                raise NotFoundError(f"there is no task `{task_id}`", hint="`gt list` shows the tasks")
            file = TaskFile.parse(content, path)
            layout.check_place(file, task_id)
            self._task_files[task_id] = file
        return self._task_files[task_id]

    def put_task(self, file: TaskFile) -> None:
        """Writes a task's file to where the task belongs."""
        path = task_path(file.task.id)
        self.write(path, file.data)
        if self._changes[path] == file.data:
            self._task_files[file.task.id] = file

    def is_on_top(self, commit: str, of: str) -> bool:
        """True if a commit of the code was made on top of another; False where one of them is not here."""
        return commit != of and self._objects.is_ancestor(of, commit)

    def tip_of(self, branch: str) -> str | None:
        """Returns the commit that a branch of the code is at in this clone; None if it is not here."""
        return read_ref(self._objects.common_dir, BRANCHES + branch)

    def history(self, task_id: TaskId) -> tuple[Event, ...]:
        """Returns the task's events in file order."""
        return layout.events_of(self.read(layout.history_path(task_id)))

    def append_events(self, task_id: TaskId, events: Iterable[Event]) -> None:
        """Adds lines to the task's history; what is there stays byte for byte."""
        from gitticks.document.history import render_event

        lines = "".join(render_event(event) for event in events).encode()
        if lines:
            self.append(layout.history_path(task_id), lines)

    def append(self, path: str, content: bytes) -> None:
        """Adds to the end of a file, after a line break if the file's last line lacks its own."""
        old = self.read(path) or b""
        self._set(path, old + (b"" if not old or old.endswith(b"\n") else b"\n") + self._masked(content))

    def mask_text(self, text: str) -> str:
        """Returns the text without secrets, as it will be on the branch, to be hashed before it is written."""
        return self._masked(text.encode("utf-8", "replace")).decode("utf-8", "replace")

    def all_tasks(self) -> Mapping[TaskId, Task]:
        """Returns every readable task by id, with the changes made so far; files that cannot be read are left out."""
        if self._base_tasks is None:
            self._base_tasks = self._load_tasks(self.base)
        tasks = dict(self._base_tasks)
        for path, content in self._changes.items():
            task_id = layout.task_of_path(path)
            if task_id is None:
                continue
            tasks.pop(task_id, None)
            if content is not None:
                with contextlib.suppress(DocumentError):
                    tasks[task_id] = self.task_file(task_id).task
        return tasks

    def unreadable_ids(self) -> frozenset[TaskId]:
        """Returns the ids of the tasks that there are and that cannot be read."""
        return self.task_ids() - self.all_tasks().keys()

    def task_ids(self) -> frozenset[TaskId]:
        """Returns every id that has a folder, readable or not: the ids that a new task must not get."""
        ids: set[TaskId] = set()
        for between in self.list(layout.TASKS_FOLDER):
            with contextlib.suppress(GitticksError):  # a damaged folder hides its own tasks alone
                names = self.list(f"{layout.TASKS_FOLDER}/{between}")
                ids.update(TaskId(name) for name in names if layout.is_task_folder(between, name))
        return frozenset(ids)

    def has_task(self, task_id: TaskId) -> bool:
        """True if the id has a folder, readable or not; asked instead of `task_ids` it costs no visit to every task."""
        folder = task_folder(task_id)
        if any(
            content is not None and path.startswith(f"{folder}/") for path, content in self._changes.items()
        ):
            return True
        try:
            entry = self._objects.find(self._tree, folder)
        except GitticksError:
            return True  # nobody knows what a damaged folder holds
        return entry is not None and entry.is_tree and self._stays(folder)

    def sample_of_names(self, most_folders: int) -> tuple[int, int]:
        """Returns how many names some of the folders of tasks hold, and how many there are of these folders for each."""
        tasks = tree_id_of(self._objects.find(self._tree, layout.TASKS_FOLDER))
        folders = (
            [] if tasks is None else [one for one in self._objects.folder(tasks).values() if one.is_tree]
        )
        step = max(1, len(folders) // most_folders)
        names = 0
        for folder in folders[::step]:
            with contextlib.suppress(GitticksError):  # a damaged folder hides its own tasks alone
                names += len(self._objects.folder(folder.object_id))
        return names, step

    def task_changed_at(self, at: datetime) -> TaskId | None:
        """Returns the task that the base's own commit is about, if that was made in this second."""
        headers, _, message = self._objects.commit_text(self.base).partition("\n\n")
        if f"> {int(at.timestamp())} " not in headers.rpartition("\ncommitter ")[2].partition("\n")[0]:
            return None
        found = (line.removeprefix("Task: ") for line in message.splitlines() if line.startswith("Task: "))
        return next((TaskId(one) for one in found if is_valid_id(one)), None)

    def describe(
        self, subject: str, trailers: Sequence[tuple[str, str]] = (), *, is_minor: bool = False
    ) -> None:
        """Describes the commit: the first subject becomes its subject, later ones go into its body.

        Trailers of all calls are kept in order, each once. What `is_minor` comes after all that is not.
        """
        self._described.append((is_minor, subject, trailers))

    def describe_change(
        self,
        task_id: TaskId,
        subject: str,
        actor: Actor,
        events: Iterable[Event] = (),
        *,
        is_minor: bool = False,
    ) -> None:
        """Describes what somebody did to a task, with its events."""
        trailers = [("Task", str(task_id)), *(("Event", event.type.value) for event in events)]
        trailers.append(("Actor", f"{actor.kind.value} {actor.name}"))
        self.describe(f"{task_id}: {subject}", trailers, is_minor=is_minor)

    @property
    def message(self) -> str:
        """Returns the commit's message."""
        described = sorted(self._described, key=itemgetter(0))
        subjects = dict.fromkeys(_one_line(subject, LONGEST_SUBJECT) for _, subject, _ in described)
        subject, *others = (
            filter(None, subjects) if any(subjects) else [f"{len(self._changes)} files changed"]
        )
        trailers = dict.fromkeys(
            f"{key}: {_one_line(value, LONGEST_TRAILER)}" for _, _, pairs in described for key, value in pairs
        )
        parts = [subject, "\n".join(others), "\n".join(trailers)]
        text = "\n\n".join(part for part in parts if part) + "\n"
        return self._masked(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def read_base(self, path: str) -> bytes | None:
        """Returns the file's bytes as the base has them."""
        return read_file(self._objects, self._tree, path)

    def _set(self, path: str, content: bytes | None) -> None:
        self._changes[_checked(path)] = content
        task_id = layout.task_of_path(path)
        if task_id is not None:
            self._task_files.pop(task_id, None)

    def _stays(self, path: str) -> bool:
        """True if the changes leave the file, or leave or put any file into the folder."""
        if path in self._changes:
            return self._changes[path] is not None
        inside = [content for other, content in self._changes.items() if other.startswith(f"{path}/")]
        if any(content is not None for content in inside) or not inside:
            return True
        return any(self._stays(f"{path}/{name}") for name in list_folder(self._objects, self._tree, path))


def read_file(objects: Objects, tree: str, path: str) -> bytes | None:
    """Returns the bytes of a file below `tree`; None if there is not a regular file."""
    try:
        blob = objects.find_file(tree, path)
        return None if blob is None else objects.read_blob(blob)
    except GitticksError as error:
        hint = error.hint if isinstance(error, TooLargeError) else "`gt doctor` says how to restore it"
        raise GitticksError(f"`{BOARD_FOLDER}/{path}`: {error.message}", hint=hint) from error


def list_folder(objects: Objects, tree: str, folder: str) -> tuple[str, ...]:
    """Returns the names in a folder below `tree`; empty if it is none."""
    if folder:
        entry = objects.find(tree, folder)
        if entry is None or not entry.is_tree:
            return ()
        tree = entry.object_id
    return tuple(objects.folder(tree))


def _checked(path: str) -> str:
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in path.split("/")) or "\0" in path:
        raise GitticksError(f"`{ascii(path)[1:-1]}` cannot be a path on the state branch")
    if path.count("/") > DEEPEST:
        from shlex import quote

        top = "/".join(path.split("/")[:4])
        raise GitticksError(
            f"`{BOARD_FOLDER}/{top}` has a file below more than {DEEPEST} folders",
            hint=f"`mv {quote(f'{BOARD_FOLDER}/{top}')} .` moves it off the board",
        )
    return path


def _one_line(text: str, longest: int) -> str:
    """Returns `text` without control characters and line breaks, at most `longest` characters long."""
    if not text.isprintable():
        text = "".join(letter if letter.isprintable() else " " for letter in text)
    words = " ".join(text.split())
    return words if len(words) <= longest else f"{words[: longest - 1]}…"
