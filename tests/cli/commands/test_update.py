from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Requires, Status, TaskType
from tests.support.projects import SESSION, Project, make_project, make_reviewing
from tests.support.repositories import commit_file, git
from tests.support.stores import NOW


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        (["--title", "Other"], {"title": "Other"}),
        (["-p", "0", "-l", "a,b"], {"priority": 0, "labels": ("a", "b")}),
        (["-l", "+a"], {"labels": ("old", "a")}),
        (["-l", "-old"], {"labels": ()}),
        (["-l", "+a,-old"], {"labels": ("a",)}),
        (["-l=a", "-p=3"], {"labels": ("a",), "priority": 3}),
        (["-l="], {"labels": ()}),
        (["--label=null"], {"labels": ()}),
        (["--reviewer="], {"reviewer": None}),
        (["--reviewer=null"], {"reviewer": None}),
        (["--priority=null"], {"priority": 2}),
        (["--requires", "review"], {"requires": Requires.REVIEW}),
        (["--awaiting", "work"], {"awaiting": Awaiting.WORK}),
        (["--manual"], {"awaiting": Awaiting.WORK}),
        (["--status", "working"], {"status": Status.WORKING}),
        (["--status", "clarification"], {"status": Status.CLARIFICATION, "awaiting": Awaiting.INPUT}),
        (
            ["--status", "clarification", "--awaiting", "escalation", "-p", "0"],
            {"status": Status.CLARIFICATION, "awaiting": Awaiting.ESCALATION, "priority": 0},
        ),
        (["--awaiting", "work", "--verdict", "approved"], {"status": Status.DONE}),
    ],
)
def test_everything_asked_for_is_one_commit(
    project: Project, options: list[str], changed: dict[str, Any]
) -> None:
    project.make("k7f2", labels=("old",), reviewer="Grace", priority=1)
    before = project.tip()
    project.ok("update", "k7f2", *options)
    task = project.task("k7f2")
    assert {name: getattr(task, name) for name in changed} == changed
    assert git("rev-parse", "gitticks/state^", at=project.path) == before
    assert project.board_status() == ""


def test_the_subject_names_the_step_or_else_the_fields(project: Project) -> None:
    project.make("k7f2")
    project.ok("update", "k7f2", "-l", "a", "--title", "Other", "--note", "why")
    assert project.subject() == "k7f2: labels, title"
    project.ok("update", "k7f2", "-p", "0", "--status", "working", "--note", "go")
    assert project.subject() == "k7f2: pending → working"
    body = git("log", "-1", "--format=%b", "gitticks/state", at=project.path)
    assert body.startswith("k7f2: priority\nk7f2: note added\n")
    assert project.notes("k7f2") == ["why", "go"]
    changed = [event for event in project.events("k7f2") if event.type is EventType.FIELDS_CHANGED]
    assert [event.data["fields"] for event in changed] == [["labels", "title"], ["priority"]]


@pytest.mark.parametrize(
    "options", [["-p", "2"], ["--status", "pending"], ["--awaiting=null"], ["-l", "-gone"]]
)
def test_what_is_so_already_is_said_and_makes_no_commit(project: Project, options: list[str]) -> None:
    project.make("k7f2")
    tip = project.tip()
    assert project.ok("update", "k7f2", *options) == "k7f2  nothing to change\n"
    assert project.tip() == tip


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([], 2, "no change was given"),
        (["--title", ""], 2, "the title is empty"),
        (["--status", "workin"], 2, "`workin` is not a valid status"),
        (["--verdict", "yes"], 2, "`yes` is not a valid verdict"),
        (["--verdict", "approved"], 3, "`k7f2` is not waiting for anyone: it is pending"),
        (["--status", "done"], 3, "`k7f2` cannot go from pending to done"),
        (["--status", "agent-review", "-p", "0"], 3, "`k7f2` cannot go from pending to agent-review"),
        (["--blocked-by", "k7f2"], 3, "`k7f2` would wait for itself"),
        (["--parent", "k7f2"], 3, "`k7f2` cannot be its own parent"),
        (["--parent", "nope"], 1, "there is no task `nope`"),
    ],
)
def test_what_is_refused_changes_nothing(
    project: Project, options: list[str], code: int, message: str
) -> None:
    project.make("k7f2")
    tip = project.tip()
    ran = project.gt("update", "k7f2", *options)
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith(f"error: {message}")
    assert "\n\nhint: " in ran.err
    assert project.tip() == tip


def test_the_gate_says_what_is_missing_and_what_to_type(project: Project) -> None:
    project.make("k7f2", status=Status.WORKING)
    assert project.gt("update", "k7f2", "--status", "agent-review").seen == (
        "--- 3\n"
        "error: `k7f2` cannot go from working to agent-review: "
        "`## Handoff` is missing from .gitticks/tasks/f2/k7f2/TASK.md\n\n"
        'hint: `gt handoff k7f2 --done "…"` writes it, then `gt complete k7f2`\n'
    )


def test_given_back_by_awaiting_null(project: Project) -> None:
    project.make("k7f2", status=Status.STUCK, awaiting=Awaiting.ESCALATION)
    assert (
        project.ok("update", "k7f2", "--awaiting=null")
        == "k7f2  stuck → working · Login loses the return URL\n"
    )


def test_a_verdict_merges_like_approve(project: Project) -> None:
    make_reviewing(project)
    said = project.ok("update", "k7f2", "--verdict", "approved")
    assert said.splitlines()[-1] == "k7f2  done · Login loses the return URL"
    assert git("show", "main:login.txt", at=project.path) == "k7f2"


