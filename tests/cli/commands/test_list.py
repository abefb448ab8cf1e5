from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gitticks.board.place import create_board
from gitticks.model.ids import TaskId
from gitticks.store.transaction import Transaction
from tests.cli.support import Ran, gt, gt_on_terminal
from tests.support.projects import make_project
from tests.support.repositories import add_linked_worktree, make_repository
from tests.support.stores import ADA, NOW, make_queue, make_store, make_task, put_task, write_task_file

OPEN = """\
  id    pri  status         title                       waits
○ c0de  2    pending        Delete an account
⊙ r3vw  0    reviewing      Faster start                review
○ k7f2  1    pending        Login loses the return URL
○ b1kd  2    pending        Log in by passkey           after k7f2
○ e0pc  2    pending        Accounts                    epic
? m3xq  2    clarification  Rename the error page       input
○ d3fr  3    pending        Thank the testers           until 2099-05-01
"""
ON_TERMINAL = """\
  id    pri  status         age  title                       waits
○ c0de  2    pending        1h   Delete an account
⊙ r3vw  0    reviewing      1h   Faster start                ⚑ review
○ k7f2  1    pending        1h   Login loses the return URL
○ b1kd  2    pending        1h   Log in by passkey           after k7f2
○ e0pc  2    pending        1h   Accounts                    epic
? m3xq  2    clarification  1h   Rename the error page       ⚑ input
○ d3fr  3    pending        1h   Thank the testers           until 2099-05-01
"""


def ids(ran: Ran) -> list[str]:
    assert ran.code == 0, ran.err
    return [task["id"] for task in json.loads(ran.out)["tasks"]]


def test_open_tasks_are_listed_in_picking_order(tmp_path: Path) -> None:
    make_queue(tmp_path)
    assert gt("list", at=tmp_path, now=NOW).seen == f"{OPEN}--- 0\n"


def test_the_answer_is_the_same_from_everywhere_in_the_repository(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    store = make_queue(root)
    board = create_board(store.repository)
    (root / "deep" / "folder").mkdir(parents=True)
    linked = add_linked_worktree(root, tmp_path / "linked", "other")
    for place in (root / "deep" / "folder", board, board / "tasks", linked, root / ".git"):
        assert gt("list", at=place, now=NOW).out == OPEN


def test_closed_tasks_come_last_and_only_when_asked_for(tmp_path: Path) -> None:
    make_queue(tmp_path)
    assert gt("list", "--all", at=tmp_path, now=NOW).out == (f"{OPEN}✓ d0ne  2    done           Say hello\n")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--status", "in_review"], ["r3vw"]),
        (["--status", "reviewing,clarification"], ["r3vw", "m3xq"]),
        (["--status", "done", "--status", "in_review"], ["r3vw", "d0ne"]),
        (["--label", "auth", "-l", "web"], ["k7f2"]),
        (["--label", "auth", "-l", "other"], []),
        (["--parent", "e0"], ["c0de"]),
        (["--agent", "codex"], ["b1kd"]),
        (["--reviewer", "Grace"], ["m3xq"]),
        (["--awaiting"], ["r3vw", "m3xq"]),
        (["--awaiting", "input,work"], ["m3xq"]),
        (["--awaiting", "review", "--status", "clarification"], []),
    ],
)
def test_filters(tmp_path: Path, options: list[str], expected: list[str]) -> None:
    make_queue(tmp_path)
    assert ids(gt("list", *options, "--json", at=tmp_path, now=NOW)) == expected


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], 'no tasks yet: `gt create "…"` creates the first'),
        (["--awaiting"], 'no tasks yet: `gt create "…"` creates the first'),
    ],
)
def test_a_queue_without_tasks_names_the_next_command(tmp_path: Path, options: list[str], said: str) -> None:
    make_store(tmp_path)
    assert gt("list", *options, at=tmp_path).seen == f"--- 0\n{said}\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "no open tasks: `gt list --all` lists the closed ones"),
        (["--awaiting"], "nothing is waiting for a person: `gt status` shows what is running"),
        (["--label", "x"], "no tasks match: `gt list --all` lists every task"),
    ],
)
def test_an_empty_answer_says_why_on_stderr(tmp_path: Path, options: list[str], said: str) -> None:
    make_task(make_store(tmp_path), status="done")
    assert gt("list", *options, at=tmp_path).seen == f"--- 0\n{said}\n"


