from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchmarks.branch import write_branch
from benchmarks.dataset import records
from gitticks.cli.text import width
from gitticks.model.event import Actor, Event, EventType
from gitticks.model.status import ActorKind, Awaiting, Role, Status
from tests.cli.support import gt, gt_on_terminal, gt_process
from tests.support.doses import dose
from tests.support.lived import make_lived
from tests.support.projects import make_project
from tests.support.repositories import make_repository
from tests.support.stores import NOW, make_store, make_task, write_task_file

LIVED = """\
all time
tasks                  3 done (0 merged, 3 without code), 1 cancelled, 6 created; 2 open now
from creation to done  10 h median, 90 % within 15 h
waiting for people     8 h in 4 waits, median 2 h; 1 still waiting
  input                2 h in 1 wait
  review               6 h in 3 waits
agents                 6 sessions, 6 rounds, 3 failed reviews, 3 crashes
spent                  $3.00, 360 k tokens in, 24 k out, 30 min of agent time

week of     created  done  cost
2026-02-09        1     1  $1.00  ████████████████████████
2026-02-16        1     1  $1.00  ████████████████████████
2026-02-23        1     0
2026-03-02        3     1  $1.00  ████████████████████████

epic            open  done  lead  waited  rounds  failed  crashes  tokens  cost
e0pc  Accounts     0     3  10 h     6 h       6       3        3   384 k  $3.00
(no epic)          2     0           2 h

agent       open  done  lead  waited  rounds  failed  crashes  tokens  cost
claude         0     3  10 h     6 h       6       3        3   384 k  $2.25
codex          1     0           2 h                                   $0.75
(no agent)     1     0
"""


def stats(path: Path, *words: str) -> dict[str, Any]:
    ran = gt("stats", "--json", *words, at=path, now=NOW)
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found


def test_what_was_done_waited_for_and_spent(tmp_path: Path) -> None:
    make_lived(tmp_path)
    assert gt("stats", at=tmp_path, now=NOW).seen == f"{LIVED}--- 0\n"


def test_since_counts_only_what_happened_from_then_on(tmp_path: Path) -> None:
    make_lived(tmp_path)
    total = stats(tmp_path, "--since", "2w")["total"]
    assert (total["done"], total["cancelled"], total["open"], total["failed_reviews"]) == (2, 1, 2, 2)
    assert total["cost"] == 2.0
    day = stats(tmp_path, "--since", "2026-03-04")
    assert day["since"] == "2026-03-04T00:00:00Z"
    assert (day["total"]["done"], day["total"]["created"]) == (0, 2)
    assert day["waits"] == [
        {"kind": "input", "count": 1, "waiting": 1, "seconds": 7200.0, "median_seconds": 7200.0}
    ]


def test_json_has_every_week_epic_and_agent(tmp_path: Path) -> None:
    make_lived(tmp_path)
    found = stats(tmp_path)
    assert [one["monday"] for one in found["weeks"]] == [
        "2026-02-09", "2026-02-16", "2026-02-23", "2026-03-02",
    ]  # fmt: skip
    assert found["weeks"][0] == {
        "monday": "2026-02-09", "created": 1, "done": 1, "waited_seconds": 7200.0, "cost": 1.0,
    }  # fmt: skip
    assert [(one["id"], one["done"]) for one in found["epics"]] == [("e0pc", 3), (None, 0)]
    assert [(one["name"], one["sessions"]) for one in found["agents"]] == [
        ("claude", 3),
        ("codex", 3),
        (None, 0),
    ]
    assert found["total"]["lead"] == {"median_seconds": 36000.0, "most_seconds": 54000.0}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--since", "never"], "`never` is not a time to count from"),
        (["--since=2099-01-01"], "`2099-01-01` is in the future"),
        (["--json", "--html", "-"], "`--html` and `--json` cannot be used together"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, words: list[str], message: str) -> None:
    make_store(tmp_path)
    ran = gt("stats", *words, at=tmp_path, now=NOW)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_without_tasks_the_next_command_is_named(tmp_path: Path) -> None:
    make_store(tmp_path)
    assert gt("stats", at=tmp_path).seen == '--- 0\nno tasks yet: `gt create "…"` creates the first\n'
    assert stats(tmp_path)["total"]["created"] == 0


def test_of_one_task(tmp_path: Path) -> None:
    make_task(make_store(tmp_path), id="k7f2")
    assert gt("stats", at=tmp_path, now=NOW).out == (
        "all time\n"
        "tasks                  0 done, 0 cancelled, 1 created; 1 open now\n"
        "from creation to done  nothing was done\n"
        "waiting for people     nothing waited\n"
        "\n"
        "week of     created  done\n"
        "2026-03-02        1     0\n"
    )


