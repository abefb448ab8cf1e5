"""Acts on what an agent asks for by command while it runs: `gt complete`, `gt ask`, `gt note`, `gt update --status`."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

from gitticks.errors import GitticksError
from gitticks.model.event import ENGINE, Event, EventType
from gitticks.model.status import Role, Status
from gitticks.runner import mailbox, outbox, workspaces
from gitticks.runner.events import Warned
from gitticks.runner.finishing import check
from gitticks.runner.handover import take_delivery, write_request
from gitticks.runner.outbox import Request, RequestKind
from gitticks.runner.telling import tell
from gitticks.store.decisions import describe
from gitticks.workflow.triggers import Requested

if TYPE_CHECKING:
    from collections.abc import Callable

    from gitticks.runner.session import SessionRun
    from gitticks.runner.workspaces import Workspace
    from gitticks.store.transaction import Transaction

POLL_SECONDS = 0.2


class RequestWatcher:
    """Looks into a session's outbox while its agent runs; a context manager around the agent's run.

    What is still there when the agent has ended is acted on before the end is judged.
    """

    def __init__(self, session: SessionRun, workspace: Workspace) -> None:
        self._session = session
        self._run = session.run
        self._workspace = workspace
        self._over = threading.Event()
        self._thread = threading.Thread(
            target=self._watch, name=f"requests of {session.task_id}", daemon=True
        )

    def __enter__(self) -> Self:
        """Starts looking."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Looks a last time and stops."""
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

    def _act(self, request: Request) -> None:
        match request.kind:
            case RequestKind.NOTE | RequestKind.HANDOFF:
                # Both stand in the mailbox's TASK.md already; a person may want to read a note before the end.
                self._transact(self._take)
            case RequestKind.ASK:
                self._ask_for(Status.CLARIFICATION, request.text or None)
            case RequestKind.COMPLETE:
                reviews = self._session.role is Role.REVIEWER
                self._ask_for(Status.REVIEWING if reviews else Status.AGENT_REVIEW)
            case RequestKind.STATUS:
                if request.status is not None:
                    self._ask_for(request.status)

    def _take(self, transaction: Transaction) -> None:
        session = self._session
        delivery = mailbox.read(self._workspace.mailbox, session.file, session.role)
        take_delivery(transaction, session.task_id, session.actor, delivery, self._run.circumstances())
        noted = Event(EventType.NOTED, self._run.now, session.actor)
        transaction.append_events(session.task_id, (noted,))
        describe(transaction, session.task_id, (noted,), session.actor)

    def _ask_for(self, target: Status, reason: str | None = None) -> None:
        """Asks for a status on the agent's behalf; once it is granted, the session's work is over."""
        session, store = self._session, self._run.open_store()
        before = store.task_file(session.task_id).task
        delivery = mailbox.read(self._workspace.mailbox, session.file, session.role)
        checks = None
        if target is Status.AGENT_REVIEW and before.status is Status.WORKING and delivery.handoff is not None:
            checks = check(self._run, session.task_id, self._workspace, session.stop)
        circumstances = self._run.with_failed_checks(
            self._run.circumstances(
                head=workspaces.collect(self._run.repository, self._workspace).head,
                review_waiver=session.find_waiver(),
            ),
            checks.failure if checks else None,
        )
        requested = Requested(session.actor, target, reason)
        decision = store.transact(
            lambda transaction: write_request(
                transaction, session.task_id, requested, delivery, circumstances
            ),
            author=self._run.author,
        )
        tell(self._run, before, decision)
        if decision.steps:
            session.stop.request()

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
