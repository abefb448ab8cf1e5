"""Agents in a tmux session that people can join and type into, each with its own tmux server.

The server is a descendant of the session's supervisor like all else that the agent starts, so limits, stops and the end
of the tree hold for it too. Where there are no subreapers (macOS), the host ends it.

The host is this module as a program, between supervisor and tmux: it starts the agent in a session, reports its output
and ends with it, and with its exit code. Its arguments are the server's name, a file for the agent's stdin or nothing,
and the agent's command line.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from gitticks.agents.base import Invocation
from gitticks.errors import GitticksError

PROGRAM = "tmux"
FOREIGN = ("TMUX", "TMUX_PANE", "TMUX_TMPDIR")
"""Variables that would name another server, or another place for it."""
COLUMNS, ROWS = 160, 48
LONGEST_LINE = 4000
"""A screen that is redrawn in place has no line ends; so much of it counts as a line."""
_ENDING_SECONDS, _POLL_SECONDS = 1.0, 0.05
_KILLED, _CANNOT_LISTEN = 143, 70
_STEERING = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_].*?\x1b\\|\x1b[ -/]*[0-~]|[\x00-\x08\x0b-\x1f\x7f]"
)


def require_tmux(environment: Mapping[str, str]) -> None:
    """Refuses a run in tmux where that is not installed."""
    if shutil.which(PROGRAM, path=environment.get("PATH", os.defpath)) is None:
        raise GitticksError("`--tmux` needs tmux, which is not on PATH", hint="`apt-get install tmux`")
    if find_spec("libtmux") is None:
        raise GitticksError(
            "`--tmux` needs the library libtmux, which is not installed",
            hint="`pipx inject gitticks libtmux`",
        )


def server_name(own_dir: Path, task: str) -> str:
    """Returns the name of a task's tmux server, which no other repository's task has."""
    return f"gitticks-{hashlib.sha256(os.fsencode(own_dir)).hexdigest()[:10]}-{task}"


def in_tmux(invocation: Invocation, server: str, stdin_file: str | None) -> Invocation:
    """Returns how to start an agent in a tmux session; its stdin is the terminal unless a file is given."""
    host = (sys.executable, "-I", "-m", "gitticks.agents.tmux", server, stdin_file or "")
    return replace(invocation, argv=(*host, *invocation.argv), stdin=None)


def is_joinable(server: str) -> bool:
    """True while that server lives."""
    if shutil.which(PROGRAM) is None:
        return False
    return _tmux(server, "has-session", is_quiet=True) == 0


def join(server: str) -> bool:
    """Shows the session in this terminal until it ends or the person leaves it; returns True if they left it."""
    _tmux(server, "attach-session")
    end = time.monotonic() + _ENDING_SECONDS
    while is_joinable(server):  # a server whose session ended answers for a moment
        if time.monotonic() >= end:
            return True
        time.sleep(_POLL_SECONDS)
    return False


def _tmux(server: str, *words: str, is_quiet: bool = False) -> int:
    environment = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    output = subprocess.DEVNULL if is_quiet else None
    command = [PROGRAM, "-L", server, *words]
    return subprocess.run(command, env=environment, check=False, stdout=output, stderr=output).returncode


def main(name: str, stdin_file: str, *command: str) -> int:
    """Runs the command in a session of its own server, prints what it prints, and returns its exit code."""
    for variable in FOREIGN:
        os.environ.pop(variable, None)
    from libtmux import Server
    from libtmux.exc import LibTmuxException

    server = Server(socket_name=name, config_file=os.devnull)
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(_KILLED))
    with TemporaryDirectory(prefix="gitticks-tmux-") as folder:
        output, code, script = Path(folder, "output"), Path(folder, "code"), Path(folder, "script")
        os.mkfifo(output, 0o600)
        source = f" < {shlex.quote(stdin_file)}" if stdin_file else ""
        words = f"tmux wait-for go; {shlex.join(command)}{source}; echo $? > {shlex.quote(str(code))}"
        script.write_bytes(os.fsencode(words))  # tmux takes no command of more than 16 kB
        try:
            server.new_session(
                session_name="agent",
                window_command=shlex.join(["sh", str(script)]),
                start_directory=str(Path.cwd()),
                x=COLUMNS,
                y=ROWS,
            )
            piped = server.cmd("pipe-pane", "-O", "-t", "agent", f"cat > {shlex.quote(str(output))}")
            if piped.returncode:  # nobody would ever open the other end
                sys.stderr.write(f"tmux does not pass on what the agent prints: {' '.join(piped.stderr)}\n")
                return _CANNOT_LISTEN
            server.cmd("wait-for", "-S", "go")
            with output.open("rb", buffering=0) as printed:
                for line in lines(printed):
                    sys.stdout.buffer.write(line + b"\n")
                    sys.stdout.flush()
            return int(code.read_text()) if code.exists() else _KILLED
        except LibTmuxException as error:
            sys.stderr.write(f"tmux failed: {error}\n")
            return _CANNOT_LISTEN
        finally:
            # With its last session it ends by itself, perhaps while it is asked to.
            with suppress(LibTmuxException):
                server.kill()


def lines(printed: IO[bytes]) -> Iterator[bytes]:
    """Yields what a terminal shows line by line, without what steers it."""
    rest = b""
    while data := printed.read(65536):
        *whole, rest = (rest + data).split(b"\n")
        if len(rest) > LONGEST_LINE:
            whole, rest = [*whole, rest], b""
        yield from (_STEERING.sub(b"", line) for line in whole)
    if rest:
        yield _STEERING.sub(b"", rest)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
