"""What agents ask to do and what was decided, as rows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from gitticks.cli.text import clock, cut
from gitticks.model.audit import Decided, UserAction
from gitticks.model.settings import PermissionMode
from gitticks.tui.widgets.lines import Line, Span, broken, line
from gitticks.tui.widgets.markdown import paragraphs, wrapped
from gitticks.workflow.permissions import rule_words

if TYPE_CHECKING:
    from gitticks.actions.audit import Recorded
    from gitticks.actions.permissions import Policy
    from gitticks.model.audit import AuditEntry
    from gitticks.runner.questions import Question

_ROOM_FOR_WORDS, _ROOM_FOR_RULE = 60, 84
MODES = {
    PermissionMode.INTERACTIVE: "asks before each tool",
    PermissionMode.AUTO_EDIT: "edits files in its workspace, asks for the rest",
    PermissionMode.AUTO_ALL: "does anything that no rule denies",
    PermissionMode.YOLO: "asks nothing, with no limits",
}


def left(until: datetime, now: datetime) -> str:
    """Returns how long it is until then, as a clock counts down."""
    return clock(max(0.0, (until - now).total_seconds()))


def question_rows(
    questions: Iterable[Question], now: datetime, width: int, begin_of_keys: str = ""
) -> list[Line]:
    """Returns the open questions, each whole: what, who and why, the rule that `Y` would remember, and the time left."""
    rows: list[Line] = []
    for one in questions:
        key, counted = f"{begin_of_keys}{one.number}", left(one.expires, now)
        word = "denied in " if width >= _ROOM_FOR_WORDS else ""
        label = f"{one.access.operation.value:<11}"
        room = width - len(f"? {label}{word}{counted}") - 1
        first, *rest = paragraphs(one.access.target, room) or [""]
        who = line("", "  ", (f"{one.agent} on {one.task}: {one.reason}", "muted"), key=key)
        remembers = ("Y remembers ", "faint"), (rule_words(one.rule), "muted")
        below = broken(who._replace(right=remembers), width)
        if len(below) > 1:
            below = [*broken(who, width), *broken(line("", "  ", *remembers, key=key), width)]
        rows += [
            line(
                ("? ", "*waits"), (label, "waits"), (first, "*strong"),
                right=[(word, "muted"), (counted, "waits")], key=key,
            ),
            *(line(" " * len(f"? {label}"), (part, "*strong"), key=key) for part in rest),
            *below,
            line(),
        ]  # fmt: skip
    return rows[:-1]


def decision_detail(one: Recorded, width: int) -> list[Line]:
    """Returns the whole of a decision: what, who, when, how it was decided and why."""
    entry, (how, colour) = one.entry, _how(one.entry)
    found = wrapped(entry.target, width, "*strong")
    found += [line(), line(f"{entry.agent} on {one.task} asked for {entry.operation}")]
    found += [line((f"{entry.timestamp.astimezone():%Y-%m-%d %H:%M:%S}", "muted"), "  ", (how, colour))]
    return [*found, *wrapped(entry.reason, width, "muted")]


def decision_rows(decisions: Iterable[Recorded], now: datetime, width: int) -> list[Line]:
    """Returns the decisions, the newest first: when, on which task, what, how it was decided and why."""
    today = now.astimezone().date()
    described = [
        (one, *_how(one.entry), one.entry.reason.removeprefix("denied by ").removeprefix("allowed by "))
        for one in decisions
    ]
    says = max((len(how) for _, how, _, _ in described), default=0)
    because = min(max((len(why) for *_, why in described), default=0), width // 3)
    times = [one.entry.timestamp.astimezone() for one, *_ in described]
    shown = [f"{at:%H:%M:%S}" if at.date() == today else f"{at:%Y-%m-%d %H:%M}" for at in times]
    columns = max(map(len, shown), default=0)
    rows = []
    for number, (one, how, colour, why) in enumerate(described):
        task, entry = one.task, one.entry
        when = f"{shown[number]:<{columns}}  " if width >= _ROOM_FOR_WORDS else ""
        right: list[Span | str] = [(f"{how:<{says}}", colour)]
        right += [(f"  {cut(why, because):<{because}}", "muted")] if width >= _ROOM_FOR_RULE else []
        target = (entry.target, "strong" if entry.is_refused else "fg")
        what: list[Span | str] = [
            (when, "faint"),
            (f"{task}  ", "muted"),
            (f"{entry.operation:<11} ", "fg"),
            target,
        ]
        rows.append(line(*what, right=right, key=decision_key(one)))
    return rows


def decision_key(one: Recorded) -> str:
    """Returns what names a decision among others, however many are made after it."""
    return f"{one.task} {one.entry}"


def _how(entry: AuditEntry) -> tuple[str, str]:
    if entry.user_action is not None:
        said = entry.user_action.value
        is_open = entry.user_action is UserAction.LEFT
        return f"asked: {said}", "bad" if entry.is_refused else "muted" if is_open else "good"
    return entry.decision.value, "good" if entry.decision is Decided.ALLOWED else "bad"


def policy_rows(found: Policy) -> list[Line]:
    """Returns the rules in effect, and where each comes from."""
    rows = [
        line(("mode      ", "muted"), (found.mode.value, "*strong"), (f"  from {found.mode_origin}", "muted"))
    ]
    rows += [line(("          ", "muted"), (MODES[found.mode], "muted")), line()]
    for layer in found.layers:
        for word, colour, rules in (("deny", "bad", layer.deny), ("allow", "good", layer.allow)):
            rows += [
                line((f"{word:<10}", colour), rule_words(rule), right=[(layer.origin, "muted")])
                for rule in rules
            ]
        if layer.default is not None:
            rows.append(
                line((f"{layer.default.value:<10}", "fg"), "everything else", right=[(layer.origin, "muted")])
            )
    if len(rows) == 3:  # noqa: PLR2004 (the mode alone)
        rows.append(line(("No rule is set. gt config --explain permissions.deny", "muted")))
    return [*rows, line(), line((f"A request is denied after {found.timeout} s without an answer.", "muted"))]
