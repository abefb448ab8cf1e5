"""What all parts of a run share: repository, settings, clock, listener."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TypeVar

from gitticks.agents.base import AgentReport, neutral_environment
from gitticks.agents.registry import Registry
from gitticks.board.step import WORKTREE_BOARD
from gitticks.document.runnables import runnables_of_layer
from gitticks.document.settings import get
from gitticks.document.settings import names as setting_names
from gitticks.document.taskfile import TaskFile
from gitticks.errors import GitticksError, RefusedError, first_of
from gitticks.git.identity import ENGINE_IDENTITY, identity
from gitticks.git.repository import Repository
from gitticks.model.checkpoint import Checkpoint
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId
from gitticks.model.settings import Settings
from gitticks.model.status import Role
from gitticks.model.task import Ending, Task
from gitticks.runner.claiming import ClaimedElsewhereError, RunClaims
from gitticks.runner.events import CheckpointMade, RunEvent, TaskMoved, Warned
from gitticks.runner.liveness import Holds
from gitticks.runner.options import RunOptions
from gitticks.runner.places.local import LocalPlace
from gitticks.runner.places.place import Place
from gitticks.runner.records import Sessions
from gitticks.runner.renamed_work import present_id
from gitticks.runner.reviewing import Staff, registry_for
from gitticks.runner.verifiers import ChecksReport
from gitticks.store.branch import Store
from gitticks.store.decisions import Circumstances, carry_out
from gitticks.store.settings import layer_of, load_settings, team_file
from gitticks.store.transaction import Transaction
from gitticks.store.trust import agree_on_settings, agreed_settings, require_trusted
from gitticks.workflow.decision import Decision, is_turn_of
from gitticks.workflow.triggers import Trigger
from gitticks.world import World

Value = TypeVar("Value")
_TAKEN_UP = frozenset({"agents", "approvals", "budget", "iterations", "limits", "permissions"})
"""What counts before the next run does: approvals and permissions are read anew each time, `renew_settings` takes up the others."""
_MOST_NAMED = 10


@dataclass
class RunContext:
    """One run's surroundings; may be shared between threads, since stores are opened for each use.

    `emit` is called from several threads, one at a time. `resting` names the agents that fallbacks stand in for. `overrides` are the
    settings that the run's flags give. `refuse_push` raises if tasks at a commit may not be pushed to a remote that has them
    at another. `rules` are `config.yaml`, the templates and what is trusted as the run last saw them.
    """

    repository: Repository
    settings: Settings
    world: World
    listener: Callable[[RunEvent], None]
    options: RunOptions = field(default_factory=RunOptions)
    overrides: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[object, ...] = ()
    claims: RunClaims = field(default_factory=RunClaims.none)
    resting: Callable[[], frozenset[str]] = frozenset
    refuse_push: Callable[[str, str, str | None], None] = lambda *_: None
    _emitting: threading.Lock = field(default_factory=threading.Lock)
    _kept_for: str = ""
    _present: Settings | None = None

    def open_store(self) -> Store:
        """Returns a store for the calling thread."""
        return Store(self.repository, WORKTREE_BOARD)

    def renew_settings(self) -> None:
        """Takes up agents, limits and budgets that were changed; the other settings hold as they were checked at the start.

        What nobody has trusted here is not taken up; the agents' modes are read anew for each session.
        """
        why = ""
        try:
            content = team_file(self.repository) or b""
            now = load_settings(self.repository, self.world.environment, self.overrides).settings
            before = self.settings.agents
            agents = {
                name: one._replace(mode=before[name].mode if name in before else None)
                for name, one in now.agents.items()
            }
            self.settings = self.settings._replace(
                agents=agents, budget=now.budget, iterations=now.iterations, limits=now.limits
            )
            self._tell_changed(now)
            asked = runnables_of_layer(layer_of(content), agreed_settings(self.repository))
            require_trusted(self.repository, asked)
            agree_on_settings(self.repository, content)
        except RefusedError as error:
            why = f"{error.message}; the run keeps what it has ({error.hint})"
        except GitticksError as error:
            why = f"{error.message}; the run keeps the settings that it has"
        if why and why != self._kept_for:
            self.emit(Warned(None, why))
        self._kept_for = why

    def _tell_changed(self, now: Settings) -> None:
        """Names the settings that have changed since the last look, those apart that wait for the next run."""
        before, self._present = self._present or now, now
        names = dict.fromkeys((*setting_names(before), *setting_names(now)))
        changed = [name for name in names if get(before, name) != get(now, name)]
        later = [f"`{name}`" for name in changed if name.partition(".")[0] not in _TAKEN_UP]
        taken = [f"`{name}`" for name in changed if name.partition(".")[0] in _TAKEN_UP]
        if taken:
            self.emit(Warned(None, f"changed settings are taken up: {first_of(taken, _MOST_NAMED)}"))
        if later:
            self.emit(
                Warned(None, f"changed settings hold from the next run on: {first_of(later, _MOST_NAMED)}")
            )

    def emit(self, event: RunEvent) -> None:
        """Tells the listener."""
        with self._emitting:
            self.listener(event)

    def tell(self, before: Task, decision: Decision) -> None:
        """Tells the listener of a decision, unless it moved nothing and says nothing."""
        after = decision.task
        reason = next((step.reason for step in reversed(decision.steps) if step.reason), None)
        if reason is None:
            events = (event for event in reversed(decision.events) if event.type is not EventType.BUDGET)
            reason = next((event.reason for event in events if event.reason), None)
        if (before.status, before.awaiting) == (after.status, after.awaiting) and reason is None:
            return
        passed = decision.steps[0].reason if decision.steps else None
        actor = decision.events[-1].actor.name if decision.events else "gitticks"
        moved = (before.status, after.status, after.awaiting, reason, actor)
        self.emit(TaskMoved(after.id, after.title, *moved, after.is_merging, passed))

    def tell_checkpoint(self, made: Checkpoint | None) -> None:
        """Tells the listener of a checkpoint that is new."""
        if made is not None:
            iterations = made.total.iterations
            self.emit(CheckpointMade(made.task, made.id, made.cause, iterations, made.head, made.commit))

    def transact(self, operation: Callable[[Transaction], Value], store: Store | None = None) -> Value:
        """Makes a commit of the run's own on the state branch, and returns what the operation returned."""
        return (store or self.open_store()).transact(operation, author=ENGINE_IDENTITY)

    def decide(
        self, store: Store, before: Task, trigger: Trigger, review_waiver: str | None = None
    ) -> Decision:
        """Carries out what follows from a trigger, and tells the listener."""
        circumstances = self.circumstances(review_waiver=review_waiver)
        decision = self.transact(
            lambda transaction: carry_out(transaction, before.id, trigger, circumstances), store
        )
        self.tell(before, decision)
        return decision

    @cached_property
    def sessions(self) -> Sessions:
        """Returns the records of this clone's sessions."""
        return Sessions(self.repository.own_dir)

    @cached_property
    def holds(self) -> Holds:
        """Returns the tasks that are held back in this clone."""
        return Holds(self.repository.own_dir)

    @property
    def place(self) -> Place:
        """Returns where sessions run."""
        return LocalPlace(self.repository, self.settings, self.world, self.options.front, self.overrides)

    @property
    def registry(self) -> Registry:
        """Returns the agents that can be started."""
        return registry_for(self.settings, self.world.environment)

    @property
    def staff(self) -> Staff:
        """Returns who may work and review."""
        return Staff(self.registry, self.settings, self.options.agent, self.options.model)

    @cached_property
    def started_by(self) -> str | None:
        """Returns who started the run; None where git does not know."""
        try:
            return identity(self.repository, self.world.environment).name
        except GitticksError:
            return None

    @property
    def now(self) -> datetime:
        """Returns the present UTC time in whole seconds."""
        return self.world.now()

    def outer_environment(self) -> dict[str, str]:
        """Returns what set-up commands and checks see: the runner's environment less git's and gitticks' own."""
        return neutral_environment(self.world.environment)

    def as_claimed(
        self, store: Store, file: TaskFile, role: Role, report: AgentReport
    ) -> tuple[TaskId, AgentReport]:
        """Returns the id that a session's task has now, and its report as it counts.

        Whoever took the task over or moved it in another clone stopped the session. `file` is as the session began with it.
        """
        was_turn = is_turn_of(store.task_file(present_id(store, file)).task, role)
        try:
            self.claims.confirm(file.task.id)
            now = store.task_file(present_id(store, file)).task
            if is_turn_of(now, role) or not was_turn:
                return now.id, report
            words = f"others moved it first: it is {now.status}"
        except ClaimedElsewhereError as error:
            words = error.words
        task_id = present_id(store, file)
        self.emit(Warned(task_id, words))
        return task_id, replace(report, ending=Ending.STOPPED)

    def circumstances(
        self, *, head: str | None = None, review_waiver: str | None = None, checks: ChecksReport | None = None
    ) -> Circumstances:
        """Returns what a decision of this run is made under."""
        return Circumstances(
            at=self.now,
            settings=self.settings,
            random_number=self.world.random_number,
            head=head,
            review_waiver=review_waiver,
            checks_failure=checks.failure if checks else None,
            checks=checks.words if checks else "",
        )
