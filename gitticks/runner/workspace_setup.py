"""Makes a new workspace ready: copies files that git does not keep, and runs the team's set-up command, once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from shlex import quote

from gitticks.agents.process import Command, Limits, StopRequest, run_supervised
from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout
from gitticks.model.settings import Settings

_STAMP = "gitticks-setup"
_TAIL_BYTES = 8_000


class SetupFailedError(GitticksError):
    """The workspace could not be made ready; `output` holds the end of what the command printed."""

    def __init__(self, message: str, *, output: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.output = output


def set_up(
    checkout: Checkout,
    source: Path | None,
    settings: Settings,
    environment: Mapping[str, str],
    stop: StopRequest | None = None,
) -> None:
    """Copies and runs what `setup` names, unless that was done already since the workspace was made.

    Args:
        checkout: the workspace.
        source: the checkout that files are copied from; None copies nothing.
        settings: what to do, and how long a command may take.
        environment: all that the command gets.
        stop: ends the command when another thread asks for it.

    Raises:
        SetupFailedError: a path leads outside of the checkout, or the command failed.
    """
    stamp = (
        checkout.git_dir / _STAMP
    )  # it goes when the worktree goes, and an agent behind walls cannot write it
    if stamp.exists():
        return
    for name in settings.setup.copy if source is not None else ():
        _copy(source or Path(), checkout.path, name)
    if settings.setup.run is not None:
        _run(settings.setup.run, checkout.path, settings.limits.gate, environment, stop)
    stamp.touch()


def _copy(source: Path, target: Path, name: str) -> None:
    """Copies a file or folder that exists; what the workspace has already stays."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or path.parts[0] == ".git":
        raise SetupFailedError(
            f"`{name}` under `setup.copy` is no path inside the checkout",
            hint="`gt config setup.copy` shows them",
        )
    here, there = source / path, target / path
    if not here.exists() or os.path.lexists(there):
        return
    top = os.path.realpath(source)
    if os.path.commonpath([top, os.path.realpath(here)]) != top:
        raise SetupFailedError(
            f"`{name}` under `setup.copy` leads out of the checkout by a link",
            hint=f"`ls -l {here}` shows where to",
        )
    there.parent.mkdir(parents=True, exist_ok=True)
    try:
        if here.is_dir():
            shutil.copytree(here, there, symlinks=True)
        else:
            shutil.copy2(here, there)
    except (OSError, shutil.Error) as error:
        raise SetupFailedError(f"`{name}` could not be copied to `{target}`: {error}") from error


def _run(
    command: str, place: Path, limit_seconds: float, environment: Mapping[str, str], stop: StopRequest | None
) -> None:
    ended = run_supervised(
        Command(("/bin/sh", "-c", command), place, environment, merge_errors=True),
        Limits(total_seconds=limit_seconds, kept_bytes=2 * _TAIL_BYTES),
        stop=stop,
    )
    if ended.is_success:
        return
    output = ended.output[-_TAIL_BYTES:].strip()
    last = output.rpartition("\n")[2].strip()[:200]
    how = (
        f"exit code {ended.exit_code}" if ended.exit_code is not None else str(ended.problem or ended.reason)
    )
    raise SetupFailedError(
        f"the set-up command `{command}` failed ({how}){f': {last}' if last else ''}",
        output=output,
        hint=f"try it there: `cd {quote(str(place))} && {command}`",
    )
