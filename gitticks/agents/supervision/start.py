"""Describes a supervised command, and turns a forked process into it."""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
from typing import NamedTuple, NoReturn

from gitticks.agents.supervision.tree import SET_PARENT_DEATH_SIGNAL, control_process

CONTROL, REPORT = 0, 1
"""The descriptors of the two pipes to the runner."""
LENGTH = struct.Struct(">I")
_UNSTARTED = 127


class Request(NamedTuple):
    """What the runner asks for, as it is in the JSON; times are in seconds, sizes in bytes, None is no limit."""

    argv: list[str]
    cwd: str
    environment: dict[str, str]
    stdin: int | None
    inherited: list[int]
    merge_errors: bool
    stop_signal: int
    total_seconds: float | None
    idle_seconds: float | None
    grace_seconds: float
    output_bytes: int
    processes: int | None

    @property
    def is_walled(self) -> bool:
        """True for a command in a sandbox, which alone has a limit of processes."""
        return self.processes is not None


def read_request() -> Request:
    """Reads the request: four bytes of length, then so much JSON."""
    (length,) = LENGTH.unpack(_read_exactly(LENGTH.size))
    return Request(**json.loads(_read_exactly(length)))


def _read_exactly(count: int) -> bytes:
    """Reads `count` bytes, unbuffered: what follows them belongs to the supervisor's poll."""
    data = bytearray()
    while len(data) < count:
        more = os.read(CONTROL, count - len(data))
        if not more:
            sys.exit(1)
        data += more
    return bytes(data)


def become_command(request: Request, parent: int, streams: tuple[int, int, int], failure: int) -> NoReturn:
    """Turns this forked process into the command.

    What hinders it is written to `failure`, which a command that starts closes unwritten.
    """
    doing = "prepare"
    try:
        _forget_supervision(parent)
        for target, source in enumerate(streams):
            os.dup2(source, target)
        doing = f"enter `{request.cwd}`"
        os.chdir(request.cwd)
        doing = f"start `{request.argv[0]}`"
        os.execvpe(request.argv[0], request.argv, request.environment)  # noqa: S606 - no shell is the point
    except BaseException as error:  # noqa: BLE001 - this process must neither return nor print
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        os.write(failure, f"cannot {doing}: {said.lower()}".encode("utf-8", "replace"))
    finally:
        os._exit(_UNSTARTED)


def _forget_supervision(parent: int) -> None:
    """Leaves the supervisor's session and signals, but not alive when the supervisor is killed."""
    signal.set_wakeup_fd(-1)
    os.setsid()
    for number in ("SIGPIPE", "SIGXFSZ", "SIGTERM", "SIGINT", "SIGHUP", "SIGCHLD"):
        signal.signal(getattr(signal, number), signal.SIG_DFL)
    control_process(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(_UNSTARTED)
