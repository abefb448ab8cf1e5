"""An answer before click is loaded is, byte for byte, the one that comes by way of click."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from unittest.mock import patch

import pytest

from gitticks.cli import app
from gitticks.cli.at_once import answer_at_once
from gitticks.model.event import Event, EventType
from gitticks.model.ids import TaskId, task_path
from gitticks.model.status import Awaiting, Requires, Status, TaskType
from gitticks.model.task import Approval, Claim, Usage
from gitticks.runner.holds import Holds
from gitticks.runner.records import Sessions
from gitticks.store.board import create_board
from gitticks.store.branch import Store
from gitticks.store.transaction import Transaction
from gitticks.world import World
from tests.cli import support
from tests.runner.test_records import make_record
from tests.support.repositories import add_linked_worktree, git
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

PLAIN: tuple[tuple[str, ...], ...] = (
    ("next",),
    ("next", "--json"),
    ("next", "e0pc"),
    ("next", "--awaiting"),
    ("next", "--awaiting=input,review", "--json"),
    ("next", "--standalone"),
    ("next", "--orphan", "--epic"),
    ("next", "d0ne"),
    ("next", "e0", "--awaiting", "approval"),
    ("next", "nope"),
    ("ready",),
    ("ready", "--json"),
    ("inbox",),
    ("inbox", "--all", "-n", "2"),
    ("inbox", "-a", "--json"),
    ("search", "tone"),
    ("search", "page", "tone", "--json"),
    ("search", "-a", "--label", "web", "e"),
    ("search",),
    ("search", "nowhere"),
    ("tree",),
    ("tree", "-a", "--json"),
    ("tree", "e0pc"),
    ("tree", "l00p"),
    ("tree", "br0k"),
    ("list",),
    ("list", "--json"),
    ("list", "--all"),
    ("list", "-a", "--json"),
    ("list", "--awaiting"),
    ("list", "--awaiting", "--json"),
    ("list", "--awaiting", "review,input"),
    ("list", "--awaiting=work"),
    ("list", "--status", "in_review,done"),
    ("list", "--status=closed", "--status", "stuck", "--json"),
    ("list", "--label", "auth", "-l", "web"),
    ("list", "-l", 'quo"ted\nlabel'),
    ("list", "--label=nothing"),
    ("list", "--parent", "e0pc", "--all"),
    ("list", "--parent", "e1"),
    ("list", "--parent", "none"),
    ("list", "--agent", "codex"),
    ("list", "--reviewer", "Grace", "--json"),
    ("show",),
    ("show", ""),
    ("show", "K7F2"),
    ("show", "none"),
    ("show", "none", "--json"),
    ("show", "r"),
    ("show", "f"),
    *(
        ("show", one)
        for one in ("k7f2", "m3", "b1kd", "d3fr", "e0pc", "c0de", "d0ne", "f0ll", "w0rk", "m3rg", "0dd")
    ),
    *(("show", "--json", one) for one in ("k7f2", "f0ll", "d0ne", "twice", "l0st", "br0k")),
    ("show", "--round", "1", "f0ll"),
    ("show", "k7f2", "--stat"),
    ("show", "f0ll", "--json", "--stat"),
    ("show", "twice"),
    ("show", "l0st"),
    ("show", "l00p"),
    ("show", "br0k"),
    ("graph",),
    ("graph", "--all", "e2in"),
    ("graph", "l00p", "--json"),
    ("graph", "--svg", "-a"),
    ("graph", "br0k"),
    ("board",),
    ("board", "--all"),
    ("board", "e0pc", "--json"),
    ("stats",),
    ("stats", "--since=4w", "--json"),
    ("stats", "--html=-"),
)
"""Calls that are answered before click is loaded, failures among them."""

LEFT_TO_CLICK: tuple[tuple[str, ...], ...] = (
    (),
    ("--version",),
    ("status",),
    ("next", "--help"),
    ("next", "a", "b"),
    ("next", "--nope"),
    ("next", "--awaiting=nothing"),
    ("ready", "one"),
    ("ready", "--json=1"),
    ("list", "word"),
    ("list", "--label"),
    ("list", "--label", "-x"),
    ("list", "-al", "auth"),
    ("list", "-lauth"),
    ("list", "--status", "nope"),
    ("stats", "--since", "never"),
    ("inbox", "-n", "none"),
    ("inbox", "-n0"),
    ("search", "--", "-x"),
    ("show", "--", "k7f2"),
    ("show", "-h"),
)


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


@pytest.mark.parametrize("words", PLAIN, ids=" ".join)
def test_every_plain_call_is_answered_alike(varied: Path, words: tuple[str, ...]) -> None:
    both_ways(words, varied)


def test_the_calls_tell_everything_apart_that_they_are_for(varied: Path) -> None:
    listed = both_ways(("list", "--all"), varied).out.decode()
    for text in ("after b1kd, k7f2", "held", "until 2099-05-01", "escalation", "merging", "\\x1b[31m\\u202e"):
        assert text in listed
    assert b"br0k" in both_ways(("list",), varied).err
    page = both_ways(("show", "f0ll"), varied).out.decode()
    for text in ("PASS", "Grace", "Which tone?", "earlier events", "`gone` blocks nothing", "$1.50"):
        assert text in page
    assert both_ways(("show", "l0st", "--json"), varied).code == 0
    assert both_ways(("show", "br0k"), varied).code == 1
    assert both_ways(("next", "nope", "--json"), varied).err.startswith(b'{"schema": 1, "error"')


@pytest.mark.parametrize("words", LEFT_TO_CLICK, ids=" ".join)
def test_whatever_is_not_plain_is_left_to_click_untouched(varied: Path, words: tuple[str, ...]) -> None:
    assert call(answer_at_once, words, varied, {}) == Answer(None, b"", b"")


def test_words_are_completed_before_click_too(varied: Path) -> None:
    done = call(answer_at_once, ("show", "f0"), varied, {"_GT_COMPLETE": "zsh"})
    assert (done.code, done.out.partition(b"\t")[0], done.err) == (0, b"f0ll", b"")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-16", "shift-jis"])
@pytest.mark.parametrize(
    "words",
    [
        ("list", "--all"),
        ("show", "f0ll"),
        ("list", "--all", "--json"),
        ("tree", "-a"),
        ("inbox", "-a"),
        ("search", "-a", "e"),
    ],
    ids=" ".join,
)
def test_in_any_encoding(varied: Path, words: tuple[str, ...], encoding: str) -> None:
    both_ways(words, varied, encoding=encoding)


@pytest.mark.parametrize(
    "environment",
    [
        {"NO_COLOR": "1"},
        {
            "GITTICKS_AGENT": "1",
            "GITTICKS_TASK": "w0rk",
            "GITTICKS_ROLE": "worker",
            "GITTICKS_MAILBOX": "/nowhere",
        },
        {"GITTICKS_TASK": "not/an id"},
        {"TZ": "Pacific/Auckland", "LC_ALL": "C"},
    ],
    ids=str,
)
def test_in_any_environment(varied: Path, environment: dict[str, str]) -> None:
    for words in (("next",), ("list", "--awaiting"), ("show",), ("show", "f0ll"), ("show", "--json")):
        both_ways(words, varied, environment)


def test_from_everywhere(varied: Path, tmp_path: Path) -> None:
    linked = add_linked_worktree(varied, tmp_path / "linked", "gitticks/work/w0rk")
    git("clone", "-q", "--bare", str(varied), "bare.git", at=tmp_path)
    (tmp_path / "empty").mkdir()
    git("init", "-q", at=tmp_path / "empty")
    places = (
        varied / "deep/er",
        varied / ".gitticks",
        varied / ".git",
        linked,
        tmp_path / "bare.git",
        tmp_path / "empty",
    )
    for place in (*places, tmp_path):
        for words in (("next",), ("list", "--json"), ("show",), ("show", "k7f2")):
            both_ways(words, place)
    assert b"w0rk" in both_ways(("show",), linked).out


def test_with_an_index_that_has_to_be_made_or_cannot_be(varied: Path) -> None:
    index = varied / ".git/gitticks/index.sqlite3"
    expected = both_ways(("list", "--all"), varied)
    for damage in (index.unlink, lambda: index.write_bytes(b"garbage"), lambda: index.write_bytes(b"")):
        damage()
        assert call(answer_at_once, ("list", "--all"), varied, {}) == expected


# As processes


def by_click(*arguments: str) -> list[str]:
    """Returns the command line that goes by way of click."""
    program = "import sys; from gitticks.cli.app import run; sys.exit(run(sys.argv[1:]))"
    return [sys.executable, "-P", "-c", program, *arguments]


def test_on_a_terminal(varied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [
        (words, columns)
        for words in (("list", "--all"), ("tree", "-a"), ("show", "f0ll"))
        for columns in (100, 40, 20)
    ]
    before = [support.gt_on_terminal(*words, at=varied, columns=columns) for words, columns in calls]
    monkeypatch.setattr(support, "command", by_click)
    after = [support.gt_on_terminal(*words, at=varied, columns=columns) for words, columns in calls]
    assert before == after
    assert "\x1b[" in before[0].out


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_with_closed_streams(varied: Path, closed: str) -> None:
    answers = [
        subprocess.run(
            ["sh", "-c", f'"$@" {closed}', "sh", *command("list", "--awaiting", "work")],
            cwd=varied,
            capture_output=True,
            check=False,
            timeout=60,
        )
        for command in (support.command, by_entry_and_click)
    ]
    assert len({(done.returncode, done.stdout, done.stderr) for done in answers}) == 1


def by_entry_and_click(*arguments: str) -> list[str]:
    """Returns the command line of the entry point where nothing is answered before click."""
    program = (
        "from gitticks.cli import at_once, entry; entry.answer_at_once = lambda words: None; entry.main()"
    )
    return [sys.executable, "-P", "-c", program, *arguments]


@pytest.mark.parametrize(
    "words",
    [("list", "--all", "--json"), ("show", "none"), ("tree", "-a"), ("inbox",), ("search", "-a", "e")],
    ids=" ".join,
)
def test_whoever_reads_may_leave(varied: Path, words: tuple[str, ...]) -> None:
    codes = []
    for command in (support.command, by_entry_and_click):
        reading, writing = os.pipe()
        os.close(reading)
        with subprocess.Popen(command(*words), cwd=varied, stdout=writing, stderr=writing) as process:
            os.close(writing)
            codes.append(process.wait(60))
    assert codes[0] == codes[1]
