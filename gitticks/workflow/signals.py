"""Signals: what an agent says at the end of its output, in three equivalent notations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from gitticks.model.status import Requires


class SignalKind(StrEnum):
    """What an agent can say; CONTINUE and FAILED exist only in the second and third dialect."""

    COMPLETE = "COMPLETE"
    APPROVAL_NEEDED = "APPROVAL_NEEDED"
    REVIEW_REQUESTED = "REVIEW_REQUESTED"
    CONTENT_REVIEW = "CONTENT_REVIEW"
    INPUT_NEEDED = "INPUT_NEEDED"
    ESCALATE = "ESCALATE"
    CHECKPOINT = "CHECKPOINT"
    EJECT = "EJECT"
    CONTINUE = "CONTINUE"
    FAILED = "FAILED"

    @property
    def asks_for_review(self) -> bool:
        """True if the agent says that the work is ready to be looked at."""
        return self is SignalKind.COMPLETE or self in ASKED

    @property
    def asked(self) -> Requires | None:
        """Returns the human gate that the signal asks for, if it asks for one."""
        return ASKED.get(self)


ASKED = {
    SignalKind.APPROVAL_NEEDED: Requires.APPROVAL,
    SignalKind.REVIEW_REQUESTED: Requires.REVIEW,
    SignalKind.CONTENT_REVIEW: Requires.CONTENT,
}

_SPOKEN = {
    kind.value: kind for kind in SignalKind if kind not in (SignalKind.CONTINUE, SignalKind.FAILED)
} | {"BLOCKED": SignalKind.INPUT_NEEDED}
_STATUS_LINE = {
    "DONE": SignalKind.COMPLETE,
    "CONTINUE": SignalKind.CONTINUE,
    "BLOCKED": SignalKind.INPUT_NEEDED,
}
_RESULT_STATUS = {
    "completed": SignalKind.COMPLETE,
    "failed": SignalKind.FAILED,
    "blocked": SignalKind.INPUT_NEEDED,
    "needs_input": SignalKind.INPUT_NEEDED,
}
_OPEN, _CLOSE = "<promise>", "</promise>"
_PROMISE = re.compile(r"[ \t\r\n]*([A-Za-z_]+)[ \t\r\n]*(?::(.*))?", re.DOTALL)
_REST_OF_LINE = re.compile(r"[ \t\r]*(?:\n|\Z)")
_URL = re.compile(r"https?://[^\s<>\"'`]+[^\s<>\"'`.,;:!?)\]]")
_LONGEST_RESULT = 200_000
_MOST_OBJECTS = 50
_MOST_WARNINGS = 5


class Signal(NamedTuple):
    """One signal: its kind, the text that came with it, and what only the JSON dialect carries."""

    kind: SignalKind
    text: str = ""
    context: str = ""
    details: str = ""
    issues: tuple[str, ...] = ()

    @property
    def url(self) -> str | None:
        """Returns the first web address in the text, which is kept as the task's pull request."""
        found = _URL.search(self.text)
        return found.group() if found else None


class Reading(NamedTuple):
    """The signal that counts, if there is one, and what was odd on the way to it."""

    signal: Signal | None
    warnings: tuple[str, ...] = ()


def read_signal(text: str, *, on_own_lines: bool = False) -> Reading:
    """Returns the last signal in an agent's own messages.

    Args:
        text: the agent's messages in order; never tool output and never the prompt.
        on_own_lines: a promise counts only if it begins and ends a line; for output in which anything may stand.
    """
    found: list[tuple[int, Signal]] = []
    unknown: dict[str, None] = {}
    for start, body in _promises(text, on_own_lines=on_own_lines):
        match = _PROMISE.fullmatch(body)
        kind = _SPOKEN.get(match.group(1).upper()) if match else None
        if match is None or kind is None:
            unknown.setdefault(" ".join((match.group(1) if match else body)[:40].split()))
        else:
            found.append((start, Signal(kind, (match.group(2) or "").strip())))
    found.extend(_read_status_line(text, found[-1][1] if found else None))
    found.extend(_read_result(text))
    found.sort(key=lambda pair: pair[0])
    warnings = [f"the signal `{name}` is unknown and was ignored" for name in unknown][:_MOST_WARNINGS]
    said = list(dict.fromkeys(signal.kind.value for _, signal in found))
    if len(said) > 1:
        warnings.append(f"several different signals ({', '.join(said)}): the last one counts")
    return Reading(found[-1][1] if found else None, tuple(warnings))


