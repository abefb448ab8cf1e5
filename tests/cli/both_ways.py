"""A repository with tasks of every sort, and one call of it made before click and by way of click."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from unittest.mock import patch

import pytest

from gitticks.board.place import create_board
from gitticks.cli import app
from gitticks.cli.at_once import answer_at_once
from gitticks.model.event import Event, EventType
from gitticks.model.ids import TaskId, task_path
from gitticks.model.status import Awaiting, Requires, Status, TaskType
from gitticks.model.task import Approval, Claim, Usage
from gitticks.runner.liveness import Holds
from gitticks.runner.records import Sessions
from gitticks.store.branch import Store
from gitticks.store.transaction import Transaction
from gitticks.world import World
from tests.support.records import make_record
from tests.support.stores import ADA, ADA_ACTOR, CREATED, NOW, make_queue, put_task

ANSWERED = """\
### 2026-03-04T05:10:00Z · agent · claude

Which tone?

### 2026-03-04T05:20:00Z · human · Ada

Friendly.
"""


BODY = f"""\
The summary,
with two lines and a \u202e sign.

## Context

- a list
- [ ] and a box

## Questions

{ANSWERED}
## Handoff

DONE: all of it

## Review

**PASS**: `code` and words

## Notes

### 2026-03-04T05:30:00Z · human · Grace

Look at the *state* parameter.
"""


TWICE = "## Review\n\nFAIL\n\n```\n## Review\n```\n\n## review\n\nno verdict yet\n"
ODD_TITLE = 'Ünï "quoted" \x1b[31m\u202e 日本 🎉 e\u0301'


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call came to, in bytes."""

    code: int | None
    out: bytes
    err: bytes


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Makes a repository with tasks of every sort that a listing or a page tells apart, one of them in work."""
    path = tmp_path_factory.mktemp("varied") / "repository"
    store = make_queue(path)
    create_board(store.repository)
    store.transact(_put_more, author=ADA)
    _write_broken(store)
    Holds(store.repository.own_dir).hold(TaskId("h0ld"))
    (path / "deep" / "er").mkdir(parents=True)
    with Sessions(store.repository.own_dir).hold(make_record("w0rk")):
        yield path


def _put_more(transaction: Transaction) -> None:
    events = [
        Event(EventType.MOVED, CREATED, ADA_ACTOR, Status.PENDING, Status.WORKING, "begun"),
        Event(EventType.SESSION_ENDED, CREATED, ADA_ACTOR, data={"role": "worker", "ending": "clean"}),
        Event(EventType.SESSION_ENDED, CREATED, ADA_ACTOR, data={"role": "reviewer"}),
        *(
            Event(EventType.GATE_FAILED, CREATED, ADA_ACTOR, reason=f"try {n}", data={"gate": "test"})
            for n in range(25)
        ),
        Event(EventType.MOVED, NOW, ADA_ACTOR, Status.REVIEWING, Status.DONE),
    ]
    put_task(
        transaction, ODD_TITLE, id="f0ll", body=BODY, events=events, labels=('quo"ted\nlabel', "web"),
        status=Status.DONE, closed=NOW, usage=Usage(3, 10, 20, 1.5, 60.0), pr="https://example.org/1",
        requires=Requires.CONTENT, blocked_by=(TaskId("gone"), TaskId("g1vn")), reviewer="Grace", agent="codex",
    )  # fmt: skip
    put_task(transaction, "Given up", id="g1vn", status=Status.CANCELLED, closed=NOW - timedelta(days=90))
    put_task(
        transaction,
        "In work",
        id="w0rk",
        status=Status.WORKING,
        claim=Claim("hand:ada", "host", CREATED, NOW),
    )
    put_task(transaction, "Held", id="h0ld", blocked_by=())
    put_task(
        transaction, "Merging", id="m3rg", status=Status.REVIEWING, approval=Approval("Ada", NOW, "a" * 40),
        start_sha="b" * 40, end_sha="a" * 40,
    )  # fmt: skip
    put_task(transaction, "Lost its epic", id="l0st", parent=TaskId("e1sd"))
    put_task(transaction, "Closed epic", id="e1sd", type=TaskType.EPIC, status=Status.DONE, closed=NOW)
    put_task(
        transaction,
        "Inner",
        id="e2in",
        type=TaskType.EPIC,
        parent=TaskId("e0pc"),
        blocked_by=(TaskId("k7f2"),),
    )
    put_task(
        transaction, "Below it", id="b3lo", parent=TaskId("e2in"), blocked_by=(TaskId("b1kd"), TaskId("b3lo"))
    )
    put_task(transaction, "Round", id="l00p", parent=TaskId("l11p"), awaiting=Awaiting.WORK)
    put_task(transaction, "About", id="l11p", parent=TaskId("l00p"), defer_until=date(2099, 1, 1))
    put_task(transaction, "Stuck", id="0dd", status=Status.STUCK, awaiting=Awaiting.ESCALATION, asked_at=NOW)
    put_task(transaction, "Two reviews", id="twice", body=TWICE, status=Status.AGENT_REVIEW)


def _write_broken(store: Store) -> None:
    def write(transaction: Transaction) -> None:
        transaction.write(task_path(TaskId("br0k")), b"---\nid: br0k\ntitle: [\n---\n")
        transaction.describe("broken")

    store.transact(write, author=ADA)


def call(
    run: Callable[[list[str]], int | None],
    words: tuple[str, ...],
    at: Path,
    environment: Mapping[str, str],
    encoding: str = "utf-8",
) -> Answer:
    """Runs a call in this process at a stopped clock, with streams of an encoding, and returns its bytes."""
    out, err = (
        io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=errors)
        for errors in ("strict", "backslashreplace")
    )
    with (
        contextlib.chdir(at),
        patch.dict(os.environ, environment),
        patch.object(World, "now", lambda _: NOW),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run(list(words))
    return Answer(code, _bytes(out), _bytes(err))


def _bytes(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue()


def both_ways(
    words: tuple[str, ...], at: Path, environment: Mapping[str, str] | None = None, encoding: str = "utf-8"
) -> Answer:
    """Returns the answer before click, after comparing it with the one by way of click."""
    before = call(answer_at_once, words, at, environment or {}, encoding)
    assert before.code is not None, "it was left to click"
    assert before == call(app.run, words, at, environment or {}, encoding)
    return before
