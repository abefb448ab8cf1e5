"""What a run receives from a session: output for people, and the agent's requests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.agents.base import AgentReport, AgentSpec
from gitticks.agents.registry import PRESETS
from gitticks.errors import GitticksError
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.model.event import ENGINE, Data, Event, EventType
from gitticks.model.notes import ReviewOutcome, Section
from gitticks.model.status import Role, Status
from gitticks.model.task import SessionRecord
from gitticks.runner import mailbox
from gitticks.runner.events import AgentSaid, Warned
from gitticks.runner.finishing import (
    TAKEN,
    digest_of,
    has_handoff,
    look_for_left_behind,
    take_delivery,
    tell_checks,
    write_request,
)
from gitticks.runner.mailbox import Delivery
from gitticks.runner.outbox import Request, RequestKind
from gitticks.runner.permissions import Gatekeeper
from gitticks.runner.places.permission_socket import HookAnswer, ToolCall
from gitticks.runner.places.place import Work
from gitticks.runner.transcripts import Transcript
from gitticks.store.decisions import describe
from gitticks.store.left_behind import begin_watch
from gitticks.store.transaction import Transaction
from gitticks.workflow.decide import policy_for
from gitticks.workflow.gates import is_at_limit
from gitticks.workflow.sessions import wants_checks
from gitticks.workflow.triggers import Requested

if TYPE_CHECKING:
    from gitticks.runner.session import SessionRun

LAST_WORDS_SECONDS = 20.0
"""So long a client may take for its last turn once its work is over: only at its own end it tells what was spent."""

_HANDED_OFF: Data = {"sections": [Section.HANDOFF.value]}


class SessionListener:
    """Hears a session of this run; what the agent asks for is acted on at once, with the agent's rights."""

    def __init__(self, session: SessionRun, record: SessionRecord) -> None:
        self._session = session
        self._run = session.run
        self._record = record
        self._transcript: Transcript | None = None
        self._base_tip: str | None = None
        self._gatekeeper = Gatekeeper(session.run, session.file.task, session.role)

    def begin(self) -> None:
        """Notes that the agent has its mailbox, watches the repository's own folder and begins the transcript."""
        if self._transcript is None:
            begin_watch(self._run.repository, self._session.task_id)
            base = self._session.file.task.base
            self._base_tip = base and read_ref(self._run.repository.common_dir, BRANCHES + base)
            for agent in {one.name: one for one in self._session.agents}.values():
                self._gatekeeper.begin(agent)
            self._transcript = Transcript(
                self._run.repository.own_dir, self._session.task_id, self._run.world.precise_now()
            )
        given = self._record._replace(given=self._session.store.objects.blob_id(self._session.file.data))
        self._record = self._run.sessions.mark_briefed(given, self._transcript.name)

    def end(self) -> None:
        """Reports what the agent changed in the repository's own folder, and of the base."""
        self._gatekeeper.close()
        if self._transcript is not None:
            self._transcript.close()
            self._run.sessions.mark_over(self._record)
        session = self._session
        task, since = session.file.task, self._record.started
        look_for_left_behind(self._run, session.actor, task, since, self._base_tip)

    def say(self, text: str) -> None:
        """Shows what the agent said."""
        self._run.emit(AgentSaid(self._session.task_id, text))

    def line(self, line: str) -> None:
        """Keeps what the agent printed."""
        if self._transcript is not None:
            self._transcript.write(line)

    def warn(self, message: str) -> None:
        """Shows a warning."""
        self._run.emit(Warned(self._session.task_id, message))

    def name_session(self, session_id: str) -> None:
        """Keeps the agent's own name of the session, so that it can continue if this runner dies."""
        self._record = self._run.sessions.note_session_id(self._record, session_id)

    def wants_checks(self, end: AgentReport | Request, delivery: Delivery) -> bool:
        """Returns whether the task is to leave working now, with a hand-off, so that the gates decide."""
        session = self._session
        session.note_renamed()
        present = self._run.open_store().task_file(session.task_id)
        if not isinstance(end, Request):
            return wants_checks(
                present.task, session.ended(session.adjusted(end)), handoff=has_handoff(present, delivery)
            )
        is_asked = _target(end, session.role) is Status.AGENT_REVIEW
        return is_asked and present.task.status is Status.WORKING and has_handoff(present, delivery)

    def request(self, request: Request, work: Work) -> float | None:
        """Acts on a request; once a move is granted, the session's work is over."""
        self._session.note_renamed()
        match request.kind:
            # Both stand in the delivery already; a person may want to read a note before the end.
            case RequestKind.NOTE:
                self._take(work.delivery, Event(EventType.NOTED, self._run.now, self._session.actor))
            case RequestKind.HANDOFF:
                written = Event(EventType.TEXT_CHANGED, self._run.now, self._session.actor, data=_HANDED_OFF)
                self._take(work.delivery, written)
            case _:
                target = _target(request, self._session.role)
                if target is Status.REVIEWING and request.kind is RequestKind.COMPLETE:
                    target = self._after_review(work.delivery)
                if target is not None:
                    is_question = request.kind is RequestKind.ASK
                    reason = request.text or None if is_question else None
                    requested = Requested(self._session.actor, target, reason, is_question=is_question)
                    return self._ask_for(requested, work)
        return None

    def _after_review(self, delivery: Delivery) -> Status:
        """Returns where the review leads that its reviewer has written, by the settings as they are now."""
        file = self._run.open_store().task_file(self._session.task_id)
        if delivery.review is not None:
            file = file.with_section(Section.REVIEW, delivery.review)
        if file.review_outcome is not ReviewOutcome.FAIL:
            return Status.REVIEWING
        is_last = is_at_limit(file.task, policy_for(file.task, self._run.settings))
        return Status.STUCK if is_last else Status.WORKING

    def _take(self, delivery: Delivery, left: Event) -> None:
        session, own = self._session, mailbox.OWN_SECTION.get(self._session.role)

        def write(transaction: Transaction) -> None:
            take_delivery(transaction, session.task_id, session.actor, delivery, self._run.circumstances())
            text = None if own is None else transaction.task_file(session.task_id).section(own)
            is_agents = text is not None and text in (delivery.handoff, delivery.review)
            data = {TAKEN: digest_of(text)} if text is not None and is_agents else {}
            self._note(transaction, left._replace(data={**left.data, **data}))

        self._run.transact(write)

    def _note(self, transaction: Transaction, event: Event) -> None:
        transaction.append_events(self._session.task_id, (event,))
        describe(transaction, self._session.task_id, (event,), self._session.actor)

    def _ask_for(self, requested: Requested, work: Work) -> float | None:
        session, store = self._session, self._run.open_store()
        before = store.task_file(session.task_id).task
        tell_checks(self._run, session.task_id, work.checks)
        circumstances = self._run.circumstances(
            head=work.head,
            review_waiver=self._run.staff.waiver(session.file),
            checks=work.checks,
        )
        is_granted, had_time = False, session.stop.leaves_time
        tells_at_end = PRESETS[session.agent.kind].tells_usage
        session.stop.leaves_time = tells_at_end  # before the task moves, for the loop ends whose turn is over
        try:
            decision = self._run.transact(
                lambda transaction: write_request(
                    transaction, session.task_id, requested, work.delivery, circumstances
                ),
                store,
            )
            is_granted = bool(decision.steps)
        finally:
            session.stop.leaves_time = had_time or (tells_at_end and is_granted)
        self._run.tell(before, decision)
        if not is_granted:
            return None
        return LAST_WORDS_SECONDS if tells_at_end else 0.0

    def permit(self, agent: AgentSpec, call: ToolCall, workspace: Path) -> HookAnswer:
        """Decides about the use of a tool, by the rules or by asking a person."""
        return self._gatekeeper.permit(agent, call, workspace)

    def saw(self, agent: AgentSpec, call: ToolCall, workspace: Path) -> None:
        """Notes what an agent did whose client does not ask before."""
        self._gatekeeper.saw(agent, call, workspace)

    def refuse(self, error: GitticksError) -> None:
        """Keeps a refusal for the agent's next prompt, as that of a signal would be."""
        self._run.emit(Warned(self._session.task_id, error.message))
        refused = Event(
            EventType.GATE_FAILED, self._run.now, ENGINE, reason=error.message, data={"gate": "request"}
        )
        self._run.transact(lambda transaction: self._note(transaction, refused))


def _target(request: Request, role: Role) -> Status | None:
    match request.kind:
        case RequestKind.ASK:
            return Status.CLARIFICATION
        case RequestKind.COMPLETE:
            return Status.REVIEWING if role is Role.REVIEWER else Status.AGENT_REVIEW
        case _:
            return request.status
