from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from gitticks.model.notes import Section
from gitticks.model.status import Status
from tests.cli.support import gt
from tests.support.imported_whole import lost_lines
from tests.support.imports import FOREIGN, assert_well, file_of, taken_in
from tests.support.projects import Project, make_project

ODD = FOREIGN / "backlog-odd"
SAMPLES = os.environ.get("GITTICKS_SAMPLES")
OURS = (("backlog", "backlog"), ("backlog", "backlog-odd"), ("ticks", "ticks"), ("beads", "issues.jsonl"), ("github", "github.json"))  # fmt: skip
REAL = (("backlog", "backlog/backlog"), ("ticks", "ticks/.tick"), ("beads", "beads/issues.jsonl"), ("beads", "beads/beads.jsonl"))  # fmt: skip
SOURCES = [
    *((form, FOREIGN / name) for form, name in OURS),
    *((form, Path(SAMPLES) / name) for form, name in REAL if SAMPLES),
]


def said(project: Project, form: str, source: Path) -> str:
    ran = gt("import", form, str(source), at=project.path)
    assert ran.code == 0, ran.seen
    return ran.err


@pytest.mark.parametrize(("form", "source"), SOURCES)
def test_each_line_of_a_foreign_text_arrives_or_is_named(tmp_path: Path, form: str, source: Path) -> None:
    project = make_project(tmp_path)
    assert lost_lines(form, source, project.board, "") != []
    warnings = said(project, form, source)
    assert lost_lines(form, source, project.board, warnings) == []
    assert_well(tmp_path)


