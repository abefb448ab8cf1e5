"""Agents in a tmux session that people can join and type into, each with its own tmux server.

The server is a descendant of the session's supervisor like all else that the agent starts, so limits, stops and the end
of the tree hold for it too. Where there are no subreapers (macOS), the host ends it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from gitticks.agents.base import Invocation
from gitticks.errors import GitticksError

PROGRAM = "tmux"
_HOST = "gitticks.agents.tmux_host"
FOREIGN = ("TMUX", "TMUX_PANE", "TMUX_TMPDIR")
"""Variables that would name another server, or another place for it."""


def require_tmux(environment: Mapping[str, str]) -> None:
    """Refuses a run in tmux where that is not installed."""
    if shutil.which(PROGRAM, path=environment.get("PATH", os.defpath)) is None:
        raise GitticksError("`--tmux` needs tmux, which is not on PATH", hint="`apt-get install tmux`")
    if find_spec("libtmux") is None:
        raise GitticksError(
            "`--tmux` needs the library libtmux, which is not installed",
            hint="`pip install 'gitticks[tmux]'`",
        )


def server_name(own_dir: Path, task: str) -> str:
    """Returns the name of a task's tmux server, which no other repository's task has."""
    return f"gitticks-{hashlib.sha256(os.fsencode(own_dir)).hexdigest()[:10]}-{task}"


def in_tmux(invocation: Invocation, server: str, stdin_file: str | None) -> Invocation:
    """Returns how to start an agent in a tmux session; its stdin is the terminal unless a file is given."""
    host = (sys.executable, "-I", "-m", _HOST, server, stdin_file or "")
    return replace(invocation, argv=(*host, *invocation.argv), stdin=None)


def is_joinable(server: str) -> bool:
    """True while that server lives."""
    if shutil.which(PROGRAM) is None:
        return False
    return _tmux(server, "has-session", is_quiet=True) == 0


def join(server: str) -> None:
    """Shows the session in this terminal until it ends or the person leaves it."""
    _tmux(server, "attach-session")


def _tmux(server: str, *words: str, is_quiet: bool = False) -> int:
    environment = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    output = subprocess.DEVNULL if is_quiet else None
    command = [PROGRAM, "-L", server, *words]
    return subprocess.run(command, env=environment, check=False, stdout=output, stderr=output).returncode
