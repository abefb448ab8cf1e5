from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gitticks.cli.text import width
from gitticks.model.event import ENGINE, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Status, TaskType
from gitticks.store.branch import Store
from gitticks.store.transaction import Transaction
from tests.cli.support import gt, gt_on_terminal
from tests.support.stores import ADA, CREATED, NOW, QUESTION, make_store, make_task, put_task, write_task_file

EPIC, INNER = TaskId("e0pc"), TaskId("e1in")
TREE = """\
○ e0pc  Accounts  2 of 5 closed
├── ○ e1in  Passkeys  0 of 1 closed
│   └── ○ b1kd  Log in by passkey  after k7f2
├── ? m3xq  Rename the error page  ⚑ input, 2 min
│   └── Which tone: friendly or formal?
├── ○ e2mp  Nothing yet  empty
└── ✓ 2 closed
standalone
  ! st0k  Upload of large files  stuck · ⚑ escalation, 3 h
  └── crashed twice
  ○ k7f2  Login loses the return URL
  ◐ w0rk  Faster start  working
orphans
  ○ l0st  Lost its epic
"""
CLOSED = "1 closed task without a parent: `gt tree --all`\n"
NARROW = """\
○ e0pc  Accounts  2 of 5 closed
├── ○ e1in  Passkeys  0 of 1 closed
│   └── ○ b1kd  Log in by passkey
│           after k7f2
├── ? m3xq  Rename the error page
│   │   ⚑ input, 2 min
│   └── Which tone: friendly or formal?
├── ○ e2mp  Nothing yet  empty
└── ✓ 2 closed
standalone
  ! st0k  Upload of large files
  │   stuck · ⚑ escalation, 3 h
  └── crashed twice
  ○ k7f2  Login loses the return URL
  ◐ w0rk  Faster start  working
orphans
  ○ l0st  Lost its epic
"""


def make_forest(path: Path) -> Store:
    """Makes a repository with an epic in an epic, a question, blocked and stuck tasks, an orphan, and closed ones."""
    store = make_store(path)
    store.transact(_put_forest, author=ADA)
    return store


def _put_forest(transaction: Transaction) -> None:
    def put(task_id: str, title: str, **fields: Any) -> None:
        put_task(transaction, title, id=task_id, **fields)

    stuck = Event(EventType.ADVANCED, NOW, ENGINE, Status.WORKING, Status.STUCK, "crashed twice")
    closed: dict[str, Any] = {"status": Status.DONE, "closed": NOW}
    put("e0pc", "Accounts", type=TaskType.EPIC)
    put("e1in", "Passkeys", type=TaskType.EPIC, parent=EPIC, priority=1)
    put("b1kd", "Log in by passkey", parent=INNER, blocked_by=(TaskId("k7f2"),))
    put(
        "m3xq", "Rename the error page", parent=EPIC, status=Status.CLARIFICATION, awaiting=Awaiting.INPUT,
        asked_at=NOW - timedelta(minutes=2), body=QUESTION,
    )  # fmt: skip
    put("e2mp", "Nothing yet", type=TaskType.EPIC, parent=EPIC, priority=3)
    put("d0ne", "Say hello", parent=EPIC, **closed)
    put("g0ne", "Say goodbye", parent=EPIC, status=Status.CANCELLED, closed=NOW)
    put("k7f2", "Login loses the return URL")
    put("w0rk", "Faster start", status=Status.WORKING, created=CREATED + timedelta(minutes=1))
    put(
        "st0k", "Upload of large files", priority=0, status=Status.STUCK, awaiting=Awaiting.ESCALATION,
        asked_at=NOW - timedelta(hours=3), events=[stuck],
    )  # fmt: skip
    put("cl0s", "An old epic", type=TaskType.EPIC, **closed)
    put("l0st", "Lost its epic", parent=TaskId("cl0s"))


@pytest.fixture(scope="module")
def forest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("forest") / "repository"
    make_forest(path)
    return path


def test_epics_with_all_that_is_below_them(forest: Path) -> None:
    assert gt("tree", at=forest, now=NOW).seen == f"{TREE}--- 0\n{CLOSED}"


def test_forty_columns(forest: Path) -> None:
    assert gt("tree", at=forest, now=NOW, columns=40).out == NARROW


@pytest.mark.parametrize("columns", [80, 120])
def test_wider_terminals_show_what_is_piped(forest: Path, columns: int) -> None:
    assert gt("tree", at=forest, now=NOW, columns=columns).out == TREE


def test_in_ascii(forest: Path) -> None:
    out = gt("tree", "e0", at=forest, now=NOW, columns=80, encoding="ascii").out
    assert out.isascii()
    assert out.splitlines()[3:5] == [
        "|-- ? m3xq  Rename the error page  * input, 2 min",
        "|   `-- Which tone: friendly or formal?",
    ]


def test_colour_only_repeats_what_the_words_say(forest: Path) -> None:
    coloured = gt_on_terminal("tree", "e0pc", at=forest).out
    assert "\x1b[33mWhich tone: friendly or formal?\x1b[0m" in coloured
    assert "\x1b" not in gt_on_terminal("tree", at=forest, environment={"NO_COLOR": "1"}).out


