"""The board's hooks, called by real git: what a plain `git commit` there carries out."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from gitticks.board.journal import PendingKind, load_journal
from gitticks.git.follow import Follower
from gitticks.git.repository import discover
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId, task_path
from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Status, TaskType
from gitticks.store.branch import Store
from tests.support.boards import ENGINE
from tests.support.hand import Hand, commits_of, hand
from tests.support.projects import make_project, make_reviewing
from tests.support.repositories import fsck_problems, git, run_git_command
from tests.support.stores import change_task

__all__ = ["hand"]


QUESTION = "Text.\n\n## Questions\n\n### 2026-03-04T05:06:07Z · agent · claude\n\nWhich tone?\n"


def test_text_and_fields_stand_as_they_were_committed(hand: Hand) -> None:
    hand.edit("old", "new")
    hand.edit("title: Login", "title: The login")
    assert hand.commit().returncode == 0
    assert commits_of(hand, 1) == ["Ada Lovelace: by hand"]
    assert hand.project.task("k7f2").title.startswith("The login")
    assert hand.project.board_status() == ""


def test_a_commit_of_ours_that_is_amended_keeps_what_says_who_asked_for_it(hand: Hand) -> None:
    hand.edit("## Notes\n", "## Notes\n\nmine\n")
    assert hand.commit().returncode == 0
    trailers = "--format=%(trailers:only)"
    before = git("log", "-1", trailers, "gitticks/state", at=hand.project.path)
    assert "Actor: human Ada Lovelace" in before
    for words in ("again", "and again"):
        git("commit", "-q", "--amend", "-m", words, at=hand.project.board)
        assert git("log", "-1", "--format=%s", "gitticks/state", at=hand.project.path) == words
        assert git("log", "-1", trailers, "gitticks/state", at=hand.project.path) == before
    assert hand.project.board_status() == ""
    assert "no problems found" in hand.project.ok("doctor")


def test_a_commit_of_a_person_that_is_amended_gets_no_trailers(hand: Hand) -> None:
    hand.edit("old", "new")
    assert hand.commit().returncode == 0
    git("commit", "-q", "--amend", "-m", "mine", at=hand.project.board)
    assert git("log", "-1", "--format=%B", "gitticks/state", at=hand.project.path).strip() == "mine"


def test_a_verdict_counts_when_it_is_committed(hand: Hand) -> None:
    hand.project.change("k7f2", awaiting=Awaiting.WORK)
    hand.edit("awaiting: work", "awaiting: work\nverdict: approved")
    assert hand.project.task("k7f2").status is Status.PENDING
    done = hand.commit("--author=Grace Hopper <grace@example.org>")
    assert (done.returncode, done.stdout + done.stderr) == (0, "k7f2  done, by Grace Hopper\n")
    assert commits_of(hand, 2) == ["Grace Hopper: k7f2: pending → done", "Grace Hopper: by hand"]
    task = hand.project.task("k7f2")
    assert (task.status, task.verdict, task.awaiting) == (Status.DONE, None, None)
    given = [event for event in hand.project.events("k7f2") if event.type is EventType.VERDICT]
    assert {event.actor.name for event in given} == {"Grace Hopper"}
    assert hand.project.board_status() == ""
    assert fsck_problems(hand.project.path) == ""


def test_approved_code_is_left_to_the_merge(tmp_path: Path) -> None:
    hand = Hand(make_project(tmp_path))
    make_reviewing(hand.project)
    hand.edit("awaiting: review", "awaiting: review\nverdict: approved")
    done = hand.commit()
    assert done.stdout + done.stderr == "k7f2  approved by Ada Lovelace; `gt merge k7f2` merges it\n"
    assert hand.project.task("k7f2").is_merging
    hand.project.ok("merge", "k7f2")
    assert hand.project.task("k7f2").status is Status.DONE


def test_a_rejection_by_hand_is_said_as_one(tmp_path: Path) -> None:
    hand = Hand(make_project(tmp_path))
    make_reviewing(hand.project)
    hand.edit("awaiting: review", "awaiting: review\nverdict: rejected")
    done = hand.commit()
    assert done.stdout + done.stderr == "k7f2  rejected by Ada Lovelace; back to its agent\n"


def test_an_answer_typed_below_the_question_is_an_answer(tmp_path: Path) -> None:
    hand = Hand(make_project(tmp_path))
    hand.project.make("k7f2", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, body=QUESTION)
    hand.edit("awaiting: input", "awaiting: input\nverdict: approved")
    hand.edit("Which tone?\n", "Which tone?\n\nFriendly.\n")
    done = hand.commit()
    assert done.stdout + done.stderr == "k7f2  answered by Ada Lovelace; back to its agent\n"
    assert hand.project.file("k7f2").entries(Section.QUESTIONS)[-1].text == "Friendly."
    assert hand.project.task("k7f2").status is Status.WORKING


def test_an_answer_typed_below_the_first_of_two_questions_is_no_agents_word(tmp_path: Path) -> None:
    hand = Hand(make_project(tmp_path))
    asked = f"{QUESTION}\n### 2026-03-04T05:06:08Z · agent · claude\n\nWhich font?\n"
    hand.project.make("k7f2", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, body=asked)
    hand.edit("Which tone?\n", "Which tone?\n\nFriendly.\n")
    hand.project.ok("status")
    entries = hand.project.file("k7f2").entries(Section.QUESTIONS)
    assert [(one.name, one.text) for one in entries] == [
        ("claude", "Which tone?"),
        ("claude", "Which font?"),
        ("Ada Lovelace", "Friendly."),
    ]


@pytest.mark.parametrize("is_saved", [False, True])
def test_the_first_note_needs_no_heading_of_its_own(hand: Hand, *, is_saved: bool) -> None:
    """Nor does one of a task that is new; what is added below them is another."""
    file = hand.project.board_file("m3xq")
    file.parent.mkdir(parents=True)
    file.write_text("---\nid: m3xq\ntitle: Plan\nstatus: pending\n---\nText.\n\n## Notes\n\nMind the step.\n")
    take_up: Callable[[], object] = partial(hand.project.ok, "status") if is_saved else hand.commit
    hand.edit("## Notes\n", "## Notes\n\nMind the gap.\n")
    if not is_saved:
        git("add", ".", at=hand.project.board)
    take_up()
    for task_id, text in (("k7f2", "Mind the gap."), ("m3xq", "Mind the step.")):
        hand.edit(text, f"{text}\n\nAnd more.\n", task_id)
    take_up()
    for task_id, text in (("k7f2", "Mind the gap."), ("m3xq", "Mind the step.")):
        notes = hand.project.file(task_id).entries(Section.NOTES)
        assert [(note.name, note.text) for note in notes] == [
            ("Ada Lovelace", text),
            ("Ada Lovelace", "And more."),
        ]
        assert hand.project.file(task_id).summary == "Text."
    assert hand.project.board_status() == ""


@pytest.mark.parametrize(
    ("old", "new", "status", "awaiting"),
    [
        ("status: pending", "status: working", Status.WORKING, None),
        ("status: pending", "status: cancelled", Status.CANCELLED, None),
        ("status: pending", "status: clarification", Status.CLARIFICATION, Awaiting.INPUT),
        ("status: pending", "status: pending\nawaiting: work", Status.PENDING, Awaiting.WORK),
    ],
)
def test_a_status_written_by_hand_is_carried_out_with_all_that_belongs_to_it(
    hand: Hand, old: str, new: str, status: Status, awaiting: Awaiting | None
) -> None:
    hand.edit(old, new)
    hand.edit("old\n", "new\n")
    assert hand.commit().returncode == 0
    task = hand.project.task("k7f2")
    assert (task.status, task.awaiting) == (status, awaiting)
    assert (task.closed is not None) == status.is_terminal
    assert (task.asked_at is not None) == (awaiting is not None)
    assert hand.project.file("k7f2").section("Context") == "new"
    steps = [event for event in hand.project.events("k7f2") if event.to_status]
    assert [(step.from_status, step.to_status) for step in steps] == (
        [(Status.PENDING, status)] if status is not Status.PENDING else []
    )
    assert hand.project.board_status() == ""


def test_sections_are_archived_as_by_a_command(tmp_path: Path) -> None:
    hand = Hand(make_project(tmp_path))
    body = "Text.\n\n## Handoff\n\nold hand-off\n"
    hand.project.make("k7f2", status=Status.STUCK, awaiting=Awaiting.ESCALATION, failed_reviews=2, body=body)
    hand.edit("status: stuck\nawaiting: escalation", "status: working")
    assert hand.commit().returncode == 0
    task = hand.project.task("k7f2")
    assert (task.status, task.awaiting, task.failed_reviews) == (Status.WORKING, None, 0)
    assert hand.project.store.read("tasks/f2/k7f2/rounds/01-handoff.md") == b"old hand-off"
    assert hand.project.board_status() == ""


def test_a_new_task_by_hand(hand: Hand) -> None:
    for task_id, more in (("e0pc", "type: epic\n"), ("m3xq", "parent: e0pc\nlabels: [a]\nawaiting: work\n")):
        file = hand.project.board_file(task_id)
        file.parent.mkdir(parents=True)
        file.write_text(f"---\nid: {task_id}\ntitle: New\nstatus: pending\n{more}---\n\nText.\n")
    git("add", ".", at=hand.project.board)
    done = hand.commit()
    assert sorted((done.stdout + done.stderr).splitlines()) == ["e0pc  created", "m3xq  created"]
    task = hand.project.task("m3xq")
    assert (task.parent, task.created_by, task.created is not None) == ("e0pc", "Ada Lovelace", True)
    assert hand.project.events("m3xq")[0].type is EventType.CREATED
    assert hand.project.board_status() == ""


@pytest.mark.parametrize("how", [("-a",), (), ("--", "tasks/f2/k7f2/TASK.md")])
def test_a_commit_on_a_board_that_lags_behind_takes_nothing_back(hand: Hand, how: tuple[str, ...]) -> None:
    """Whatever git makes the commit's index of: the files stay as they are until it is made."""
    project = hand.project
    project.make("m3xq")
    behind = Store(discover(project.path))
    change_task(behind, "k7f2", priority=0)
    change_task(behind, "m3xq", priority=1)
    behind.transact(lambda transaction: transaction.write("notes.md", b"new\n"), author=ENGINE)
    file = project.board_file("k7f2")
    file.write_text(file.read_text().replace("old", "new"))
    if not how:
        git("add", ".", at=project.board)
    done = run_git_command("commit", "-qm", "mine", *how, at=project.board)
    assert (done.returncode, done.stderr) == (0, "")
    assert git("show", "--format=", "--name-only", "gitticks/state", at=project.path) == task_path(
        TaskId("k7f2")
    )
    assert (project.task("k7f2").priority, project.task("m3xq").priority) == (0, 1)
    assert project.file("k7f2").section("Context") == "new"
    project.ok("status")
    assert project.board_status() == ""
    assert file.read_bytes() == project.file("k7f2").data


