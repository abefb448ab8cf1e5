"""Merges an approved task by the command, as a process of its own: leaving the interface does not stop it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError
from gitticks.model.ids import TaskId

if TYPE_CHECKING:
    from gitticks.actions.context import Context


def merge_apart(context: Context, task_id: str) -> str:
    """Merges a task, and returns what became of it in words.

    Raises:
        GitticksError: it was not merged, and why.
    """
    import subprocess
    import tempfile

    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complained:
        # Files, as a pipe would break under the command when the interface is left.
        ended = subprocess.run(
            [sys.executable, "-P", "-m", "gitticks", "merge", task_id],
            cwd=context.directory,
            env=dict(context.world.environment),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=complained,
            start_new_session=True,
            check=False,
        )
        said.seek(0)
        complained.seek(0)
        words = said.read().decode("utf-8", "replace").strip()
        lines = complained.read().decode("utf-8", "replace").splitlines()
    task = context.renewed().store.task_file(TaskId(task_id)).task
    if ended.returncode == 0:
        merged = task.merged_sha and not task.is_open
        return (
            f"{task_id} merged into {task.base} as {(task.merged_sha or '')[:7]}" if merged else _last(words)
        )
    found = {kind: rest.strip() for kind, mark, rest in (one.partition(":") for one in lines) if mark}
    raise GitticksError(
        found.get("error") or _last(words) or f"`gt merge {task_id}` failed", hint=found.get("hint")
    )


def _last(words: str) -> str:
    """Returns the last line of an output, without the columns between its words."""
    return " ".join((words.splitlines() or [""])[-1].split())
