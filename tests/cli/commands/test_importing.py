from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Status, TaskType
from gitticks.store.branch import Store
from tests.cli.support import gt, gt_process
from tests.support.imports import FOREIGN, assert_well, commits, file_of, store, taken_in
from tests.support.projects import make_project
from tests.support.repositories import git
from tests.support.tasks import task_ids

__all__ = ["store"]


def test_beads_become_tasks_in_one_commit(tmp_path: Path, store: Store) -> None:
    before = commits(tmp_path)
    done = taken_in(tmp_path, "beads", str(FOREIGN / "issues.jsonl"))
    assert done["created"] == {"pending": 4, "done": 1, "working": 1, "cancelled": 1}
    assert done["skipped"] == {"a memory": 1, "a tombstone": 1}
    assert done["problems"] == []
    assert commits(tmp_path) == before + 1
    assert_well(tmp_path)
    epic, child = file_of(store, "lamp-a1"), file_of(store, "lamp-a1-1")
    assert (epic.task.type, epic.task.priority, epic.task.labels) == (TaskType.EPIC, 1, ("harbour", "night"))
    assert epic.task.created == datetime(2026, 2, 1, 8, tzinfo=UTC)
    assert epic.section(Section.HANDOFF) is None
    assert (child.task.parent, child.task.status, child.task.priority) == ("lamp-a1", Status.DONE, 0)
    assert child.task.closed == datetime(2026, 2, 3, 18, 11, 12, tzinfo=UTC)
    assert (child.summary, child.section(Section.CONTEXT)) == ("Warm white.", "Ask two shops.")
    notes = [(note.name, note.text.partition("\n")[0]) for note in child.entries(Section.NOTES)]
    assert notes == [("otto", "Take the cheap ones."), ("beads", "The first shop is closed.")]


def test_what_no_agent_can_begin_waits_for_a_person(tmp_path: Path, store: Store) -> None:
    taken_in(tmp_path, "beads", str(FOREIGN / "issues.jsonl"))
    awaiting = {task_id: store.task_file(task_id).task.awaiting for task_id in task_ids(store)}
    assert {one: kind for one, kind in awaiting.items() if kind} == {
        "lamp-e5": Awaiting.INPUT,
        "lamp-f6": Awaiting.WORK,
    }


@pytest.mark.parametrize(
    ("target", "awaiting"),
    [
        ({"status": "open"}, None),
        ({"status": "closed"}, Awaiting.INPUT),
        ({"status": "closed", "close_reason": "obsolete"}, Awaiting.INPUT),
        ({"status": "tombstone"}, Awaiting.INPUT),
    ],
)
def test_what_beads_calls_blocked_waits_for_a_person_where_no_blocker_holds_it_back(
    tmp_path: Path, store: Store, target: dict[str, str], awaiting: Awaiting | None
) -> None:
    links = [{"issue_id": "a1", "depends_on_id": "b2", "type": "blocks"}]
    lines = (
        {"id": "a1", "title": "Do not touch", "status": "blocked", "dependencies": links},
        {"id": "b2", "title": "Blocker", **target},
    )
    source = tmp_path / "issues.jsonl"
    source.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    taken_in(tmp_path, str(source))
    task = file_of(store, "a1").task
    assert (task.awaiting, task.asked_at is None) == (awaiting, awaiting is None)
    assert ("a1" in gt("next", at=tmp_path).out) is False


def test_links_to_nothing_and_fields_without_a_place_stay_as_words(tmp_path: Path, store: Store) -> None:
    done = taken_in(tmp_path, "beads", str(FOREIGN / "issues.jsonl"))
    assert done["missing_links"] == 1
    file = file_of(store, "lamp-b2")
    assert file.task.blocked_by == ("lamp-a1-1",)
    for words in ("missing_blockers: lamp-zz", "related: lamp-c3", "issue_type: bug"):
        assert words in file.frontmatter.yaml
    assert file.task.assignee == "otto"


