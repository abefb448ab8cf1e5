"""The values between the runner and an agent: what to start, how to start it, and what came of it."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from gitticks.agents.supervised import Ended
from gitticks.agents.trouble import Trouble
from gitticks.model.session import Ending
from gitticks.model.settings import PermissionMode, PromptWay
from gitticks.model.task import Usage


class AgentKind(StrEnum):
    """The agents that gitticks knows how to start and to read; `command` stands for any other program."""

    CLAUDE = "claude"
    CODEX = "codex"
    GEMINI = "gemini"
    AMP = "amp"
    OPENCODE = "opencode"
    COMMAND = "command"
    SCRIPT = "script"


_SESSION_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z._:-]{0,199}", re.ASCII)

HAND_OVER_COMMANDS = (
    *(f"git {word}" for word in ("add", "commit", "diff", "log", "mv", "rm", "show", "status")),
    "gt",
)
"""What every worker must be able to run whatever its mode: work that is not committed cannot be handed over."""
_PLAIN_PATH = re.compile(r"[\w./+-]+", re.ASCII)


def is_session_id(text: str) -> bool:
    """True for what can be an agent's own name of a session: it will stand among arguments, and is no flag there."""
    return _SESSION_ID.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """One agent as the settings name it.

    `argv` is the program, by path or by name, and for a `command` agent its arguments too; `args` come after the
    flags that gitticks sets. `options` are the settings' other keys, for the adapter to read.
    """

    name: str
    kind: AgentKind
    argv: tuple[str, ...] = ()
    prompt: PromptWay = PromptWay.STDIN
    model: str | None = None
    mode: PermissionMode = PermissionMode.AUTO_EDIT
    args: tuple[str, ...] = ()
    fallback: tuple[str, ...] = ()
    options: Mapping[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """What an agent is asked to do in one session.

    `session_id` is the agent's own name of a session to resume; `spent_before` is the total that the agent told at
    the end of that session, for agents that count on. `prompt_file` holds the prompt, for agents that read a file.
    `own_gt` is the path of the
    session's own `gt`. `script` holds the task's `sh` blocks for this role. `commit_folders` are the folders outside of the workspace that
    a commit in it writes to, for agents that wall themselves in.
    """

    prompt: str
    session_id: str | None = None
    spent_before: Usage = field(default_factory=Usage)
    prompt_file: str | None = None
    own_gt: str | None = None
    script: tuple[str, ...] = ()
    commit_folders: tuple[str, ...] = ()

    @property
    def hand_over_commands(self) -> tuple[str, ...]:
        """Returns `HAND_OVER_COMMANDS`, and `gt` by its path too, if that can stand in the clients' lists."""
        own = self.own_gt or ""
        return (*HAND_OVER_COMMANDS, own) if _PLAIN_PATH.fullmatch(own) else HAND_OVER_COMMANDS


@dataclass(frozen=True, slots=True)
class AgentReport:
    """What came of one session.

    `messages` are the agent's own words in order, never tool output: the only place to look for signals, which
    stand on lines of their own if `signals_on_own_lines`. `usage` is what this session spent, with `cost` only if the
    agent told it, `cached_tokens` the part of `tokens_in` that is cheaper, `total_usage` what the agent counted over
    all sessions that were resumed, and `is_estimate` if it did not come to tell all of it. `detail` is one line for people. `resets_at` is when a limit ends, if that was said.
    """

    ending: Ending
    messages: tuple[str, ...] = ()
    final_message: str | None = None
    session_id: str | None = None
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    cached_tokens: int = 0
    total_usage: Usage | None = None
    model: str | None = None
    detail: str = ""
    denied: tuple[str, ...] = ()
    retry_after_seconds: float | None = None
    resets_at: datetime | None = None
    signals_on_own_lines: bool = False
    is_estimate: bool = False

    @property
    def spent(self) -> Usage:
        """Returns what this session adds to its task's usage."""
        return replace(self.usage, iterations=1, cost=self.usage.cost if self.cost is None else self.cost)

    @property
    def text(self) -> str:
        """Returns all messages as one text."""
        return "\n".join(self.messages)


class Reader(Protocol):
    """Understands one agent's output; made anew for each session.

    `session_id` is the agent's own name of the session, as soon as it has told it; `passing` what its client is trying
    to get over at the moment.
    """

    session_id: str | None
    passing: Trouble | None

    def feed(self, line: str) -> str | None:
        """Takes a line of stdout and returns what of it is worth showing to a person."""

    def report(self, ended: Ended, now: datetime) -> AgentReport:
        """Returns what came of the session, once it is over."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """How one session is started and read; `environment` is added to what the agent's kind may see.

    `stop_signal` is what makes it end in its own way.
    """

    argv: tuple[str, ...]
    new_reader: Callable[[], Reader]
    stdin: bytes | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    stop_signal: int = signal.SIGTERM
