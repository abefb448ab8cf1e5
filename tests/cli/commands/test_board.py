from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest

from gitticks.cli.text import width
from gitticks.model.status import Status
from gitticks.store.transaction import Transaction
from tests.cli.support import gt, gt_on_terminal, gt_process
from tests.support.stores import ADA, NOW, make_queue, make_store, make_task, put_task, write_task_file

HOSTILE = "\x1b[2Jgone \u202eback 日本語日本語日本語 🎉 " + "n" * 60
PIPED = """\
open 5
  ○ c0de  p2  Delete an account
  ○ k7f2  p1  Login loses the return URL
  ○ b1kd  p2  Log in by passkey           after k7f2
  ○ e0pc  p2  Accounts
  ○ d3fr  p3  Thank the testers           until 2099-05-01
in progress 1
  ? m3xq  p2  Rename the error page  input
in review 1
  ⊙ r3vw  p0  Faster start  review
closed 1
  ✓ d0ne  p2  Say hello
"""
WIDE = """\
open 5              in progress 1       in review 1         closed recently 0
○ c0de  p2          ? m3xq  p2  input   ⊙ r3vw  p0  review
Delete an account   Rename the error    Faster start
                    page
○ k7f2  p1
Login loses the
return URL

○ b1kd  p2
Log in by passkey
after k7f2

○ e0pc  p2
Accounts

○ d3fr  p3
Thank the testers
until 2099-05-01

"""
STACKED = """\
open 5
  ○ c0de  p2
    Delete an account
  ○ k7f2  p1
    Login loses the return URL
  ○ b1kd  p2  after k7f2
    Log in by passkey
  ○ e0pc  p2
    Accounts
  ○ d3fr  p3  until 2099-05-01
    Thank the testers
in progress 1
  ? m3xq  p2  Rename the error p…  input
in review 1
  ⊙ r3vw  p0  Faster start  review
closed recently 0
"""
PLAIN = {"NO_COLOR": "1"}


def test_piped_the_columns_stand_one_below_the_other_and_nothing_is_cut(tmp_path: Path) -> None:
    make_queue(tmp_path)
    assert gt("board", at=tmp_path, now=NOW).seen == f"{PIPED}--- 0\n"


@pytest.mark.parametrize(("columns", "shown"), [(80, WIDE), (40, STACKED)])
def test_a_terminal_is_filled_as_far_as_it_is_wide(tmp_path: Path, columns: int, shown: str) -> None:
    make_queue(tmp_path)
    ran = gt_on_terminal("board", at=tmp_path, columns=columns, environment=PLAIN)
    assert ran.out == shown


def test_what_was_closed_long_ago_is_shown_where_all_is_asked_for(tmp_path: Path) -> None:
    make_queue(tmp_path)
    later = NOW + timedelta(days=30)
    assert gt("board", at=tmp_path, now=later).out.endswith("closed recently 0\n")
    assert gt("board", "--all", at=tmp_path, now=later).out == PIPED


def test_below_one_epic(tmp_path: Path) -> None:
    make_queue(tmp_path)
    found = json.loads(gt("board", "e0", "--json", at=tmp_path, now=NOW).out)
    assert [(one["phase"], [task["id"] for task in one["tasks"]]) for one in found["columns"]] == [
        ("open", ["c0de"]),
        ("in_progress", []),
        ("in_review", []),
        ("closed", []),
    ]
    assert found["recent_days"] == 14
    assert gt("board", "nope", at=tmp_path).code == 1


def make_many(transaction: Transaction) -> None:
    for number in range(30):
        put_task(transaction, f"Task number {number}", id=f"t{number:03}", status=Status.WORKING)
    put_task(transaction, HOSTILE, id="evil")


@pytest.mark.parametrize("columns", [200, 80, 70, 69, 40])
def test_a_terminal_is_never_overrun_and_gets_ten_cards_a_column(tmp_path: Path, columns: int) -> None:
    make_store(tmp_path).transact(make_many, author=ADA)
    ran = gt_on_terminal("board", at=tmp_path, columns=columns, environment=PLAIN)
    assert all(width(line) <= columns for line in ran.out.splitlines())
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out
    assert ran.out.count("◐ t0") == 10
    assert "… 20 more" in ran.out
    assert "gt board --all" in ran.err
    whole = gt_on_terminal("board", "-a", at=tmp_path, columns=columns, environment=PLAIN)
    assert whole.out.count("◐ t0") == 30
    assert "more" not in whole.out


def test_colour_only_repeats_what_the_words_say(tmp_path: Path) -> None:
    make_queue(tmp_path)
    coloured = gt_on_terminal("board", at=tmp_path).out
    assert "\x1b[33m? m3xq  p2  input\x1b[0m" in coloured
    assert re.sub("\x1b\\[[0-9]*m", "", coloured) == WIDE


def test_in_ascii(tmp_path: Path) -> None:
    make_queue(tmp_path)
    ran = gt_process("board", at=tmp_path, environment={"PYTHONIOENCODING": "ascii"})
    assert "  @ r3vw  p0  Faster start  review\n" in ran.out


def test_without_tasks_the_next_command_is_named(tmp_path: Path) -> None:
    make_store(tmp_path)
    assert gt("board", at=tmp_path).seen == '--- 0\nno tasks yet: `gt create "…"` creates the first\n'


def test_a_broken_file_is_named_and_the_others_are_shown(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, id="k7f2")
    write_task_file(store, "m3xq", "---\nid: [\n---\n")
    ran = gt("board", at=tmp_path)
    assert "○ k7f2" in ran.out
    assert "m3xq/TASK.md" in ran.err
