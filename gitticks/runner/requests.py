"""Acts on what an agent asks for by command while it runs: `gt complete`, `gt ask`, `gt note`, `gt update --status`."""

from __future__ import annotations

import math
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from gitticks.agents.registry import PRESETS
from gitticks.errors import GitticksError
from gitticks.model.event import ENGINE, Data, Event, EventType
from gitticks.model.notes import Section
from gitticks.model.status import Role, Status
from gitticks.runner import mailbox, outbox, workspaces
from gitticks.runner.events import Warned, tell
from gitticks.runner.finishing import TAKEN, check, digest_of, take_delivery, write_request
from gitticks.runner.outbox import Request, RequestKind
from gitticks.store.decisions import describe
from gitticks.workflow.triggers import Requested

if TYPE_CHECKING:
    from collections.abc import Callable

    from gitticks.runner.session import SessionRun
    from gitticks.runner.workspaces import Workspace
    from gitticks.store.transaction import Transaction

POLL_SECONDS = 0.2
LAST_WORDS_SECONDS = 20.0
"""So long a client may take for its last turn once its work is over: only at its own end it tells what was spent."""

_HANDED_OFF: Data = {"sections": [Section.HANDOFF.value]}


class RequestWatcher:
    """Looks into a session's outbox while its agent runs; a context manager around the agent's run.

    What is still there when the agent has ended is acted on before the end is judged.
    """

    def __init__(self, session: SessionRun, workspace: Workspace) -> None:
        self._session = session
        self._run = session.run
        self._workspace = workspace
        self._over = threading.Event()
        self._stop_at = math.inf
        self._thread = threading.Thread(
            target=self._watch, name=f"requests of {session.task_id}", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        is_last = False
        while not is_last:
            is_last = self._over.wait(POLL_SECONDS)
            collected = outbox.collect(self._workspace.mailbox)
            for warning in collected.warnings:
                self._run.emit(Warned(self._session.task_id, warning))
            for posted in collected.requests:
                try:
                    self._act(posted.request)
                except GitticksError as error:
                    self._refuse(error)
                outbox.remove(self._workspace.mailbox, posted)
            if time.monotonic() >= self._stop_at:
                self._session.stop.request()

    def _act(self, request: Request) -> None:
        session = self._session
        match request.kind:
            # Both stand in the mailbox's TASK.md already; a person may want to read a note before the end.
            case RequestKind.NOTE:
                self._take(Event(EventType.NOTED, self._run.now, session.actor))
            case RequestKind.HANDOFF:
                self._take(Event(EventType.TEXT_CHANGED, self._run.now, session.actor, data=_HANDED_OFF))
            case RequestKind.ASK:
                self._ask_for(Status.CLARIFICATION, request.text or None)
            case RequestKind.COMPLETE:
                reviews = session.role is Role.REVIEWER
                self._ask_for(Status.REVIEWING if reviews else Status.AGENT_REVIEW)
            case RequestKind.STATUS:
                if request.status is not None:
                    self._ask_for(request.status)

    def _take(self, left: Event) -> None:
        self._transact(lambda transaction: self._write(transaction, left))

    def _write(self, transaction: Transaction, left: Event) -> None:
        session = self._session
        delivery = mailbox.read(self._workspace.mailbox, session.file, session.role)
        take_delivery(transaction, session.task_id, session.actor, delivery, self._run.circumstances())
        own = mailbox.own_section(session.role)
        text = None if own is None else transaction.task_file(session.task_id).section(own)
        is_agents = text is not None and text in (delivery.handoff, delivery.review)
        data = {TAKEN: digest_of(text)} if text is not None and is_agents else {}
        told = left._replace(data={**left.data, **data})
        transaction.append_events(session.task_id, (told,))
        describe(transaction, session.task_id, (told,), session.actor)

    def _ask_for(self, target: Status, reason: str | None = None) -> None:
        """Asks for a status on the agent's behalf; once it is granted, the session's work is over."""
        session, store = self._session, self._run.open_store()
        present = store.task_file(session.task_id)
        before = present.task
        delivery = mailbox.read(self._workspace.mailbox, session.file, session.role)
        checks = None
        has_handoff = delivery.handoff is not None or present.section(Section.HANDOFF) is not None
        if target is Status.AGENT_REVIEW and before.status is Status.WORKING and has_handoff:
            checks = check(self._run, session.task_id, self._workspace, session.actor.name, session.stop)
        circumstances = self._run.circumstances(
            head=workspaces.collect(self._run.repository, self._workspace).head,
            review_waiver=session.find_waiver(),
            checks_failure=checks.failure if checks else None,
        )
        requested = Requested(session.actor, target, reason)
        is_granted = False
        tells_at_end = PRESETS[session.agent.kind].tells_usage
        session.stop.leaves_time = tells_at_end  # before the task moves, for the loop ends whose turn is over
        try:
            decision = store.transact(
                lambda transaction: write_request(
                    transaction, session.task_id, requested, delivery, circumstances
                ),
                author=self._run.author,
            )
            is_granted = bool(decision.steps)
        finally:
            session.stop.leaves_time = tells_at_end and is_granted
        tell(self._run, before, decision)
        if is_granted:
            self._stop_at = time.monotonic() + (LAST_WORDS_SECONDS if tells_at_end else 0.0)

    def _refuse(self, error: GitticksError) -> None:
        """Keeps a refusal for the agent's next prompt, as that of a signal would be."""
        self._run.emit(Warned(self._session.task_id, error.message))
        refused = Event(
            EventType.GATE_FAILED, self._run.now, ENGINE, reason=error.message, data={"gate": "request"}
        )

        def write(transaction: Transaction) -> None:
            transaction.append_events(self._session.task_id, (refused,))
            describe(transaction, self._session.task_id, (refused,), self._session.actor)

        self._transact(write)

    def _transact(self, operation: Callable[[Transaction], None]) -> None:
        self._run.open_store().transact(operation, author=self._run.author)
