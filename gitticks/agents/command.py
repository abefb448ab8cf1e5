"""Any command line as an agent: its stdout is its message, its exit code how it ended.

It can say that its service keeps it from its work: with the exit code of `sysexits.h` for a failure that passes, and
if it likes with a line of JSON that tells more. What it spent it tells by lines of JSON too.

The built-in agent `script` needs no model: it runs the `sh` blocks under a task's `## Script`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial

from gitticks.agents.base import AgentReport, AgentSpec, Ended, Invocation, Request
from gitticks.agents.stream import (
    Event,
    StreamReader,
    judge_exit,
    last_line,
    number_at,
    parse_event,
    text_at,
)
from gitticks.agents.trouble import Trouble, classify_limit, one_line
from gitticks.errors import GitticksError
from gitticks.model.settings import PromptWay
from gitticks.model.task import Ending, Usage

TEMPORARY_FAILURE = 75
_LONGEST_ARGUMENT = 131_071
_KEY = "gitticks"
_USAGE = "usage"
_NUMBERS = ("tokens_in", "tokens_out", "tokens_cached", "cost")
_MODEL, _AFTER, _MESSAGE = "model", "retry_after", "message"
_MOST = 1e12
_MOST_WARNINGS = 5
_KINDS = {
    "rate-limit": (Ending.RATE_LIMITED, "too many requests"),
    "usage-limit": (Ending.USAGE_LIMITED, "the usage limit is reached"),
    "outage": (Ending.OUTAGE, "the service is down"),
    "context-full": (Ending.CONTEXT_FULL, "the model's context window is full"),
    "refusal": (Ending.REFUSED, "the model refuses the task"),
    "login": (Ending.START_FAILED, "the login is missing or was refused"),
}
# What a task is stuck with, in the words that a person reads.
_FOR_PEOPLE = ("refusal", "login")
_RUN_EACH = 'for block do sh -e -c "$block" || exit; done'
"""Every block is an argument and gets a shell of its own; stdin stays free for what the blocks start."""


def invocation(spec: AgentSpec, request: Request) -> Invocation:
    """Returns how to start the command, with the prompt by stdin, as the last argument, or as a file's name."""
    argv = (*spec.argv, *spec.args)
    reader = partial(LinesReader, has_service=True)
    match spec.prompt:
        case PromptWay.STDIN:
            return Invocation(argv, reader, stdin=request.prompt.encode())
        case PromptWay.ARGUMENT:
            if sys.platform == "linux" and len(request.prompt.encode()) > _LONGEST_ARGUMENT:
                raise GitticksError(
                    f"the prompt is longer than the {_LONGEST_ARGUMENT:,} bytes that Linux takes as one argument",
                    hint=f"`gt config agents.{spec.name}.prompt stdin` or `file`, or a smaller `limits.prompt`",
                )
            return Invocation((*argv, request.prompt), reader)
        case PromptWay.FILE:
            if request.prompt_file is None:
                raise GitticksError(
                    f"the agent `{spec.name}` reads its prompt from a file, and there is none"
                )
            return Invocation((*argv, request.prompt_file), reader)


def script_invocation(spec: AgentSpec, request: Request) -> Invocation:
    """Returns how to run the blocks in their order; the first command that fails ends it."""
    if not request.script:
        raise GitticksError(
            "there is no `sh` block under `## Script` for the agent `script` to run",
            hint="`gt edit` the task, or choose an agent: `gt agents`",
        )
    return Invocation(("sh", "-c", _RUN_EACH, spec.name, *request.script), LinesReader)


