"""Reads an agent's output: its events, one a line, its messages up to a limit, and how its process ended."""

from __future__ import annotations

import json
import re
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from gitticks.agents.base import AgentReport, Ended, EndReason, is_session_id
from gitticks.agents.trouble import Trouble, classify, one_line, with_times
from gitticks.model.task import SERVICE_FAILED, Ending, Usage

LARGEST_TOTAL = 4_000_000
_COST_OF_ONE = 100
"""Python's own price of a short string, in bytes: ten million empty messages are no small thing."""

Event = Mapping[str, Any]
MOST_DENIED = 100


class Messages:
    """The latest messages of an agent, in order."""

    def __init__(self, largest_total: int = LARGEST_TOTAL) -> None:
        self._largest_total = largest_total
        self._kept: deque[str] = deque()
        self._total = 0

    def add(self, message: str) -> None:
        """Takes a message; one that is too long by itself keeps its end."""
        message = message[-self._largest_total :]
        self._kept.append(message)
        self._total += len(message) + _COST_OF_ONE
        while self._total > self._largest_total and len(self._kept) > 1:
            self._total -= len(self._kept.popleft()) + _COST_OF_ONE

    def extend_last(self, text: str) -> None:
        """Adds to the last message, for agents that speak in pieces."""
        last = self._kept.pop() if self._kept else ""
        self._total -= len(last) + _COST_OF_ONE if last else 0
        self.add(last + text)

    @property
    def last(self) -> str | None:
        """Returns the last message, if anything was said."""
        return self._kept[-1] if self._kept else None

    def as_tuple(self) -> tuple[str, ...]:
        """Returns all that is remembered, in order."""
        return tuple(self._kept)


class StreamReader:
    """Reads JSON events, one a line; lines that are none are left alone, whatever they hold.

    Created for each session. A client's reader fills in what it learns: `session_id` is the client's own name of the
    session, `used` are the tools that it has used since somebody last took them out, with what each was given; `failure` is an error that ended the session, `passing` one that the
    client is still trying to get over, `is_finished` says that the proper final event was there. `is_connected` says
    that the client has started to talk to its service, `open_tools` holds what it uses at the moment, by its id, and
    `tells_all` says that `usage` is all that was spent.
    """

    def __init__(self) -> None:
        self.messages = Messages()
        self.denied: list[str] = []
        self.session_id: str | None = None
        self.model: str | None = None
        self.failure: Trouble | None = None
        self.passing: Trouble | None = None
        self.is_finished = False
        self.has_begun = False
        self.is_connected = False
        self.tells_all = False
        self.open_tools: dict[str, str] = {}
        self.used: list[tuple[str, Event]] = []
        self.usage = Usage()
        self.total_usage: Usage | None = None
        self.cached_tokens = 0
        self.cost: float | None = None

    def feed(self, line: str) -> str | None:
        """Takes a line of stdout and returns what of it is worth showing to a person."""
        event = parse_event(line)
        if event is None:
            return None
        self.has_begun = True
        return self.take(event)

    def take(self, event: Event) -> str | None:
        """Takes one event; each client's reader says how."""
        raise NotImplementedError

    @property
    def awaits_service(self) -> bool:
        """True while it is the service's turn to say something, and no tool's."""
        return self.is_connected and not self.open_tools and not self.is_finished and self.failure is None

    def explain(self, ended: Ended) -> Trouble | None:
        """Returns why a session failed that ended by itself, if the stream did not say it but the process did."""
        said = last_line(ended.errors)
        if ended.exit_code in (0, None) or not said:
            return None
        trouble = classify(said)
        if trouble.ending is Ending.CRASHED and not self.has_begun:  # it never started
            return Trouble(Ending.START_FAILED, trouble.detail)
        return trouble

    def report(self, ended: Ended, now: datetime) -> AgentReport:
        """Returns the session's result."""
        trouble = with_times(self._judge(ended), now)
        return AgentReport(
            ending=trouble.ending,
            messages=self.messages.as_tuple(),
            final_message=self.messages.last if trouble.ending is Ending.CLEAN else None,
            session_id=self.session_id if is_session_id(self.session_id or "") else None,
            usage=self.usage._replace(cost=self.cost or 0.0, seconds=ended.seconds),
            cost=self.cost,
            cached_tokens=self.cached_tokens,
            total_usage=self.total_usage,
            model=self.model,
            detail=trouble.detail,
            denied=tuple(self.denied),
            retry_after_seconds=trouble.retry_after_seconds,
            resets_at=trouble.resets_at,
            is_estimate=not self.tells_all and self.messages.last is not None,
        )

    def deny(self, tool: str, target: str = "") -> None:
        """Notes that the agent was not allowed to use a tool."""
        if len(self.denied) < MOST_DENIED:
            self.denied.append(one_line(f"{tool}: {target}" if target else tool, longest=200))

    def _judge(self, ended: Ended) -> Trouble:
        forced = judge_process(ended, self.passing, awaits_service=self.awaits_service)
        if forced is not None:
            return forced
        if self.failure is not None:
            return self.failure
        if self.is_finished and ended.exit_code == 0:
            return Trouble(Ending.CLEAN, "")
        how = "ended without its final result" if ended.is_success else ended.how
        return self.explain(ended) or Trouble(Ending.CRASHED, how)


