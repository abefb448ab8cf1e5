"""What every use case starts from: the directory, the user, and access to store, index and settings.

Everything is opened when it is first asked for, so that a reading command pays only for what it reads.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError, NotFoundError, RefusedError, UsageError
from gitticks.git.refs import BRANCHES, read_symbolic_ref
from gitticks.git.repository import Repository, discover
from gitticks.model.ids import WORK_BRANCH, TaskId, is_valid_id
from gitticks.model.queries import Surroundings
from gitticks.model.status import ActorKind, Role
from gitticks.store.layout import CONFIG_PATH, state_tip
from gitticks.world import World

if TYPE_CHECKING:
    from pathlib import Path

    from gitticks.document.settings_layers import ResolvedSettings
    from gitticks.git.identity import Identity
    from gitticks.model.event import Actor
    from gitticks.model.settings import Settings
    from gitticks.model.task import Task
    from gitticks.runner.verifiers import ChecksReport
    from gitticks.store.branch import Store
    from gitticks.store.decisions import Circumstances
    from gitticks.store.index import Index

_FOR_AGENTS = "`gt complete` hands off your work, `gt ask` asks a person"


class Warnings(list[str]):
    """What is printed once a call is done; it knows nothing of the call, so who warns does not keep that alive."""

    def once(self, words: str) -> None:
        """Adds a warning, unless it is there already."""
        if words not in self:
            self.append(words)


class Context:
    """One call of gitticks: a directory, the world around it, and settings given for this call alone.

    `overrides` are dotted paths of settings with their values as text, as flags give them. `does_much` is set before the
    repository is opened by what lives long or looks at many objects. `warnings` are printed once the call is done.
    `is_current` says that the answer is to be the newest there is, so that `sync.auto: both` shares after it; `as_json`
    that it is asked for as JSON, so that rows of the index have theirs. `typed` is a text that only we have, as it came by stdin; None if nothing was read.
    """

    def __init__(
        self,
        world: World | None = None,
        directory: Path | None = None,
        overrides: Mapping[str, str] | None = None,
        *,
        does_much: bool = False,
    ) -> None:
        self.world = world or World()
        self.overrides: Mapping[str, str] = overrides or {}
        self.warnings = Warnings()
        self.does_much = does_much
        self.is_current = False
        self.as_json = False
        self.typed: str | None = None
        self._directory = _here() if directory is None else str(directory)

    def renewed(self, directory: Path | None = None) -> Context:
        """Returns the same call started over, with nothing opened; `directory` is where it is now."""
        fresh = Context(self.world, directory or self.directory, self.overrides, does_much=self.does_much)
        fresh.as_json = self.as_json
        return fresh

    @property
    def directory(self) -> Path:
        """Returns the directory that the call is made in."""
        from pathlib import Path

        return Path(self._directory)

    @cached_property
    def repository(self) -> Repository:
        """Returns the repository around the directory; outside of any the one that `GIT_DIR` names."""
        found = None
        if not self.world.environment.get("GIT_DIR"):
            with suppress(NotFoundError):
                found = discover(self._directory)
        if found is None:
            from gitticks.git.repository_lookup import find_repository

            found = find_repository(self._directory, self.world.environment)
        found.does_much = self.does_much
        return found

    @cached_property
    def store(self) -> Store:
        """Returns the store with its board kept in step."""
        from gitticks.board.step import WorktreeBoard
        from gitticks.store.branch import Store

        return Store(self.repository, WorktreeBoard(self.warnings.once))

    @property
    def has_store(self) -> bool:
        """True once the call has opened the store."""
        return "store" in self.__dict__

    @property
    def all_warnings(self) -> tuple[str, ...]:
        """Returns the warnings, with one about a secret that was masked."""
        masked = "what looks like a secret was masked before it was committed: if it is one, revoke it"
        return (*self.warnings, *([masked] if self.has_store and self.store.has_masked else []))

    @property
    def written(self) -> tuple[str, ...]:
        """Returns the subjects of the commits that the call has made, the oldest first."""
        return tuple(self.store.written) if self.has_store else ()

    def warn_of_left_behind(self) -> None:
        """Warns of what agents' sessions changed in the repository's own folder and nobody has agreed to."""
        if not os.path.exists(f"{self.repository.own_place}/left-behind.json"):
            return
        from gitticks.store.left_behind import left_behind

        for one in left_behind(self.repository):
            self.warnings.once(f"{one.words}: `gt trust` shows it, and asks")

    def warn_of_fallen(self) -> None:
        """Warns of what fell off the state branch and does not come back by itself.

        What a user dropped by `git reset` is named until the branch continues from there, and by the doctor after that.
        """
        from gitticks.store.dropped import How, fallen_commits

        with suppress(GitticksError):  # then the doctor says what is damaged
            for one in fallen_commits(self.repository):
                if one.fall.how is How.UNEXPLAINED:
                    self.warnings.append(
                        f"the state branch was rewound and lacks {one.words}: "
                        f"`gt doctor --fix` restores {one.pronoun}, `gt doctor` says how to drop {one.pronoun} for good"
                    )
                elif state_tip(self.repository) == one.fall.new:
                    self.warnings.append(
                        f"`git reset` removed {one.words} from the state branch; "
                        f"`gt doctor` says how to restore {one.pronoun}"
                    )

    @cached_property
    def index(self) -> Index:
        """Returns the index at the state branch's tip as it was when first asked for."""
        from gitticks.store.index import open_index  # SQLite, which what git calls for each file does without

        return open_index(self.repository)

    @cached_property
    def settings(self) -> Settings:
        """Returns the settings with every layer applied."""
        return self.resolved_settings.settings

    @cached_property
    def resolved_settings(self) -> ResolvedSettings:
        """Returns the settings with where each comes from, and the messages to print about them."""
        from gitticks.store.settings import load_settings

        return load_settings(self.repository, self.world.environment, self.overrides)

    @property
    def now(self) -> datetime:
        """Returns the present UTC time in whole seconds."""
        return self.world.now()

    @cached_property
    def actor(self) -> Actor:
        """Returns who asks: an agent inside a session, else the person that git knows."""
        from gitticks.model.event import Actor

        if self.world.in_session:
            role = self.world.environment.get("GITTICKS_ROLE", "")
            known = role in {one.value for one in Role}
            return Actor(ActorKind.AGENT, "agent", Role(role) if known else Role.WORKER)
        return Actor(ActorKind.HUMAN, self.author.name)

    @cached_property
    def author(self) -> Identity:
        """Returns under which name commits are made."""
        from gitticks.git.identity import agent_identity, identity

        if self.world.in_session:
            return agent_identity("agent")
        return identity(self.repository, self.world.environment)

    def may_share(self) -> bool:
        """True unless every layer of the settings is silent about `sync.auto`, or this is an agent's session.

        Every command ends with this glance, and the answer is mostly no.
        """
        if self.world.in_session:
            return False
        if "sync.auto" in self.overrides or "GITTICKS_CONFIG_SYNC_AUTO" in self.world.environment:
            return True
        from gitticks.git.config import read_config

        with suppress(GitticksError):
            if self.has_store:
                team = self.store.read(CONFIG_PATH) or b""
            else:
                with self._index_for_now() as index:
                    team = index.team_settings()
            # in quotes a key may be written with escapes
            if b"\\" in team or (b"sync" in team and b"auto" in team):
                return True
            return bool(read_config(self.repository, r"^gitticks\.sync\.auto$"))
        return False

    def require_person(self, what: str, hint: str = _FOR_AGENTS) -> None:
        """Refuses what only people may do, with what an agent does instead."""
        if self.world.in_session:
            raise RefusedError(
                f"only a person can {what}, and this is an agent's session",
                hint=hint,
            )

    def task_here(self) -> TaskId | None:
        """Returns the task whose workspace or session this is, or None."""
        named = self.world.environment.get("GITTICKS_TASK")
        if named and is_valid_id(named):
            return TaskId(named)
        head = read_symbolic_ref(self.repository.git_place, "HEAD") or ""
        owner = head.removeprefix(BRANCHES + WORK_BRANCH)
        if owner == head or not is_valid_id(owner):
            return None
        from gitticks.store.task_ids import worked_on_in

        with self._index_for_now() as index:
            return worked_on_in(index, TaskId(owner), self.repository.git_place)

    @property
    def own_task(self) -> TaskId | None:
        """Returns the task of the session that we are in, or None outside of one."""
        return self.task_here() if self.world.in_session else None

    @property
    def mailbox(self) -> Path | None:
        """Returns the mailbox of the session that we are in, or None outside of one."""
        named = self.world.environment.get("GITTICKS_MAILBOX")
        if not named or not os.path.isabs(named) or not self.world.in_session:
            return None
        from pathlib import Path

        return Path(named)

    def resolve(self, text: str | None, *, least: int = 1) -> TaskId:
        """Returns the task that a person named by id or unique prefix, or whose workspace we are in.

        Raises:
            NotFoundError: there is no such task, or its file cannot be read, or it is only saved on the board, or several
                begin so.
            UsageError: none was named and we are in no workspace, or fewer than the `least` characters of its id.
        """
        if text is None:
            here = self.task_here()
            if here is None:
                raise UsageError("no task was named, and this is not a task's workspace", hint="`gt list`")
            text = here
        from gitticks.store.task_ids import resolve_id

        try:
            return resolve_id(self.index, text, least)
        except NotFoundError as error:
            from gitticks.actions.task_files import find_unreadable, saved_task

            raise (find_unreadable(self.index, text) or saved_task(self.repository, text) or error) from None

    def surroundings(self) -> Surroundings:
        """Returns what readiness depends on in this clone now."""
        from gitticks.runner.liveness import claimed_elsewhere, held_tasks, sessions_here

        own_place, now = self.repository.own_place, self.now
        live, left = sessions_here(own_place)
        if (own := self.own_task) is not None:  # a sandbox hides the record of its session
            live |= {own}
        held = held_tasks(own_place)
        with self._index_for_now() as index:
            conflicted = index.conflicts()
            held = held.union(index.below(held))  # also what was added there since
        return Surroundings(
            today=now.astimezone().date(),
            now=now,
            live=live,
            held=held,
            conflicted=conflicted,
            left=left,
            elsewhere=claimed_elsewhere(own_place, now),
        )

    def _index_for_now(self) -> AbstractContextManager[Index]:
        """Returns the index; one that nobody has open is not kept open."""
        if "index" in self.__dict__ and self.index.is_open:
            return nullcontext(self.index)
        from gitticks.store.index import open_index

        return open_index(self.repository)

    def circumstances(
        self, task: Task, *, head: str | None = None, checks: ChecksReport | None = None
    ) -> Circumstances:
        """Returns what a decision about a task is made under."""
        from gitticks.runner.reviewing import find_review_waiver
        from gitticks.store.decisions import Circumstances

        return Circumstances(
            at=self.now,
            settings=self.settings,
            random_number=self.world.random_number,
            head=head,
            checks_failure=checks.failure if checks else None,
            checks=checks.words if checks else "",
            review_waiver=find_review_waiver(self.store, task, self.settings, self.world.environment),
        )


def _here() -> str:
    try:
        return os.getcwd()
    except OSError as error:  # as in a workspace that was removed after its merge
        raise NotFoundError("the current folder no longer exists", hint="`cd` to one that exists") from error
