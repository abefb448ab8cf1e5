from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gitticks.actions import inbox
from gitticks.model.event import ENGINE, Actor, Event, EventType
from gitticks.model.status import ActorKind, Awaiting, Role, Status
from tests.cli.support import gt, gt_on_terminal
from tests.support.projects import Project, make_project, make_reviewing
from tests.support.repositories import commit_file, git
from tests.support.stores import NOW, make_queue, make_store, make_task, write_task_file

CODEX = Actor(ActorKind.AGENT, "codex", Role.REVIEWER)
REVIEWED = "## Handoff\n\nDONE: all\n\n## Review\n\nPASS\n\nFine.\n"
QUESTION = """\
## Questions

### 2026-03-04T05:58:00Z · agent · claude

Which tone: friendly or formal?
The page has both now, and whoever reads it must believe that two people wrote it.

One more thing.
And another one.
"""
NOTE = (
    "## Notes\n\n### 2026-03-04T05:00:00Z · agent · claude\n\nThe token has to be made in the web console.\n"
)


def make_inbox(path: Path) -> Project:
    """Makes a project in which a person is asked for five things, one of them somebody else."""
    project = make_project(path)
    stuck = Event(EventType.ADVANCED, NOW, ENGINE, Status.WORKING, Status.STUCK, "crashed twice")
    reviewed = Event(EventType.SESSION_ENDED, NOW, CODEX, data={"role": "reviewer", "ending": "clean"})
    waits: dict[str, Any] = {"asked_at": NOW - timedelta(hours=3)}
    make_reviewing(project, body=REVIEWED, events=[reviewed], asked_at=NOW - timedelta(seconds=10))
    project.make(
        "m3xq", title="Rename the error page", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT,
        asked_at=NOW - timedelta(minutes=2), body=QUESTION,
    )  # fmt: skip
    project.make(
        "st0k", title="Upload of large files", priority=1, status=Status.STUCK, awaiting=Awaiting.ESCALATION,
        events=[stuck], **waits,
    )  # fmt: skip
    project.make(
        "w0rk", title="Press the button", status=Status.WORKING, awaiting=Awaiting.WORK, body=NOTE, **waits
    )
    project.make(
        "gr4c", title="Judge the words", priority=0, status=Status.REVIEWING, awaiting=Awaiting.CONTENT,
        reviewer="Grace", **waits,
    )  # fmt: skip
    project.make("fr3e", title="Nobody is asked")
    return project


WHOLE = """\
! st0k  Upload of large files                          escalation, asked 3 h ago
        stuck: crashed twice
        gt show st0k · gt respond st0k "…" · gt cancel st0k
◐ w0rk  Press the button                                         work, waits 3 h
        The token has to be made in the web console.
        gt start w0rk · gt close w0rk
? m3xq  Rename the error page                             input, asked 2 min ago
        Which tone: friendly or formal?
        The page has both now, and whoever reads it must believe that two people wrote it.
        One more thing.
        … 1 more line: `gt show m3xq`
        gt respond m3xq "…"
⊙ k7f2  Login loses the return URL                            review, waits 10 s
        review PASS by codex, 1 file, +1 -0, merges cleanly into main
        gt review k7f2 · gt approve k7f2 · gt reject k7f2 "…"
"""
NARROW = """\
! st0k  Upload of large files
  escalation, asked 3 h ago
  stuck: crashed twice
  gt show st0k · gt respond st0k "…"
  gt cancel st0k
◐ w0rk  Press the button
  work, waits 3 h
  The token has to be made in the web
  console.
  gt start w0rk · gt close w0rk
? m3xq  Rename the error page
  input, asked 2 min ago
  Which tone: friendly or formal?
  The page has both now, and whoever
  reads it must believe that two people
  wrote it.
  One more thing.
  … 1 more line: `gt show m3xq`
  gt respond m3xq "…"
⊙ k7f2  Login loses the return URL
  review, waits 10 s
  review PASS by codex, 1 file, +1 -0,
  merges cleanly into main
  gt review k7f2 · gt approve k7f2
  gt reject k7f2 "…"
"""
OTHERS = "1 task is waiting for others: `gt inbox --all`\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make_inbox(tmp_path_factory.mktemp("inbox") / "project")


def test_all_that_awaits_me_the_most_urgent_first(project: Project) -> None:
    assert gt("inbox", at=project.path, now=NOW).seen == f"{WHOLE}{OTHERS}--- 0\n"


def test_forty_columns(project: Project) -> None:
    assert gt("inbox", at=project.path, now=NOW, columns=40).out == NARROW + OTHERS


def test_wide_terminals_put_the_age_at_their_edge(project: Project) -> None:
    lines = gt("inbox", at=project.path, now=NOW, columns=120).out.splitlines()
    assert lines[0].startswith("! st0k  Upload of large files")
    assert lines[0].endswith("escalation, asked 3 h ago")
    assert len(lines[0]) == 120