def test_a_repository_without_tasks(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert (
        gt("list", at=tmp_path).seen
        == """\
--- 1
error: this repository has no tasks yet

hint: `gt init` sets them up
"""
    )


def test_outside_of_a_repository(tmp_path: Path) -> None:
    assert (
        gt("list", at=tmp_path).seen
        == f"""\
--- 1
error: `{tmp_path}` is not in a git repository

hint: `git init` creates one here
"""
    )


def test_an_error_is_json_where_json_was_asked_for(tmp_path: Path) -> None:
    make_repository(tmp_path)
    ran = gt("list", "--json", at=tmp_path)
    assert (ran.code, ran.out) == (1, "")
    assert json.loads(ran.err) == {
        "schema": 1,
        "error": {"message": "this repository has no tasks yet", "hint": "`gt init` sets them up", "exit": 1},
    }


def test_a_bare_repository_is_read_like_any_other(tmp_path: Path) -> None:
    store = make_queue(tmp_path / "full")
    bare = make_repository(tmp_path / "bare", bare=True, commits=0)
    from tests.support.repositories import git

    git("push", "--quiet", str(bare), "gitticks/state:gitticks/state", at=store.repository.common_dir)
    ran = gt("list", "--json", at=bare, now=NOW)
    assert ids(ran)[0] == "c0de"
    assert json.loads(ran.out)["tasks"][0]["path"] is None


def test_a_broken_file_is_named_and_the_others_are_listed(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, id="k7f2")
    write_task_file(store, "m3xq", "---\nid: m3xq\ntitle: x\nstatus: pending\npriority: high\n---\n")
    assert (
        gt("list", at=tmp_path).seen
        == """\
  id    pri  status   title
○ k7f2  2    pending  Login loses the return URL
--- 0
warning: .gitticks/tasks/xq/m3xq/TASK.md:5:11: `priority` is not a number from 0 to 4: 'high'
"""
    )


def test_titles_cannot_steer_the_screen(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, "\x1b[2Jgone \u202eback \u009b1m", id="k7f2")
    make_task(store, "emoji 🎉 and 日本", id="m3xq", blocked_by=(TaskId("k7f2"),))
    assert gt("list", at=tmp_path).out == (
        "  id    pri  status   title                          waits\n"
        "○ k7f2  2    pending  \\x1b[2Jgone \\u202eback \\x9b1m\n"
        "○ m3xq  2    pending  emoji 🎉 and 日本              after k7f2\n"
    )


def test_forty_columns_are_enough(tmp_path: Path) -> None:
    make_queue(tmp_path)
    ran = gt_on_terminal("list", at=tmp_path, columns=40, environment={"NO_COLOR": "1"})
    assert ran.out.splitlines()[:4] == [
        "○ c0de  2  pending",
        "  Delete an account",
        "⊙ r3vw  0  reviewing  ⚑ review",
        "  Faster start",
    ]
    assert all(len(line) <= 40 for line in ran.out.splitlines())


def test_a_terminal_has_colour_unless_it_is_not_wanted(tmp_path: Path) -> None:
    make_queue(tmp_path)
    coloured = gt_on_terminal("list", at=tmp_path).out
    plain = gt_on_terminal("list", at=tmp_path, environment={"NO_COLOR": "1"}).out
    assert "\x1b[" in coloured
    assert "\x1b[" not in plain
    assert re.sub("\x1b\\[[0-9]*m", "", coloured) == plain


def test_a_terminal_with_room_has_ages_and_a_sign_for_what_awaits_a_person(tmp_path: Path) -> None:
    make_queue(tmp_path)
    assert gt("list", at=tmp_path, now=NOW, columns=80).out == ON_TERMINAL
    narrower = gt("list", at=tmp_path, now=NOW, columns=71).out
    assert "  age  " not in narrower
    ascii_only = gt("list", at=tmp_path, now=NOW, columns=80, encoding="ascii").out
    assert ascii_only.isascii()
    assert "@ r3vw  0    reviewing      1h   Faster start                * review\n" in ascii_only


def test_a_terminal_with_more_room_has_the_first_line_of_each_question(tmp_path: Path) -> None:
    make_queue(tmp_path)
    plain = ON_TERMINAL.splitlines()
    for columns, waits in [
        (80, "⚑ input"),
        (82, "⚑ input: Which tone:…"),
        (101, "⚑ input: Which tone: friendly or formal?"),
        (140, "⚑ input: Which tone: friendly or formal?"),
    ]:
        shown = gt("list", at=tmp_path, now=NOW, columns=columns).out.splitlines()
        assert shown[6] == plain[6].replace("⚑ input", waits)
        assert [*shown[:6], *shown[7:]] == [*plain[:6], *plain[7:]], "titles never give way"
    assert gt("list", at=tmp_path, now=NOW).out == OPEN


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--awaiting", "reviw"],
            "error: `reviw` is not a valid kind of awaiting\n\nhint: did you mean `review`?\n",
        ),
        (
            ["--status", "workin"],
            "error: `workin` is not a valid status or phase\n\nhint: did you mean `working`?\n",
        ),
        (["--parent", "e0pd"], "error: there is no task `e0pd`\n\nhint: did you mean `e0pc` (Accounts)?\n"),
    ],
)
def test_words_that_are_nearly_right(tmp_path: Path, options: list[str], said: str) -> None:
    make_queue(tmp_path)
    assert gt("list", *options, at=tmp_path).err == said


