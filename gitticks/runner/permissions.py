"""Judges what a session's agent wants to do, asks a person where rules require it, and records each decision."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.agents.base import HAND_OVER_COMMANDS, AgentSpec, Front
from gitticks.agents.registry import PRESETS, granted_mode
from gitticks.agents.tool_calls import accesses
from gitticks.agents.trouble import one_line
from gitticks.errors import GitticksError
from gitticks.model.audit import REFUSING, AuditEntry, Decided, UserAction
from gitticks.model.settings import AgentKind, PermissionMode, PermissionRule, SandboxPreset
from gitticks.redaction import mask, secret_values
from gitticks.runner.events import PermissionAsked, Warned
from gitticks.runner.places.permission_socket import HookAnswer, ToolCall
from gitticks.runner.questions import Questions
from gitticks.store.audit import PendingAudit
from gitticks.store.permissions import LEARNED_ORIGIN, learn, policy_layers
from gitticks.store.settings import load_settings
from gitticks.workflow.budget import iteration_number
from gitticks.workflow.permissions import (
    Access,
    Answer,
    Grants,
    Operation,
    PolicyLayer,
    Ruling,
    judge,
    learned_rule,
    strictness,
)

if TYPE_CHECKING:
    from gitticks.model.settings import Settings
    from gitticks.model.status import Role
    from gitticks.model.task import Task
    from gitticks.runner.context import RunContext

_FRESH_SECONDS = 1.0
_BEFORE_IDLE_SECONDS = 5
_MOST_SEEN = 10_000
_WALLED = frozenset({AgentKind.CODEX})
"""Clients that hold their commands in the workspace themselves, without network, in every mode but `yolo`."""
_ALWAYS_WRITABLE = (".gt/TASK.md", ".gt/learnings.md", ".gt/outbox")
OWN_LAYER = PolicyLayer(
    "gitticks itself",
    deny=(PermissionRule(Operation.FILE_WRITE, paths=(".gt/gt", ".gt/permission.sock", "./.git")),),
)


class Gatekeeper:
    """Decides for one session; used from many threads at once.

    What tightens the rules while the session lives holds at once, what loosens them from the next session on. A
    person's own answers count at once.
    """

    def __init__(self, run: RunContext, task: Task, role: Role) -> None:
        self.run = run
        self._task = task
        self._iteration = iteration_number(task.usage, role)
        self._audit = PendingAudit(run.repository.own_dir, task.id)
        project = run.repository.project_dir
        self._secrets = secret_values(run.world.environment, () if project is None else (str(project),))
        self._questions = Questions(run.repository.own_dir)
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._heard_of: set[str] = set()
        self._reported: set[str] = set()
        self._answered: dict[tuple[str, bytes], HookAnswer] = {}
        self._seen: list[tuple[AgentSpec, ToolCall, Path]] = []
        self._begun = self._now = self._load()
        self._looked_at = time.monotonic()

    def begin(self, agent: AgentSpec) -> None:
        """Notes that an agent works without questions and without a sandbox, which a person has confirmed."""
        mode = granted_mode(PRESETS[agent.kind], agent.mode)
        if mode is PermissionMode.YOLO and self.run.settings.sandbox.preset is SandboxPreset.NONE:
            why, what = "a person confirmed it at the start", ("mode", "yolo without a sandbox")
            self._note(agent, what, Decided.ALLOWED, why, UserAction.APPROVED)

    def close(self) -> None:
        """Lets go of questions that nobody has answered: the session is over."""
        self._over.set()
        with self._lock:
            seen, self._seen = self._seen, []
        unheard = [one for one in seen if one[0].name not in self._heard_of]
        for name in dict.fromkeys(agent.name for agent, _, _ in unheard):
            words = f"`{name}` used tools but never called its hook: no rule was applied (is it too old, or set up without hooks?)"
            self.run.emit(Warned(self._task.id, words))
        for agent, call, workspace in unheard:
            self._note_seen(agent, call, workspace, f"`{agent.name}` never called its hook")

    def permit(self, agent: AgentSpec, call: ToolCall, workspace: Path) -> HookAnswer:
        """Decides about a tool call: the strictest decision on everything it would do."""
        with self._lock:
            self._heard_of.add(agent.name)
            known = self._answered.get((agent.name, call.digest)) if call.use else None
        if known is not None:  # the client itself asks after its hook did
            return known
        said: list[HookAnswer] = []
        for access, ruling in sorted(
            self._judged(agent, call, workspace), key=lambda one: strictness(one[1])
        ):
            said.append(self._decide(agent, access, ruling))
            if said[-1].decision == "deny":  # nothing of it is done
                break
        said = said or [HookAnswer("none", "it has no effect outside the client")]
        strict = ("deny", "none", "allow")
        answer = min(said, key=lambda one: (strict.index(one.decision), not one.is_left))
        with self._lock:
            if call.use and len(self._answered) < _MOST_SEEN:
                self._answered[agent.name, call.digest] = answer
        return answer

    def saw(self, agent: AgentSpec, call: ToolCall, workspace: Path) -> None:
        """Notes a tool that was used without a question, flagged where the rules would not have allowed it.

        A client that has a hook is taken at its word, unless its hook is never heard of.
        """
        if PRESETS[agent.kind].has_hook:
            with self._lock:
                if agent.name not in self._heard_of and len(self._seen) < _MOST_SEEN:
                    self._seen.append((agent, call, workspace))
            return
        self._note_seen(agent, call, workspace, f"`{agent.name}` has no hook")

    def _note_seen(self, agent: AgentSpec, call: ToolCall, workspace: Path, why: str) -> None:
        for done, ruling in self._judged(agent, call, workspace):
            access = self._shown(done)
            reason = f"seen afterwards, {why}: {ruling.reason}"
            if ruling.answer is Answer.DENY:
                reason = f"NOT STOPPED, {reason}"
                what = f"{access.operation} `{access.target}`"
                self.run.emit(
                    Warned(self._task.id, f"`{agent.who}` did something that is denied, {why}: {what}")
                )
            try:
                self._note(agent, access, Decided.ALLOWED, reason)
            except GitticksError as error:  # it is done already
                self._tell_once(f"what `{agent.who}` does is not recorded any more: {error.message}")

    def _judged(self, agent: AgentSpec, call: ToolCall, workspace: Path) -> list[tuple[Access, Ruling]]:
        """Returns what a call would do, each by the name about which the rules are strictest."""
        place = str(workspace)
        found = accesses(call.tool, call.parameters, workspace=place, folder=call.folder or place)
        return [
            min(((one, self.ruling(agent, one)) for one in names), key=lambda one: strictness(one[1]))
            for names in found
        ]

    def ruling(self, agent: AgentSpec, access: Access) -> Ruling:
        """Returns what the rules say, those of the session's beginning and those of now."""
        self._look_again()
        if (
            access.is_inside
            and access.operation is Operation.FILE_WRITE
            and access.target.startswith(_ALWAYS_WRITABLE)
        ):
            return Ruling(Answer.ALLOW, "the mailbox is meant to be written")
        begun, (now, settings) = self._begun[0], self._now
        learned = tuple(layer for layer in now if layer.origin == LEARNED_ORIGIN)
        begun = (*(layer for layer in begun if layer.origin != LEARNED_ORIGIN), *learned)
        modes = (agent.mode, _capped(mode_of(agent, settings), agent, self.run))
        rulings = (
            judge(access, (OWN_LAYER, *rules), grants_of(agent, mode))
            for rules, mode in zip((begun, now), modes, strict=True)
        )
        return min(rulings, key=strictness)

    def _load(self) -> tuple[tuple[PolicyLayer, ...], Settings]:
        run = self.run
        environment = run.world.environment
        return (
            policy_layers(run.repository, environment, run.overrides),
            load_settings(run.repository, environment, run.overrides).settings,
        )

    def _look_again(self) -> None:
        with self._lock:
            if time.monotonic() - self._looked_at < _FRESH_SECONDS:
                return
            self._looked_at = time.monotonic()
        try:
            self._now = self._load()
        except GitticksError as error:  # what held before still does
            self.run.emit(Warned(self._task.id, f"the rules cannot be read again: {error.message}"))

    def _decide(self, agent: AgentSpec, access: Access, ruling: Ruling) -> HookAnswer:
        access = self._shown(access)
        if ruling.answer is Answer.DENY:
            self._note(agent, access, Decided.DENIED, ruling.reason)
            self._tell_once(
                f"`{agent.who}` was refused {access.operation} `{access.target}`: {ruling.reason}"
            )
            return HookAnswer("deny", ruling.reason)
        if ruling.answer is Answer.ALLOW:
            self._note(agent, access, Decided.ALLOWED, ruling.reason)
            return HookAnswer("none" if ruling.rule is None else "allow", ruling.reason)
        return self._ask(agent, access, ruling)

    def _shown(self, access: Access) -> Access:
        """Returns an access as people, logs and rules may see it."""
        return access._replace(target=mask(access.target, self._secrets))

    def _tell_once(self, words: str) -> None:
        with self._lock:
            is_new = words not in self._reported
            self._reported.add(words)
        if is_new:
            self.run.emit(Warned(self._task.id, words))

    def _ask(self, agent: AgentSpec, access: Access, ruling: Ruling) -> HookAnswer:
        if not self._questions.is_attended:
            if ruling.is_open or self.run.options.front is not Front.NONE:
                # A client on a terminal asks there; elsewhere its own mode refuses what it would have to ask for, and
                # knows more of harmless commands.
                self._note(agent, access, Decided.ASKED, ruling.reason, UserAction.LEFT)
                return HookAnswer("none", ruling.reason, is_left=True)
            return self._refuse(
                agent,
                access,
                ruling,
                UserAction.NOBODY,
                " (`gt permissions --wait` asks in another terminal)",
            )
        settings = self._now[1]
        # An agent that waits is silent, which it may not be for longer.
        seconds = max(1, min(settings.permissions.timeout, settings.limits.idle - _BEFORE_IDLE_SECONDS))
        question = self._questions.ask(
            self._task.id,
            agent.who,
            access,
            ruling.reason,
            learned_rule(access),
            at=self.run.now,
            seconds=seconds,
        )
        self.run.emit(
            PermissionAsked(
                self._task.id,
                question.number,
                agent.who,
                access.operation.value,
                access.target,
                ruling.reason,
            )
        )
        reply = self._questions.wait(question, self._over, seconds)
        if reply is None:
            return self._refuse(agent, access, ruling, UserAction.TIMED_OUT)
        if reply.always:
            answer = Answer.ALLOW if reply.allows else Answer.DENY
            learn(self.run.repository, answer, question.rule, self.run.now)
            with self._lock:
                self._looked_at = 0.0
        action = {
            (True, False): UserAction.APPROVED,
            (True, True): UserAction.APPROVED_ALWAYS,
            (False, False): UserAction.REJECTED,
            (False, True): UserAction.REJECTED_ALWAYS,
        }[reply.allows, reply.always]
        if not reply.allows:
            return self._refuse(agent, access, ruling, action)
        self._note(agent, access, Decided.ASKED, ruling.reason, action)
        return HookAnswer("allow", "a person allowed it")

    def _refuse(
        self, agent: AgentSpec, access: Access, ruling: Ruling, action: UserAction, hint: str = ""
    ) -> HookAnswer:
        self._note(agent, access, Decided.ASKED, ruling.reason, action)
        why = REFUSING[action]
        self._tell_once(f"`{agent.who}` was refused {access.operation} `{access.target}`: {why}{hint}")
        is_persons = action in (UserAction.REJECTED, UserAction.REJECTED_ALWAYS)
        return HookAnswer("deny", why if is_persons else f"{ruling.reason}; {why}")

    def _note(
        self,
        agent: AgentSpec,
        what: Access | tuple[str, str],
        decided: Decided,
        reason: str,
        action: UserAction | None = None,
    ) -> None:
        task = self._task
        operation, target = (what.operation.value, what.target) if isinstance(what, Access) else what
        at, iteration = self.run.world.precise_now(), self._iteration
        self._audit.note(
            AuditEntry(at, iteration, task.parent, agent.who, operation, target, decided, reason, action)
        )


