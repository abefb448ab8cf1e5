"""Tests whether the sandbox works on this machine, by building one and trying to get out."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from gitticks.errors import GitticksError
from gitticks.git.process import printable
from gitticks.model.settings import SandboxPreset, SandboxSettings, Settings
from gitticks.model.status import Isolation
from gitticks.sandbox.machine import read_machine
from gitticks.sandbox.walls import Inside, Walls, bubblewrap, walls_of

_SECONDS = 20.0
_TRY = (
    'echo in >inside && ! echo out 2>/dev/null >"$1/outside" && ! cat "$1/secret" 2>/dev/null && echo stands'
)


def require_walls(settings: SandboxSettings, environment: Mapping[str, str]) -> None:
    """Refuses to continue where the settings ask for a sandbox that does not work here.

    Raises:
        GitticksError: says why, and what to type.
    """
    walls = walls_of(settings)
    if walls is None:
        return
    why = why_no_walls(walls, environment)
    if why is not None:
        raise GitticksError(
            f"the sandbox `{walls.preset}` does not work here: {why}",
            hint="`gt doctor` tries it again; `gt run --sandbox none` runs agents without a sandbox, as you",
        )


def why_no_default(settings: Settings, environment: Mapping[str, str]) -> str | None:
    """Returns why the default sandbox does not work here, if nobody chose one; None if it does."""
    if settings.isolation is Isolation.NONE:
        return "`isolation: none` puts them into your own checkout, where no sandbox works"
    walls = walls_of(settings.sandbox)
    return None if walls is None else why_no_walls(walls, environment)


def why_no_walls(walls: Walls, environment: Mapping[str, str]) -> str | None:
    """Returns why the sandbox does not work here; None if it does."""
    try:
        machine = read_machine(environment)
    except GitticksError as error:
        return error.message
    return _probe(machine.program, walls.preset, environment.get("PATH", ""), str(machine.home))


@cache
def _probe(program: str, preset: SandboxPreset, path: str, home: str) -> str | None:
    """Sandboxes a folder: what runs there may write to it, but not outside it, nor read a secret."""
    machine = read_machine({"PATH": path, "HOME": home})
    walls = walls_of(SandboxSettings(preset))
    assert walls is not None  # noqa: S101 - asked for walls
    with TemporaryDirectory(prefix="gitticks-probe-") as folder:
        workspace, beside = Path(folder, "workspace"), Path(folder, "beside")
        workspace.mkdir()
        beside.mkdir()
        (beside / "secret").write_text("seen")
        words = bubblewrap(replace(walls, hosts=()), machine, Inside(workspace, hidden=(beside,)))
        try:
            ran = subprocess.run(
                [*words, "prlimit", "--nproc=64", "--", "/bin/sh", "-c", _TRY, "sh", str(beside)],
                capture_output=True,
                stdin=subprocess.DEVNULL,
                env={"PATH": path},
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"`{program}` cannot be started: {printable(str(error))}"
        if ran.returncode != 0 or ran.stdout != b"stands\n":
            said = printable(ran.stderr.decode("utf-8", "replace")) or "programs inside can get out"
            return f"{said}{_advice(said)}"
        return (
            None
            if (workspace / "inside").exists() and not (beside / "outside").exists()
            else "it lets everything through"
        )


def _advice(said: str) -> str:
    if "disable-userns" in said or "Unknown option" in said:
        return " (bubblewrap 0.8 or newer is needed)"
    if "ermission denied" in said or "not permitted" in said or "uid map" in said:
        return " (user namespaces are switched off: by AppArmor, by `kernel.unprivileged_userns_clone`, or by a container)"
    return ""
