"""What an agent left when it ended, judged and written in one commit: artifacts, decision, worklog, usage."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gitticks.model.event import Actor, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import Section
from gitticks.model.status import Role
from gitticks.runner import mailbox
from gitticks.runner.scratchpad import add_entry
from gitticks.runner.worklog import WorklogEntry, append_entry
from gitticks.store import layout
from gitticks.store.decisions import Circumstances, carry_out
from gitticks.workflow.triggers import Requested, SessionEnded

if TYPE_CHECKING:
    from gitticks.agents.base import AgentReport
    from gitticks.document.taskfile import TaskFile
    from gitticks.runner.mailbox import Delivery
    from gitticks.store.transaction import Transaction
    from gitticks.workflow.decision import Decision
    from gitticks.workflow.signals import Signal

TAKEN = "taken"
"""In an event: the digest of the section that was taken from an agent before its session ended."""


@dataclass(frozen=True, slots=True)
class Handover:
    """Everything that is known at the end of a session."""

    task_id: TaskId
    actor: Actor
    role: Role
    delivery: Delivery
    report: AgentReport
    ended: SessionEnded
    checks: tuple[str, ...] = ()


def write_handover(transaction: Transaction, handover: Handover, circumstances: Circumstances) -> Decision:
    """Writes what a session left and what follows from it."""
    take_delivery(transaction, handover.task_id, handover.actor, handover.delivery, circumstances)
    decision = carry_out(transaction, handover.task_id, handover.ended, circumstances)
    _add_usage(transaction, handover)
    _add_worklog(transaction, handover, circumstances)
    _add_learnings(transaction, handover, circumstances)
    return decision


def write_request(
    transaction: Transaction,
    task_id: TaskId,
    requested: Requested,
    delivery: Delivery,
    circumstances: Circumstances,
) -> Decision:
    """Writes what an agent has done so far and what it asks for by command."""
    take_delivery(transaction, task_id, requested.actor, delivery, circumstances)
    return carry_out(transaction, task_id, requested, circumstances)


def take_delivery(
    transaction: Transaction,
    task_id: TaskId,
    actor: Actor,
    delivery: Delivery,
    circumstances: Circumstances,
) -> None:
    """Takes the sections and entries that an agent may write into the task's file."""
    file = transaction.task_file(task_id)
    role = actor.role or Role.WORKER
    is_persons = _is_persons(file, delivery, role, transaction.history(task_id))
    taken = mailbox.take(file, delivery, role, circumstances.at, actor.name, is_persons=is_persons)
    if taken.file.data != file.data:
        transaction.put_task(taken.file)
    warnings = (*delivery.warnings, *taken.warnings)
    events = [
        Event(EventType.WARNED, circumstances.at, actor, reason=warning)
        for warning in dict.fromkeys(warnings)
    ]
    transaction.append_events(task_id, events)


def _is_persons(file: TaskFile, delivery: Delivery, role: Role, history: tuple[Event, ...]) -> bool:
    """True if the role's own section was written since its session began, and not at the agent's own request."""
    own = mailbox.own_section(role)
    present = None if own is None else file.section(own)
    if own is None or present is None:
        return False
    begun = max(
        (
            index
            for index, event in enumerate(history)
            if event.type is EventType.SESSION_STARTED and event.data.get("role") == role.value
        ),
        default=0,
    )
    since = history[begun:]
    if any(event.data.get(TAKEN) == digest_of(present) for event in since):
        return False
    return present != delivery.given or any(_is_edit_of(event, own) for event in since)


def _is_edit_of(event: Event, section: Section) -> bool:
    named = event.data.get("sections")
    is_edit = event.type is EventType.TEXT_CHANGED and event.actor.is_human
    return is_edit and isinstance(named, list) and section.casefold() in map(str.casefold, named)


def digest_of(text: str) -> str:
    """Returns what tells a text from others, for an event's `TAKEN`."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _add_usage(transaction: Transaction, handover: Handover) -> None:
    file = transaction.task_file(handover.task_id)
    usage = file.task.usage.plus(handover.report.spent)
    sessions = dict(file.task.agent_sessions)
    if handover.report.session_id is not None and handover.role is Role.WORKER:
        sessions[handover.actor.name] = handover.report.session_id
    transaction.put_task(file.with_task(replace(file.task, usage=usage, agent_sessions=sessions)))


def _add_worklog(transaction: Transaction, handover: Handover, circumstances: Circumstances) -> None:
    path = layout.worklog_path(handover.task_id)
    report, signal = handover.report, handover.ended.signal
    entry = WorklogEntry(
        at=circumstances.at,
        iteration=transaction.task_file(handover.task_id).task.usage.iterations,
        role=handover.role,
        agent=handover.actor.name,
        ending=report.ending,
        detail=report.detail or None,
        signal=signal.kind.value if signal else None,
        said=_said(report, signal),
        checks=handover.checks,
        usage=report.usage,
        is_estimate=report.is_estimate,
    )
    before = (transaction.read(path) or b"").decode("utf-8", "replace")
    transaction.write(path, append_entry(before, entry).encode())


def _said(report: AgentReport, signal: Signal | None) -> str:
    words = report.final_message or ""
    return f"{words}\n\n{signal.details}" if signal and signal.details else words


def _add_learnings(transaction: Transaction, handover: Handover, circumstances: Circumstances) -> None:
    if not handover.delivery.learnings.strip():
        return
    task = transaction.task_file(handover.task_id).task
    path = layout.scratchpad_path(task.parent or task.id)
    before = (transaction.read(path) or b"").decode("utf-8", "replace")
    source = f"{task.id} · {handover.actor.name}"
    after = add_entry(before, handover.delivery.learnings, at=circumstances.at, source=source)
    if after != before:
        transaction.write(path, after.encode())
