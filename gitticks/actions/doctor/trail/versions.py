"""What a task's files were at one commit, read once for each content."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from gitticks.document.history import read_history
from gitticks.document.taskfile import TaskFile, read_task
from gitticks.errors import DocumentError
from gitticks.git.objects import Objects
from gitticks.git.objects.trees import Entry, tree_id_of
from gitticks.model.event import Event
from gitticks.model.ids import TaskId, task_path
from gitticks.model.notes import ReviewOutcome, Section, open_questions
from gitticks.model.status import Status
from gitticks.model.task import Task
from gitticks.store import layout
from gitticks.workflow.artifacts import Artifacts

_MOST_KEPT = 2000


@dataclass(frozen=True, slots=True)
class Version:
    """A task's folder at one commit: the ids of its TASK.md, its history and the folder itself; None if missing."""

    task: str | None = None
    history: str | None = None
    folder: str | None = field(default=None, compare=False)

    @property
    def is_there(self) -> bool:
        """True if there is a task."""
        return self.task is not None


NOTHING = Version()


@dataclass(slots=True)
class Versions:
    """Reads versions of tasks out of one object database."""

    objects: Objects
    _tasks: dict[str, Task | DocumentError] = field(default_factory=dict)

    def changed(self, old: str | None, new: str) -> dict[TaskId, tuple[Version, Version]]:
        """Returns the tasks whose folders differ between two commits, before and after; None is no commit."""
        return dict(self._changed(None if old is None else self._tasks_tree(old), self._tasks_tree(new)))

    def _changed(self, old: str | None, new: str | None) -> Iterator[tuple[TaskId, tuple[Version, Version]]]:
        for between, before, after in self.objects.changed_entries(old, new):
            folders = self.objects.changed_entries(tree_id_of(before), tree_id_of(after))
            for name, old_folder, new_folder in folders:
                if layout.is_task_folder(between, name):
                    yield TaskId(name), (self._version(old_folder), self._version(new_folder))

    def at(self, commit: str, task_id: TaskId) -> Version:
        """Returns a task's version at a commit."""
        folder = task_path(task_id).rpartition("/")[0]
        return self._version(self.objects.find(self.objects.tree_of(commit), folder))

    def task(self, version: Version, task_id: TaskId) -> Task | None:
        """Returns the task; None if there is none.

        Raises:
            DocumentError: its file cannot be read, or names another task.
        """
        if version.task is None:
            return None
        if version.task not in self._tasks:
            if len(self._tasks) >= _MOST_KEPT:
                self._tasks.clear()
            self._tasks[version.task] = self._read(version.task, task_id)
        found = self._tasks[version.task]
        if isinstance(found, DocumentError):
            raise found
        return found

    def history(self, version: Version) -> bytes:
        """Returns the bytes of the task's history; empty if there is none."""
        return b"" if version.history is None else self.objects.read_blob(version.history)

    def artifacts(self, task_id: TaskId, old: Version, new: Version) -> Callable[[], Artifacts]:
        """Returns what tells what a task's text offered to the gates, before a change or with it."""

        def read() -> Artifacts:
            files = [self._file(version, task_id) for version in (old, new)]
            known = [file for file in files if file is not None]
            reviews = [file.review_outcome for file in known if _is_reviewed(file.task)]
            return Artifacts(
                handoff=any(file.section(Section.HANDOFF) is not None for file in known)
                or self._archives_handoff(old, new),
                review=_best(reviews),
                open_question=any(open_questions(file.entries(Section.QUESTIONS)) for file in known),
            )

        return read

    def _archives_handoff(self, old: Version, new: Version) -> bool:
        """True if the change put a hand-off into `rounds/`, which went on and was sent back in one."""
        changes = self.objects.changed_files(old.folder, new.folder)
        return any(
            change.path.startswith(f"{layout.ROUNDS_FOLDER}/") and change.path.endswith("-handoff.md")
            for change in changes
        )

    def _file(self, version: Version, task_id: TaskId) -> TaskFile | None:
        if version.task is None:
            return None
        try:
            return TaskFile.parse(self.objects.read_blob(version.task), task_path(task_id))
        except DocumentError:
            return None

    def _read(self, blob: str, task_id: TaskId) -> Task | DocumentError:
        try:
            task = read_task(self.objects.read_blob(blob), task_path(task_id))
        except DocumentError as error:
            return error
        if task.id != task_id:
            return DocumentError(f"the id is `{task.id}`", path=task_path(task_id))
        return task

    def _tasks_tree(self, commit: str) -> str | None:
        return tree_id_of(self.objects.find(self.objects.tree_of(commit), layout.TASKS_FOLDER))

    def _version(self, folder: Entry | None) -> Version:
        tree = tree_id_of(folder)
        if tree is None:
            return NOTHING
        return Version(self._plain(tree, layout.TASK_FILE), self._plain(tree, layout.HISTORY_FILE), tree)

    def _plain(self, tree: str, name: str) -> str | None:
        entry = self.objects.find(tree, name)
        return entry.object_id if entry is not None and entry.is_file else None


def events_in(added: bytes) -> tuple[Event, ...]:
    """Returns the events of some lines; a line of a kind that is not known here says nothing."""
    return read_history(added).events


def _is_reviewed(task: Task) -> bool:
    """True where a `## Review` can be the one that a step was made for."""
    return task.status in (Status.AGENT_REVIEW, Status.REVIEWING, Status.DONE)


def _best(reviews: list[ReviewOutcome]) -> ReviewOutcome:
    if ReviewOutcome.PASS in reviews:
        return ReviewOutcome.PASS
    return next((one for one in reviews if one is not ReviewOutcome.MISSING), ReviewOutcome.MISSING)
