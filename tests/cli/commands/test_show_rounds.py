from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitticks.cli.commands.show import round_words
from gitticks.model.ids import TaskId
from gitticks.store.layout import Round, rounds_folder
from gitticks.store.transaction import Transaction
from tests.cli.support import gt_on_terminal
from tests.support.projects import Project, make_project, make_reviewing, make_working
from tests.support.repositories import commit_file
from tests.support.stores import ADA


def make_returned(path: Path) -> Project:
    """Makes a project with a task that was reviewed, sent back and handed off again."""
    project = make_project(path)
    make_reviewing(project, body="## Handoff\n\nDONE: the first try\n\n## Review\n\nPASS\n\nLooks right.\n")
    project.ok("reject", "k7f2", "Test the empty case")
    folder = rounds_folder(TaskId("k7f2"))

    def keep(transaction: Transaction) -> None:
        transaction.write(
            f"{folder}/01-review.md", b"FAIL\n\nThe *empty* case fails.\n\n- `tests`: BLOCKING\n"
        )
        transaction.write(f"{folder}/01-review-tests.md", b"VERDICT: BLOCKING")
        transaction.describe("k7f2: kept")

    project.store.transact(keep, author=ADA)
    return project


def test_earlier_rounds_are_named_and_each_can_be_read(tmp_path: Path) -> None:
    project = make_returned(tmp_path)
    assert ("Rounds    `gt show k7f2 --round 1`\n  1  review FAIL: The *empty* case fails.\n") in project.ok(
        "show", "k7f2"
    )
    assert project.ok("show", "k7f2", "--round", "1") == (
        "k7f2  round 1\n\nHandoff\n  DONE: the first try\n\nReview by tests\n  VERDICT: BLOCKING\n"
        "\nReview\n  FAIL\n\n  The *empty* case fails.\n\n  - `tests`: BLOCKING\n"
    )
    found = json.loads(project.ok("show", "k7f2", "--round=1", "--json"))["round"]
    assert found == {
        "id": "k7f2",
        "number": 1,
        "handoff": "DONE: the first try",
        "review": "FAIL\n\nThe *empty* case fails.\n\n- `tests`: BLOCKING",
        "reviews": {"tests": "VERDICT: BLOCKING"},
        "verdicts": [{"reviewer": "tests", "verdict": "BLOCKING", "reason": None}],
    }
    assert json.loads(project.ok("show", "k7f2", "--json"))["task"]["rounds"][0]["number"] == 1
    coloured = gt_on_terminal("show", "k7f2", "--round", "1", at=project.path).out
    assert "The \x1b[3mempty\x1b[0m case fails." in coloured


def test_a_round_that_there_is_not(tmp_path: Path) -> None:
    project = make_returned(tmp_path)
    project.make("m3xq")
    assert project.gt("show", "k7f2", "--round", "3").err == (
        "error: `k7f2` has no earlier round 3\n\nhint: `gt show k7f2`\n"
    )
    assert project.gt("show", "m3xq", "--round", "1").err == (
        "error: `m3xq` has no earlier round 1\n\nhint: `gt show m3xq`\n"
    )
    assert project.gt("show", "k7f2", "--round", "x").code == 2
    assert project.gt("show", "nope", "--round", "1").code == 1


def test_what_the_work_changes_is_shown_on_a_terminal_or_where_it_is_asked_for(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    make_reviewing(project)
    make_working(project, "w0rk")
    changes = "Changes   1 file, +1 -0, merges cleanly into main\n  login.txt\n"
    assert changes not in project.ok("show", "k7f2")
    assert changes in project.ok("show", "k7f2", "--stat")
    assert changes in project.ok("show", "k7f2", columns=80)
    assert "Changes   1 file, +1 -0\n  login.txt\n" in project.ok("show", "w0rk", "--stat")
    assert "changes" not in json.loads(project.ok("show", "k7f2", "--json", columns=80))["task"]
    task = json.loads(project.ok("show", "k7f2", "--json", "--stat"))["task"]
    assert task["changes"] == {"files": 1, "added": 1, "removed": 0, "conflicts": []}
    project.make("n0ne")
    assert json.loads(project.ok("show", "n0ne", "--json", "--stat"))["task"]["changes"] is None


def test_more_files_than_fit_are_counted(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    workspace = make_working(project)
    for number in range(9):
        commit_file(workspace, f"file{number}\x1b.txt", "x\n", "more")
    out = project.ok("show", "k7f2", "--stat")
    assert "Changes   10 files, +10 -0\n" in out
    assert "  … 2 more: `gt review k7f2`\n" in out
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("review", "words"),
    [
        ("PASS", "review PASS"),
        ("PASS: fine", "review PASS: fine"),
        ("**pass** — fine\n\nReally.", "review PASS: fine"),
        ("FAIL\n\n- PASSWORDS are logged", "review FAIL: PASSWORDS are logged"),
        ("I say FAIL.\nNo test.", "review FAIL: I say FAIL."),
        ("FAILED, no: PASS", "review no verdict: FAILED, no: PASS"),
    ],
)
def test_the_verdict_of_a_round_is_said_once(review: str, words: str) -> None:
    assert round_words(Round(1, {"review": review})) == words