def test_a_verdict_is_for_what_was_there_when_the_command_began(project: Project) -> None:
    workspace = make_reviewing(project)
    commit_file(workspace, "more.txt", "more\n")
    ran = project.gt("update", "k7f2", "--verdict", "approved")
    assert ran.code == 3
    assert "has new commits since it was handed off" in ran.err


def test_an_epic_with_children_stays_one_and_a_moved_child_leaves_it(project: Project) -> None:
    project.make("e0pc", type=TaskType.EPIC)
    project.make("k7f2", parent="e0pc")
    assert "so it stays an epic" in project.gt("update", "e0pc", "--type", "task").err
    project.ok("update", "k7f2", "--parent=null")
    assert project.task("k7f2").parent is None
    project.ok("update", "e0pc", "--type", "task")


def test_in_a_workspace_the_id_may_be_left_out(project: Project) -> None:
    workspace = make_reviewing(project)
    project.ok("update", "-p", "0", at=workspace)
    assert project.task("k7f2").priority == 0
    assert project.gt("update", "-p", "0").code == 2


def test_json_is_the_changed_task(project: Project) -> None:
    project.make("k7f2")
    assert json.loads(project.ok("update", "k7f2", "-p", "0", "--json"))["task"]["priority"] == 0
    assert json.loads(project.ok("update", "k7f2", "-p", "0", "--json"))["task"]["priority"] == 0
    error = json.loads(project.gt("update", "k7f2", "--status", "done", "--json").err)["error"]
    assert error["exit"] == 3


@pytest.mark.parametrize("options", [["-p", "0"], ["--verdict", "approved"], ["--awaiting", "work"]])
def test_an_agent_changes_no_fields_and_gives_no_verdict(project: Project, options: list[str]) -> None:
    project.make("k7f2", awaiting=Awaiting.REVIEW)
    ran = project.gt("update", "k7f2", *options, environment=SESSION)
    assert ran.code == 3
    assert "only a person can" in ran.err


def test_an_agent_that_nobody_started_asks_for_a_status_with_its_own_rights(project: Project) -> None:
    project.make("k7f2")
    project.ok("update", "k7f2", "--status", "working", environment=SESSION)
    assert project.events("k7f2")[-1].actor.is_agent
    assert project.gt("update", "k7f2", "--status", "cancelled", environment=SESSION).code == 3


def test_the_hint_for_an_empty_title_suits_every_command(project: Project) -> None:
    project.make("k7f2")
    for arguments in (["update", "k7f2", "--title", " "], ["create", ""]):
        assert project.gt(*arguments).err == (
            'error: the title is empty\n\nhint: give it a line of text, such as "Fix the login"\n'
        )


SECTIONS = (
    "The old words.\n\n## Context\n\nWhy.\n\n## Notes\n\n### 2026-03-04T05:00:00Z · human · Ada\n\nOne.\n"
)


def test_another_summary_leaves_the_sections_as_they_are(project: Project) -> None:
    project.make(body=SECTIONS)
    before = project.file("k7f2").data.decode()
    assert project.ok("update", "k7f2", "-d", "The new words.\n\n### Below\n\n- a", "-p", "1") == (
        "k7f2  priority, summary changed\n"
    )
    file = project.file("k7f2")
    assert file.summary == "The new words.\n\n### Below\n\n- a"
    assert file.data.decode().partition("## Context")[2] == before.partition("## Context")[2]
    assert project.subject() == "k7f2: priority"
    assert (
        project.ok("update", "k7f2", "--description", "-", input="From stdin\n") == "k7f2  summary changed\n"
    )
    assert project.ok("update", "k7f2", "-d", "From stdin") == "k7f2  nothing to change\n"
    assert project.events("k7f2")[-1].data == {"sections": ["summary"]}
    project.ok("update", "k7f2", "-d", "")
    assert project.file("k7f2").summary == ""
    assert project.file("k7f2").data.decode().partition("---\n\n## Context")[1]


@pytest.mark.parametrize("text", ["a\n\n## Handoff\n\nDONE", "# Title", "```\nopen", "<!-- open"])
def test_a_summary_that_would_make_or_hide_a_section_is_refused(project: Project, text: str) -> None:
    project.make(body=SECTIONS)
    tip = project.tip()
    ran = project.gt("update", "k7f2", "-d", text)
    assert ran.code == 1
    assert "the text of the summary would change the sections around it" in ran.err
    assert project.tip() == tip


def test_edit_opens_the_editor_and_stands_alone(project: Project) -> None:
    project.make(body=SECTIONS)
    editor = {"GIT_EDITOR": "sed -i 's/old words/better words/'"}
    assert (
        project.ok("update", "k7f2", "--edit", environment=editor)
        == "k7f2  changed · Login loses the return URL\n"
    )
    assert project.file("k7f2").summary == "The better words."
    ran = project.gt("update", "k7f2", "--edit", "-p", "0", environment=editor)
    assert (ran.code, ran.err.splitlines()[0]) == (
        2,
        "error: `--edit` cannot be combined: change fields in the editor",
    )
    assert project.gt("update", "k7f2", "-d", "-", "--note", "-", input="x").code == 2


def test_an_agent_describes_nothing_again(project: Project) -> None:
    project.make(body=SECTIONS)
    assert project.gt("update", "k7f2", "-d", "mine", environment=SESSION).code == 3
    assert project.file("k7f2").summary == "The old words."


def test_two_notes_within_one_second_are_both_told(project: Project) -> None:
    project.make()
    for text in ("one", "two"):
        assert project.ok("update", "k7f2", "--note", text, now=NOW) == "k7f2  note changed\n"
    assert project.notes("k7f2") == ["one", "two"]
