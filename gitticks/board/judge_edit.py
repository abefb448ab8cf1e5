"""The one rule for what becomes of a file that a person saved or staged on the board.

It is pure: `edits` finds what was saved and `staged_edits` what is staged, `skip_reasons` has the words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from gitticks.git.objects import Change
from gitticks.git.staged import StagedChange
from gitticks.model.ids import LONGEST, TaskId, is_valid_id, task_folder, task_path
from gitticks.store.layout import (
    AUDIT_FILE,
    CHECKPOINTS_FOLDER,
    CONFIG_PATH,
    HISTORY_FILE,
    PROMPTS_FOLDER,
    ROUNDS_FOLDER,
    TASK_FILE,
    WORKLOG_FILE,
    task_around,
    task_of_path,
)

AnyChange = TypeVar("AnyChange", Change, StagedChange)

_ID_LINE = re.compile(rb"^id: *[\"']?([0-9a-z-]{1,64})[\"']?(?:[ \t]+#.*)?[ \t]*\r?$", re.MULTILINE)
_IN_FOLDER = re.compile(r"(tasks/[^/]+/([^/]+))/(.+)")

NOTE_ENDING = ".refused"
"""What a note beside a file is called after it."""

ENGINE_FILES = (HISTORY_FILE, AUDIT_FILE)
IS_TASK_FILE = re.compile(r"tasks/[^/]+/([^/]+)/TASK\.md").fullmatch
"""Matches the path of a task's file, also in a wrong folder; its group is the folder's name."""

_HALF_DONE = re.compile(
    rf"\.(?:tmp|bak|orig|rej|part|crdownload|new|save(?:\.[0-9]+)?)\Z|{re.escape(NOTE_ENDING)}\Z"
)
_RECORDS = (f"{ROUNDS_FOLDER}/", f"{CHECKPOINTS_FOLDER}/", WORKLOG_FILE)
"""What gitticks writes of a task's past."""


@dataclass(frozen=True, slots=True)
class SavedEdit:
    """A file of the board that a person edited: where it began and what it holds; None where there is no file.

    `is_conflict` if the branch has written the same place since, `is_plain` False for a link, a folder and the like.
    `is_large` for a file beside the tasks that is not read, for its size.
    `rest_seconds` is how much longer it had to be left alone when it was read.
    """

    path: str
    base: bytes | None
    content: bytes | None
    is_conflict: bool = False
    is_plain: bool = True
    is_executable: bool = False
    is_large: bool = False
    rest_seconds: float = field(default=0.0, compare=False)

    @property
    def is_young(self) -> bool:
        """True if somebody was saving it, so that what it holds may be half of what is coming."""
        return self.rest_seconds > 0

    @property
    def is_gone(self) -> bool:
        """True if the person removed the file."""
        return self.content is None and self.is_plain and not self.is_large


class Ruling(StrEnum):
    """What becomes of an edit."""

    TASK = "a task's file: taken up with all that it asks for, if nothing of that is refused"
    BESIDE = "a file beside a task: taken up as it is"
    TEAM = "settings or a template: it counts once it is committed, if it can be read"
    NOTE = "a note of gitticks, for this board alone"
    NOT_PLAIN = "not a regular file"
    CONFLICT = "the branch has changed the same place"
    YOUNG = "somebody keeps saving it"
    WRONG_FOLDER = "a task's file where no task is looked for"
    ENGINE = "a history or an audit, which gitticks alone writes"
    TASK_REMOVED = "a task's file that was removed: a task is cancelled"
    REMOVED = "another file that was removed, which counts once it is committed"
    FOREIGN = "a file that gitticks does not know"
    RECORD = "what gitticks writes of a task's past"
    LARGE = "too large to go to everybody's clone unasked"
    EXECUTABLE = "a program, which goes to nobody unasked"


def is_note(path: str) -> bool:
    """True for the path of a note that says why the file beside it is not applied."""
    about = path.removesuffix(NOTE_ENDING)
    return about != path and (
        about == CONFIG_PATH
        or about.endswith(f"/{TASK_FILE}")
        or (about.startswith(f"{PROMPTS_FOLDER}/") and about.endswith(".md"))
    )


def is_team_file(path: str) -> bool:
    """True for settings and templates, which decide what runs and who is asked."""
    return path == CONFIG_PATH or path.startswith(f"{PROMPTS_FOLDER}/")


def is_of_people(path: str) -> bool:
    """True for what people write on the board: tasks' files, settings and templates."""
    return IS_TASK_FILE(path) is not None or is_team_file(path)


def is_misnamed(path: str) -> bool:
    """True for a task's file whose name has other letters, such as `task.md`."""
    task_id = task_around(path)
    return task_id is not None and path != task_path(task_id) and path.lower() == task_path(task_id).lower()


def _is_removed_task(edit: SavedEdit) -> bool:
    """True but for a file that no command can name a task by."""
    match = IS_TASK_FILE(edit.path)
    if match is None or not edit.is_gone:
        return False
    return is_valid_id(match[1]) or _name_inside(edit.base) is not None


def _is_in_wrong_folder(edit: SavedEdit) -> bool:
    if edit.is_gone:
        return False
    return is_astray(edit.path) or (IS_TASK_FILE(edit.path) is not None and task_of_path(edit.path) is None)


def _is_of_engine(edit: SavedEdit) -> bool:
    name = edit.path.rpartition("/")[2]
    return name in ENGINE_FILES and edit.path.startswith("tasks/") and home_of(edit.path) is None