def test_a_dry_run_counts_and_writes_nothing(tmp_path: Path, store: Store) -> None:
    tip = store.tip()
    ran = gt("import", str(FOREIGN / "ticks"), "--dry-run", at=tmp_path)
    assert ran.out.splitlines()[1:] == [
        "4 tasks would be imported: 1 cancelled, 2 pending, 1 working",
        "1 link to missing tasks, kept as text under `imported`",
    ]
    assert ran.err == f"\nhint: `gt import {FOREIGN / 'ticks'}` imports them\n"
    assert store.tip() == tip


def test_data_of_a_second_tracker_is_named(tmp_path: Path, store: Store) -> None:
    shutil.copytree(FOREIGN / "backlog", tmp_path / "backlog")
    (tmp_path / ".beads").mkdir()
    shutil.copy(FOREIGN / "issues.jsonl", tmp_path / ".beads")
    ran = gt("import", at=tmp_path)
    assert ran.out.startswith("found beads data: ")
    assert "hint: there is backlog data too: `gt import backlog` imports it" in ran.err
    assert "too" not in gt("import", "backlog", at=tmp_path).err


def test_ticks_keep_notes_and_whose_turn_it_is(tmp_path: Path, store: Store) -> None:
    taken_in(tmp_path, "ticks", str(FOREIGN / "ticks"))
    file = file_of(store, "p1k")
    assert [(note.kind.value, note.text) for note in file.entries(Section.NOTES)] == [
        ("human", "Start at the north end\nand go south"),
        ("agent", "counted 12"),
    ]
    assert (file.task.parent, file.task.blocked_by, file.task.claim) == ("e9x", (), None)
    assert "run: {session_id: s1, num_turns: 3}" in file.frontmatter.yaml
    task = file_of(store, "m2n").task
    assert (task.awaiting, task.blocked_by) == (Awaiting.WORK, ("p1k",))
    assert file_of(store, "w3d").task.closed_reason == "Won't do: it is blue"


def test_backlog_keeps_sections_and_runs_no_foreign_script(tmp_path: Path, store: Store) -> None:
    done = taken_in(tmp_path, "backlog", str(FOREIGN / "backlog"))
    assert done["created"] == {"done": 1, "working": 1}
    file = file_of(store, "pier-7")
    assert (file.task.title, file.task.type, file.task.priority) == ("Build: a bench", TaskType.EPIC, 1)
    assert file.summary == "For two people."
    assert file.section(Section.SCRIPT) is None
    assert file.section("Imported Script") is not None
    assert file.section("Final Summary") == "Almost."
    assert file.section(Section.ACCEPTANCE) == "- [x] #1 It holds two\n- [ ] #2 It is dry"
    assert file_of(store, "pier-7-01").task.parent == "pier-7"


def test_issues_of_github_come_and_a_bad_one_is_named(tmp_path: Path, store: Store) -> None:
    done = taken_in(tmp_path, "github", str(FOREIGN / "github.json"))
    assert done["problems"][0]["message"] == "issue 3 of the list: `number` is missing"
    file = file_of(store, "gh-12")
    assert (file.task.status, file.task.closed_reason) == (Status.CANCELLED, "not planned")
    assert file.task.external_ref == "https://example.org/pier/issues/12"
    assert [note.name for note in file.entries(Section.NOTES)] == ["mira"]


