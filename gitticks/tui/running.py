"""Runs and merges as processes of their own: they continue when the interface is left."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from gitticks.actions.context import Context
from gitticks.actions.run_requests import add_to_run
from gitticks.errors import GitticksError
from gitticks.model.ids import TaskId
from gitticks.runner.liveness import is_run_alive_at

OUTPUT = "run-output.log"
"""What the last run that was started here printed, in our own folder of the clone."""
A_FEW = 3
"""More than so many are counted instead of named, and started only when that was confirmed."""
_PATIENCE_SECONDS = 20.0
_POLL_SECONDS = 0.05
_MOST_BYTES = 4_000


def own_command(*words: str) -> list[str]:
    """Returns the line that starts a command of ours, which imports nothing of the repository."""
    return [sys.executable, "-P", "-m", "gitticks", *words]


def in_words(task_ids: Sequence[str]) -> str:
    """Returns the ids of a few epics and tasks, or how many there are."""
    return ", ".join(task_ids) if len(task_ids) <= A_FEW else f"{len(task_ids)} epics and tasks"


def start_run(context: Context, task_ids: Sequence[TaskId], flags: Sequence[str]) -> str:
    """Starts a run of some tasks, or of all that is ready, and returns what to say; a run that is alive takes them in.

    Raises:
        GitticksError: the run ended before it began, as it says.
    """
    context.require_person("start a run")
    own = context.repository.own_place
    if is_run_alive_at(own):
        if not task_ids:
            raise GitticksError("a run is already active", hint="select an epic to add it")
        was_taken = add_to_run(context, task_ids)
        added = in_words(task_ids)
        return (
            f"added to the run: {added}" if was_taken else f"the run adds {added} when it next looks for work"
        )
    output = context.repository.own_file(OUTPUT)
    which: Sequence[str] = task_ids or ["--all"]
    process = _start(context, output, [*which, "--headless", *flags])
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if is_run_alive_at(own):
            threading.Thread(target=process.wait, daemon=True).start()  # so that it leaves no zombie
            return f"started: {in_words(task_ids) or 'everything that is ready'}"
        time.sleep(_POLL_SECONDS)
    return _ended(output, process.poll())


def _start(context: Context, output: Path, words: Sequence[str]) -> subprocess.Popen[bytes]:
    output.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(output, flags, 0o600)
    try:
        return subprocess.Popen(
            own_command("run", *words),
            cwd=context.directory,
            env=_environment(context),
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            start_new_session=True,
        )
    finally:
        os.close(descriptor)


def _environment(context: Context) -> dict[str, str]:
    """Returns the environment without what is set for the interface alone."""
    return {
        name: value for name, value in context.world.environment.items() if not name.startswith("TEXTUAL")
    }


def _ended(output: Path, code: int | None) -> str:
    """Returns what a run said that has ended already; raises what it refused."""
    with output.open("rb") as file:
        lines = file.read(_MOST_BYTES).decode("utf-8", "replace").splitlines()
    if (error := error_in(lines)) is not None:
        raise error
    if code is None:
        return "the run is slow to start"
    return lines[-1] if lines else "the run has ended"


def start_merge(context: Context, task_id: str) -> Callable[[], str]:
    """Starts to merge a task, and returns what waits for that and says in words what became of it.

    Raises:
        GitticksError: from what is returned: it was not merged, and why.
    """
    # Files, as a pipe would break under the command when the interface is left.
    said, complained = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 (who waits closes them)
    process = subprocess.Popen(
        own_command("merge", task_id),
        cwd=context.directory,
        env=_environment(context),
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=complained,
        start_new_session=True,
    )

    def ended() -> str:
        with said, complained:
            code = process.wait()
            said.seek(0)
            complained.seek(0)
            words = said.read().decode("utf-8", "replace").strip()
            lines = complained.read().decode("utf-8", "replace").splitlines()
        task = context.renewed().store.task_file(TaskId(task_id)).task
        if code == 0:
            merged = task.has_merge and not task.is_open
            sha = (task.merged_sha or "")[:7]
            return f"{task_id} merged into {task.base} as {sha}" if merged else _last(words)
        raise error_in(lines) or GitticksError(_last(words) or f"`gt merge {task_id}` failed")

    return ended


def error_in(lines: Sequence[str]) -> GitticksError | None:
    """Returns the error that a command of ours has printed, with its hint."""
    found = {kind: rest.strip() for kind, mark, rest in (one.partition(":") for one in lines) if mark}
    return GitticksError(found["error"], hint=found.get("hint")) if "error" in found else None


def _last(words: str) -> str:
    """Returns the last line of an output, without the columns between its words."""
    return " ".join((words.splitlines() or [""])[-1].split())
