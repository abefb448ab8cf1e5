"""`gt approve`, `reject`, `close`, `cancel` and `reopen` of several tasks, and how much of an id they need."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitticks.model.status import Awaiting, Status
from tests.support.projects import Project, make_project, make_reviewing
from tests.support.repositories import git

TITLE = "Login loses the return URL"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


def make_two(project: Project) -> None:
    for task_id in ("k7f2", "m3xq"):
        project.make(task_id, status=Status.REVIEWING, awaiting=Awaiting.REVIEW)


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("approve", Status.DONE),
        ("reject", Status.WORKING),
        ("close", Status.DONE),
        ("cancel", Status.CANCELLED),
    ],
)
@pytest.mark.parametrize(
    ("words", "notes"), [((), []), (("-m", "nice"), ["nice"]), (("nice one",), ["nice one"])]
)
def test_every_task_that_is_named_is_decided_on(
    project: Project, command: str, status: Status, words: tuple[str, ...], notes: list[str]
) -> None:
    make_two(project)
    left_out = ["--no-feedback"] if command == "reject" and not words else []
    ran = project.gt(command, "k7f2", "m3xq", *words, *left_out)
    assert ran.code == 0, ran.seen
    assert [line.partition("  ")[0] for line in ran.out.splitlines()] == ["k7f2", "m3xq"]
    for task_id in ("k7f2", "m3xq"):
        assert project.task(task_id).status is status
        if command in ("approve", "reject"):
            assert project.notes(task_id) == notes
        if notes and command == "cancel":
            assert project.task(task_id).closed_reason == notes[0]


def test_a_rejection_of_several_without_feedback_changes_none(project: Project) -> None:
    make_two(project)
    project.make("b2cd", status=Status.STUCK, awaiting=Awaiting.ESCALATION)
    tip = project.tip()
    ran = project.gt("reject", "b2cd", "m3xq", "k7f2")
    assert ran.code == 2
    assert ran.err.startswith("error: there is no feedback for the agent of `m3xq`\n")
    assert project.tip() == tip
    ran = project.gt("reject", "b2cd", "m3xq", "k7f2", "--no-feedback")
    assert ran.code == 0
    assert [project.task(one).status for one in ("b2cd", "m3xq")] == [Status.CANCELLED, Status.WORKING]


def test_each_task_is_a_change_of_its_own_and_reported_with_its_title(project: Project) -> None:
    make_two(project)
    before = project.tip()
    assert project.ok("cancel", "m3xq", "k7f2", "m3xq") == (
        f"m3xq  cancelled · {TITLE}\nk7f2  cancelled · {TITLE}\n"
    )
    subjects = git("log", "--format=%s", f"{before}..gitticks/state", at=project.path).splitlines()
    assert [subject.partition(":")[0] for subject in subjects] == ["k7f2", "m3xq"]
    assert project.ok("reopen", "m3xq", "k7f2") == (
        f"m3xq  cancelled → pending · {TITLE}\nk7f2  cancelled → pending · {TITLE}\n"
    )


def test_one_that_fails_keeps_no_other_back(project: Project) -> None:
    make_two(project)
    project.make("b2cd", status=Status.WORKING)
    make_reviewing(project, "q9zz")
    (project.path / "login.txt").write_text("mine, not committed\n")
    ran = project.gt("approve", "k7f2", "b2cd", "q9zz", "m3xq", "-m", "nice")
    assert ran.code == 3
    assert f"k7f2  done · {TITLE}\n" in ran.out
    assert "q9zz  approved; the merge waits: " in ran.out
    assert f"m3xq  done · {TITLE}\n" in ran.out
    assert ran.err.startswith("error: `b2cd` ")
    assert project.task("b2cd").status is Status.WORKING
    assert project.notes("b2cd") == []


def test_as_json_the_tasks_that_were_decided_on_are_one_object(project: Project) -> None:
    make_two(project)
    project.make("b2cd", status=Status.WORKING)
    ran = project.gt("approve", "k7f2", "b2cd", "m3xq", "--json")
    assert ran.code == 3
    assert [(one["id"], one["status"]) for one in json.loads(ran.out)["tasks"]] == [
        ("k7f2", "done"),
        ("m3xq", "done"),
    ]
    assert json.loads(ran.err)["error"]["exit"] == 3


@pytest.mark.parametrize("command", ["approve", "reject", "close", "cancel", "reopen"])
@pytest.mark.parametrize("words", [("k7f2", "gone", "m3xq"), ("k7f2", "m3xq", "zzzz", "-m", "nice")])
def test_where_one_is_unknown_nothing_happens(project: Project, command: str, words: tuple[str, ...]) -> None:
    make_two(project)
    if command == "reopen":
        words = words[: words.index("-m")] if "-m" in words else words
    project.save("k7f2", TITLE, "Saved by hand")
    tip = project.tip()
    ran = project.gt(command, *words)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: there is no task `")
    assert project.tip() == tip


@pytest.mark.parametrize("text", ["m3x", "m3xz"])
@pytest.mark.parametrize("command", ["approve", "reject", "close", "cancel"])
def test_a_text_that_may_be_a_task_is_refused_with_the_ways_to_say_it(
    project: Project, command: str, text: str
) -> None:
    make_two(project)
    tip = project.tip()
    assert project.gt(command, "k7f2", text).seen == (
        f"--- 2\nerror: `{text}` may be meant as the task `m3xq` ({TITLE})\n\n"
        f"hint: use `m3xq` for the task, `gt {command} k7f2 -m {text}` for the text\n"
    )
    assert project.tip() == tip
    assert project.gt(command, "k7f2", "-m", text).code == 0
    assert project.task("m3xq").awaiting is Awaiting.REVIEW


def test_a_last_word_that_is_spelled_as_only_ids_are_is_no_text(project: Project) -> None:
    make_two(project)
    tip = project.tip()
    assert project.gt("approve", "k7f2", "zzz9").seen == (
        "--- 2\nerror: there is no task `zzz9`\n\nhint: use `gt approve k7f2 -m zzz9` for the text\n"
    )
    assert project.tip() == tip
    for text in ("good", "py3", "gpt-5", "2026"):
        assert project.gt("approve", "k7f2", text).code == 0


@pytest.mark.parametrize("command", ["approve", "reject", "close", "cancel"])
def test_words_without_quotes_are_told_where_they_belong(project: Project, command: str) -> None:
    make_two(project)
    tip = project.tip()
    assert project.gt(command, "k7f2", "looks", "good").seen == (
        "--- 2\nerror: there is no task `looks`\n\n"
        f'hint: put a text of several words in quotes: `gt {command} k7f2 -m "…"`\n'
    )
    assert project.tip() == tip


DECIDING = [
    ("approve", "k7"),
    ("reject", "k7", "no"),
    ("close", "k"),
    ("cancel", "k"),
    ("reopen", "k7"),
    ("respond", "k7", "yes"),
    ("review", "k", "--accept"),
    ("review", "k", "--reject", "no"),
    ("update", "k", "--status", "cancelled"),
    ("update", "k", "--verdict", "approved"),
    ("merge", "k"),
    ("complete", "k"),
    ("stop", "k"),
]


@pytest.mark.parametrize("words", DECIDING)
def test_what_cannot_be_taken_back_needs_three_characters_of_an_id(
    project: Project, words: tuple[str, ...]
) -> None:
    project.make("k7f2", status=Status.REVIEWING, awaiting=Awaiting.REVIEW)
    tip = project.tip()
    assert project.gt(*words).seen == (
        f"--- 2\nerror: `{words[1]}` is too short: this needs at least 3 characters of an id\n\n"
        f"hint: did you mean `k7f2` ({TITLE})?\n"
    )
    assert project.tip() == tip


def test_three_characters_and_a_short_id_itself_are_enough(project: Project) -> None:
    make_two(project)
    project.make("a1")
    assert project.ok("cancel", "k7f", "a1") == f"k7f2  cancelled · {TITLE}\na1    cancelled · {TITLE}\n"
    assert project.ok("note", "m", "still by one") == "m3xq  note added\n"


def test_one_text_from_stdin_is_for_all_and_kept_if_it_is_refused(project: Project) -> None:
    make_two(project)
    project.make("b2cd", status=Status.WORKING)
    ran = project.gt("reject", "k7f2", "b2cd", "m3xq", "-m", "-", input="Add a test.\n")
    assert ran.code == 3
    assert [project.notes(one) for one in ("k7f2", "m3xq")] == [["Add a test."], ["Add a test."]]
    kept = Path(ran.err.split("your text is kept in `")[1].split("`")[0])
    assert kept.read_text() == "Add a test.\n"
