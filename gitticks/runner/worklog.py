"""The worklog: one entry per iteration, for people and for the next prompt."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from gitticks.document.texts import encodable
from gitticks.document.values import format_time, parse_time
from gitticks.model.notes import quoted
from gitticks.model.spending import Metric, in_words
from gitticks.model.status import Role
from gitticks.model.task import Usage

if TYPE_CHECKING:
    from gitticks.agents.base import AgentReport
    from gitticks.runner.verifiers import ChecksReport
    from gitticks.workflow.signals import Signal

_LONGEST_SAID = 1_000
_LONGEST_OUTPUT = 2_000
_SHOWN_ENTRIES = 5
_MOST_DIGITS = 9
_FIELDS = ("- ended: ", "- signal: ", "- checks: ", "- used: ")
_ENTRY = re.compile(
    r"^## (\d+) · (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) · (\w+) · .*\n\n- ended: ([\w-]+)", re.MULTILINE
)


class WorklogEntry(NamedTuple):
    """One session with its result, the signal of its agent, and what the quality gates found if they ran.

    `iteration` counts those of the task's workers from 1; a review belongs to the one before it.
    """

    at: datetime
    iteration: int
    role: Role
    agent: str
    report: AgentReport
    signal: Signal | None = None
    checks: ChecksReport | None = None


class LoggedIteration(NamedTuple):
    """An entry as it is read back: `ended` with its detail, `checks` and `used` as the words that stand there."""

    iteration: int
    at: datetime
    role: str
    agent: str
    ended: str
    signal: str | None
    checks: str | None
    used: str | None
    said: str


def append_entry(worklog: str, entry: WorklogEntry) -> str:
    """Returns the worklog with one more entry at its end."""
    before = worklog if not worklog or worklog.endswith("\n") else f"{worklog}\n"
    return f"{before}\n{render_entry(entry)}" if before else render_entry(entry)


def render_entry(entry: WorklogEntry) -> str:
    """Returns an entry as markdown; what the agent said is quoted, so that it cannot look like an entry."""
    heading = f"## {entry.iteration} · {format_time(entry.at)} · {entry.role} · {_line(entry.agent)}"
    report, signal, checks = entry.report, entry.signal, entry.checks
    lines = [f"- ended: {report.ending}{f' ({_line(report.detail)})' if report.detail else ''}"]
    if signal is not None:
        lines.append(f"- signal: {_line(signal.kind.value)}")
    if checks is not None and checks.lines:
        lines.append(f"- checks: {'; '.join(map(_line, checks.lines))}")
    estimate = " (not all is known)" if report.is_estimate else ""
    lines.append(f"- used: {_used(report.usage, report.cost_source)}{estimate}")
    said = "\n\n".join(filter(None, (report.final_message, signal and signal.details)))
    output = _indented(checks.output if checks else "")
    return encodable("\n".join([heading, "", *lines, *output, *_said(said), ""]))


def recent_work(worklog: str) -> tuple[list[str], str]:
    """Returns the last entries whole, oldest first, and one line for those before them, empty if there are none."""
    matches = list(_ENTRY.finditer(worklog))
    texts = _texts(worklog, matches)
    older = matches[:-_SHOWN_ENTRIES]
    return texts[len(older) :], _summary(older) if older else ""


def read_entries(worklog: str) -> tuple[LoggedIteration, ...]:
    """Returns the entries in file order; what is no entry, or holds no time that there is, is left out."""
    matches = list(_ENTRY.finditer(worklog))
    read = (_read(match, text) for match, text in zip(matches, _texts(worklog, matches), strict=True))
    return tuple(entry for entry in read if entry is not None)


def _texts(worklog: str, matches: list[re.Match[str]]) -> list[str]:
    starts = [match.start() for match in matches]
    return [
        worklog[start:end].strip()
        for start, end in zip(starts, [*starts[1:], len(worklog)], strict=bool(starts))
    ]


def _read(match: re.Match[str], text: str) -> LoggedIteration | None:
    at = parse_time(match[2])
    if at is None or len(match[1]) > _MOST_DIGITS:
        return None
    heading, *lines = text.split("\n")
    fields = dict(line[2:].split(": ", 1) for line in lines if line.startswith(_FIELDS))
    said = [line.removeprefix(">").removeprefix(" ") for line in lines if line.startswith(">")]
    return LoggedIteration(
        iteration=int(match[1]),
        at=at,
        role=match[3],
        agent=heading.split(" · ", 3)[3],
        ended=fields["ended"],
        signal=fields.get("signal"),
        checks=fields.get("checks"),
        used=fields.get("used"),
        said="\n".join(said),
    )


def _summary(older: list[re.Match[str]]) -> str:
    endings = Counter(match[4] for match in older)
    roles = Counter(match[3] for match in older)
    first, last = older[0][2][:10], older[-1][2][:10]
    days = first if first == last else f"{first} to {last}"
    noun = "iteration" if len(older) == 1 else "iterations"
    return f"{len(older)} earlier {noun} ({days}): {_counted(roles)}; ended {_counted(endings)}"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.most_common())


def _used(usage: Usage, cost_source: str | None) -> str:
    source = f" (priced by {cost_source})" if cost_source else ""
    cost = f", {in_words(Metric.COST, usage.cost)}{source}" if usage.cost else ""
    return f"{usage.tokens_in:,} tokens in, {usage.tokens_out:,} out{cost}, {usage.seconds:.0f} s"


def _indented(output: str) -> list[str]:
    """Returns the end of an output as a block in which no line can look like anything else."""
    text = output.strip("\n")
    shown = text if len(text) <= _LONGEST_OUTPUT else f"…{text[-_LONGEST_OUTPUT:]}"
    lines = [f"    {line}".rstrip() for line in shown.splitlines()]
    return ["", "Output of the failed check:", "", *lines] if shown.strip() else []


def _said(said: str) -> list[str]:
    text = said.strip()
    if not text:
        return []
    shown = text if len(text) <= _LONGEST_SAID else f"{text[: _LONGEST_SAID - 1].rstrip()}…"
    return ["", *quoted(shown).splitlines()]


def _line(text: str) -> str:
    return " ".join(text.split())
