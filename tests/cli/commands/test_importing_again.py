from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gitticks.model.status import Status
from gitticks.store.branch import Store
from tests.cli.support import gt
from tests.support.imports import FOREIGN, assert_well, file_of, store, taken_in
from tests.support.projects import make_project
from tests.support.repositories import git

__all__ = ["store"]


@pytest.mark.parametrize("source", ["issues.jsonl", "ticks", "backlog", "github.json"])
def test_importing_twice_changes_nothing(tmp_path: Path, store: Store, source: str) -> None:
    first = taken_in(tmp_path, str(FOREIGN / source))
    tip = store.tip()
    again = taken_in(tmp_path, str(FOREIGN / source))
    assert (again["count"], again["unchanged"]) == (0, first["count"])
    assert store.tip() == tip
    assert_well(tmp_path)


def test_a_secret_that_is_masked_is_no_change(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "more" / "issues.jsonl"
    source.parent.mkdir()
    text = (FOREIGN / "issues.jsonl").read_text()
    source.write_text(text.replace("Mount the bulbs", "Mount ghp_" + "a1B2" * 9))
    taken_in(tmp_path, str(source))
    tip = store.tip()
    assert taken_in(tmp_path, str(source), "--update")["updated"] == []
    assert store.tip() == tip


def test_a_change_at_the_source_is_reported_and_taken_over_only_when_asked(
    tmp_path: Path, store: Store
) -> None:
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
    assert file_of(store, "lamp-d4").task.title == "Wait for the ship"
    assert_well(tmp_path)


def test_an_older_copy_of_an_id_gives_way(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "twice.jsonl"
    lines = [
        {"id": "a", "title": f"of {day}", "updated_at": f"2026-01-0{day}T00:00:00Z"} for day in (2, 3, 1)
    ]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert taken_in(tmp_path, str(source))["skipped"] == {"an older copy of the same id": 2}
    assert file_of(store, "a").task.title == "of 3"


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
    assert "2 already here, would be linked to what is imported now: a1, c3\n" in ran.out
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


def test_a_link_of_a_task_that_was_changed_here_is_reported_and_left(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "more.jsonl"
    taken_in(tmp_path, lines_of(source, linked("a1", "b2", parent="e5")))
    gt("note", "a1", "mine", at=tmp_path)
    before = file_of(store, "a1").data
    done = taken_in(tmp_path, lines_of(source, linked("a1", "b2", parent="e5"), linked("b2"), linked("e5")))
    assert (done["count"], done["linked"], done["unchanged"]) == (2, [], 1)
    (problem,) = done["problems"]
    assert "`gt block a1 b2` and `gt update a1 --parent e5` adds them" in problem["message"]
    assert file_of(store, "a1").data == before


@pytest.mark.parametrize("is_committed", [False, True])
@pytest.mark.parametrize("flags", [(), ("--update",)])
def test_what_a_person_wrote_on_the_board_stays(
    tmp_path: Path, is_committed: bool, flags: tuple[str, ...]
) -> None:
    project, source = make_project(tmp_path), tmp_path / "more.jsonl"
    taken_in(tmp_path, lines_of(source, linked("a1", "b2"), linked("c3")))
    for name in ("a1", "c3"):
        project.save(name, f"title: {name.upper()}", "title: Mine")
    if is_committed:
        git("commit", "-qam", "mine", at=project.board)
    project.ok("status")
    assert len(project.events("a1")) == 1
    late = [linked("a1", "b2"), {**linked("c3"), "title": "Theirs"}, linked("b2")]
    done = taken_in(tmp_path, lines_of(source, *late), *flags)
    assert (done["count"], done["linked"], done["updated"], done["kept"]) == (1, [], [], ["c3"])
    assert "`gt block a1 b2` adds them" in done["problems"][0]["message"]
    assert [project.task(name).title for name in ("a1", "c3")] == ["Mine", "Mine"]


def test_a_link_of_a_task_that_the_source_no_longer_names_is_reported(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "more.jsonl"
    taken_in(tmp_path, lines_of(source, linked("a1", "b2"), linked("c3", "d4")))
    done = taken_in(tmp_path, lines_of(source, linked("b2")))
    assert [one["message"] for one in done["problems"]] == [
        "`a1` has links to tasks that are here now, which were not added: `gt block a1 b2` adds them"
    ]
    assert gt("block", "a1", "b2", at=tmp_path).code == 0
    assert file_of(store, "a1").task.blocked_by == ("b2",)
    assert taken_in(tmp_path, lines_of(source, linked("b2"), linked("f6")))["problems"] == []


@pytest.mark.parametrize("url", [{"url": "https://github.com/o/a/issues/12"}, {}], ids=["url", "no url"])
def test_an_issue_whose_id_is_taken_is_recognised_too(
    tmp_path: Path, store: Store, url: dict[str, str]
) -> None:
    taken_in(
        tmp_path,
        lines_of(tmp_path / "other.jsonl", {"id": "gh-12", "title": "Not from GitHub", "external_ref": "12"}),
    )
    issues = tmp_path / "issues.json"
    issues.write_text(json.dumps([{"number": 12, "title": "From GitHub", "state": "OPEN", **url}]))
    first = taken_in(tmp_path, "github", str(issues))
    task = file_of(store, first["ids"]["12"]).task
    assert (task.title, task.external_ref) == ("From GitHub", url.get("url", "12"))
    again = taken_in(tmp_path, "github", str(issues))
    assert (again["count"], again["unchanged"]) == (0, 1)
    assert file_of(store, "gh-12").task.title == "Not from GitHub"
    assert_well(tmp_path)


def issue_of(repository: str, title: str, **more: str) -> str:
    url = f"https://github.com/o/{repository}/issues/1"
    return json.dumps([{"number": 1, "title": title, "state": "OPEN", "url": url, **more}])


def backlog_of(folder: Path, created: str, **tasks: str) -> str:
    """Writes tasks by their titles, each of which waits for the one before, and returns their folder."""
    (folder / "tasks").mkdir(parents=True, exist_ok=True)
    link = ""
    for number, title in enumerate(tasks.values(), start=1):
        fields = f"id: task-{number}\ntitle: {title}\ncreated_date: '{created}'\ndependencies: [{link}]\n"
        (folder / "tasks" / f"task-{number}.md").write_text(f"---\n{fields}---\n")
        link = f"task-{number}"
    return str(folder)


@pytest.mark.parametrize(
    "times", [("2026-01-02T03:04:05Z", "2026-02-02T03:04:05Z"), ()], ids=["times", "none"]
)
def test_an_issue_of_another_repository_is_another_task(
    tmp_path: Path, store: Store, times: tuple[str, ...]
) -> None:
    one, other = (tmp_path / "a.json", tmp_path / "b.json")
    for file, name, more in zip(
        (one, other), "ab", [{"createdAt": time} for time in times] or [{}, {}], strict=True
    ):
        file.write_text(issue_of(name, f"{name} one", **more))
    taken_in(tmp_path, "github", str(one))
    done = taken_in(tmp_path, "github", str(other), "--update")
    assert (done["count"], done["updated"], done["behind"]) == (1, [], [])
    there = done["ids"]["1"]
    for file in (one, other):
        again = taken_in(tmp_path, "github", str(file), "--update")
        assert (again["count"], again["unchanged"]) == (0, 1)
    other.write_text(other.read_text().replace("b one", "b changed"))
    assert taken_in(tmp_path, "github", str(other), "--update")["updated"] == [there]
    titles = {name: file_of(store, name).task.title for name in ("gh-1", there)}
    assert titles == {"gh-1": "a one", there: "b changed"}
    assert_well(tmp_path)


def test_issues_of_a_repository_that_was_renamed_stay_the_same_tasks(tmp_path: Path, store: Store) -> None:
    issues = tmp_path / "issues.json"
    for name in ("old", "new"):
        issues.write_text(issue_of(name, name, createdAt="2026-01-02T03:04:05Z"))
        done = taken_in(tmp_path, "github", str(issues), "--update")
    assert (done["count"], done["updated"]) == (0, ["gh-1"])
    assert file_of(store, "gh-1").task.external_ref == "https://github.com/o/new/issues/1"


def test_tasks_of_another_backlog_are_other_tasks_with_links_of_their_own(
    tmp_path: Path, store: Store
) -> None:
    one = backlog_of(tmp_path / "a", "2026-05-01 09:30", first="Set up", second="Build a")
    other = backlog_of(tmp_path / "b", "2026-05-02 09:30", first="Set up", second="Build b")
    taken_in(tmp_path, "backlog", one)
    done = taken_in(tmp_path, "backlog", other, "--update")
    assert (done["count"], done["updated"], done["behind"]) == (2, [], [])
    assert file_of(store, done["ids"]["task-2"]).task.blocked_by == (done["ids"]["task-1"],)
    for folder in (one, other):
        again = taken_in(tmp_path, "backlog", folder, "--update")
        assert (again["count"], again["unchanged"]) == (0, 2)
    assert file_of(store, "task-2").task.title == "Build a"
    assert_well(tmp_path)


def test_an_issue_of_beads_that_a_merge_made_anew_is_the_same_task(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "issues.jsonl"
    for day in (1, 2):
        record = {"id": "bd-1", "title": f"Day {day}", "created_at": f"2026-01-0{day}T00:00:00Z"}
        done = taken_in(tmp_path, lines_of(source, record), "--update")
    assert (done["count"], done["updated"]) == (0, ["bd-1"])
