"""The small program between supervisor and tmux: starts the agent in a session and reports its output.

Its arguments are the server's name, a file for the agent's stdin or nothing, and the agent's command line. It ends with
the agent, and with its exit code.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from libtmux import Server

from gitticks.agents.tmux import FOREIGN

COLUMNS, ROWS = 160, 48
LONGEST_LINE = 4000
"""A screen that is redrawn in place has no line ends; so much of it counts as a line."""
_KILLED, _CANNOT_LISTEN = 143, 70
_STEERING = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_].*?\x1b\\|\x1b[ -/]*[0-~]|[\x00-\x08\x0b-\x1f\x7f]"
)


def main(name: str, stdin_file: str, *command: str) -> int:
    """Runs the command in a session of its own server, prints what it prints, and returns its exit code."""
    for variable in FOREIGN:
        os.environ.pop(variable, None)
    server = Server(socket_name=name, config_file=os.devnull)
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(_KILLED))
    with TemporaryDirectory(prefix="gitticks-tmux-") as folder:
        output, code = Path(folder, "output"), Path(folder, "code")
        os.mkfifo(output, 0o600)
        source = f" < {shlex.quote(stdin_file)}" if stdin_file else ""
        script = f"tmux wait-for go; {shlex.join(command)}{source}; echo $? > {shlex.quote(str(code))}"
        try:
            server.new_session(
                session_name="agent",
                window_command=shlex.join(["sh", "-c", script]),
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
        finally:
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