def test_closed_tasks_where_they_are_asked_for(forest: Path) -> None:
    out = gt("tree", "--all", at=forest, now=NOW).out
    for line in (
        "├── ✗ g0ne  Say goodbye  cancelled",
        "✓ cl0s  An old epic  0 of 1 closed",
        "└── ○ l0st  Lost its epic",
    ):
        assert f"{line}\n" in out or f"{line.replace('├', '└')}\n" in out
    assert "orphans" not in out


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("e1in", "○ e1in  Passkeys  0 of 1 closed\n└── ○ b1kd  Log in by passkey  after k7f2\n"),
        ("b1kd", "○ b1kd  Log in by passkey  after k7f2\n"),
        ("cl0s", "✓ cl0s  An old epic  0 of 1 closed\n└── ○ l0st  Lost its epic\n"),
    ],
)
def test_one_task_with_what_is_below_it(forest: Path, named: str, expected: str) -> None:
    assert gt("tree", named, at=forest, now=NOW).seen == f"{expected}--- 0\n"


def test_json_tells_the_tree_in_its_order(forest: Path) -> None:
    tasks = json.loads(gt("tree", "--json", at=forest, now=NOW).out)["tasks"]
    assert [(task["depth"], task["id"]) for task in tasks] == [
        (0, "e0pc"), (1, "e1in"), (2, "b1kd"), (1, "m3xq"), (1, "e2mp"), (0, "st0k"), (0, "k7f2"), (0, "w0rk"),
        (0, "l0st"),
    ]  # fmt: skip
    assert {task["group"] for task in tasks} == {"epics", "standalone", "orphans"}
    assert tasks[0]["closed_children"] == 2
    assert tasks[3]["open_questions"][0]["name"] == "claude"


def test_parents_in_a_cycle_are_reported_once(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, "Round", id="l00p", parent=TaskId("l11p"))
    make_task(store, "About", id="l11p", parent=TaskId("l00p"))
    cycle = (
        "○ l00p  Round  0 of 1 closed\n"
        "└── ○ l11p  About  0 of 1 closed\n"
        "    └── ○ l00p  Round  again: the parents form a cycle\n"
    )
    indented = "".join(f"  {line}\n" for line in cycle.splitlines())
    assert gt("tree", at=tmp_path).out == f"in a cycle\n{indented}"
    assert gt("tree", "l00p", at=tmp_path).out == cycle
    tasks = json.loads(gt("tree", "--json", at=tmp_path).out)["tasks"]
    assert [task["id"] for task in tasks] == ["l00p", "l11p"]


def test_the_deepest_line_of_parents_stays_on_the_screen(tmp_path: Path) -> None:
    def put(transaction: Transaction) -> None:
        put_task(transaction, "Top", id="e000", type=TaskType.EPIC)
        for n in range(1, 60):
            put_task(transaction, "Below", id=f"e{n:03}", type=TaskType.EPIC, parent=TaskId(f"e{n - 1:03}"))

    make_store(tmp_path).transact(put, author=ADA)
    for columns in (20, 40, 80):
        lines = gt("tree", at=tmp_path, columns=columns).out.splitlines()
        assert all(width(line) <= columns for line in lines)
        assert any("…59 ○ e059" in line for line in lines)
    assert max(map(len, gt("tree", at=tmp_path).out.splitlines())) < 120


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (None, 'no tasks yet: `gt create "…"` creates the first\n'),
        ({"status": Status.DONE}, "no open tasks: `gt tree --all` shows the closed ones\n"),
    ],
)
def test_where_there_is_nothing(tmp_path: Path, fields: dict[str, Any] | None, said: str) -> None:
    store = make_store(tmp_path)
    if fields is not None:
        make_task(store, **fields)
    assert gt("tree", at=tmp_path).seen == f"--- 0\n{said}"


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, "Below it", id="k7f2", parent=TaskId("br0k"))
    write_task_file(store, "br0k", "---\nid: br0k\ntitle: [\n---\n")
    ran = gt("tree", at=tmp_path)
    assert ran.out == "orphans\n  ○ k7f2  Below it\n"
    assert "br0k/TASK.md" in ran.err
    assert gt("tree", "br0k", at=tmp_path).code == 1
    assert gt("tree", "nope", at=tmp_path).err.startswith("error: there is no task `nope`")


def test_titles_and_questions_cannot_steer_the_screen(tmp_path: Path) -> None:
    body = QUESTION.replace("Which", "\x1b[2J\u202eWhich 🎉 日本 e\u0301")
    make_task(
        make_store(tmp_path), "a\x1b[31m\u202eb 日本語 🎉", id="k7f2", status=Status.CLARIFICATION,
        awaiting=Awaiting.INPUT, body=body,
    )  # fmt: skip
    for columns in (None, 20, 40, 120):
        out = gt("tree", at=tmp_path, columns=columns).out
        assert "\x1b" not in out
        assert "\u202e" not in out
        assert columns is None or all(width(line) <= columns for line in out.splitlines())
