"""Which tasks have a live session in this clone, which are held, and other requests to the run."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from gitticks.model.ids import TaskId, is_valid_id
from gitticks.safe_read import read_plain_text, stamp_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from pathlib import Path

    from gitticks.model.queries import TaskGraph

SESSIONS_FOLDER, HELD_FOLDER = "sessions", "held"
RUN_LOCK = "run.lock"
PAUSED_FILE = "paused"
STOP_FILE = "stop-run"
ENDING_FILE = "ending-run"
"""A run that is alive and takes nothing up any more, as it reached a limit or found nothing else to do."""
RESTING_FILE = "resting.json"
"""Which agents rest because their service gives them no more; `gitticks.runner.run_record` writes it."""
SPENDING_FILE = "spending.json"
"""What a run has spent of which budgets; `gitticks.runner.run_record` writes it."""
OVERLAPS_FILE = "overlaps.json"
"""Which work a run found to conflict; `gitticks.runner.run_record` writes it."""
MERGING_FILE = "merging.json"
"""The merge queue of the active run; `gitticks.runner.run_record` writes it."""
SKIPPED_FILE = "skipped.json"
"""Which tasks a run could not start; `gitticks.runner.run_record` writes it."""
REQUESTS_FOLDER = "permissions"
"""The permission requests of agents, one in a file; `gitticks.runner.questions` writes them."""
CLAIMED_FILE = "claimed-elsewhere"
"""The tasks that other clones had claimed at the last sync; `gitticks.runner.claiming` writes it."""
RECORD, LOCK, TREE_LOCK, LINKS = ".json", ".lock", ".tree", ".links"
"""The endings of a session's files: its record, its runner's lock, the lock of whatever its agent started, and the note
of the links that its sandbox could not keep."""
STOPPED, INTERRUPTED = ".stopped", ".interrupted"
"""The endings of empty files that say how a task's last session ended, where it left the task unfinished."""
_RUN_FILES = (
    SESSIONS_FOLDER,
    HELD_FOLDER,
    REQUESTS_FOLDER,
    PAUSED_FILE,
    STOP_FILE,
    RESTING_FILE,
    SPENDING_FILE,
    OVERLAPS_FILE,
    MERGING_FILE,
    SKIPPED_FILE,
)
_AFTER_SESSION = "after the session"
_DECIDING = "until it is decided"
_TELLING = frozenset({RECORD, STOPPED, INTERRUPTED})
_NO_FOLDER = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


def live_tasks(own_place: str) -> frozenset[TaskId]:
    """Returns the tasks with a living session; `own_place` is `<common git dir>/gitticks`."""
    return sessions_here(own_place)[0]


def sessions_here(own_place: str) -> tuple[frozenset[TaskId], dict[TaskId, str]]:
    """Returns the tasks with a living session, and how the last one ended of those that it left unfinished.

    That is `stopped`, or `interrupted` by the end of its runner, also where nobody has noticed that yet.
    """
    folder = f"{own_place}/{SESSIONS_FOLDER}"
    live: set[TaskId] = set()
    left: dict[TaskId, str] = {}
    for entry in names_in(folder):
        name, dot, ending = entry.rpartition(".")
        if not is_valid_id(name) or dot + ending not in _TELLING:
            continue
        if dot + ending != RECORD:
            left.setdefault(TaskId(name), ending)
        elif is_session_alive(folder, name):
            live.add(TaskId(name))
        else:
            left[TaskId(name)] = INTERRUPTED[1:]
    return frozenset(live), left


def held_tasks(own_place: str) -> frozenset[TaskId]:
    """Returns the tasks that `gt stop` holds back in this clone."""
    return frozenset(TaskId(name) for name in names_in(f"{own_place}/{HELD_FOLDER}") if is_valid_id(name))


def claimed_elsewhere(own_place: str, now: datetime) -> frozenset[TaskId]:
    """Returns the tasks that other clones had claimed at the last sync, as long as those claims hold."""
    try:
        text = read_plain_text(f"{own_place}/{CLAIMED_FILE}")
        claims = [line.split() for line in text.splitlines()]
        return frozenset(TaskId(task) for task, expires in claims if float(expires) > now.timestamp())
    except (OSError, ValueError):
        return frozenset()


def is_session_alive(folder: str, task_id: str) -> bool:
    """True while its runner or anything of its agents holds one of the session's locks in `folder`."""
    from gitticks.flocks import is_lock_held  # most of the time there is no session

    return is_lock_held(f"{folder}/{task_id}{LOCK}") or is_agent_alive(folder, task_id)


def is_agent_alive(folder: str, task_id: str) -> bool:
    """True while anything of the session's agents lives; of a council's any may be missing that never started."""
    from gitticks.flocks import is_lock_held

    return any(is_lock_held(f"{folder}/{name}") for name in names_of(folder, task_id, TREE_LOCK))


def names_of(folder: str, task_id: str, ending: str) -> list[str]:
    """Returns the files of one kind of a task's session, of which a council has one for each of its agents."""
    return [name for name in names_in(folder) if name.startswith(f"{task_id}.") and name.endswith(ending)]


def tree_lock_name(task_id: str, number: int) -> str:
    """Returns the name of the lock of a session's agent; only a council has several."""
    return f"{task_id}{TREE_LOCK}" if number == 1 else f"{task_id}.{number}{TREE_LOCK}"


def stamps_of_runs(own_place: str) -> tuple[object, ...]:
    """Returns stamps of the files in which runs of this clone report and get requests; one differs after each change.

    The end of a run or of a session shows only in its lock.
    """
    return tuple(stamp_of(f"{own_place}/{name}") for name in _RUN_FILES)


