"""The board's hooks, called by real git: what a plain `git commit` there refuses, and what it carries out."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitticks.model.event import EventType
from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Status, TaskType
from tests.support.clones import make_clones
from tests.support.projects import Project, make_project, make_reviewing
from tests.support.repositories import fsck_problems, git, run_git_command

QUESTION = "Text.\n\n## Questions\n\n### 2026-03-04T05:06:07Z · agent · claude\n\nWhich tone?\n"


@dataclass(frozen=True, slots=True)
class Hand:
    """A person who edits on the board and commits with plain git."""

    project: Project

    def edit(self, old: str, new: str, task_id: str = "k7f2") -> None:
        """Replaces a text in a task's file on the board."""
        file = self.project.board_file(task_id)
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))

    def commit(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Commits everything that was edited."""
        return run_git_command("commit", "-qam", "by hand", *options, at=self.project.board)

    def refused(self, *options: str) -> str:
        """Commits, which must fail and move nothing; returns what was said."""
        tip = self.project.tip()
        done = self.commit(*options)
        assert done.returncode != 0
        assert self.project.tip() == tip
        return done.stderr


@pytest.fixture
def hand(tmp_path: Path) -> Hand:
    project = make_project(tmp_path)
    project.make("k7f2", body="Text.\n\n## Context\n\nold\n\n## Notes\n")
    return Hand(project)


def _log(hand: Hand, count: int) -> list[str]:
    return git("log", f"-{count}", "--format=%an: %s", "gitticks/state", at=hand.project.path).splitlines()


def test_text_and_fields_stand_as_they_were_committed(hand: Hand) -> None:
    hand.edit("old", "new")
    hand.edit("title: Login", "title: The login")
    assert hand.commit().returncode == 0
    assert _log(hand, 1) == ["Ada Lovelace: by hand"]
    assert hand.project.task("k7f2").title.startswith("The login")
    assert hand.project.board_status() == ""


def test_a_verdict_counts_when_it_is_committed(hand: Hand) -> None:
    hand.project.change("k7f2", awaiting=Awaiting.WORK)
    hand.edit("awaiting: work", "awaiting: work\nverdict: approved")
    assert hand.project.task("k7f2").status is Status.PENDING
    done = hand.commit("--author=Grace Hopper <grace@example.org>")
    assert (done.returncode, done.stdout + done.stderr) == (0, "k7f2  done, by Grace Hopper\n")
    assert _log(hand, 2) == ["Grace Hopper: k7f2: pending → done", "Grace Hopper: by hand"]
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


def test_an_answer_typed_below_the_question_is_an_answer(tmp_path: Path) -> None:
    hand = Hand(make_project(tmp_path))
    hand.project.make("k7f2", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, body=QUESTION)
    hand.edit("awaiting: input", "awaiting: input\nverdict: approved")
    hand.edit("Which tone?\n", "Which tone?\n\nFriendly.\n")
    done = hand.commit()
    assert done.stdout + done.stderr == "k7f2  answered by Ada Lovelace; back to its agent\n"
    assert hand.project.file("k7f2").entries(Section.QUESTIONS)[-1].text == "Friendly."
    assert hand.project.task("k7f2").status is Status.WORKING


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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("status: pending", "status: done", "tasks/f2/k7f2/TASK.md: `k7f2` cannot go from pending to done"),
        ("status: pending", "status: pnding", "tasks/f2/k7f2/TASK.md:4:9: `status` is not one of"),
        ("status: pending", "status: [", "tasks/f2/k7f2/TASK.md:"),
        ("id: k7f2", "id: m3xq", "tasks/f2/k7f2/TASK.md:2: `id` is `m3xq`, but the folder is that of `k7f2`"),
        (
            "status: pending",
            "status: pending\nend_sha: abcdef0",
            "TASK.md:5: `end_sha` is written by gitticks alone",
        ),
        (
            "status: pending",
            "status: pending\nverdict: approved",
            "TASK.md: `k7f2` awaits nobody: it is pending",
        ),
        ("status: pending", "status: pending\nblocked_by: [k7f2]", "TASK.md: `k7f2` would wait for itself"),
        ("status: pending", "status: pending\nparent: nope", "TASK.md: there is no task `nope`"),
        ("old", "<<<<<<< ours\nold\n=======\nnew\n>>>>>>> theirs", "TASK.md:14: holds conflict markers"),
        ("---\nid", "id", "tasks/f2/k7f2/TASK.md:1:1: there is no frontmatter"),
    ],
)
def test_what_a_commit_refuses(hand: Hand, old: str, new: str, message: str) -> None:
    hand.edit(old, new)
    said = hand.refused()
    assert f"error: {message}" in said or message in said
    assert "hint: " in said
    hand.refused()


def test_every_file_is_named(hand: Hand) -> None:
    hand.project.make("m3xq")
    hand.edit("status: pending", "status: done")
    hand.edit("status: pending", "status: done", "m3xq")
    said = hand.refused()
    assert "tasks/f2/k7f2/TASK.md" in said
    assert "tasks/xq/m3xq/TASK.md" in said


def test_only_what_is_staged_is_judged(hand: Hand) -> None:
    hand.project.make("m3xq")
    hand.edit("old", "new")
    git("add", ".", at=hand.project.board)
    hand.edit("status: pending", "status: done", "m3xq")
    assert run_git_command("commit", "-qm", "one", at=hand.project.board).returncode == 0
    assert hand.project.task("m3xq").status is Status.PENDING
    assert "M tasks/xq/m3xq/TASK.md" in hand.project.board_status()


@pytest.mark.parametrize("name", ["history.jsonl", "config.yaml"])
def test_other_files_are_looked_at_too(hand: Hand, name: str) -> None:
    folder = hand.project.board if name == "config.yaml" else hand.project.board_file("k7f2").parent
    with (folder / name).open("a") as file:
        file.write("nonsense: [\n")
    assert name in hand.refused()


def test_a_task_is_not_removed_or_moved_and_no_link(hand: Hand) -> None:
    board = hand.project.board
    git("rm", "-q", "tasks/f2/k7f2/TASK.md", at=board)
    assert "a task is not removed, but cancelled" in hand.refused()
    git("reset", "-q", "--hard", at=board)
    git("mv", "tasks/f2", "tasks/zz", at=board)
    assert "lies in the wrong folder" in hand.refused()
    git("reset", "-q", "--hard", at=board)
    file = hand.project.board_file("k7f2")
    file.unlink()
    file.symlink_to("/etc/hostname")
    assert "is a link or a submodule" in hand.refused()


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


def test_a_new_task_cannot_be_born_closed_or_approved(hand: Hand) -> None:
    file = hand.project.board_file("m3xq")
    file.parent.mkdir(parents=True)
    file.write_text("---\nid: m3xq\ntitle: New\nstatus: done\n---\n")
    git("add", ".", at=hand.project.board)
    assert "so it cannot be done already" in hand.refused()


def test_past_the_checks_what_is_refused_is_put_back_and_told(hand: Hand) -> None:
    hand.edit("status: pending", "status: done\nreview_round: 7")
    hand.edit("old", "new")
    done = hand.commit("--no-verify")
    assert done.returncode == 0
    assert "`k7f2` cannot go from pending to done" in done.stderr
    task = hand.project.task("k7f2")
    assert (task.status, task.review_round) == (Status.PENDING, 0)
    assert hand.project.file("k7f2").section("Context") == "new"
    assert hand.project.events("k7f2")[-1].type is EventType.WARNED
    assert hand.project.board_status() == ""


def test_a_broken_file_past_the_checks_is_mended_by_the_next_commit(hand: Hand) -> None:
    hand.edit("status: pending", "status: [")
    assert hand.commit("--no-verify").returncode == 0
    hand.edit("status: [", "status: pending")
    assert hand.commit().returncode == 0
    assert hand.project.task("k7f2").status is Status.PENDING


def test_an_amended_commit_is_compared_with_what_it_amends(hand: Hand) -> None:
    hand.project.ok("update", "k7f2", "--status", "working")
    hand.edit("old", "new")
    assert hand.commit("--amend").returncode == 0
    assert hand.project.task("k7f2").status is Status.WORKING
    assert [event.type for event in hand.project.events("k7f2")].count(EventType.WARNED) == 0
    assert hand.project.file("k7f2").section("Context") == "new"


MOST_TRIES = 20


def test_a_board_that_lags_behind_is_synchronised_first(hand: Hand) -> None:
    from gitticks.git.repository import discover
    from gitticks.store.branch import Store
    from tests.support.stores import change_task

    change_task(Store.open(discover(hand.project.path)), "k7f2", priority=0)
    file = hand.project.board_file("k7f2")
    file.write_text(file.read_text().replace("old", "new"))
    git("add", ".", at=hand.project.board)
    first = run_git_command("commit", "-qm", "mine", at=hand.project.board)
    assert first.returncode != 0
    assert "git commit` again" in first.stderr
    again: list[subprocess.CompletedProcess[str]] = []
    while not again or again[-1].returncode != 0:
        assert len(again) < MOST_TRIES, again
        # A file saved a moment ago is left alone for that moment, and the commit that comes too early is refused again.
        hand.project.ok("status")
        git("add", ".", at=hand.project.board)
        again.append(run_git_command("commit", "-qm", "mine", at=hand.project.board))
    assert hand.project.task("k7f2").priority == 0
    assert hand.project.file("k7f2").section("Context") == "new"


def test_an_agent_gives_no_verdict_by_hand_either(hand: Hand) -> None:
    hand.project.change("k7f2", awaiting=Awaiting.WORK)
    hand.edit("awaiting: work", "awaiting: work\nverdict: approved")
    tip = hand.project.tip()
    done = run_git_command(
        "commit", "-qam", "yes", at=hand.project.board, environment={"GITTICKS_AGENT": "1"}
    )
    assert done.returncode != 0
    assert "only a person can give a verdict" in done.stderr
    assert hand.project.tip() == tip


def test_a_revert_and_a_merge_are_no_requests(hand: Hand) -> None:
    board = hand.project.board
    hand.edit("old", "new")
    hand.commit()
    assert run_git_command("revert", "--no-edit", "HEAD", at=board).returncode == 0
    assert hand.project.file("k7f2").section("Context") == "old"


def test_a_merge_of_what_another_clone_did_passes(hand: Hand, tmp_path: Path) -> None:
    ours, theirs = make_clones(tmp_path / "clones", hand.project, 2)
    theirs.ok("note", "k7f2", "theirs")
    created = theirs.create("Theirs")
    assert theirs.push().returncode == 0
    assert ours.create("Ours") != created
    pulled = ours.pull()
    assert pulled.returncode == 0, pulled.stderr
    assert ours.notes("k7f2") == ["theirs"]
    assert {"Theirs", "Ours"} < {task.title for task in ours.store.snapshot().all_tasks().values()}
    assert ours.board_status() == ""
    assert fsck_problems(ours.path) == ""


def test_a_merge_loses_nothing_that_was_committed_while_it_ran(hand: Hand, tmp_path: Path) -> None:
    ours, theirs = make_clones(tmp_path / "clones", hand.project, 2)
    theirs.create("Theirs")
    assert theirs.push().returncode == 0
    index = Path(git("rev-parse", "--path-format=absolute", "--git-path", "index", at=ours.board))
    ours.create("Ours")
    git("fetch", "-q", "origin", "gitticks/state", at=ours.board)
    git("merge", "-q", "--no-commit", "FETCH_HEAD", at=ours.board)
    as_git_has_it = index.read_bytes()
    created = ours.create("Meanwhile")
    ours.ok("note", "k7f2", "meanwhile")
    index.write_bytes(as_git_has_it)
    tip = ours.tip()
    refused = run_git_command("commit", "-q", "--no-edit", at=ours.board)
    assert refused.returncode != 0
    assert "tasks/f2/k7f2/history.jsonl: 1 of its events would be lost" in refused.stderr
    assert f"{created}/history.jsonl: 1 of its events would be lost" in refused.stderr
    assert ours.tip() == tip
    git("reset", "-q", "--hard", at=ours.board)
    assert ours.pull().returncode == 0
    assert ours.notes("k7f2") == ["meanwhile"]
    assert {"Theirs", "Ours", "Meanwhile"} < {
        task.title for task in ours.store.snapshot().all_tasks().values()
    }
    assert ours.board_status() == ""


def test_a_merge_that_leaves_a_broken_file_is_refused(hand: Hand, tmp_path: Path) -> None:
    ours, theirs = make_clones(tmp_path / "clones", hand.project, 2)
    broken = theirs.board_file("k7f2")
    broken.write_text(broken.read_text().replace("status: pending", "status: nonsense"))
    git("commit", "-qam", "broken", "--no-verify", at=theirs.board)
    assert theirs.push().returncode == 0
    ours.create("Ours")
    tip = ours.tip()
    pulled = ours.pull()
    assert pulled.returncode != 0
    assert "TASK.md:" in pulled.stderr
    assert "nonsense" in pulled.stderr
    assert ours.tip() == tip


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


def test_a_folder_in_the_wrong_place_is_refused_and_can_be_put_back(hand: Hand) -> None:
    hand.project.ok("update", "k7f2", "--status", "working")
    before = hand.project.task("k7f2")
    home, wrong = hand.project.board / "tasks/f2/k7f2", hand.project.board / "tasks/a9/k7f2"
    wrong.parent.mkdir()
    home.rename(wrong)
    git("add", ".", at=hand.project.board)
    assert "error: tasks/a9/k7f2/TASK.md: lies in the wrong folder\n" in hand.refused()
    git("commit", "-qm", "moved", "--no-verify", at=hand.project.board)
    found = hand.project.gt("doctor").out
    command = (
        "mkdir -p .gitticks/tasks/f2 && git -C .gitticks mv tasks/a9/k7f2 tasks/f2/k7f2 && "
        "git -C .gitticks commit -m 'move a task home'"
    )
    what = "error    .gitticks/tasks/a9/k7f2/TASK.md: the task belongs in `tasks/f2/k7f2`"
    assert f"{what}\n           `{command}`" in found
    subprocess.run(["sh", "-ec", command], cwd=hand.project.path, check=True)
    assert hand.project.task("k7f2") == before
    assert _log(hand, 1) == ["Ada Lovelace: move a task home"]
    assert hand.project.board_status() == ""


def test_a_folder_under_a_wrong_name_can_be_named_back(hand: Hand) -> None:
    home = hand.project.board / "tasks/f2/k7f2"
    wrong = home.with_name("K7F2 (copy)")
    home.rename(wrong)
    git("add", ".", at=hand.project.board)
    git("commit", "-qm", "moved", "--no-verify", at=hand.project.board)
    assert hand.project.gt("show", "k7f2").code == 1
    wrong.rename(home)
    git("add", ".", at=hand.project.board)
    assert hand.commit().returncode == 0
    assert hand.project.task("k7f2").status is Status.PENDING


def test_settings_that_are_no_utf_8_are_refused(hand: Hand) -> None:
    file = hand.project.board / "config.yaml"
    file.write_bytes(b"version: 1\nagent: caf\xe9\n")
    assert hand.refused() == "error: config.yaml:2:11: this is no UTF-8\n  hint: save the file as UTF-8\n"


def test_during_a_rebase_hooks_only_check(hand: Hand, tmp_path: Path) -> None:
    ours, theirs = make_clones(tmp_path / "clones", hand.project, 2)
    created = theirs.create("Theirs")
    assert theirs.push().returncode == 0
    mine = Hand(ours)
    ours.change("k7f2", awaiting=Awaiting.WORK)
    mine.edit("old", "new")
    assert mine.commit().returncode == 0
    ours.make("m3xq")
    events = len(ours.events("k7f2"))
    pulled = run_git_command("pull", "-q", "--rebase", "origin", "gitticks/state", at=ours.board)
    assert pulled.returncode == 0, pulled.stderr
    assert ours.task(created).title == "Theirs"
    assert ours.file("k7f2").section("Context") == "new"
    assert len(ours.events("k7f2")) == events
    assert ours.board_status() == ""
    assert fsck_problems(ours.path) == ""
