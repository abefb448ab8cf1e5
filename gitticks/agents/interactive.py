"""Agents that a person can talk to: their interactive commands, in the user's terminal or in tmux.

What is printed there is a screen, and no message of the agent's, so signals are not looked for in it but in a
`command`'s lines; what the agent asks for by `gt` and writes into its mailbox counts as ever.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from gitticks.agents.base import AgentReport, AgentSpec, Ended, EndReason, Invocation, Request
from gitticks.agents.process import AT_ONCE, StopRequest
from gitticks.agents.registry import invoke
from gitticks.agents.stream import StreamReader, judge_exit
from gitticks.agents.supervision.tree import descendants
from gitticks.agents.trouble import Trouble
from gitticks.errors import GitticksError
from gitticks.flocks import take_lock
from gitticks.model.settings import AgentKind

_GRACE_SECONDS = 5.0

_HEADLESS: Mapping[AgentKind, tuple[frozenset[str], tuple[str, ...]]] = {
    AgentKind.CLAUDE: (frozenset({"-p", "--output-format", "stream-json", "--verbose"}), ()),
    AgentKind.CODEX: (frozenset({"exec", "--json", "--skip-git-repo-check", "-"}), ()),
    AgentKind.GEMINI: (frozenset({"-o", "stream-json"}), ("-i",)),
    AgentKind.OPENCODE: (frozenset({"run", "--format", "json", "--auto"}), ("--prompt",)),
}
"""Of each client the words that make it headless, and what is before a prompt to begin with."""
SIGNALS_UNREAD = (
    "A person can see this terminal and type into it, but signals that you print are not read: use "
    "`gt handoff`, `gt complete` and `gt ask`."
)
"""What is added to the prompt where a client's words cannot be told apart from what others print on its terminal."""


def is_interactive(spec: AgentSpec) -> bool:
    """True for an agent that a person can talk to."""
    return spec.kind in _HEADLESS or spec.kind is AgentKind.COMMAND


def require_interactive(spec: AgentSpec) -> None:
    """Refuses an agent that nobody can talk to."""
    if not is_interactive(spec):
        raise GitticksError(
            f"the agent `{spec.name}` has no interactive command that takes a prompt",
            hint="`--agent NAME` uses another one, `gt agents` lists them",
        )


def interactive(spec: AgentSpec, request: Request) -> Invocation:
    """Returns how to start an agent so that a person can talk to it; a client is pointed to the prompt's file."""
    require_interactive(spec)
    invocation = replace(invoke(spec, request), stdin=None)
    if spec.kind is AgentKind.COMMAND:
        return invocation
    headless, before = _HEADLESS[spec.kind]
    own, unseen = len(spec.argv) or 1, set(headless)
    prompt = f"Read `{request.prompt_file}` and do what it says."
    # Before the flags: one that takes several values would take a prompt after it for another.
    words = [*invocation.argv[:own], *before, prompt]
    for word in invocation.argv[own:]:
        if word in unseen:
            unseen.remove(word)
        else:
            words.append(word)
    return replace(invocation, argv=tuple(words), new_reader=ScreenReader)


class ScreenReader(StreamReader):
    """Shows what a client printed on its screen; only its exit code says how it ended."""

    def feed(self, line: str) -> str | None:
        """Returns a line that is not empty."""
        return line if line.strip() else None

    def _judge(self, ended: Ended) -> Trouble:
        return judge_exit(ended)


def run_on_terminal(
    invocation: Invocation,
    *,
    workspace: Path,
    environment: Mapping[str, str],
    now: Callable[[], datetime],
    stop: StopRequest,
    lock: Path,
) -> AgentReport:
    """Runs an agent in the person's own terminal until it ends or is stopped, and returns the result.

    Ctrl-C is the agent's alone. Whatever it starts holds the flock of `lock` as long as it lives.
    """
    begun = time.monotonic()
    try:
        with (
            _holding(lock) as descriptor,
            _ctrl_c_to_child(),
            _same_terminal(),
            subprocess.Popen(
                invocation.argv,
                cwd=workspace,
                env={**environment, **invocation.environment},
                pass_fds=[descriptor],
            ) as process,
            stop.listening(partial(_end, process)),
        ):
            code = process.wait()
    except OSError as error:
        ended = Ended(
            EndReason.START_FAILED, problem=f"cannot start `{invocation.argv[0]}`: {error.strerror}"
        )
    else:
        seconds = round(time.monotonic() - begun, 3)
        ended = Ended(
            EndReason.STOPPED if stop.is_requested else EndReason.EXITED,
            code if code >= 0 else None,
            -code if code < 0 else None,
            seconds=seconds,
        )
    return invocation.new_reader().report(ended, now())


@contextlib.contextmanager
def _holding(lock: Path) -> Iterator[int]:
    """Takes a flock and gives its descriptor; who inherits that holds it too, also after the block."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not take_lock(descriptor):
            raise OSError(errno.EBUSY, "an agent of the previous session is still running")
        yield descriptor
    finally:
        os.close(descriptor)  # without an unlock, which would be that of those who inherited it


def _end(process: subprocess.Popen[bytes], letter: bytes) -> None:
    """Asks an agent and all that it started to end, and after a while makes it."""

    def send(number: int) -> None:
        if process.poll() is None:
            for pid in (process.pid, *descendants(process.pid)):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)

    send(signal.SIGKILL if letter == AT_ONCE else signal.SIGTERM)
    killer = threading.Timer(_GRACE_SECONDS, send, [signal.SIGKILL])
    killer.daemon = True
    killer.start()


@contextlib.contextmanager
def _same_terminal() -> Iterator[None]:
    """Leaves the terminal as it was: a client that is stopped has no time to."""
    try:
        before = termios.tcgetattr(0)
    except termios.error:
        yield
        return
    try:
        yield
    finally:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(0, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _ctrl_c_to_child() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
