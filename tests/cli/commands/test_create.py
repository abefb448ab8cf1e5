from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from gitticks.document.sections import read_scripts
from gitticks.model.event import EventType
from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Isolation, Requires, Status, TaskType
from tests.cli.support import Ran, gt
from tests.support.projects import SESSION, Project, make_project
from tests.support.repositories import fsck_problems, git

SUNDAY = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


def test_tasks_of_one_second_are_worked_on_in_the_order_in_which_they_were_made(project: Project) -> None:
    made = [project.ok("create", f"Step {number}").strip() for number in range(8)]
    assert [one["id"] for one in json.loads(project.ok("list", "--json"))["tasks"]] == made
    assert project.ok("next").split()[0] == made[0]


def test_what_is_added_to_a_closed_epic_says_how_it_becomes_part_of_it(project: Project) -> None:
    project.make("e0pc", type=TaskType.EPIC, status=Status.DONE)
    project.make("old1", parent="e0pc", status=Status.DONE)
    added = project.gt("create", "One more", "--parent", "e0pc")
    task_id = added.out.strip()
    warning = f"warning: its epic `e0pc` is done, so `{task_id}` is no part of it: `gt reopen e0pc`\n"
    assert added.err == warning
    other = project.ok("create", "Another").strip()
    assert f"`{other}` is no part of it" in project.gt("update", other, "--parent", "e0pc").err
    assert "`old1` is no part of it" in project.gt("reopen", "old1").err
    project.ok("reopen", "e0pc")
    assert project.task("e0pc").status is Status.PENDING
    assert project.gt("create", "And one", "--parent", "e0pc").err == ""


def test_it_prints_only_the_id_and_commits_the_task_with_its_history(project: Project) -> None:
    ran = project.gt("create", "Login loses the return URL", "-d", "After SSO people land on /.", now=SUNDAY)
    task_id = ran.out.strip()
    assert ran.seen == f"{task_id}\n--- 0\n"
    file = project.file(task_id)
    assert (file.task.title, file.summary) == ("Login loses the return URL", "After SSO people land on /.")
    assert (file.task.created, file.task.created_by, file.task.updated) == (SUNDAY, "Ada Lovelace", SUNDAY)
    assert [event.type for event in project.events(task_id)] == [EventType.CREATED]
    message = git("log", "-1", "--format=%B", "gitticks/state", at=project.path)
    assert message.strip() == (
        f"{task_id}: created: Login loses the return URL\n\n"
        f"Task: {task_id}\nEvent: task.created\nActor: human Ada Lovelace"
    )
    assert project.board_file(task_id).read_bytes() == file.data
    assert project.board_status() == ""
    assert fsck_problems(project.path) == ""


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        (["-p", "0"], "priority", 0),
        (["-p", "P1"], "priority", 1),
        (["--priority", "backlog"], "priority", 4),
        (["-t", "epic"], "type", TaskType.EPIC),
        (["-l", "auth,ui", "-l", "auth"], "labels", ("auth", "ui")),
        (["--requires", "content"], "requires", Requires.CONTENT),
        (["--awaiting", "work"], "awaiting", Awaiting.WORK),
        (["--reviewer", "Grace"], "reviewer", "Grace"),
        (["--defer-until", "2026-12-24"], "defer_until", date(2026, 12, 24)),
        (["--defer-until", "+3d"], "defer_until", date(2026, 11, 25)),
        (["--defer-until", "tomorrow"], "defer_until", date(2026, 11, 23)),
        (["--defer-until", "sunday"], "defer_until", date(2026, 11, 29)),
        (["--defer-until", "Mon"], "defer_until", date(2026, 11, 23)),
        (["--agent", "codex"], "agent", "codex"),
        (["--model", "large"], "model", "large"),
        (["--isolation", "none"], "isolation", Isolation.NONE),
        (["--parent="], "parent", None),
    ],
)
def test_every_field_has_its_option(project: Project, options: list[str], field: str, value: Any) -> None:
    task_id = project.ok("create", "A task", *options, now=SUNDAY).strip()
    assert getattr(project.task(task_id), field) == value


def test_awaiting_is_asked_from_now_on(project: Project) -> None:
    task_id = project.ok("create", "Mine", "--awaiting", "work", now=SUNDAY).strip()
    assert project.task(task_id).asked_at == SUNDAY


def test_manual_is_awaiting_work_and_warned_of(project: Project) -> None:
    ran = project.gt("create", "Mine", "--manual")
    assert project.task(ran.out.strip()).awaiting is Awaiting.WORK
    assert ran.err == "warning: `--manual` is the old name of `--awaiting work`\n"


def test_parents_and_blockers_are_found_by_the_beginning_of_their_ids(project: Project) -> None:
    project.make("e0pc", type=TaskType.EPIC)
    project.make("k7f2")
    project.make("m3xq")
    task_id = project.create("Child", "--parent", "e0", "--blocked-by", "k7,m3xq")
    task = project.task(task_id)
    assert (task.parent, task.blocked_by) == ("e0pc", ("k7f2", "m3xq"))


