"""Which tasks `gt stop` holds back in this clone, until `gt run <id>` takes them up again."""

from __future__ import annotations

from pathlib import Path

from gitticks.model.ids import TaskId
from gitticks.runner.liveness import HELD_FOLDER, held_tasks


class Holds:
    """The held tasks and the request to stop everything, as empty files, so that a running `gt run` sees them.

    `own_dir` is `<common git dir>/gitticks`.
    """

    def __init__(self, own_dir: Path) -> None:
        self._own_dir = own_dir
        self._folder = own_dir / HELD_FOLDER
        self._stop_all = own_dir / "stop-run"

    def hold(self, task_id: TaskId) -> None:
        """Keeps runners of this clone away from a task and ends its session."""
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / task_id).touch()

    def release(self, task_id: TaskId) -> None:
        """Lets runners take the task again."""
        (self._folder / task_id).unlink(missing_ok=True)

    def held(self) -> frozenset[TaskId]:
        """Returns the held tasks."""
        return held_tasks(str(self._own_dir))

    def ask_run_to_stop(self) -> None:
        """Asks the run that is alive to end its iterations and stop."""
        self._stop_all.parent.mkdir(parents=True, exist_ok=True)
        self._stop_all.touch()

    def is_run_asked_to_stop(self) -> bool:
        """True once somebody asked the run to stop."""
        return self._stop_all.exists()

    def forget_run_stop(self) -> None:
        """Drops a request that an earlier run left behind."""
        self._stop_all.unlink(missing_ok=True)
