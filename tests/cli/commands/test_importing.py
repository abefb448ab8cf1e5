from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gitticks.document.taskfile import TaskFile
from gitticks.model.ids import TaskId
from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Status, TaskType
from gitticks.store.branch import Store
from tests.cli.support import gt, gt_process
from tests.support.projects import make_project
from tests.support.repositories import git
from tests.support.stores import make_store

FOREIGN = Path(__file__).parents[2] / "data" / "foreign"


def taken_in(root: Path, *arguments: str) -> dict[str, Any]:
    ran = gt("import", *arguments, "--json", at=root)
    assert ran.code == 0, ran.seen
    found: dict[str, Any] = json.loads(ran.out)["import"]
    return found


def file_of(store: Store, name: str) -> TaskFile:
    return store.task_file(TaskId(name))


def commits(root: Path) -> int:
    return int(git("rev-list", "--count", "gitticks/state", at=root))


def assert_well(root: Path) -> None:
    ran = gt("doctor", "--json", at=root)
    found = [
        one
        for one in json.loads(ran.out)["findings"]
        if one["severity"] != "note" and one["topic"] != "board"
    ]
    assert found == []
    assert gt("doctor", "--range", "gitticks/state", at=root).code == 0


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path)


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
    awaiting = {task_id: store.task_file(task_id).task.awaiting for task_id in store.list_task_ids()}
    assert {one: kind for one, kind in awaiting.items() if kind} == {
        "lamp-e5": Awaiting.INPUT,
        "lamp-f6": Awaiting.WORK,
    }


def test_links_to_nothing_and_fields_without_a_place_stay_as_words(tmp_path: Path, store: Store) -> None:
    done = taken_in(tmp_path, "beads", str(FOREIGN / "issues.jsonl"))
    assert done["missing_links"] == 1
    file = file_of(store, "lamp-b2")
    assert file.task.blocked_by == ("lamp-a1-1",)
    for words in ("missing_blockers: lamp-zz", "related: lamp-c3", "issue_type: bug", "assignee: otto"):
        assert words in file.frontmatter.yaml


@pytest.mark.parametrize("source", ["issues.jsonl", "ticks", "backlog", "github.json"])
def test_importing_twice_changes_nothing(tmp_path: Path, store: Store, source: str) -> None:
    first = taken_in(tmp_path, str(FOREIGN / source))
    tip = store.tip()
    again = taken_in(tmp_path, str(FOREIGN / source))
    assert (again["count"], again["unchanged"]) == (0, first["count"])
    assert store.tip() == tip
    assert_well(tmp_path)


def test_a_dry_run_counts_and_writes_nothing(tmp_path: Path, store: Store) -> None:
    tip = store.tip()
    ran = gt("import", str(FOREIGN / "ticks"), "--dry-run", at=tmp_path)
    assert ran.out.splitlines()[1:] == [
        "4 tasks would be imported: 1 cancelled, 2 pending, 1 working",
        "1 link to what is not there, kept as words under `imported`",
    ]
    assert store.tip() == tip


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


def test_stdin_is_a_file_too(tmp_path: Path, store: Store) -> None:
    for form, name in (("beads", "issues.jsonl"), ("github", "github.json")):
        ran = gt_process("import", form, "-", at=tmp_path, input=(FOREIGN / name).read_text())
        assert (ran.code, "imported" in ran.out) == (0, True)
    assert len(store.list_task_ids()) == 9


def test_without_a_file_the_program_of_github_is_asked(tmp_path: Path, store: Store) -> None:
    program = tmp_path / "bin" / "gh"
    program.parent.mkdir()
    path = {"PATH": f"{program.parent}:/usr/bin:/bin"}
    program.write_text(f'#!/bin/sh\ntest "$1 $2" = "issue list" && cat {FOREIGN / "github.json"}\n')
    program.chmod(0o755)
    assert (
        gt("import", "github", at=tmp_path, environment=path).out
        == "2 tasks imported: 1 cancelled, 1 pending\n"
    )
    program.write_text("#!/bin/sh\necho 'not logged in' >&2\nexit 4\n")
    ran = gt("import", "github", at=tmp_path, environment=path)
    assert (ran.code, ran.err.partition("\n")[0]) == (1, "error: `gh` failed: not logged in")
    program.unlink()
    ran = gt("import", "github", at=tmp_path, environment={"PATH": str(program.parent)})
    assert (ran.code, "is not installed" in ran.err) == (1, True)
    assert len(store.list_task_ids()) == 2