def is_run_alive_at(own_place: str) -> bool:
    """True while a `gt run` of this clone lives; `own_place` is `<common git dir>/gitticks`."""
    from gitticks.flocks import is_lock_held

    return is_lock_held(f"{own_place}/{RUN_LOCK}")


def takes_work_at(own_place: str) -> bool:
    """True while a run of this clone lives that starts and merges what is decided now; one that is ending does not."""
    is_ending = any(os.path.exists(f"{own_place}/{name}") for name in (STOP_FILE, ENDING_FILE))
    return not is_ending and is_run_alive_at(own_place)


def names_in(folder: str) -> list[str]:
    """Returns what a folder holds, in any order; nothing where it is missing."""
    try:
        return os.listdir(folder)
    except OSError as error:
        if error.errno in _NO_FOLDER:
            return []
        raise


class Holds:
    """What is asked of a running `gt run`: held tasks, added tasks, the pause, the stop; each a file that it looks for.

    `own_dir` is `<common git dir>/gitticks`.
    """

    def __init__(self, own_dir: Path) -> None:
        self._own_dir = own_dir
        self._folder = own_dir / HELD_FOLDER
        self._stop_all = own_dir / STOP_FILE
        self._ending = own_dir / ENDING_FILE
        self._pause = own_dir / PAUSED_FILE
        self._added = own_dir / "added-to-run"

    def hold(self, task_id: TaskId, *, ends_session: bool = True, is_deciding: bool = False) -> None:
        """Keeps runners of this clone away from a task and ends its session, at once or as it ends by itself.

        With `is_deciding` for a moment only, until the command that asks has closed or cancelled the task.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        kind = _DECIDING if is_deciding else "" if ends_session else _AFTER_SESSION
        (self._folder / task_id).write_text(kind, encoding="utf-8")

    def ends_session(self, task_id: TaskId) -> bool:
        """True if the session of a held task is to be ended at once."""
        return self._kind(task_id) not in (None, _AFTER_SESSION)

    def being_decided(self) -> tuple[TaskId, ...]:
        """Returns the held tasks that a command which stopped their agent is about to close or cancel."""
        return tuple(task_id for task_id in self.held() if self._kind(task_id) == _DECIDING)

    def _kind(self, task_id: TaskId) -> str | None:
        try:
            return (self._folder / task_id).read_text(encoding="utf-8")
        except OSError:
            return None

    def release(self, task_id: TaskId) -> None:
        """Lets runners take the task again."""
        (self._folder / task_id).unlink(missing_ok=True)

    def release_named(self, graph: TaskGraph, task_ids: Iterable[TaskId]) -> tuple[TaskId, ...]:
        """Lets runners take tasks again, and all below them; returns what was held.

        What holds an epic above holds them as well, so that goes too; what else is below it stays held, task by task.
        """
        held = self.held()
        named = set[TaskId]().union(*map(graph.above_and_below, task_ids)) if held else set()
        found = tuple(sorted(held & named))
        others = set[TaskId]().union(*map(graph.below, found)) - named - held
        for one in others:
            if graph.tasks[one].is_open:
                self.hold(one, ends_session=False)
        for one in found:
            self.release(one)
        return found

    def held(self) -> frozenset[TaskId]:
        """Returns the held tasks."""
        return held_tasks(str(self._own_dir))

    def pause(self) -> None:
        """Keeps runs of this clone from beginning anything new, until `unpause`."""
        self._pause.parent.mkdir(parents=True, exist_ok=True)
        self._pause.touch()

    def unpause(self) -> bool:
        """Lets runs continue; returns whether they were kept from it."""
        was_paused = self.is_paused
        self._pause.unlink(missing_ok=True)
        return was_paused

    @property
    def is_paused(self) -> bool:
        """True while runs of this clone are to begin nothing new."""
        return self._pause.exists()

    def ask_to_add(self, task_id: TaskId) -> None:
        """Asks the run that is alive to take a task or epic in."""
        self._added.mkdir(parents=True, exist_ok=True)
        (self._added / task_id).touch()

    def is_asked_to_add(self, task_ids: Iterable[TaskId]) -> bool:
        """True while the run has not taken all of these."""
        return any((self._added / one).exists() for one in task_ids)

    def asked_to_add(self) -> frozenset[TaskId]:
        """Returns what the run is asked to take in."""
        return frozenset(TaskId(name) for name in names_in(str(self._added)) if is_valid_id(name))

    def forget_added(self, task_ids: Iterable[TaskId]) -> None:
        """Drops the requests for these: they were taken, or nobody is there to take them."""
        for one in task_ids:
            (self._added / one).unlink(missing_ok=True)

    def ask_run_to_stop(self) -> None:
        """Asks the run that is alive to end its iterations and stop."""
        self._stop_all.parent.mkdir(parents=True, exist_ok=True)
        self._stop_all.touch()

    def is_run_asked_to_stop(self) -> bool:
        """True once somebody asked the run to stop."""
        return self._stop_all.exists()

    def forget_run_stop(self) -> None:
        """Drops what an earlier run left behind: that it was asked to stop, and that it was ending."""
        self._stop_all.unlink(missing_ok=True)
        self._ending.unlink(missing_ok=True)

    def note_ending(self, *, is_ending: bool) -> None:
        """Says, for whoever decides something now, whether the run that is alive still takes it up."""
        if is_ending:
            self._ending.touch()
        else:
            self._ending.unlink(missing_ok=True)