def refusals(
    by_client: Iterable[str], entries: Iterable[AuditEntry]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns what an agent was refused by its client alone, and what was refused here, with the reason.

    A client lists what its hook refused as its own.
    """
    refused = [(one, one_line(one.target, longest=200)) for one in entries if one.is_refused]
    ends = tuple(f"{begin}{target}" for _, target in refused for begin in (" ", "/"))
    shown = (f"{one.operation}: {target} ({one.why_refused})" for one, target in refused)
    return tuple(one for one in by_client if not one.endswith(ends)), tuple(shown)


def mode_of(agent: AgentSpec, settings: Settings) -> PermissionMode:
    """Returns the mode that holds for an agent by the settings: its own, else that of all."""
    own = settings.agents.get(agent.name)
    return (own.mode if own is not None else None) or settings.permissions.mode


def grants_of(agent: AgentSpec, mode: PermissionMode) -> Grants:
    """Returns what a mode lets an agent do without a question."""
    granted = granted_mode(PRESETS[agent.kind], mode)
    return Grants(granted, HAND_OVER_COMMANDS, is_walled=agent.kind in _WALLED)


def with_present_mode(agent: AgentSpec, run: RunContext) -> AgentSpec:
    """Returns an agent with the mode that the settings have now, which may have changed since the run began."""
    try:
        settings = load_settings(run.repository, run.world.environment, run.overrides).settings
    except GitticksError:
        return agent  # the run continues with what it knows
    return replace(agent, mode=_capped(mode_of(agent, settings), agent, run))


def _capped(mode: PermissionMode, agent: AgentSpec, run: RunContext) -> PermissionMode:
    """Returns a mode as a run may take it up: `yolo` without a sandbox holds only where a person confirmed it at the start."""
    is_bare = mode is PermissionMode.YOLO and run.settings.sandbox.preset is SandboxPreset.NONE
    if is_bare and mode_of(agent, run.settings) is not PermissionMode.YOLO:
        return PermissionMode.AUTO_ALL
    return mode