def test_a_change_at_the_source_is_told_and_taken_over_only_when_asked(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "more" / "issues.jsonl"
    source.parent.mkdir()
    shutil.copy(FOREIGN / "issues.jsonl", source)
    taken_in(tmp_path, str(source))
    gt("note", "lamp-d4", "mine", at=tmp_path)
    text = (
        source.read_text().replace("Mount the bulbs", "Mount all bulbs").replace("Wait for the ship", "Wait")
    )
    source.write_text(text.replace('"in_progress"', '"closed"'))
    told = taken_in(tmp_path, str(source))
    assert (told["behind"], told["kept"], told["updated"]) == (["lamp-b2"], ["lamp-d4"], [])
    done = taken_in(tmp_path, str(source), "--update")
    assert (done["behind"], done["kept"], done["updated"]) == ([], ["lamp-d4"], ["lamp-b2"])
    task = file_of(store, "lamp-b2").task
    assert (task.title, task.status) == ("Mount all bulbs", Status.DONE)
    assert file_of(store, "lamp-d4").title == "Wait for the ship"
    assert_well(tmp_path)


def test_ids_that_clash_are_given_anew_and_links_follow(tmp_path: Path, store: Store) -> None:
    lines = [
        {"id": "x.1", "title": "dotted", "dependencies": [{"depends_on_id": "Ünïque", "type": "blocks"}]},
        {"id": "x-1", "title": "dashed"},
        {"id": "Ünïque", "title": "foreign letters"},
    ]
    source = tmp_path / "clash.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = taken_in(tmp_path, str(source))
    assert file_of(store, "x-1").title == "dashed"
    dotted = file_of(store, done["ids"]["x.1"]).task
    assert (dotted.external_ref, dotted.blocked_by) == ("x.1", (done["ids"]["Ünïque"],))
    assert taken_in(tmp_path, str(source))["unchanged"] == 3


def test_the_links_that_close_circles_are_left_out_and_told(tmp_path: Path, store: Store) -> None:
    def line(name: str, **links: str) -> str:
        found = [
            {"issue_id": name, "depends_on_id": to, "type": kind.replace("_", "-")}
            for kind, to in links.items()
        ]
        return json.dumps({"id": name, "title": name, "dependencies": found}) + "\n"

    source = tmp_path / "circles.jsonl"
    source.write_text(
        line("a", blocks="b") + line("b", blocks="c") + line("c", blocks="a") + line("s", blocks="s")
        + line("p", parent_child="q") + line("q", parent_child="p") + line("e") + line("k", parent_child="e", blocks="e")
    )  # fmt: skip
    done = taken_in(tmp_path, str(source))
    assert done["count"] == 8
    assert len(done["problems"]) == 4
    assert all("circle" in one["message"] for one in done["problems"])
    assert "left_out_blockers: s" in file_of(store, "s").frontmatter.yaml
    assert_well(tmp_path)


BAD_LINES = (
    b"{",
    b"[]",
    b'"text"',
    b'{"id": "x"}',
    b'{"title": "x"}',
    b'{"id": "", "title": "x"}',
    b'{"id": "x", "title": NaN}',
    b'{"id": "x", "title": "' + b"\xff\xfe" + b'"}',
    b"[" * 100_000,
    b'{"id": "x", "title": "' + b"x" * 2_000_000 + b'"}',
    b'{"id": "big", "title": "big", "description": "' + b'\\"' * 430_000 + b'"}',
)


def test_bad_lines_are_named_and_the_others_come(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "bad.jsonl"
    good = b'\xef\xbb\xbf{"id": "good", "title": "a\\u0000b \\ud800\\nc", "labels": "one", "priority": 9}\r\n'
    source.write_bytes(good + b"\n".join(BAD_LINES) + b'\n{"id": "cut", "ti')
    done = taken_in(tmp_path, str(source))
    assert done["count"] == 1
    assert [one["line"] for one in done["problems"]] == [*range(2, 2 + len(BAD_LINES) - 1), 13, 12]
    task = file_of(store, "good").task
    assert (task.title, task.labels, task.priority) == ("a\ufffdb \ufffd c", ("one",), 2)
    assert_well(tmp_path)


def test_utf_16_is_refused_whole(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "wide.jsonl"
    source.write_bytes('{"id": "a", "title": "b"}\n'.encode("utf-16"))
    ran = gt("import", str(source), at=tmp_path)
    assert ran.code == 1
    assert "UTF-16" in ran.err
    assert store.list_task_ids() == ()


def test_what_is_not_there_is_said_with_the_next_step(tmp_path: Path, store: Store) -> None:
    for arguments in ((), ("beads",), ("nosuch",), ("ticks", "nosuch"), ("ticks", "-")):
        ran = gt("import", *arguments, at=tmp_path)
        assert ran.code in (1, 2)
        assert ran.err.startswith("error: ")
        assert "gt import" in ran.err
    assert gt("import", "beads", "x", "y", at=tmp_path).code == 2
    assert gt("import", "beads", at=tmp_path, environment={"GITTICKS_AGENT": "1"}).code == 3


def test_an_older_copy_of_an_id_gives_way(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "twice.jsonl"
    lines = [
        {"id": "a", "title": f"of {day}", "updated_at": f"2026-01-0{day}T00:00:00Z"} for day in (2, 3, 1)
    ]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert taken_in(tmp_path, str(source))["skipped"] == {"an older copy of the same id": 2}
    assert file_of(store, "a").title == "of 3"


SAMPLES = os.environ.get("GITTICKS_SAMPLES")
REAL = ("beads/issues.jsonl", "beads/beads.jsonl", "ticks", "backlog") if SAMPLES else ("issues.jsonl",)


@pytest.mark.parametrize("name", REAL)
def test_real_data_comes_whole(tmp_path: Path, store: Store, name: str) -> None:
    source = str(Path(SAMPLES or FOREIGN) / name)
    first = taken_in(tmp_path, source)
    assert first["problems"] == []
    assert first["count"] == len(store.list_task_ids()) > 0
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


def lines_of(path: Path, *records: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def linked(name: str, *blockers: str, parent: str | None = None) -> dict[str, Any]:
    kinds = [*((one, "blocks") for one in blockers), *([(parent, "parent-child")] if parent else [])]
    found = [{"issue_id": name, "depends_on_id": to, "type": kind} for to, kind in kinds]
    return {"id": name, "title": name.upper(), "dependencies": found}


@pytest.mark.parametrize("flags", [(), ("--update",)])
def test_a_link_is_made_when_its_target_comes_with_a_later_import(
    tmp_path: Path, store: Store, flags: tuple[str, ...]
) -> None:
    source = tmp_path / "more.jsonl"
    early = [linked("a1", "b2", parent="e5"), linked("c3", "b2", "x9"), linked("d4")]
    assert taken_in(tmp_path, lines_of(source, *early))["missing_links"] == 4
    late = lines_of(source, *early, linked("b2"), linked("e5"))
    ran = gt("import", late, *flags, "--dry-run", at=tmp_path)
    assert "2 here already would be linked to what comes now: a1, c3\n" in ran.out
    done = taken_in(tmp_path, late, *flags)
    assert (done["count"], done["linked"], done["updated"], done["unchanged"]) == (2, ["a1", "c3"], [], 1)
    one, other = file_of(store, "a1"), file_of(store, "c3")
    assert (one.task.blocked_by, one.task.parent) == (("b2",), "e5")
    assert file_of(store, "e5").task.is_epic
    assert "missing" not in one.frontmatter.yaml
    assert other.task.blocked_by == ("b2",)
    assert "missing_blockers: x9" in other.frontmatter.yaml
    again = taken_in(tmp_path, late, *flags)
    assert (again["count"], again["linked"], again["unchanged"]) == (0, [], 5)
    assert_well(tmp_path)


def test_a_link_of_a_task_that_was_changed_here_is_told_and_left(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "more.jsonl"
    taken_in(tmp_path, lines_of(source, linked("a1", "b2", parent="e5")))
    gt("note", "a1", "mine", at=tmp_path)
    before = file_of(store, "a1").data
    done = taken_in(tmp_path, lines_of(source, linked("a1", "b2", parent="e5"), linked("b2"), linked("e5")))
    assert (done["count"], done["linked"], done["unchanged"]) == (2, [], 1)
    (problem,) = done["problems"]
    assert "`gt block a1 b2` and `gt update a1 --parent e5` makes them" in problem["message"]
    assert file_of(store, "a1").data == before


def test_a_link_of_a_task_that_the_source_no_longer_names_is_told(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "more.jsonl"
    taken_in(tmp_path, lines_of(source, linked("a1", "b2"), linked("c3", "d4")))
    done = taken_in(tmp_path, lines_of(source, linked("b2")))
    assert [one["message"] for one in done["problems"]] == [
        "`a1` has links to what comes now, which stay unmade: `gt block a1 b2` makes them"
    ]
    assert gt("block", "a1", "b2", at=tmp_path).code == 0
    assert file_of(store, "a1").task.blocked_by == ("b2",)
    assert taken_in(tmp_path, lines_of(source, linked("b2"), linked("f6")))["problems"] == []
