"""Open permission requests of this clone: a run asks, and whoever is attached answers.

Each question is a file of the run's, each answer a file beside it. A question whose run died is no question any more.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from gitticks.errors import NotFoundError, RefusedError
from gitticks.flocks import holding_lock, is_lock_held
from gitticks.git.files import errors_name, write_synced
from gitticks.git.locks import hold_lock
from gitticks.model.ids import TaskId
from gitticks.model.settings import PermissionRule
from gitticks.processes import ProcessIdentity, is_alive, own_identity
from gitticks.runner.liveness import REQUESTS_FOLDER
from gitticks.safe_read import read_json, read_plain_file
from gitticks.workflow.permissions import Access, Operation

_ATTACHED = ".attached"
_ANSWER, _LAST = ".answer", "last"
_POLL_SECONDS = 0.1


class Question(NamedTuple):
    """What an agent wants to do and a person is to decide; `number` names it, `rule` is what "always" would remember."""

    number: int
    task: TaskId
    agent: str
    access: Access
    reason: str
    asked: datetime
    expires: datetime
    rule: PermissionRule


class Reply(NamedTuple):
    """A person's answer to a question."""

    allows: bool
    always: bool = False


class Questions:
    """The questions of one clone; `own_dir` is `<common git dir>/gitticks`."""

    def __init__(self, own_dir: Path) -> None:
        self._folder = own_dir / REQUESTS_FOLDER

    @contextlib.contextmanager
    def attached(self) -> Iterator[None]:
        """Says while the block runs that somebody is there to answer."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{os.getpid()}-{threading.get_ident()}{_ATTACHED}"
        with holding_lock(path):
            try:
                yield
            finally:
                path.unlink(missing_ok=True)

    @property
    def is_attended(self) -> bool:
        """True while somebody is there to answer."""
        for path in self._folder.glob(f"*{_ATTACHED}") if self._folder.is_dir() else ():
            if is_lock_held(path):
                return True
            path.unlink(missing_ok=True)
        return False

    def open(self) -> tuple[Question, ...]:
        """Returns the questions that wait for an answer, the oldest first."""
        numbers = [int(path.stem) for path in self._folder.glob("*.json") if path.stem.isdecimal()]
        found = (self._read(number) for number in sorted(numbers))
        return tuple(one for one in found if one is not None)

    def answer(self, number: int, reply: Reply) -> Question:
        """Answers a question and returns it; the run acts on it within a moment.

        Raises:
            NotFoundError: there is no such question any more.
            RefusedError: somebody else was faster.
        """
        question = self._read(number)
        if question is None:
            raise NotFoundError(
                f"no request {number} is waiting for an answer", hint="`gt permissions` lists those that do"
            )
        path = self._folder / f"{number}{_ANSWER}"
        aside = self._folder / f"{number}.{os.getpid()}.new"
        with errors_name(path):
            aside.write_text(json.dumps({"allows": reply.allows, "always": reply.always}), encoding="utf-8")
            try:
                os.link(aside, path)  # whole or not at all, and only the first
            except FileExistsError:
                raise RefusedError(
                    f"request {number} was already answered", hint="`gt permissions`"
                ) from None
            finally:
                aside.unlink(missing_ok=True)
        return question

    def ask(
        self,
        task: TaskId,
        agent: str,
        access: Access,
        reason: str,
        rule: PermissionRule,
        *,
        at: datetime,
        seconds: int,
    ) -> Question:
        """Puts a question."""
        self._folder.mkdir(parents=True, exist_ok=True)
        me = own_identity()
        expires = at + timedelta(seconds=seconds)
        body = {
            "task": task,
            "agent": agent,
            "operation": access.operation.value,
            "target": access.target,
            "is_inside": access.is_inside,
            "reason": reason,
            "asked": at.isoformat(),
            "expires": expires.isoformat(),
            "rule": {"paths": rule.paths, "commands": rule.commands, "hosts": rule.hosts},
            "owner": [me.pid, me.start_ticks, me.boot_id],
        }
        number = self._claim_number(json.dumps(body))
        return Question(number, task, agent, access, reason, at, expires, rule)

    def _claim_number(self, body: str) -> int:
        with hold_lock(self._folder / f"{_LAST}.lock"):
            number = self._last_number() + 1
            while (self._folder / f"{number}.json").exists():
                number += 1
            write_synced(self._folder / _LAST, str(number).encode())
            write_synced(self._folder / f"{number}.json", body.encode())
        return number

    def _last_number(self) -> int:
        """Returns the number of the last question, so that an answer that comes late meets no other one."""
        try:
            return int(read_plain_file(self._folder / _LAST))
        except (OSError, ValueError):
            return 0

    def wait(self, question: Question, is_over: threading.Event, seconds: float) -> Reply | None:
        """Waits for the answer and closes the question; None if nobody gave one in time, or the session is over."""
        end = time.monotonic() + seconds
        path = self._folder / f"{question.number}{_ANSWER}"
        try:
            while time.monotonic() < end:
                reply = _reply(path)
                if reply is not None:
                    return reply
                if is_over.wait(_POLL_SECONDS):
                    return None
            return _reply(path)
        finally:
            (self._folder / f"{question.number}.json").unlink(missing_ok=True)
            path.unlink(missing_ok=True)

    def _read(self, number: int) -> Question | None:
        def make(body: Any) -> tuple[ProcessIdentity, Question]:
            access = Access(Operation(body["operation"]), str(body["target"]), bool(body["is_inside"]))
            lists = {name: tuple(map(str, words)) for name, words in body["rule"].items()}
            asked, expires = (datetime.fromisoformat(body[name]) for name in ("asked", "expires"))
            question = Question(
                number,
                TaskId(body["task"]),
                str(body["agent"]),
                access,
                str(body["reason"]),
                asked,
                expires,
                PermissionRule(access.operation, **lists),
            )
            return ProcessIdentity(*body["owner"]), question

        path = self._folder / f"{number}.json"
        found = read_json(path, make, None)
        if found is None:
            return None
        owner, question = found
        if is_alive(owner):
            return None if (self._folder / f"{number}{_ANSWER}").exists() else question
        path.unlink(missing_ok=True)
        (self._folder / f"{number}{_ANSWER}").unlink(missing_ok=True)
        return None


def _reply(path: Path) -> Reply | None:
    return read_json(path, lambda body: Reply(body["allows"] is True, body["always"] is True), None)
