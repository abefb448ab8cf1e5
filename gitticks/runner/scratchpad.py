"""The scratchpad: what agents learned, carried from one prompt to the next.

It is read by every later agent, so it is bounded. The newest entries stay as they are; older ones are folded to one
line each, and in the end only counted. The whole text of each entry stays in the history of the state branch.
"""

from __future__ import annotations

import re
from collections.abc import Container
from datetime import datetime
from typing import NamedTuple

from gitticks.agents.trouble import one_line
from gitticks.document.texts import encodable
from gitticks.document.values import format_time

LARGEST_BYTES = 16_000
_LONGEST_FAILURE = 1_500
_FOLDED_SHARE = 4
"""The folded lines may take one fourth of the room before the oldest of them are only counted."""
_LONGEST_FOLDED = 160
_FOLDED_HEADING = "### Older entries, one line each"

_ENTRY = re.compile(r"^### (?=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ · )", re.MULTILINE)
_FOLDED = re.compile(rf"^{re.escape(_FOLDED_HEADING)}\n\n?((?:- .*\n?)*)\n*", re.MULTILINE)
_LEFT_OUT = re.compile(r"- \((\d+) older, see `git log` of this file\)")
_HEADING = re.compile(r"^(?= {0,3}#{1,3}(?:[ \t]|$))", re.MULTILINE)


class _Scratchpad(NamedTuple):
    """The file's parts: what people wrote above the entries, the folded lines and the entries, oldest first."""

    preamble: str
    left_out: int
    folded: tuple[str, ...]
    entries: tuple[str, ...]

    def text(self) -> str:
        """Returns the file."""
        lines = [f"- ({self.left_out} older, see `git log` of this file)"] if self.left_out else []
        lines += self.folded
        parts = [self.preamble, "\n".join([_FOLDED_HEADING, "", *lines]) if lines else "", *self.entries]
        return "".join(f"{part}\n\n" for part in parts if part)[:-1]

    def size(self) -> int:
        """Returns the bytes of the file."""
        return len(self.text().encode())


def add_entry(scratchpad: str, text: str, *, at: datetime, source: str) -> str:
    """Returns the scratchpad with an entry added, folded to at most 16 kB beside what people wrote at its top.

    Nothing but white space adds no entry. `source` is who or what says it, such as `k7f2 · claude`.
    """
    body = encodable(text).strip()
    if not body:
        return scratchpad
    heading = f"### {format_time(at)} · {' '.join(source.split())}"
    escaped = _HEADING.sub(r"\\", body)
    entry = f"{heading}\n\n{escaped}"
    parts = _parse(scratchpad)
    return _fit(parts._replace(entries=(*parts.entries, _cut(entry)))).text()


def add_failure(scratchpad: str, failure: str, *, at: datetime, source: str) -> str:
    """Returns the scratchpad with a check's failure added: its first line and the end of its output, each failure once."""
    head, _, output = encodable(failure).partition("\n")
    tail = output.strip("\n")
    if len(tail.encode()) > _LONGEST_FAILURE:
        cut = tail.encode()[-_LONGEST_FAILURE:].decode(errors="ignore")
        tail = f"    …\n{cut.partition(chr(10))[2] or cut}"
    text = f"{head}\n\n{tail}".strip()
    return scratchpad if text in scratchpad else add_entry(scratchpad, text, at=at, source=source)


def rewind(scratchpad: str, then: str, tasks: Container[str]) -> str:
    """Returns the scratchpad as it was `then`, with what people wrote at its top since, and other tasks' entries.

    Later entries of `tasks` go.
    """
    now, before = _parse(scratchpad), _parse(then)
    others = [one for one in now.entries if one not in before.entries and _task_of(one) not in tasks]
    return _fit(before._replace(preamble=now.preamble, entries=(*before.entries, *others))).text()


def _task_of(entry: str) -> str:
    return entry.partition("\n")[0].split(" · ")[1]


def _parse(scratchpad: str) -> _Scratchpad:
    starts = [match.start() for match in _ENTRY.finditer(scratchpad)]
    head = scratchpad[: starts[0]] if starts else scratchpad
    ends = [*starts[1:], len(scratchpad)]
    entries = tuple(scratchpad[start:end].strip() for start, end in zip(starts, ends, strict=bool(starts)))
    match = _FOLDED.search(head)
    if match is None:
        return _Scratchpad(head.strip(), 0, (), entries)
    lines = match[1].splitlines()
    counted = _LEFT_OUT.fullmatch(lines[0]) if lines else None
    preamble = (head[: match.start()] + head[match.end() :]).strip()
    folded = tuple(lines[1:] if counted else lines)
    return _Scratchpad(preamble, int(counted[1]) if counted else 0, folded, entries)


def _fit(parts: _Scratchpad) -> _Scratchpad:
    """Folds the oldest entries until the rest fits; the newest one and the preamble always stay."""
    room = LARGEST_BYTES + len(parts.preamble.encode())
    while parts.size() > room and len(parts.entries) > 1:
        line = _folded_line(parts.entries[0])
        parts = parts._replace(folded=(*parts.folded, line), entries=parts.entries[1:])
    most = LARGEST_BYTES // _FOLDED_SHARE
    while sum(len(line.encode()) + 1 for line in parts.folded) > most or (
        parts.folded and parts.size() > room
    ):
        parts = parts._replace(left_out=parts.left_out + 1, folded=parts.folded[1:])
    return parts


def _folded_line(entry: str) -> str:
    heading, _, text = entry.partition("\n")
    return f"- {heading.removeprefix('### ')}: {one_line(text, _LONGEST_FOLDED)}"


def _cut(entry: str) -> str:
    """Cuts one entry that would fill the scratchpad alone to half of it."""
    most = LARGEST_BYTES // 2
    content = entry.encode()
    if len(content) <= most:
        return entry
    kept = content[:most].decode(errors="ignore").rstrip()
    return f"{kept}\n\n[{len(content) - len(kept.encode())} bytes were too many for the scratchpad]"