def judge_process(
    ended: Ended, passing: Trouble | None = None, *, awaits_service: bool = False
) -> Trouble | None:
    """Returns how a session ended that did not end by itself; None if it did.

    An agent that was ended by a limit while its service was away, or kept silent, is no agent that took too long.
    """
    match ended.reason:
        case EndReason.EXITED:
            return None
        case EndReason.STOPPED:
            return Trouble(Ending.STOPPED, "stopped")
        case EndReason.START_FAILED:
            return Trouble(Ending.START_FAILED, ended.problem)
        case EndReason.CROWDED | EndReason.KILLED:
            return Trouble(Ending.CRASHED, ended.how)
        case EndReason.TIMED_OUT | EndReason.IDLE:
            if passing is not None and passing.ending in SERVICE_FAILED:
                return passing
            if ended.reason is EndReason.IDLE and awaits_service:
                return Trouble(Ending.OUTAGE, "its service did not answer for `limits.idle`")
            is_late = ended.reason is EndReason.TIMED_OUT
            limit = "ran past `limits.iteration`" if is_late else "printed nothing for `limits.idle`"
            return Trouble(Ending.TIMED_OUT, limit)


_NOT_RUN = (126, 127)
"""The exit codes of what starts a program, where there is none or it cannot be run."""
_NOT_FOUND = re.compile(r"^prlimit: failed to execute (.+?): ")
"""How the program says it that sets an agent's limits, of which its user knows nothing."""


def judge_exit(ended: Ended) -> Trouble:
    """Returns how a program without a protocol ended: exit code 0 is clean, anything else a crash."""
    forced = judge_process(ended)
    if forced is not None:
        return forced
    if ended.exit_code == 0:
        return Trouble(Ending.CLEAN, "")
    said = last_line(ended.errors)
    if ended.exit_code in _NOT_RUN and (found := _NOT_FOUND.match(said)):
        program, why = found[1], said[found.end() :]
        if "/" in program and not program.startswith("/"):
            why += "; it has to be in the workspace: commit it, and merge the base there"
        return Trouble(Ending.START_FAILED, f"`{program}` cannot be started: {why}")
    return Trouble(Ending.CRASHED, f"{ended.how}: {said}" if said else ended.how)


def parse_event(line: str) -> Event | None:
    """Returns the JSON object that a line holds; None for everything else."""
    if not line.startswith("{"):
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def mapping_at(event: Event, *keys: str) -> Event:
    """Returns the object at the end of a path of keys; empty if there is none."""
    found: Any = event
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def text_at(event: Event, key: str) -> str:
    """Returns a text; empty if there is none."""
    found = event.get(key)
    return found if isinstance(found, str) else ""


def integer_at(event: Event, key: str) -> int:
    """Returns a number without its fraction; 0 if there is none."""
    return int(number_at(event, key) or 0)


def number_at(event: Event, key: str) -> float | None:
    """Returns a finite number; None if there is none."""
    found = event.get(key)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return float(found) if abs(found) <= sys.float_info.max else None


def objects_at(event: Event, key: str) -> Sequence[Event]:
    """Returns the objects of a list; empty if there is none."""
    found = event.get(key)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def tool_target(parameters: Event) -> str:
    """Returns what a tool was used on, as the known clients name it."""
    names = ("file_path", "filePath", "path", "command", "pattern", "url")
    return next((text_at(parameters, name) for name in names if text_at(parameters, name)), "")


def shown_tool(tool: str, target: str) -> str:
    """Returns the use of a tool as one line for people."""
    return one_line(f"[{tool}] {target}".rstrip(), longest=200)


def last_line(text: str) -> str:
    """Returns the last line of what a program printed that is not a hint, as our own command prints one."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("hint: ")]
    return one_line(lines[-1]) if lines else ""