def test_stdin_is_title_and_description(project: Project) -> None:
    task_id = project.ok("create", "-", input="\nFix it\n\nIt is broken.\nBadly.\n").strip()
    assert (project.file(task_id).task.title, project.file(task_id).summary) == (
        "Fix it",
        "It is broken.\nBadly.",
    )


@pytest.mark.parametrize("script", ["make test\ntouch done\n", "```sh\nmake test\ntouch done\n```\n"])
def test_a_script_becomes_a_block_of_its_section(project: Project, tmp_path: Path, script: str) -> None:
    (tmp_path / "steps.sh").write_text(script)
    task_id = project.create("By script", "--script", "steps.sh")
    assert [block.text for block in project.file(task_id).scripts.worker] == ["make test\ntouch done\n"]
    assert read_scripts(project.file(task_id).body).reviewer == ()


def test_a_text_may_hold_sections_of_a_persons_own(project: Project) -> None:
    task_id = project.create("Big", "-d", "Short.\n\n## Acceptance Criteria\n\n- it works")
    assert project.file(task_id).section(Section.ACCEPTANCE) == "- it works"


def test_json_is_the_task(project: Project) -> None:
    said = json.loads(project.ok("create", "Fix it", "-p", "1", "--json"))["task"]
    assert (said["title"], said["priority"], said["ready"]) == ("Fix it", 1, True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([""], 2, "the title is empty"),
        (["  "], 2, "the title is empty"),
        (["two\nlines"], 2, "the title has several lines"),
        (["A", "-p", "5"], 2, "`5` is not a valid priority"),
        (["A", "-p", "hgh"], 2, "`hgh` is not a valid priority"),
        (["A", "-t", "story"], 2, "`story` is not a valid type"),
        (["A", "--awaiting", "reviw"], 2, "`reviw` is not a valid kind of awaiting"),
        (["A", "--defer-until", "soon"], 2, "`soon` is not a day"),
        (["A", "--defer-until", "2026-02-30"], 2, "`2026-02-30` is not a day"),
        (["A", "--defer-until", "9999-01-01"], 2, "`9999-01-01` is more than 100 years away"),
        (["A", "--parent", "k7f3"], 1, "there is no task `k7f3`"),
        (["A", "--blocked-by", "zzzz"], 1, "there is no task `zzzz`"),
        (["A", "--parent", "k7f2"], 3, "`k7f2` is a task, and only epics have children"),
        (["A", "--script", "nowhere.sh"], 1, "`nowhere.sh` cannot be read"),
        (
            ["A", "--manual", "--awaiting", "review"],
            2,
            "`--manual` and `--awaiting` cannot be used together",
        ),
        (["A\udcff"], 2, "the title is not UTF-8"),
        (["A", "-d", "a\0b"], 2, "the description contains a NUL character"),
    ],
)
def test_what_is_refused_changes_nothing(
    project: Project, arguments: list[str], code: int, message: str
) -> None:
    project.make("k7f2")
    tip = project.tip()
    ran = project.gt("create", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith(f"error: {message}") or f"\nerror: {message}" in ran.err
    assert "\n\nhint: " in ran.err
    assert project.tip() == tip


def test_near_names_are_offered(project: Project) -> None:
    project.make("k7f2", title="Login loses the return URL")
    assert (
        "did you mean `k7f2` (Login loses the return URL)?"
        in project.gt("create", "A", "--parent", "k7f3").err
    )
    assert "did you mean `high`?" in project.gt("create", "A", "-p", "hihg").err


def test_an_agent_cannot_create_tasks(project: Project) -> None:
    ran = project.gt("create", "Mine", environment=SESSION)
    assert ran.seen == (
        "--- 3\nerror: only a person can create a task, and this is an agent's session\n\n"
        'hint: `gt note "…"` leaves a note about what else should be done\n'
    )


def _edited(project: Project, script: str, *arguments: str) -> Ran:
    return project.gt("create", "--edit", *arguments, environment={"GIT_EDITOR": script}, now=SUNDAY)


def _kept(ran: Ran) -> Path:
    found = re.search(r"your text is kept in `(.+?)`", ran.err)
    assert found is not None, ran.err
    return Path(found[1])


def test_an_editor_opens_a_form_whose_hints_are_dropped(project: Project) -> None:
    project.make("e0pc", type=TaskType.EPIC)
    lines = ("title: Fix: the login, #12", "parent: e0", "labels: auth, ui", "assignee: me", "due: friday")
    script = "; ".join(f"sed -i 's/^{line.split(':')[0]}:.*/{line}/' \"$1\"" for line in lines)
    ran = _edited(project, f"{script}; sed -i 's/^<!-- What is.*/SSO users land on it./'", "-p", "1")
    task_id = ran.out.strip()
    task = project.task(task_id)
    assert (task.title, task.priority, task.parent) == ("Fix: the login, #12", 1, "e0pc")
    assert (task.labels, task.assignee, task.due) == (("auth", "ui"), "Ada Lovelace", date(2026, 11, 27))
    text = project.board_file(task_id).read_text()
    assert text.endswith("---\n\nSSO users land on it.\n")
    assert "#" not in text.replace("#12", "")
    assert not list((project.path / ".git" / "gitticks" / "drafts").iterdir())


def test_the_form_holds_what_is_known_already(project: Project) -> None:
    script = "cp \"$1\" seen; sed -i 's/^title: .*/&!/'"
    given = ("A: title", "-d", "Text.\n\n## Acceptance Criteria\n\n- works", "-l", "a", "-l", "b")
    task_id = _edited(project, script, *given).out.strip()
    seen = (project.path / "seen").read_text()
    assert "title: A: title\n" in seen
    assert "labels: a, b\n" in seen
    assert seen.count("## Acceptance Criteria") == 1
    file = project.file(task_id)
    assert (file.task.title, file.summary, file.section(Section.ACCEPTANCE)) == (
        "A: title!",
        "Text.",
        "- works",
    )


@pytest.mark.parametrize("script", ["true", "sed -i d", "sed -i 's/ *$//'"])
@pytest.mark.parametrize("title", [(), ("A title",)])
def test_a_form_that_is_left_as_it_is_or_empty_creates_nothing(
    project: Project, script: str, title: tuple[str, ...]
) -> None:
    tip = project.tip()
    ran = _edited(project, script, *title)
    assert ran.code == 1
    assert ran.err.startswith("error: the form was left unchanged or empty, so no task was created\n")
    assert project.tip() == tip
    assert not list((project.path / ".git" / "gitticks" / "drafts").iterdir())


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("priority: hgh", "TASK.md:12:1: `hgh` is not a valid priority"),
        ("due: soon", "TASK.md:36:1: `soon` is not a day"),
        ("parent: zzzz", "TASK.md:18:1: there is no task `zzzz`"),
        ("labels: [a", "TASK.md:"),
        ("title:", "TASK.md:6:1: the title is empty"),
        ("priority: 1\\nstatus: done", "TASK.md:13:1: `status` can only be written by gitticks"),
        ("priority: 1\\nreview_round: 3", "TASK.md:13:1: `review_round` can only be written by gitticks"),
        ("priority: 1\\npriorty: 3", "TASK.md:13:1: `priorty` is not a valid field"),
    ],
)
def test_what_cannot_be_taken_is_kept_and_can_be_fixed(project: Project, field: str, message: str) -> None:
    tip = project.tip()
    name = field.split(":", maxsplit=1)[0]
    ran = _edited(project, f"sed -i 's/^{name}:.*/{field}/' \"$1\"; sed -i 's/^<!-- What.*/MINE/'", "A title")
    assert (ran.code, project.tip()) == (1, tip)
    assert message in ran.err
    kept = _kept(ran)
    assert f"`gt create - < {kept}`" in ran.err
    text = re.sub(
        r"^(status|review_round|priorty|labels|due|parent|priority):.*\n",
        "",
        kept.read_text(),
        flags=re.MULTILINE,
    )
    task_id = project.ok(
        "create", "-", input=re.sub("^title:.*", "title: Fixed", text, flags=re.MULTILINE)
    ).strip()
    assert (project.file(task_id).task.title, project.file(task_id).summary) == ("Fixed", "MINE")