def test_a_terminal_without_our_signs_gets_their_twins(project: Project) -> None:
    out = gt("inbox", at=project.path, now=NOW, columns=80, encoding="ascii").out
    assert "@ k7f2  Login loses the return URL" in out
    assert 'gt review k7f2 - gt approve k7f2 - gt reject k7f2 "..."' in out
    assert out.isascii()


def test_colour_only_repeats_what_the_words_say(project: Project) -> None:
    coloured = gt_on_terminal("inbox", at=project.path, columns=100).out
    plain = gt_on_terminal("inbox", at=project.path, columns=100, environment={"NO_COLOR": "1"}).out
    assert "\x1b[2mgt start w0rk" in coloured
    assert "\x1b" not in plain


def test_what_awaits_others_comes_last_and_only_when_asked_for(project: Project) -> None:
    ran = gt("inbox", "--all", at=project.path, now=NOW)
    assert ran.out == (
        f"{WHOLE}"
        "⊙ gr4c  Judge the words                                       content, waits 3 h\n"
        "        for Grace\n"
        '        gt review gr4c · gt approve gr4c · gt reject gr4c "…"\n'
    )


def test_grace_has_an_inbox_of_her_own(project: Project) -> None:
    grace = {"GIT_AUTHOR_NAME": "Grace Hopper", "GIT_AUTHOR_EMAIL": "grace@example.org"}
    ran = gt("inbox", at=project.path, now=NOW, environment=grace)
    assert ran.out.startswith("⊙ gr4c")
    assert ran.out.count("gt show st0k") == 1


def test_whom_git_does_not_know_gets_everything(project: Project, tmp_path: Path) -> None:
    nobody = {"GIT_CONFIG_GLOBAL": str(tmp_path / "none"), "HOME": str(tmp_path)}
    assert gt("inbox", at=project.path, now=NOW, environment=nobody).out.startswith("⊙ gr4c")


def test_a_count_leaves_the_less_urgent_out_and_says_so(project: Project) -> None:
    ran = gt("inbox", "-n", "1", at=project.path, now=NOW)
    assert ran.out.splitlines()[0].startswith("! st0k")
    assert ran.out.splitlines()[-1] == "… 3 more, less urgent: `gt inbox -n 4`"
    everybody = gt("inbox", "--all", "-n", "1", at=project.path, now=NOW)
    assert everybody.out.splitlines()[-1] == "… 4 more, less urgent: `gt inbox --all -n 5`"
    wrong = gt("inbox", "-n", "0", at=project.path)
    assert wrong.seen == "--- 2\nerror: `0` is not a number from 1 up\n\nhint: write a number such as 20\n"


def test_json_has_all_of_it(project: Project) -> None:
    tasks = json.loads(gt("inbox", "--all", "--json", at=project.path, now=NOW).out)["tasks"]
    assert [task["id"] for task in tasks] == ["st0k", "w0rk", "m3xq", "k7f2", "gr4c"]
    assert [task["mine"] for task in tasks] == [True, True, True, True, False]
    stuck, work, asks, review, _ = tasks
    assert stuck["said"] == "crashed twice"
    assert stuck["commands"] == ["gt show st0k", 'gt respond st0k "…"', "gt cancel st0k"]
    assert work["said"] == "The token has to be made in the web console."
    assert asks["open_questions"][0]["text"].startswith("Which tone")
    assert review["review"] == {"outcome": "pass", "by": "codex", "text": "PASS\n\nFine."}
    assert review["changes"] == {"files": 1, "added": 1, "removed": 0, "conflicts": []}
    assert asks["review"] is None
    assert asks["changes"] is None


