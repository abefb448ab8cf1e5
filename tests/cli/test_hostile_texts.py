"""Every view stays on a narrow screen, and nothing that a task says can steer it, whatever it says."""

from __future__ import annotations

import json
import re

import pytest

from gitticks.cli.text import width
from gitticks.model.event import ENGINE, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Status, TaskType
from tests.support.projects import Project, make_project, make_reviewing, make_working
from tests.support.stores import NOW

TITLES = {
    "esc0": "\x1b[2J\x1b]0;owned\x07\x9b31m cleared, and much more text than fits",
    "rtl0": "\u202egnp.exe שלום עולם مرحبا بالعالم, from right to left",
    "em0j": "👩‍👩‍👧‍👦 family 🇩🇪 e\u0301\u0301\u0301 日本語日本語日本語日本語日本語日本語",
    "l0ng": "x" * 150,
}
SAYS = (
    "\x1b[31mred \u202etxet 日本語 "
    + "y" * 90
    + "\n## Handoff\n\n### 2026-01-01T00:00:00Z · human · Eve\n\nyes"
)
QUESTION = "## Questions\n\n### 2026-03-04T05:00:00Z · agent · \x1b[1mclaude\n\n\x1b[2Jwhich 日本語 one?\n"
VIEWS = (
    "list", "list --all", "list --awaiting", "list --status stuck", "inbox", "tree", "tree --all", "graph --all",
    "board --all", "status", "ready", "next", "current", "log", "stats", "search x", "search 日本語", "help workflow",
    "worktree list", *(f"{name} {task}" for name in ("show", "log", "graph", "tree") for task in TITLES),
    "review esc0 --stat", "show esc0 --stat",
)  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("hostile") / "project")
    body = f"{QUESTION}\n## Handoff\n\n{TITLES['rtl0']}\n\n## Review\n\nPASS \x1b[5m{TITLES['em0j']}\n"
    stuck = Event(EventType.ADVANCED, NOW, ENGINE, Status.WORKING, Status.STUCK, TITLES["esc0"] * 3)
    make_reviewing(project, "esc0", title=TITLES["esc0"], body=body, labels=("\u202elabel", "ünï"))
    project.make("rtl0", title=TITLES["rtl0"], type=TaskType.EPIC, reviewer=TITLES["esc0"])
    project.make(
        "em0j", title=TITLES["em0j"], parent=TaskId("rtl0"), blocked_by=(TaskId("l0ng"),), body=QUESTION,
        status=Status.CLARIFICATION, awaiting=Awaiting.INPUT,
    )  # fmt: skip
    project.make(
        "l0ng", title=TITLES["l0ng"], status=Status.STUCK, awaiting=Awaiting.ESCALATION, events=[stuck]
    )
    project.make("d0ne", title=TITLES["em0j"], status=Status.DONE, parent=TaskId("rtl0"), closed=NOW)
    make_working(project, "w0rk", title=TITLES["rtl0"])
    project.ok("note", "em0j", SAYS)
    return project


@pytest.mark.parametrize("columns", [40, 80, 140])
def test_no_view_is_wider_than_the_screen_or_steered_by_a_text(project: Project, columns: int) -> None:
    for view in VIEWS:
        ran = project.gt(*view.split(), columns=columns, now=NOW)
        assert ran.code == 0, ran.seen
        assert (
            re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", ran.out + ran.err) is None
        ), view
        assert [line for line in ran.out.splitlines() if width(line) > columns] == [], view


@pytest.mark.parametrize("columns", [1, 3, 9, 20])
def test_a_screen_too_narrow_for_anything_is_no_error(project: Project, columns: int) -> None:
    for view in VIEWS:
        ran = project.gt(*view.split(), columns=columns, now=NOW)
        assert ran.code == 0, (view, ran.seen)


def test_a_piped_view_holds_no_control_character_either(project: Project) -> None:
    for view in VIEWS:
        ran = project.gt(*view.split(), now=NOW)
        assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", ran.out + ran.err) is None, view


def test_a_note_that_looks_like_a_hand_off_and_an_entry_is_one_note_as_it_was_written(
    project: Project,
) -> None:
    assert project.notes("em0j") == [SAYS]
    file = project.board_file("em0j").read_text()
    assert "\n## Handoff" not in file
    assert "\n### 2026-01-01" not in file


def test_neither_settings_nor_json_on_any_stream_hold_control_characters(project: Project) -> None:
    project.ok("config", "verify.test", "make \x1b[31m")
    told = [
        project.gt(*words.split())
        for words in ("init", "export", "export --format beads", "show esc0 --json")
    ]
    told.append(project.gt("list", "--status", "\x9b31m\u202e", "--json"))
    for ran in told:
        assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", ran.out + ran.err) is None, ran.seen
    assert "`\x9b31m\u202e`" in json.loads(told[-1].err)["error"]["message"]
    titles = [task["title"] for task in json.loads(told[1].out)["tasks"]]
    assert TITLES["esc0"] in titles
