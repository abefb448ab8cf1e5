"""A server that forks `gt`: as separate as a process of its own, and ten times as quick to start.

It has one thread, every module of gitticks loaded, and no state of any test, so that a child never waits for a lock, a
pipe or a process of its parent's. Tests ask it by a socket; it ends with them. Run as a program, it is the server.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import gc
import importlib
import io
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from tests.support.processes import children, described, family
from tests.support.sealing import seal_libgit2

CRASHED = 254
"""The exit code where an exception left `gt`."""
SLOW_MODULES = (
    "asyncio",
    "frontmatter",
    "markdown_it",
    "pygit2.enums",
    "ruamel.yaml",
    "sqlite3",
    "subprocess",
    "watchfiles",
)
_DESCRIPTORS = 6
_OF_THE_SERVER = ("HOME", "LC_ALL", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH")
"""What it needs itself: it outlives the test that starts it, and nobody is to find that test's marks on it."""
_STACKS = signal.SIGUSR2
"""A child writes its stacks when it gets this."""
_STACKS_SECONDS = 60.0
"""How long a hung child is given for that; one that does not is stuck in the kernel."""
_QUIET_SECONDS = 2.0
"""Stacks that have not grown for so long are whole."""


@dataclass(frozen=True, slots=True)
class Fork:
    """A command that runs: the pipe on which its end is told, and the file for its stacks."""

    told: BinaryIO
    stacks: BinaryIO

    def wait(self, seconds: float) -> int:
        """Returns the exit code.

        Raises:
            HungError: it does not end; the command and all that it started are ended.
        """
        with self.told, self.stacks:
            watcher = int(self.told.readline())
            if select.select([self.told], [], [], max(0.0, seconds))[0]:
                return int(self.told.read())
            child = next(children(watcher))
            hung = "\n".join([*map(described, family(child)), self._stacks_of(child)])
            for process in [*family(watcher)]:  # all of them first: what is killed has no children any more
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            raise HungError(hung)

    def _stacks_of(self, child: int) -> str:
        os.kill(child, _STACKS)
        end, written, since = time.monotonic() + _STACKS_SECONDS, 0, time.monotonic()
        while time.monotonic() < end and (written == 0 or time.monotonic() - since < _QUIET_SECONDS):
            time.sleep(0.02)
            before, written = written, os.fstat(self.stacks.fileno()).st_size
            if written != before:
                since = time.monotonic()
        self.stacks.seek(0)
        return self.stacks.read().decode("utf-8", "replace")


class HungError(AssertionError):
    """A command did not end; the message says where its processes were."""


def fork_gt(
    arguments: Sequence[str], at: Path, environment: Mapping[str, str], streams: tuple[int, int, int]
) -> Fork:
    """Starts a command with these streams, in the directory `at`."""
    request = {"arguments": arguments, "at": str(at), "environment": {**os.environ, **environment}}
    told, telling = os.pipe()
    stacks = tempfile.TemporaryFile()  # noqa: SIM115 - the fork closes it
    with tempfile.TemporaryFile() as file:
        file.write(json.dumps(request).encode())
        file.flush()
        socket.send_fds(_server(), [b"\n"], [file.fileno(), telling, stacks.fileno(), *streams])
    os.close(telling)
    return Fork(open(told, "rb", buffering=0), stacks)  # noqa: PTH123 - a descriptor


@functools.cache
def _server() -> socket.socket:
    """Returns the way to the server, which is started for the first command."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _OF_THE_SERVER if name in os.environ},
            pass_fds=[theirs.fileno()],
        )
    assert ours.recv(1), "the server of forks did not start"
    return ours


def serve(asked: socket.socket) -> None:
    """Forks a child for each request until nobody can ask any more."""
    for name in SLOW_MODULES:
        importlib.import_module(name)
    package = importlib.import_module("gitticks")
    for module in pkgutil.walk_packages(package.__path__, "gitticks."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    gc.collect()
    gc.freeze()
    os.umask(0o022)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    asked.send(b"\n")
    while descriptors := socket.recv_fds(asked, 1, _DESCRIPTORS)[1]:
        if os.fork() == 0:
            asked.close()
            _watch(*descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _watch(request: int, telling: int, stacks: int, *streams: int) -> NoReturn:
    """Runs a command in a child and tells how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.write(telling, b"%d\n" % os.getpid())
    child = os.fork()
    if child == 0:
        os.close(telling)
        faulthandler.register(_STACKS, file=stacks)
        with open(request, "rb") as file:
            file.seek(0)
            _run(json.load(file), streams)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.write(telling, b"%d" % code)
    os._exit(0)


def _run(request: Mapping[str, Any], streams: Sequence[int]) -> NoReturn:
    code = CRASHED
    try:
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
            os.close(descriptor)
        sys.stdin = io.TextIOWrapper(io.FileIO(0, "r", closefd=False), encoding="utf-8")
        sys.stdout, sys.stderr = (_stream(number) for number in (1, 2))
        os.environ.clear()
        os.environ.update(request["environment"])
        os.chdir(request["at"])
        seal_libgit2(Path(os.environ["HOME"]))
        sys.argv[1:] = request["arguments"]
        entry: Any = importlib.import_module("gitticks.cli.entry")
        entry.main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else CRASHED
        threading._shutdown()  # type: ignore[attr-defined]
    except BaseException:  # noqa: BLE001 - nothing may get out of the child into the server's own frames
        traceback.print_exc()
    finally:
        os._exit(code)


def _stream(number: int) -> io.TextIOWrapper:
    raw = io.FileIO(number, "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding="utf-8", errors="surrogateescape", write_through=True
    )


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
