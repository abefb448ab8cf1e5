"""One session of an agent from start to report: supervisor and reader combined."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gitticks.agents.base import (
    AgentReport,
    Command,
    Ended,
    EndReason,
    Invocation,
    Limits,
    is_session_id,
)
from gitticks.agents.claude import ClaudeDialogue, Judge
from gitticks.agents.process import AT_ONCE, StopRequest, ignore, run_supervised
from gitticks.model.task import Ending
from gitticks.redaction import LineMask, mask, secret_values


def run_agent(
    invocation: Invocation,
    *,
    workspace: Path,
    environment: Mapping[str, str],
    limits: Limits,
    now: Callable[[], datetime],
    stop: StopRequest | None = None,
    on_text: Callable[[str], None] = ignore,
    on_line: Callable[[str], None] = ignore,
    on_session_id: Callable[[str], None] = ignore,
    on_tool: Callable[[str, Mapping[str, Any]], None] = ignore,
    judge: Judge | None = None,
    lock: Path | None = None,
    secrets: Mapping[str, str] = MappingProxyType({}),
) -> AgentReport:
    """Runs an agent in its workspace and returns the result.

    A client that says for as long as it may be silent that it cannot reach its service is ended as a silent one.

    `environment` is all that it gets to see, beside the invocation's own additions. `on_text` hears what is worth showing
    to a person, `on_line` each raw line of stdout and stderr, `on_tool` each tool that it shows to have used. `judge` is
    called in another thread with each tool that the client asks about itself. The flock of `lock` is held while anything
    of the session may live. `secrets` are values that are masked in what it prints, with their names, beside those that it
    gets to see: what is kept from it may stand in a file.
    """
    reader = invocation.new_reader()
    known: str | None = None
    failing_since: float | None = None
    dialogue: ClaudeDialogue | None = None
    asked, own = stop or StopRequest(), StopRequest()

    seen = secret_values({**environment, **invocation.environment}, (str(workspace),))
    secrets = {**secrets, **seen}
    mask_output, mask_errors = LineMask(secrets), LineMask(secrets)

    def take(line: str) -> None:
        nonlocal known, failing_since
        if dialogue is not None:
            dialogue.hear(line)
        line = mask_output(line)
        on_line(line)
        shown = reader.feed(line)
        used, reader.used = reader.used, []
        for tool, given in used:
            on_tool(tool, given)
        failing_since = None if reader.passing is None else failing_since or time.monotonic()
        if failing_since is not None and time.monotonic() - failing_since > (limits.idle_seconds or math.inf):
            own.request()
        if reader.session_id != known:
            known = reader.session_id
            if known is not None and is_session_id(known):
                on_session_id(known)
        if shown is not None:
            on_text(shown)

    with ExitStack() as held:
        if invocation.is_dialogue and judge is not None:
            prompt = (invocation.stdin or b"").decode()
            # Less than is passed on before only the last of the output is kept.
            dialogue = held.enter_context(closing(ClaudeDialogue(prompt, judge, limits.output_bytes // 2)))
        command = Command(
            invocation.argv,
            workspace,
            {**environment, **invocation.environment},
            invocation.stdin if dialogue is None else dialogue.stdin,
            stop_signal=invocation.stop_signal,
        )
        held.enter_context(asked.listening(lambda letter: own.request(at_once=letter == AT_ONCE)))
        ended = run_supervised(
            command, limits, take, own, on_error_line=lambda line: on_line(mask_errors(line)), lock=lock
        )
    if ended.reason is EndReason.STOPPED and not asked.is_requested:
        ended = ended._replace(reason=EndReason.IDLE)
    report = reader.report(ended, now())
    is_walled = limits.processes is not None
    oddities = _oddities(ended, is_walled=is_walled) if report.ending is Ending.CLEAN else ()
    detail = "; ".join([report.detail, *oddities] if report.detail else oddities)
    return replace(report, detail=mask(detail, secrets))


def _oddities(ended: Ended, *, is_walled: bool) -> tuple[str, ...]:
    """Returns what an end that is otherwise a good one should not pass over.

    A sandbox's own first process may end a moment after the agent, so what is left there is not counted.
    """
    megabytes, left = ended.dropped_bytes / 1_000_000, 0 if is_walled else ended.left
    return (
        *((f"{megabytes:,.1f} MB of its output were left out",) if ended.dropped_bytes else ()),
        *((f"{left} process{'es' if left != 1 else ''} that it left running ended with it",) if left else ()),
        *(("something that it left running could not be ended",) if ended.survived else ()),
    )