class LinesReader(StreamReader):
    """Takes every line of stdout as a message; a signal counts only on lines of its own, for anything may stand there.

    With `has_service` the last line of stderr may tell of a limit, as it does in a client that the command starts.
    """

    def __init__(self, *, has_service: bool = False) -> None:
        super().__init__()
        self.tells_all = True
        self._has_service = has_service
        self._last_event: Event = {}
        self._is_last = False
        self._warnings: dict[str, str] = {}

    def feed(self, line: str) -> str | None:
        """Takes a line of stdout and returns it."""
        self.messages.add(line)
        event = parse_event(line) or {}
        kind = text_at(event, _KEY)
        if kind in _KINDS or (kind not in ("", _USAGE) and not self._last_event):
            self._last_event = event
        if line.strip():
            self._is_last = kind in _KINDS
        if kind == _USAGE:
            self._count(event)
        return line

    def _count(self, reported: Event) -> None:
        """Adds what a line of usage reports; a figure that makes no sense is none, and never guessed at."""
        tokens_in, tokens_out, cached, cost = (self._number(reported, name) for name in _NUMBERS)
        spent = Usage(tokens_in=int(tokens_in or 0), tokens_out=int(tokens_out or 0))
        self.usage = self.usage.plus(spent)
        self.cached_tokens += min(int(cached or 0), spent.tokens_in)
        if cost is not None:
            self.cost = round((self.cost or 0.0) + cost, 6)
        self.model = text_at(reported, _MODEL) or self.model
        if not isinstance(reported.get(_MODEL), str | None):
            self._warn(reported, _MODEL, "is not a text")
        self._warn_of_other_keys(reported, (*_NUMBERS, _MODEL))

    def _number(self, reported: Event, name: str) -> float | None:
        """Returns a number that a line reports; None, with a warning, for what makes no sense."""
        found = number_at(reported, name)
        if found is None and reported.get(name) is not None:
            self._warn(reported, name, "is not a number")
        elif found is not None and not 0 <= found < _MOST:
            self._warn(reported, name, "is negative" if found < 0 else "is too large")
            return None
        return found

    def _warn_of_other_keys(self, reported: Event, known: tuple[str, ...]) -> None:
        for name in (one for one in reported if one != _KEY and one not in known):
            self._warn(reported, name, _not_one_of(known))

    def _warn(self, reported: Event, name: str, what: str) -> None:
        if len(self._warnings) < _MOST_WARNINGS:
            words = f"`{name}` in its {text_at(reported, _KEY)} line {what}: {reported[name]!r}"
            self._warnings.setdefault(name, one_line(words, longest=200))

    def report(self, ended: Ended, now: datetime) -> AgentReport:
        """Returns the session's result; the last line that says something is the final message."""
        report = super().report(ended, now)
        said = next((line for line in reversed(report.messages) if line.strip()), None)
        return replace(
            report,
            final_message=said if report.ending is Ending.CLEAN else None,
            signals_on_own_lines=True,
            warnings=tuple(self._warnings.values()),
        )

    def _judge(self, ended: Ended) -> Trouble:
        trouble, kind = judge_exit(ended), text_at(self._last_event, _KEY)
        if self._is_last and ended.exit_code not in (None, TEMPORARY_FAILURE):
            ignored = f"its last line says `{kind}`, which counts only with exit code {TEMPORARY_FAILURE}"
            detail = f"{trouble.detail}; {ignored}" if trouble.detail else ignored
            trouble = Trouble(trouble.ending, detail)
        if trouble.ending is not Ending.CRASHED or ended.exit_code is None:
            return trouble
        if ended.exit_code == TEMPORARY_FAILURE:
            if kind and kind not in _KINDS:
                self._warn(self._last_event, _KEY, _not_one_of(_KINDS))
            self._warn_of_other_keys(self._last_event, (_AFTER, _MESSAGE))
            ending, meaning = _KINDS.get(kind, (Ending.RATE_LIMITED, ""))
            said = text_at(self._last_event, _MESSAGE) or last_line(ended.errors) or meaning
            if kind in _FOR_PEOPLE and said != meaning:
                said = f"{meaning}: {said}"
            return Trouble(ending, one_line(said) or trouble.detail, self._number(self._last_event, _AFTER))
        limit = classify_limit(last_line(ended.errors)) if self._has_service else None
        return limit or trouble


def _not_one_of(known: Iterable[str]) -> str:
    return f"is not one of {', '.join(f'`{one}`' for one in known)}"
