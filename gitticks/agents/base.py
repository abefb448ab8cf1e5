"""The values that runner, agent and supervisor exchange: what to start, how, with which limits, and the result."""

from __future__ import annotations

import re
import shlex
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from gitticks.model.settings import AgentKind, PermissionMode, PromptWay
from gitticks.model.task import Ending, Usage
from gitticks.workflow.permissions import PolicyLayer

if TYPE_CHECKING:
    from gitticks.agents.stream import StreamReader

_SESSION_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z._:-]{0,199}", re.ASCII)
HAND_OVER_COMMANDS = (
    *(f"git {word}" for word in ("add", "commit", "diff", "log", "mv", "rm", "show", "status")),
    "gt",
)
"""What every worker must be able to run whatever its mode: work that is not committed cannot be handed over."""
_PLAIN_PATH = re.compile(r"[\w./+-]+", re.ASCII)

_COMMON = frozenset(
    {
        "HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TEMP", "TERM", "TMP", "TMPDIR", "TZ", "USER",
        "SSL_CERT_DIR", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS",
        "ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "all_proxy", "https_proxy", "http_proxy", "no_proxy",
    }
)  # fmt: skip
_COMMON_PREFIXES = ("LC_", "XDG_")
_NEVER = ("GIT_", "GITTICKS_")


_CODES_OF_LIMITS = {
    128 + signal.SIGXCPU: "sandbox.max_process_time",
    128 + signal.SIGXFSZ: "sandbox.max_file_size",
}
"""What programs and sandboxes end with of which a signal ended what they ran."""


class EndReason(StrEnum):
    """Why a supervised command is over; KILLED says that its supervisor was killed or hung."""

    EXITED = "exited"
    TIMED_OUT = "timed-out"
    IDLE = "idle"
    CROWDED = "crowded"
    STOPPED = "stopped"
    KILLED = "killed"
    START_FAILED = "start-failed"


@dataclass(frozen=True, slots=True)
class Command:
    """What to run: `environment` is all that it gets, and stdin is empty unless given as bytes or as a file.

    An open file is closed here once the command has it.

    `stop_signal` is what asks it to end.
    """

    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str]
    stdin: bytes | IO[bytes] | None = None
    merge_errors: bool = False
    stop_signal: int = signal.SIGTERM


class Limits(NamedTuple):
    """How long a command may run and how much of what it prints is passed on; None is no limit.

    `output_bytes` bounds what is delivered line by line (a quarter of it is the tail, which comes when the command
    is over), `kept_bytes` what `Ended` holds. `processes` is how many it may have at once. `grace_seconds` are between the stop signal and SIGKILL.
    """

    total_seconds: float | None = None
    idle_seconds: float | None = None
    output_bytes: int = 64_000_000
    kept_bytes: int = 256_000
    line_bytes: int = 1_000_000
    grace_seconds: float = 5.0
    processes: int | None = None


class Ended(NamedTuple):
    """How a command ended: by `exit_code` or by `signal`, or by neither if it never started or its end was not seen.

    `output` and `errors` hold both ends of stdout and stderr with a line between that says how much is missing.
    `dropped_bytes` were never delivered as lines. `left` counts the processes that a command left running at its end, which
    were ended then; `survived` is true if something could not be killed.
    """

    reason: EndReason
    exit_code: int | None = None
    signal: int | None = None
    output: str = ""
    errors: str = ""
    dropped_bytes: int = 0
    seconds: float = 0.0
    problem: str = ""
    left: int = 0
    survived: bool = False

    @property
    def is_success(self) -> bool:
        """True if the command ended by itself with exit code 0."""
        return self.reason is EndReason.EXITED and self.exit_code == 0

    @property
    def how(self) -> str:
        """Returns how a command ended that failed, for a message."""
        if self.reason is EndReason.CROWDED:
            return "it had more processes at once than `sandbox.max_processes` allows"
        if self.reason is not EndReason.EXITED:
            return self.problem or self.reason.value
        if self.signal is not None:
            return f"ended by signal {self.signal}"
        limit = _CODES_OF_LIMITS.get(self.exit_code or 0)
        return f"exit code {self.exit_code}{f', as at `{limit}`' if limit else ''}"