def test_a_field_of_the_wrong_type_is_not_called_missing(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "issues.json"
    source.write_text('[{"number": "14", "title": "x"}, {"number": 15, "title": 12345}, 7]')
    ran = gt("import", "github", str(source), "--json", at=tmp_path)
    assert [one["message"] for one in json.loads(ran.out)["import"]["problems"]] == [
        "issue 1 of the list: `number` is not a number",
        "issue 2 of the list: `title` is not a text",
        "issue 3 of the list: this is not a JSON object",
    ]


def test_one_epic_is_told_as_one(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "issues.jsonl"
    link = {"depends_on_id": "a", "type": "parent-child"}
    lines = ({"id": "a", "title": "a"}, {"id": "b", "title": "b", "dependencies": [link]})
    source.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    ran = gt("import", str(source), at=tmp_path)
    assert ran.out.endswith("1 turned into an epic, because it has children\n")


def test_stdin_is_a_file_too(tmp_path: Path, store: Store) -> None:
    for form, name in (("beads", "issues.jsonl"), ("github", "github.json")):
        ran = gt_process("import", form, "-", at=tmp_path, input=(FOREIGN / name).read_text())
        assert (ran.code, "imported" in ran.out) == (0, True)
    assert len(task_ids(store)) == 9


def test_without_a_file_the_program_of_github_is_asked(tmp_path: Path, store: Store) -> None:
    program = tmp_path / "bin" / "gh"
    program.parent.mkdir()
    path = {"PATH": f"{program.parent}:/usr/bin:/bin"}
    program.write_text(f'#!/bin/sh\ntest "$1 $2" = "issue list" && cat {FOREIGN / "github.json"}\n')
    program.chmod(0o755)
    assert (
        gt("import", "github", at=tmp_path, environment=path).out
        == "2 tasks imported: 1 cancelled, 1 pending\n1 skipped: not readable\n"
    )
    program.write_text("#!/bin/sh\necho 'not logged in' >&2\nexit 4\n")
    ran = gt("import", "github", at=tmp_path, environment=path)
    assert (ran.code, ran.err.partition("\n")[0]) == (1, "error: `gh` failed: not logged in")
    program.unlink()
    ran = gt("import", "github", at=tmp_path, environment={"PATH": str(program.parent)})
    assert (ran.code, "is not installed" in ran.err) == (1, True)
    assert len(task_ids(store)) == 2


def test_ids_that_clash_are_given_again_and_links_follow(tmp_path: Path, store: Store) -> None:
    lines = [
        {"id": "x.1", "title": "dotted", "dependencies": [{"depends_on_id": "Ünïque", "type": "blocks"}]},
        {"id": "x-1", "title": "dashed"},
        {"id": "Ünïque", "title": "foreign letters"},
    ]
    source = tmp_path / "clash.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = taken_in(tmp_path, str(source))
    assert file_of(store, "x-1").task.title == "dashed"
    dotted = file_of(store, done["ids"]["x.1"]).task
    assert (dotted.external_ref, dotted.blocked_by) == ("x.1", (done["ids"]["Ünïque"],))
    assert taken_in(tmp_path, str(source))["unchanged"] == 3


SAMPLES = os.environ.get("GITTICKS_SAMPLES")
REAL = ("beads/issues.jsonl", "beads/beads.jsonl", "ticks", "backlog") if SAMPLES else ("issues.jsonl",)


@pytest.mark.parametrize("name", REAL)
def test_real_data_comes_whole(tmp_path: Path, store: Store, name: str) -> None:
    source = str(Path(SAMPLES or FOREIGN) / name)
    first = taken_in(tmp_path, source)
    assert first["problems"] == []
    assert first["count"] == len(task_ids(store)) > 0
    assert taken_in(tmp_path, source)["unchanged"] == first["count"]
    assert_well(tmp_path)


def test_very_many_tasks_reach_the_board_at_once(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    source = tmp_path / "many.jsonl"
    source.write_text("".join(f'{{"id": "a{one}", "title": "one of many"}}\n' for one in range(1100)))
    assert taken_in(tmp_path, str(source))["count"] == 1100
    assert len(list(project.board.glob("tasks/*/*/TASK.md"))) == 1100
    assert git("status", "--porcelain", at=project.board) == ""
    assert [one for one in (tmp_path / ".git" / "gitticks" / "tmp").rglob("*") if one.is_file()] == []