@pytest.mark.parametrize("all_of_it", [True, False])
def test_a_file_that_was_saved_as_a_command_wrote_to_it_is_joined_and_committed(
    hand: Hand, all_of_it: bool
) -> None:
    file = hand.project.board_file("k7f2")
    ahead = datetime.now(UTC) + timedelta(seconds=5)
    file.write_text(file.read_text().replace("old", "new"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Follower, "_is_being_written", lambda *_: True)
        hand.project.change("k7f2", priority=3, updated=ahead)
    pending = load_journal(discover(hand.project.path)).pending
    assert [one.kind for one in pending.values()] == [PendingKind.DEFERRED]
    if not all_of_it:
        git("add", ".", at=hand.project.board)
    done = run_git_command("commit", "-qm", "mine", *(["-a"] if all_of_it else []), at=hand.project.board)
    assert (done.returncode, done.stderr) == (0, "")
    assert hand.project.task("k7f2").priority == 3
    assert hand.project.file("k7f2").section("Context") == "new"
    hand.project.ok("status")
    assert hand.project.board_status() == ""


def test_a_buffer_that_is_older_than_a_note_is_joined_and_committed(hand: Hand) -> None:
    file = hand.project.board_file("k7f2")
    buffer = file.read_text().replace("old", "new")
    hand.project.ok("note", "k7f2", "Mind the gap.")
    hand.project.change("k7f2", priority=0, updated=datetime.now(UTC) + timedelta(seconds=5))
    file.write_text(buffer)
    done = run_git_command("commit", "-qam", "mine", at=hand.project.board)
    assert (done.returncode, done.stderr) == (0, "")
    assert (hand.project.task("k7f2").priority, hand.project.notes("k7f2")) == (0, ["Mind the gap."])
    assert hand.project.file("k7f2").section("Context") == "new"
    assert hand.project.board_status() == ""


def test_a_child_moved_by_hand_returns_its_new_epic_to_work(hand: Hand) -> None:
    hand.project.make("e0pc", type=TaskType.EPIC, status=Status.REVIEWING, awaiting=Awaiting.REVIEW)
    hand.edit("status: pending", "status: pending\nparent: e0pc")
    assert hand.commit().returncode == 0
    assert hand.project.task("e0pc").status is Status.WORKING


@pytest.mark.parametrize(
    "name", ["post-merge", "post-checkout", "post-rewrite", "pre-merge-commit", "pre-commit"]
)
def test_hooks_with_nothing_to_do_say_nothing(hand: Hand, name: str) -> None:
    assert hand.project.gt("hook", name, at=hand.project.board).seen == "--- 0\n"


def test_an_unknown_hook_is_wrong_usage(hand: Hand) -> None:
    assert hand.project.gt("hook", "pre-rebase").code == 2


@pytest.mark.parametrize("how", ["committed", "saved", "edited"])
def test_a_field_with_a_typing_error_is_named_once_and_kept(hand: Hand, how: str) -> None:
    told = ".gitticks/tasks/f2/k7f2/TASK.md:5: `priorty` is not a field and is ignored: did you mean `priority`?\n"
    if how == "edited":
        editor = {"GIT_EDITOR": "sed -i 's/^status: pending$/&\\npriorty: 1/'"}
        said = hand.project.gt("edit", "k7f2", environment=editor).err
    else:
        hand.edit("status: pending", "status: pending\npriorty: 1")
        said = hand.commit().stderr if how == "committed" else hand.project.gt("status").err
    assert said.count(told) == 1
    assert "warning" not in hand.project.gt("status").err
    assert "priorty: 1\n" in hand.project.board_file("k7f2").read_text()
    assert hand.project.board_status() == ""


@pytest.mark.parametrize("how", ["committed", "saved", "edited"])
def test_a_section_that_was_typed_once_more_is_named_once(hand: Hand, how: str) -> None:
    hand.project.ok("note", "k7f2", "Seen.")
    if how == "edited":
        editor = {"GIT_EDITOR": "sed -i 's/^Seen[.]$/&\\n\\n## Notes\\n\\nHurry./'"}
        said = hand.project.gt("edit", "k7f2", environment=editor).err
    else:
        hand.edit("Seen.\n", "Seen.\n\n## Notes\n\nHurry.\n")
        said = hand.commit().stderr if how == "committed" else hand.project.gt("status").err
    assert said.count(": only the last one counts\n") == 1, said
    assert "warning" not in hand.project.gt("status").err
    assert "\nHurry.\n" in hand.project.board_file("k7f2").read_text()


def _half_written(hand: Hand, text: str) -> subprocess.CompletedProcess[str]:
    """Commits while an editor is in the middle of writing a file: git reads half, and the hook finds the whole."""
    file = hand.project.board_file("k7f2")
    own = hand.project.path / ".git/hooks/pre-commit"  # it runs before ours, when git has read the files
    own.write_text(f"#!/bin/sh\ncat >'{file}' <<'END'\n{text}END\n")
    own.chmod(0o755)
    file.write_text(text[: len(text) // 2])
    done = hand.commit()
    own.unlink()
    return done


def test_half_a_file_is_never_committed(hand: Hand) -> None:
    hand.project.ok("note", "k7f2", "Mind the gap.")
    whole = hand.project.file("k7f2").data.decode().replace("old", "new")
    done = _half_written(hand, whole)
    assert (done.returncode, done.stderr) == (0, "")
    assert hand.project.file("k7f2").data.decode() == whole
    assert hand.project.board_status() == ""


def test_parts_that_a_person_chose_are_committed_alone(hand: Hand) -> None:
    hand.edit("title: Login", "title: The login")
    hand.edit("old", "new")
    done = run_git_command("commit", "-qpm", "part", at=hand.project.board, input="y\nn\n")
    assert done.returncode == 0, done.stderr
    assert hand.project.task("k7f2").title.startswith("The login")
    assert hand.project.file("k7f2").section("Context") == "old"
    assert "new" in hand.project.board_file("k7f2").read_text()


@pytest.mark.parametrize("is_committed", [True, False])
def test_what_a_cancelled_epic_leaves_on_its_branch_is_named(hand: Hand, *, is_committed: bool) -> None:
    project, branch = hand.project, "gitticks/work/k7f2"
    start, end = "a" * 40, "b" * 40
    change_task(project.store, "k7f2", type=TaskType.EPIC, branch=branch, awaiting=Awaiting.ESCALATION)
    project.make(
        "m3xq", parent="k7f2", status=Status.DONE, branch=branch, base="main", start_sha=start, end_sha=end
    )
    if is_committed:
        hand.edit("awaiting: escalation", "awaiting: escalation\nverdict: rejected")
        said = hand.commit().stderr
    else:
        hand.edit("status: pending\n", "status: cancelled\n")
        said = project.gt("status").err
    assert project.task("k7f2").status is Status.CANCELLED
    assert f"the code of `m3xq` is on `{branch}` alone" in said