def test_of_very_many_blockers_some_are_counted(tmp_path: Path) -> None:
    def put(transaction: Transaction) -> None:
        blockers = [TaskId(f"b{number:03}") for number in range(120)]
        for blocker in blockers:
            put_task(transaction, id=blocker)
        put_task(transaction, id="e0pc", type="epic", blocked_by=tuple(blockers[:60]))
        put_task(transaction, id="c0de", parent=TaskId("e0pc"), blocked_by=tuple(blockers[60:]))

    make_store(tmp_path).transact(put, author=ADA)
    listed = gt("list", at=tmp_path).out
    assert "after b000, b001, b002 and 57 more\n" in listed
    assert "after b060, b061, b062 and 97+ more\n" in listed


def test_days_and_people(tmp_path: Path) -> None:
    make_project(tmp_path)
    first = gt("create", "Mine", "--assign", "me", "--due", "2026-11-01", at=tmp_path).out.strip()
    other = gt(
        "create", "Hers", "--assign", "Grace Hopper, Bob", "--due", "2099-01-01", at=tmp_path
    ).out.strip()
    gt("create", "Nobody's", at=tmp_path)
    name = json.loads(gt("show", first, "--json", at=tmp_path).out)["task"]["assignee"]

    def ids(*words: str) -> list[str]:
        return [one["id"] for one in json.loads(gt("list", "--json", *words, at=tmp_path).out)["tasks"]]

    assert ids("--mine") == ids("--assignee", name) == [first]
    assert ids("--assignee", "grace hopper") == [other]
    assert ids("--overdue") == [first]
    assert ids("--sort", "due")[:2] == [first, other]
    assert ids("--sort=-title", "--limit", "1") == ids("--sort", "title")[-1:]
    assert "Mine      overdue since 2026-11-01\n" in gt("list", at=tmp_path).out
    gt("update", first, "--blocked-by", other, at=tmp_path)
    assert gt("list", "--overdue", at=tmp_path).out.endswith(f"  after {other}, overdue since 2026-11-01\n")
    gt("unblock", first, at=tmp_path)
    assert f"assigned to {name} · overdue since 2026-11-01" in gt("show", first, at=tmp_path).out
    assert gt("list", "-n", "1", at=tmp_path).err == "2 more: without `--limit` all are shown\n"
    assert gt("update", first, "--due=null", "--assign=null", at=tmp_path).code == 0
    assert ids("--mine") == ids("--overdue") == []


def test_epics_and_what_is_blocked(tmp_path: Path) -> None:
    make_queue(tmp_path)
    by_type = [gt("list", "--type", kind, at=tmp_path).out for kind in ("task", "epic")]
    assert ["Accounts" in out for out in by_type] == [False, True]
    assert [line.split()[1] for line in gt("list", "--blocked", at=tmp_path).out.splitlines()[1:]] == ["b1kd"]
    assert gt("list", "--sort", "size", at=tmp_path).err.startswith("error: `size` is not a valid order")


def test_what_keeps_an_epic_is_shown_of_its_tasks_until_the_epic_is_closed(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    epic = project.ok("create", "Accounts", "--type", "epic", "--defer-until", "2099-05-01").strip()
    child = project.ok("create", "Delete an account", "--parent", epic).strip()
    assert f"Delete an account  like {epic}: until 2099-05-01\n" in project.ok("list")
    assert f" · like {epic}: until 2099-05-01" in project.ok("show", child)
    assert project.gt("next").code == 1
    project.ok("defer", epic, "null")
    project.ok("update", epic, "--awaiting", "review")
    assert f"Delete an account  like {epic}: review\n" in project.ok("list")
    rejected = project.ok("reject", epic, "Log who did it")
    assert rejected.startswith(f"{epic}  rejected; its tasks continue with your feedback")
    project.ok("defer", epic, "2099-05-01")
    project.ok("cancel", epic)
    assert project.ok("next").split()[0] == child
    for words in (("list",), ("list", "--all"), ("ready",)):
        tasks = json.loads(project.ok(*words, "--json"))["tasks"]
        assert {one["id"]: one["ready"] for one in tasks}[child], words