def _is_foreign(edit: SavedEdit) -> bool:
    is_hidden = any(name.startswith(".") for name in edit.path.split("/"))
    return task_around(edit.path) is None or is_hidden or _HALF_DONE.search(edit.path) is not None


def _is_record(edit: SavedEdit) -> bool:
    task_id = task_around(edit.path)
    return task_id is not None and edit.path.removeprefix(f"{task_folder(task_id)}/").startswith(_RECORDS)


_TABLE: tuple[tuple[Ruling, Callable[[SavedEdit], bool]], ...] = (
    (Ruling.NOTE, lambda edit: is_note(edit.path) and not edit.is_gone),
    (Ruling.NOT_PLAIN, lambda edit: not edit.is_plain),
    (Ruling.CONFLICT, lambda edit: edit.is_conflict),
    (Ruling.YOUNG, lambda edit: edit.is_young),
    (Ruling.TASK_REMOVED, _is_removed_task),
    (Ruling.WRONG_FOLDER, _is_in_wrong_folder),
    (Ruling.ENGINE, _is_of_engine),
    (Ruling.REMOVED, lambda edit: edit.is_gone),
    (Ruling.TASK, lambda edit: task_of_path(edit.path) is not None),
    (Ruling.TEAM, lambda edit: is_team_file(edit.path)),
    (Ruling.FOREIGN, _is_foreign),
    (Ruling.RECORD, _is_record),
    (Ruling.LARGE, lambda edit: edit.is_large),
    (Ruling.EXECUTABLE, lambda edit: edit.is_executable),
    (Ruling.BESIDE, lambda edit: True),  # noqa: ARG005 - whatever else is in a task's folder
)
"""The first row that fits is the ruling."""


def judge_edit(edit: SavedEdit) -> Ruling:
    """Returns what becomes of an edit, as far as its path and what kind of file it is decide that."""
    return next(ruling for ruling, fits in _TABLE if fits(edit))


def join_moves(changes: Iterable[AnyChange]) -> tuple[AnyChange, ...]:
    """Returns the changes with each file that left a wrong folder for the right one as one change there.

    Files that are the same as before are left out, but for the task's own.
    """
    given = tuple(changes)
    removals: dict[tuple[str, str], AnyChange] = {}
    for change in given:
        match = _IN_FOLDER.fullmatch(change.path)
        if change.new is None and match is not None and _is_wrong(match):
            # It may go on in the folder where it belongs, or wherever the same content is.
            for goes_on_as in (home_of(change.path), change.old):
                if goes_on_as is not None:
                    removals.setdefault((match[3], goes_on_as), change)
    joined: list[AnyChange] = []
    gone: set[str] = set()
    for change in given:
        source = _source(change, removals)
        if source is None:
            joined.append(change)
            continue
        gone.add(source.path)
        if source.old != change.new or change.path.endswith("/TASK.md"):
            joined.append(change._replace(old=source.old))
    return tuple(change for change in joined if change.path not in gone)


def home_of(path: str) -> str | None:
    """Returns where the folder of a file in the wrong place belongs; None for a file that lies right or nowhere."""
    match = _IN_FOLDER.fullmatch(path)
    if match is None or not is_valid_id(match[2]):
        return None
    home = task_folder(TaskId(match[2]))
    return None if home == match[1] else home


def is_astray(path: str) -> bool:
    """True for a task's file that does not lie two folders below `tasks/`, where tasks are looked for."""
    is_hidden = any(part.startswith(".") for part in path.split("/"))
    is_named = f"/{path}".endswith(f"/{TASK_FILE}")
    match = _IN_FOLDER.fullmatch(path)
    is_between = match is not None and match[3] == TASK_FILE
    return is_named and not is_hidden and not is_between and task_around(path) is None


def place_for(path: str, content: bytes | None) -> str:
    """Returns what to do with a task's file in the wrong folder; the id inside goes before the folder's name."""
    name = _name_inside(content) or path.rpartition("/")[0].rpartition("/")[2]
    if is_valid_id(name):
        return f"move it to `{task_path(TaskId(name))}`"
    like = re.sub(r"[^0-9a-z]+", "-", name.lower()).strip("-")[:LONGEST]
    example = f": `id: {like}` belongs in `{task_path(TaskId(like))}`" if is_valid_id(like) else ""
    return f"an id has only a-z, 0-9 and `-`{example}"


def id_inside(content: bytes) -> TaskId | None:
    """Returns the id that a task's file gives itself, also where nothing else in it can be read."""
    name = _name_inside(content)
    return TaskId(name) if name is not None and is_valid_id(name) else None


def _name_inside(content: bytes | None) -> str | None:
    frontmatter = (content or b"").partition(b"\n---")[0]
    match = _ID_LINE.search(frontmatter)
    return None if match is None else match[1].decode()


def _source(change: AnyChange, removals: Mapping[tuple[str, str], AnyChange]) -> AnyChange | None:
    """Returns the removal from a wrong folder that a new file in a right one stands for."""
    match = _IN_FOLDER.fullmatch(change.path)
    if change.old is not None or change.new is None or match is None or home_of(change.path) is not None:
        return None
    return removals.get((match[3], match[1])) or removals.get((match[3], change.new))


def _is_wrong(match: re.Match[str]) -> bool:
    return not is_valid_id(match[2]) or task_folder(TaskId(match[2])) != match[1]