def test_a_conflict_with_the_base_is_named(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    make_reviewing(project, body="## Review\n\nlooks fine\n")
    commit_file(project.path, "login.txt", "another\n", "the same file")
    out = project.ok("inbox", now=NOW)
    assert (
        "        review without a verdict:\n        looks fine\n"
        "        1 file, +1 -0, conflicts with main in login.txt\n"
    ) in out


def test_work_whose_branch_has_commits_since_the_hand_off_does_not_merge_cleanly(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    commit_file(make_reviewing(project), "more.txt", "more\n", "more")
    says = "1 file, +1 -0, new commits since it was handed off\n"
    assert f"        {says}" in project.ok("inbox", now=NOW)
    assert says in project.ok("review", "k7f2", "--stat")
    assert json.loads(gt("review", "k7f2", "--json", at=project.path).out)["review"]["conflicts"] is None


def test_why_a_review_failed_is_reported(tmp_path: Path) -> None:
    reviewed = Event(EventType.SESSION_ENDED, NOW, CODEX, data={"role": "reviewer", "ending": "clean"})
    make_task(
        make_store(tmp_path),
        id="k7f2",
        status=Status.REVIEWING,
        awaiting=Awaiting.REVIEW,
        body="## Review\n\n**FAIL**\n\n- The empty case\n- \x1b[31mis not tested\n- at all\n",
        events=[reviewed],
    )
    assert gt("inbox", at=tmp_path).out.splitlines()[1:6] == [
        "        review FAIL by codex:",
        "        - The empty case",
        "        - \\x1b[31mis not tested",
        "        … 1 more line: `gt show k7f2`",
        "        rejected in its last round, so no agent continues by itself",
    ]


@pytest.mark.parametrize(
    ("noted", "shown"),
    [
        ({"04:50": "An older word."}, ""),
        ({"05:30": "It drops a column."}, "It drops a column."),
        ({"05:10": "First.", "05:40": "Then more.", "05:50": "The reviewer's."}, "Then more."),
    ],
)
def test_what_the_worker_said_at_the_hand_off_is_shown_to_who_judges_the_work(
    tmp_path: Path, noted: dict[str, str], shown: str
) -> None:
    project = make_project(tmp_path / "project")
    steps = [(Status.PENDING, Status.WORKING, 55), (Status.WORKING, Status.AGENT_REVIEW, 15)]
    moves = [
        Event(EventType.ADVANCED, NOW - timedelta(minutes=minutes), ENGINE, source, target)
        for source, target, minutes in [*steps, (Status.AGENT_REVIEW, Status.REVIEWING, 5)]
    ]
    notes = "".join(
        f"### 2026-03-04T{time}:00Z · agent · claude\n\n{text}\n\n" for time, text in noted.items()
    )
    make_reviewing(
        project, body=f"{REVIEWED}\n## Notes\n\n{notes}", events=moves, awaiting=Awaiting.APPROVAL,
        asked_at=NOW - timedelta(minutes=5),
    )  # fmt: skip
    assert json.loads(gt("inbox", "--json", at=project.path).out)["tasks"][0]["said"] == shown


def test_only_the_first_are_compared_with_their_base(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "MOST_COMPARED", 0)
    assert "merges cleanly" not in project.ok("inbox", now=NOW)
    monkeypatch.undo()
    monkeypatch.setattr(inbox, "MOST_SECONDS", 0)
    assert "merges cleanly" not in project.ok("inbox", now=NOW)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "nothing is waiting for you: `gt status` shows what is running\n"),
        (
            {"status": Status.REVIEWING, "awaiting": Awaiting.REVIEW, "reviewer": "Grace"},
            "nothing is waiting for you; 1 task is waiting for others: `gt inbox --all`\n",
        ),
        (
            {"status": Status.DONE, "awaiting": Awaiting.REVIEW},
            "nothing is waiting for you: `gt status` shows what is running\n",
        ),
    ],
)
def test_an_empty_inbox_says_so_on_stderr(tmp_path: Path, fields: dict[str, Any], said: str) -> None:
    make_task(make_store(tmp_path), **fields)
    assert gt("inbox", at=tmp_path).seen == f"--- 0\n{said}"
    assert gt("inbox", "--json", at=tmp_path).out.startswith('{"schema": 1, "tasks": [') or not said


def test_what_is_stuck_is_there_even_if_nobody_is_asked(tmp_path: Path) -> None:
    make_task(make_store(tmp_path), id="k7f2", status=Status.STUCK)
    out = gt("inbox", at=tmp_path).out
    assert out.splitlines()[0].endswith("  stuck")
    assert "gt show k7f2 · gt update k7f2 --status working · gt cancel k7f2" in out


def test_nothing_in_it_can_steer_the_screen(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    body = QUESTION.replace("Which tone", "\x1b[2J\u202eWhich tone 🎉 日本 e\u0301")
    make_task(
        store, "a\x1b[31m\u202eb", id="k7f2", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, body=body
    )  # fmt: skip
    for columns in (None, 20, 40, 120):
        out = gt("inbox", at=tmp_path, columns=columns).out
        assert "\x1b" not in out
        assert "\u202e" not in out


def test_a_broken_file_is_named_and_the_others_are_there(tmp_path: Path) -> None:
    store = make_queue(tmp_path)
    write_task_file(store, "br0k", "---\nid: br0k\ntitle: [\n---\n")
    ran = gt("inbox", at=tmp_path, now=NOW)
    assert ran.out.startswith("⊙ r3vw")
    assert "warning: .gitticks/tasks/0k/br0k/TASK.md" in ran.err


def test_what_a_person_is_to_merge_names_the_branch(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.ok("config", "merge.mode", "manual")
    make_reviewing(project)
    project.ok("approve", "k7f2")
    branch = project.task("k7f2").branch
    assert branch is not None
    ran = project.gt("inbox")
    assert ran.out.splitlines()[-1].strip() == f'git merge {branch} && gt status · gt close k7f2 "…"'
    assert project.gt("list", "--awaiting").out.splitlines()[-1] == ran.out.splitlines()[-1]
    said = json.loads(project.gt("inbox", "--json").out)
    assert said["tasks"][0]["commands"][0] == f"git merge {branch} && gt status"
    git("merge", "-q", "--no-edit", branch, at=project.path)
    project.ok("status")
    assert project.gt("inbox").out == ""
    assert project.task("k7f2").status is Status.DONE