class Front(StrEnum):
    """Where an agent's words go: to the runner alone, to the person's own terminal, or into a tmux session."""

    NONE = "none"
    TERMINAL = "terminal"
    TMUX = "tmux"


def is_session_id(text: str) -> bool:
    """True for what can be an agent's own name of a session: it will stand among arguments, and is no flag there."""
    return _SESSION_ID.fullmatch(text) is not None


class Places(NamedTuple):
    """Where a client keeps what is its own; in a sandbox it may write to the folders less settings and programs in them.

    Of the copies it gets one that is thrown away. The state is what the client itself writes, programs in it or not.
    `moved` says by which variable a person moves some of it, as `CODEX_HOME` for `~/.codex`.
    """

    folders: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()

    def located(self, environment: Mapping[str, str]) -> Places:
        """Returns where all of it is with these variables; nothing is moved to where it would open the whole home."""
        home, moved = Path(environment.get("HOME") or Path.home()), dict[str, str]()
        for begin, instead in self.moved:
            variable, _, rest = instead.partition("/")
            place = Path(environment.get(variable) or home, rest)
            if environment.get(variable) and not home.resolve().is_relative_to(place.resolve()):
                moved[begin] = str(place)
        folders, settings, copies, state = (tuple(_moved(path, moved) for path in some) for some in self[:4])
        return Places(folders, settings, copies, state)


def _moved(path: str, moved: Mapping[str, str]) -> str:
    for begin, place in moved.items():
        if path == begin or path.startswith(f"{begin}/"):
            return place + path[len(begin) :]
    return path


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """One agent as the settings name it.

    `argv` is the program, by path or by name, and for a `command` agent its arguments too; `args` come after the
    flags that gitticks sets. As one of several reviewers it has that one's name, as `reviewer`.
    """

    name: str
    kind: AgentKind
    argv: tuple[str, ...] = ()
    prompt: PromptWay = PromptWay.STDIN
    model: str | None = None
    mode: PermissionMode = PermissionMode.AUTO_EDIT
    args: tuple[str, ...] = ()
    fallback: tuple[str, ...] = ()
    provider: str | None = None
    sandbox_mode: str | None = None
    reviewer: str = ""

    @property
    def who(self) -> str:
        """Returns the name to show: `claude`, or `claude (security)`."""
        return f"{self.name} ({self.reviewer})" if self.reviewer else self.name


class PermissionHook(NamedTuple):
    """What a client calls before it uses a tool: the command line, and how long its answer may take.

    `folder` is where a client's settings can be put that takes them from files alone; those in `workspace` are not ours.
    """

    argv: tuple[str, ...]
    seconds: int
    folder: Path
    workspace: Path

    @property
    def command(self) -> str:
        """Returns the command line as any shell reads it, the user's own too, which refuses whatever ends the program.

        Clients take 2 for a refusal, and any other code for an error of the hook, after which they use the tool.
        """
        return shlex.join(("sh", "-c", 'trap "exit 2" INT TERM; "$@" || exit 2', "gt", *self.argv))