def test_a_lost_line_is_found(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    warnings = said(project, "backlog", ODD)
    file = project.board / "tasks/y1/quay-1/TASK.md"
    file.write_text(file.read_text().replace("The salt eats it.\n", ""))
    place = f"{ODD}/tasks/quay-1 - Paint-the-crane.md"
    assert lost_lines("backlog", ODD, project.board, warnings) == [f"{place}: The salt eats it."]


def test_what_is_left_out_of_a_backlog_is_named(tmp_path: Path) -> None:
    make_project(tmp_path)
    done = taken_in(tmp_path, "backlog", str(ODD))
    tasks = ODD / "tasks"
    assert [(one["path"], one["line"]) for one in done["problems"]] == [
        (str(tasks / "quay-5 - copy.md"), None),
        (str(tasks / "quay-6 - broken.md"), 4),
    ]
    skipped = {"an older copy of the same id": 1, "a file of `drafts/`": 1, "not readable": 1}
    assert done["skipped"] == skipped


def test_what_backlog_has_below_its_folders_and_what_is_no_file_is_named(tmp_path: Path) -> None:
    make_project(tmp_path)
    folder = backlog(tmp_path / "backlog", ("a-1", "")).parents[1]
    (folder / "tasks" / "old" / "older").mkdir(parents=True)
    (folder / "tasks" / "old" / "older" / "task-2.md").write_text("x")
    os.mkfifo(folder / "tasks" / "task-3.md")
    done = taken_in(tmp_path, "backlog", str(folder))
    assert done["count"] == 1
    assert done["skipped"] == {"a file in a folder of `tasks/`": 1, "not readable": 1}
    assert [one["message"] for one in done["problems"]] == ["not a regular file"]


def test_headings_inside_a_section_stay_in_it_and_make_none(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    taken_in(tmp_path, "backlog", str(ODD))
    file = file_of(project.store, "quay-1")
    assert [block.title for block in file.body.blocks] == [
        "Acceptance Criteria",
        "Implementation Plan",
        "Comments",
        "Rope, none",
        "Imported Handoff",
    ]
    assert "\\# Second week" in (file.section("Implementation Plan") or "")
    assert "Which yellow?" in (file.section("Comments") or "")
    assert (file.task.status, file.entries(Section.NOTES)) == (Status.WORKING, ())
    assert 'reporter: ["@mira", "@otto"]' in file.frontmatter.yaml
    assert file.task.assignee == "@otto"
    assert "source_there: harbour office" in file.frontmatter.yaml


def test_no_way_to_write_a_heading_of_backlog_makes_a_script(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    path = backlog(tmp_path / "backlog", ("a-1", ""))
    fence = "```sh\nls\n```"
    path.write_text(f"{path.read_text()}## Script ##\n\n{fence}\n## #Script\n\nIt lists.\n")
    taken_in(tmp_path, "backlog", "backlog")
    file = file_of(project.store, "a-1")
    assert [block.title for block in file.body.blocks] == ["Imported Script"]
    assert file.section("Imported Script") == f"{fence}\n\nIt lists."


def test_links_are_found_by_number_where_nothing_names_the_prefix(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    done = taken_in(tmp_path, "backlog", str(ODD))
    task = file_of(project.store, "quay-1").task
    assert (task.blocked_by, task.parent) == (("quay-2", "quay-3-1", "quay-4"), "quay-5")
    assert done["missing_links"] == 0


def test_a_number_that_two_tasks_have_links_to_neither(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    backlog(tmp_path / "more", ("OLD-1", "task-2"), ("OLD-2", "task-2"), ("NEW-2", "new-2"))
    assert taken_in(tmp_path, "backlog", "more")["missing_links"] == 2
    assert file_of(project.store, "old-1").task.blocked_by == ()


def backlog(folder: Path, *tasks: tuple[str, str]) -> Path:
    """Writes tasks by their ids with one dependency each, and returns the one that comes last."""
    for name, link in tasks:
        path = folder / "tasks" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\nid: {name}\ntitle: {name}\ndependencies: [{link}]\n---\n")
    return path


def test_no_link_leads_to_a_task_whose_title_no_file_can_hold(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    link = {"issue_id": "a-1", "depends_on_id": "a-2", "type": "blocks"}
    issues = ({"id": "a-1", "title": "A", "dependencies": [link]}, {"id": "a-2", "title": "\u200b" * 200_000})
    (tmp_path / "more.jsonl").write_text(
        "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in issues), encoding="utf-8"
    )
    done = taken_in(tmp_path, "beads", "more.jsonl")
    assert done["skipped"] == {"no task can hold it": 1}
    assert file_of(project.store, "a-1").task.blocked_by == ()
    assert done["missing_links"] == 1


def test_a_status_that_says_so_is_cancelled_even_if_it_is_the_last(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    path = backlog(tmp_path / "more", ("a-1", ""))
    (tmp_path / "more" / "config.yml").write_text('statuses: ["To Do", "Done", "Cancelled"]\n')
    path.write_text("---\nid: a-1\ntitle: A\nstatus: Cancelled\n---\n")
    taken_in(tmp_path, "backlog", "more")
    assert file_of(project.store, "a-1").task.status is Status.CANCELLED


def test_an_update_makes_links_that_an_earlier_import_did_not_find(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    backlog(tmp_path / "more", ("a-1", "task-2"), ("a-2", "task-9"), ("b-2", ""))
    assert taken_in(tmp_path, "backlog", "more")["missing_links"] == 2
    (tmp_path / "more/tasks/b-2.md").unlink()
    assert taken_in(tmp_path, "backlog", "more")["linked"] == []
    assert taken_in(tmp_path, "backlog", "more", "--update")["linked"] == ["a-1"]
    assert file_of(project.store, "a-1").task.blocked_by == ("a-2",)
    again = taken_in(tmp_path, "backlog", "more", "--update")
    assert (again["unchanged"], again["linked"], again["updated"]) == (2, [], [])
    assert_well(tmp_path)


def test_an_update_names_such_links_of_a_task_that_was_changed_here(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    other = backlog(tmp_path / "more", ("a-1", "task-2"), ("a-2", ""), ("b-2", ""))
    taken_in(tmp_path, "backlog", "more")
    other.unlink()
    gt("note", "a-1", "mine", at=tmp_path)
    assert taken_in(tmp_path, "backlog", "more")["problems"] == []
    (problem,) = taken_in(tmp_path, "backlog", "more", "--update")["problems"]
    assert "`gt block a-1 a-2` adds them" in problem["message"]
    assert gt("block", "a-1", "a-2", at=tmp_path).code == 0
    assert taken_in(tmp_path, "backlog", "more", "--update")["problems"] == []
    assert file_of(project.store, "a-1").task.blocked_by == ("a-2",)


def test_a_large_field_that_no_record_keeps_becomes_a_section(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    folder = tmp_path / "more/tasks"
    folder.mkdir(parents=True)
    names = [f"src/a/rather/long/path/of/a/file/number-{one}.py" for one in range(300)]
    listed = "".join(f"  - {name}\n" for name in names)
    (folder / "a.md").write_text(
        f"---\nid: a-1\ntitle: Large\nmodified_files:\n{listed}---\n\n## Plan\n\ngo\n"
    )
    taken_in(tmp_path, "backlog", "more")
    file = file_of(project.store, "a-1")
    assert file.section("Imported modified_files") == "\n".join(f"- {name}" for name in names)
    assert taken_in(tmp_path, "backlog", "more", "--update")["unchanged"] == 1


LINES = (
    "text", "text", "", "", "# one", "## two", "## Notes", "## Description", "### three", "---", "===", "```", "~~~", "- a", "> b",
    "1. c", "    code", "\tcode", "<!--", "-->", "<div>", "\\# x", "--", "<!-- AC:BEGIN -->", "<!-- AC:END -->", "***",
    "<!-- SECTION:PLAN:BEGIN -->", "<!-- SECTION:PLAN:END -->", "### 2026-01-01T00:00:00Z · human · otto", "- ```", "##", "# ",
)  # fmt: skip


def test_texts_of_any_shape_arrive_whole(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    folder = tmp_path / "more/tasks"
    folder.mkdir(parents=True)
    dice = random.Random(20261123)
    for number in range(300):
        lines = [f"{dice.choice(LINES)}" for _ in range(dice.randrange(2, 14))]
        body = "\n".join(
            f"{line} {place}" if line in ("text", "# one", "- a") else line
            for place, line in enumerate(lines)
        )
        (folder / f"a-{number}.md").write_text(
            f"---\nid: a-{number}\ntitle: Any\nstatus: To Do\n---\n{body}\n"
        )
    source = tmp_path / "more"
    warnings = said(project, "backlog", source)
    assert warnings == ""
    assert lost_lines("backlog", source, project.board, warnings) == []
    assert_well(tmp_path)