def test_what_agents_did_not_tell_is_left_out(tmp_path: Path) -> None:
    claude = Actor(ActorKind.AGENT, "claude", Role.WORKER)
    ended = Event(EventType.SESSION_ENDED, NOW, claude, data={"role": "worker", "seconds": 90.0})
    make_task(make_store(tmp_path), id="k7f2", events=[ended])
    assert "\nspent                  1 min of agent time\n" in gt("stats", at=tmp_path, now=NOW).out


def test_a_broken_file_is_named_and_the_others_are_counted(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, id="k7f2")
    write_task_file(store, "m3xq", "---\nid: [\n---\n")
    ran = gt("stats", at=tmp_path, now=NOW)
    assert "1 created" in ran.out
    assert "m3xq/TASK.md" in ran.err


# Screens


@pytest.mark.parametrize("columns", [120, 80, 40])
def test_a_terminal_is_never_overrun(tmp_path: Path, columns: int) -> None:
    make_lived(tmp_path)
    ran = gt_on_terminal("stats", at=tmp_path, columns=columns, environment={"NO_COLOR": "1"})
    assert ran.code == 0
    assert all(width(line) <= columns for line in ran.out.splitlines())
    assert ("crashes  tokens" in ran.out) == (columns >= 80)
    assert re.search(r"^e0pc  Accounts +0 +3 ", ran.out, re.MULTILINE)


def test_colour_only_repeats_what_the_words_say(tmp_path: Path) -> None:
    make_lived(tmp_path)
    coloured = gt_on_terminal("stats", at=tmp_path).out
    assert "\x1b[1mall time\x1b[0m" in coloured
    plain = gt_on_terminal("stats", at=tmp_path, environment={"NO_COLOR": "1"}).out
    assert re.sub("\x1b\\[[0-9]*m", "", coloured) == plain


def test_in_ascii(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, id="n0w", status="done", created=datetime.now(UTC), closed=datetime.now(UTC))
    ran = gt_process("stats", at=tmp_path, environment={"PYTHONIOENCODING": "ascii"})
    assert ran.out.isascii()
    assert f"  {'#' * 24}\n" in ran.out


# The page


def test_the_page_is_written_whole_and_named(tmp_path: Path) -> None:
    make_lived(tmp_path)
    assert gt("stats", "--html", "stats.html", at=tmp_path, now=NOW).seen == "stats.html\n--- 0\n"
    text = (tmp_path / "stats.html").read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>\n")
    assert gt("stats", "--html", "-", at=tmp_path, now=NOW).out.rstrip() == text.rstrip()
    refused = gt("stats", "--html", "no/such/folder.html", at=tmp_path, now=NOW)
    assert refused.code == 1
    assert "cannot be written" in refused.err


def test_thousands_of_tasks(tmp_path: Path) -> None:
    count = dose(1_000, 10_000)
    written = list(records(count))
    write_branch(make_repository(tmp_path), written)
    later = NOW + timedelta(days=30)
    shown = gt("stats", at=tmp_path, now=later).out
    assert f"{sum(not one.is_epic for one in written)} created" in shown
    assert "more: `gt stats --json`" in shown
    page = gt("stats", "--html", "-", at=tmp_path, now=later).out
    assert page.count("<figure>") == 6
    assert gt("graph", at=tmp_path, now=later).code == 0
    assert gt("graph", "--svg", at=tmp_path, now=later).out.endswith("</svg>\n")
    assert gt("board", "--all", at=tmp_path, now=later).out.count("\n") == count + 4


def test_epics_are_no_tasks_and_what_was_imported_waits_since_then(tmp_path: Path) -> None:
    project = make_project(tmp_path / "repo")
    epic = project.create("All of it", "-t", "epic")
    project.ok("close", project.create("A part", "--parent", epic))
    assert project.task(epic).status is Status.DONE
    issues = tmp_path / ".tick" / "issues"
    issues.mkdir(parents=True)
    old = {
        "id": "p1k",
        "title": "Count",
        "status": "open",
        "awaiting": "input",
        "updated_at": "2017-03-02T10:00:00Z",
    }
    (issues / "p1k.json").write_text(json.dumps({**old, "created_at": "2017-03-01T10:00:00Z"}))
    project.ok("import", "ticks", str(tmp_path))
    assert project.task("p1k").awaiting is Awaiting.INPUT
    total = json.loads(project.ok("stats", "--json"))["total"]
    assert (total["created"], total["done"], total["open"]) == (2, 1, 1)
    assert total["waits"]["seconds"] < 86400