def without_promises(text: str) -> str:
    """Returns the text without its promises, for whoever is told elsewhere what they said."""
    kept, before = [], 0
    for start, body in _promises(text, on_own_lines=False):
        kept.append(text[before:start])
        before = start + len(_OPEN) + len(body) + len(_CLOSE)
    return "".join((*kept, text[before:]))


def _promises(text: str, *, on_own_lines: bool) -> Iterator[tuple[int, str]]:
    """Yields where each promise starts and what is in it; the innermost pair counts, each part is read once."""
    before = 0
    while (end := text.find(_CLOSE, before)) >= 0:
        start = text.rfind(_OPEN, before, end)
        after = end + len(_CLOSE)
        if start >= 0 and (not on_own_lines or _stands_alone(text, before, start, after)):
            yield start, text[start + len(_OPEN) : end]
        before = after


def _stands_alone(text: str, before: int, start: int, end: int) -> bool:
    """True if only blanks share the first and the last line with what stands between `start` and `end`.

    `before` is where the promise before it ended.
    """
    line = text.rfind("\n", before, start) + 1
    begins_line = line > 0 or before == 0
    return begins_line and not text[line:start].strip() and _REST_OF_LINE.match(text, end) is not None


def _read_status_line(text: str, said: Signal | None) -> list[tuple[int, Signal]]:
    """Returns the signal of a last line; with the text of the last promise if that `said` the same, else of the paragraph before."""
    body = text.rstrip()
    start = body.rfind("\n") + 1
    match = re.fullmatch(r"STATUS:[ \t]*(DONE|CONTINUE|BLOCKED)", body[start:].strip())
    if match is None:
        return []
    kind = _STATUS_LINE[match.group(1)]
    words = said.text if said is not None and said.kind is kind else ""
    if not words and kind is SignalKind.INPUT_NEEDED:
        words = without_promises(body[:start]).rstrip().rpartition("\n\n")[2]
    return [(start, Signal(kind, words))]


def _read_result(text: str) -> list[tuple[int, Signal]]:
    body = text.rstrip()
    if body.endswith("```"):
        body = body[:-3].rstrip()
    if not body.endswith("}"):
        return []
    for start in _object_starts(body):
        try:
            signal = _result_signal(json.loads(body[start:]))
        except (ValueError, RecursionError):
            continue
        if signal is not None:
            return [(start, signal)]
    return []


def _object_starts(body: str) -> list[int]:
    """Returns where a line begins with `{` near the end, first one first; bounded, for text that is all braces."""
    starts = [match.start() for match in re.finditer(r"^\{", body[-_LONGEST_RESULT:], re.MULTILINE)]
    offset = max(0, len(body) - _LONGEST_RESULT)
    return [offset + start for start in starts[-_MOST_OBJECTS:]]


def _result_signal(value: object) -> Signal | None:
    if not isinstance(value, dict):
        return None
    kind = _RESULT_STATUS.get(str(value.get("status")))
    if kind is None:
        return None
    summary, question = _text(value.get("summary")), _text(value.get("question"))
    issues = value.get("issues")
    return Signal(
        kind,
        (question or summary) if kind is SignalKind.INPUT_NEEDED else summary,
        context=_text(value.get("questionContext")),
        details=_text(value.get("details")),
        issues=tuple(_text(issue) for issue in issues) if isinstance(issues, list) else (),
    )


def _text(value: object) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()  # JSON can spell half a character, which no file can hold