@dataclass(frozen=True, slots=True)
class Request:
    """What an agent is asked to do in one session.

    `session_id` is the agent's own name of a session to resume; `spent_before` is the total that the agent reported at
    the end of that session, for agents that count on. `prompt_file` holds the prompt, for agents that read a file.
    `own_gt` is the path of the
    session's own `gt`. `script` holds the task's `sh` blocks for this role. `commit_folders` are the folders outside of the workspace that
    a commit in it writes to, for agents that wall themselves in, and `is_walled` says that walls stand around them,
    behind which they cannot build their own. `hook` is to be asked before each use of a tool; `rules` are for agents that
    know no hook, but rules. `is_answered` says that somebody hears what a client asks on its stdout.
    """

    prompt: str
    session_id: str | None = None
    spent_before: Usage = field(default_factory=Usage)
    prompt_file: str | None = None
    own_gt: str | None = None
    script: tuple[str, ...] = ()
    commit_folders: tuple[str, ...] = ()
    hook: PermissionHook | None = None
    rules: tuple[PolicyLayer, ...] = ()
    is_walled: bool = False
    is_answered: bool = False

    @property
    def hand_over_commands(self) -> tuple[str, ...]:
        """Returns `HAND_OVER_COMMANDS`, and `gt` by its path too, if that can stand in the clients' lists."""
        own = self.own_gt or ""
        return (*HAND_OVER_COMMANDS, own) if _PLAIN_PATH.fullmatch(own) else HAND_OVER_COMMANDS


@dataclass(frozen=True, slots=True)
class AgentReport:
    """The result of one session.

    `messages` are the agent's own words in order, never tool output: the only place to look for signals, which
    stand on lines of their own if `signals_on_own_lines`. `usage` is what this session spent, with `cost` only if the
    agent told it or, then with its `cost_source`, if a price is known, `cached_tokens` the part of `tokens_in` that is cheaper, `total_usage` what the agent counted over
    all sessions that were resumed, and `is_estimate` if it did not get to report all of it. `warnings` say what of what it
    reported makes no sense. `detail` is one line for people. `resets_at` is when a limit ends, if that was said.
    """

    ending: Ending
    messages: tuple[str, ...] = ()
    final_message: str | None = None
    session_id: str | None = None
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    cost_source: str | None = None
    cached_tokens: int = 0
    total_usage: Usage | None = None
    model: str | None = None
    detail: str = ""
    denied: tuple[str, ...] = ()
    retry_after_seconds: float | None = None
    resets_at: datetime | None = None
    signals_on_own_lines: bool = False
    is_estimate: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def spent(self) -> Usage:
        """Returns what this session adds to its task's usage."""
        return self.usage._replace(iterations=1, cost=self.usage.cost if self.cost is None else self.cost)

    @property
    def tokens(self) -> int:
        """Returns how many tokens it took in all."""
        return self.usage.tokens_in + self.usage.tokens_out

    @property
    def is_unpriced(self) -> bool:
        """True if it took tokens, and nobody knows what they cost."""
        return self.cost is None and self.tokens > 0

    @property
    def text(self) -> str:
        """Returns all messages as one text."""
        return "\n".join(self.messages)


@dataclass(frozen=True, slots=True)
class Invocation:
    """How one session is started and read; `environment` is added to what the agent's kind may see.

    `stop_signal` is what makes it end in its own way. `files` are to be put in place before it starts:
    their content, or the path that a link leads to. `is_dialogue` says that it asks on stdout and is answered on stdin.
    """

    argv: tuple[str, ...]
    new_reader: Callable[[], StreamReader]
    stdin: bytes | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    stop_signal: int = signal.SIGTERM
    files: Mapping[Path, bytes | Path] = field(default_factory=dict)
    is_dialogue: bool = False


_WHOLE = frozenset({AgentKind.COMMAND, AgentKind.SCRIPT})


def neutral_environment(outer: Mapping[str, str]) -> dict[str, str]:
    """Returns what commands and checks see: all but git's and gitticks' own variables.

    Those would point a program at another repository, or at another session.
    """
    return {name: value for name, value in outer.items() if not name.startswith(_NEVER)}


def agent_environment(
    kind: AgentKind, variables: tuple[str, ...], outer: Mapping[str, str], additions: Mapping[str, str]
) -> dict[str, str]:
    """Returns the environment of an agent's process.

    A known client gets the common variables and its own; a command or a script gets the neutral ones.
    """
    kept = {
        name: value
        for name, value in neutral_environment(outer).items()
        if kind in _WHOLE or name in _COMMON or name.startswith((*_COMMON_PREFIXES, *variables))
    }
    return {**kept, **additions}