@pytest.mark.parametrize(
    ("editor", "message"),
    [
        ("false", "the editor `false` failed with 1; nothing was changed"),
        ("no-such-editor", "the editor `no-such-editor` was not found; nothing was changed"),
    ],
)
def test_an_editor_that_fails_or_is_missing(project: Project, editor: str, message: str) -> None:
    ran = _edited(project, editor)
    assert (ran.code, message in ran.err) == (1, True)


def test_a_repository_without_tasks_says_how_to_begin(tmp_path: Path) -> None:
    git("init", "--quiet", at=tmp_path)
    assert gt("create", "A", at=tmp_path).seen == (
        "--- 1\nerror: this repository has no tasks yet\n\nhint: `gt init` sets them up\n"
    )


def test_a_child_returns_its_epic_to_work(project: Project) -> None:
    project.make("e0pc", type=TaskType.EPIC, status=Status.REVIEWING, awaiting=Awaiting.REVIEW)
    project.create("One more", "--parent", "e0pc")
    assert project.task("e0pc").status is Status.WORKING


def test_a_script_that_is_typed_where_its_file_belongs_is_told_how_to_give_it(project: Project) -> None:
    refused = project.gt("create", "A", "--script", "make && git commit -qam done").err
    assert refused.endswith(
        "hint: that looks like the text itself: name a file, or pipe the text in and use `-`\n"
    )
    assert project.gt("create", "A", "--script", "x.sh").err.endswith(
        "hint: `ls -ld x.sh` shows what is there\n"
    )
