"""The board's hooks, called by real git: what a plain `git commit` there refuses, and what comes past them."""

from __future__ import annotations

import subprocess

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Status
from tests.support.hand import Hand, commits_of, hand
from tests.support.repositories import git, run_git_command

__all__ = ["hand"]


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
            "TASK.md:5: `end_sha` can only be written by gitticks",
        ),
        (
            "status: pending",
            "status: pending\nverdict: approved",
            "TASK.md: `k7f2` is not waiting for anyone: it is pending",
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


def test_what_gitticks_alone_writes_is_shown_as_it_was_and_a_new_task_has_none_of_it(hand: Hand) -> None:
    hand.edit("status: pending", "status: pending\nend_sha: abcdef0")
    assert "hint: the task does not have these yet: delete the lines\n" in hand.refused()
    hand.edit("\nend_sha: abcdef0", "")
    hand.edit("created_by: Ada", "created_by: Eve")
    shown = subprocess.run(
        ["sh", "-ec", hand.refused().split("`")[3]], cwd=hand.project.path, check=True, capture_output=True
    ).stdout
    assert shown == hand.project.file("k7f2").data
    file = hand.project.board_file("m3xq")
    file.parent.mkdir(parents=True)
    hand.project.board_file("k7f2").write_bytes(shown)
    file.write_text("---\nid: m3xq\ntitle: Copied\nstatus: pending\nend_sha: abcdef0\n---\n")
    git("add", ".", at=hand.project.board)
    assert "hint: a new task does not have these yet: delete the lines\n" in hand.refused()


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
    assert "tasks are cancelled, not deleted" in hand.refused()
    git("reset", "-q", "--hard", at=board)
    for wrong in ("tasks/zz", "tasks/f2/k7f2x"):
        git("mv", "tasks/f2/k7f2" if wrong.endswith("x") else "tasks/f2", wrong, at=board)
        way = "  hint: `gt doctor --fix` moves it back\n"
        assert hand.refused().endswith(f"is in the wrong folder, it belongs in `tasks/f2/k7f2`\n{way}")
        said = hand.project.gt("status").seen
        assert "edited, refused: it is in the wrong folder, it belongs in `tasks/f2/k7f2`" in said
        assert "commit the edits" not in said
        hand.project.ok("doctor", "--fix")
        assert hand.project.board_status() == ""
    file = hand.project.board_file("k7f2")
    file.unlink()
    file.symlink_to("/etc/hostname")
    said = hand.refused()
    assert "is a link or a submodule" in said
    subprocess.run(["sh", "-ec", said.split("`")[1]], cwd=hand.project.path, check=True)
    assert hand.project.board_status() == ""


def test_a_new_task_cannot_be_born_closed_or_approved(hand: Hand) -> None:
    file = hand.project.board_file("m3xq")
    file.parent.mkdir(parents=True)
    file.write_text("---\nid: m3xq\ntitle: New\nstatus: done\n---\n")
    git("add", ".", at=hand.project.board)
    assert "so it cannot be done already\n  hint: write `status: pending`\n" in hand.refused()
    file.write_text("---\nid: m3xq\ntitle: New\nstatus: stuck\n---\n")
    git("add", ".", at=hand.project.board)
    refused = hand.refused()
    assert "cannot go from pending to stuck" in refused
    assert refused.endswith("  hint: write `status: pending`\n")


def test_past_the_checks_what_is_refused_is_put_back_and_reported(hand: Hand) -> None:
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


def test_a_broken_file_past_the_checks_is_fixed_by_the_next_commit(hand: Hand) -> None:
    hand.edit("status: pending", "status: [")
    assert hand.commit("--no-verify").returncode == 0
    hand.edit("status: [", "status: pending")
    assert hand.commit().returncode == 0
    assert hand.project.task("k7f2").status is Status.PENDING


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


def test_a_folder_in_the_wrong_place_is_refused_and_can_be_put_back(hand: Hand) -> None:
    hand.project.ok("update", "k7f2", "--status", "working")
    before = hand.project.task("k7f2")
    home, wrong = hand.project.board / "tasks/f2/k7f2", hand.project.board / "tasks/a9/k7f2"
    wrong.parent.mkdir()
    home.rename(wrong)
    git("add", ".", at=hand.project.board)
    assert "error: tasks/a9/k7f2: is in the wrong folder, it belongs in `tasks/f2/k7f2`\n" in hand.refused()
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
    assert commits_of(hand, 1) == ["Ada Lovelace: move a task home"]
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


@pytest.mark.parametrize(
    ("place", "task_id", "fix"),
    [
        ("tasks/plan1/TASK.md", "plan1", "move it to `tasks/n1/plan1/TASK.md`"),
        ("plan1/TASK.md", "plan1", "move it to `tasks/n1/plan1/TASK.md`"),
        ("TASK.md", "plan1", "move it to `tasks/n1/plan1/TASK.md`"),
        ("tasks/n1/deeper/plan1/TASK.md", "plan1", "move it to `tasks/n1/plan1/TASK.md`"),
        (
            "tasks/en/My garden/TASK.md",
            "My garden",
            "an id has only a-z, 0-9 and `-`: `id: my-garden` belongs in `tasks/en/my-garden/TASK.md`",
        ),
    ],
)
def test_a_new_task_where_nobody_looks_for_one_is_refused_with_its_place(
    hand: Hand, place: str, task_id: str, fix: str
) -> None:
    file = hand.project.board / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\nid: {task_id}\ntitle: Plan\nstatus: pending\n---\n")
    assert f"edited, refused: it is in the wrong folder ({fix})" in hand.project.gt("status").out
    git("add", ".", at=hand.project.board)
    said = hand.refused()
    assert f"error: {place}: is in the wrong folder\n" in said
    assert f"hint: {fix}\n" in said
    git("commit", "-qm", "astray", "--no-verify", at=hand.project.board)
    git("rm", "-q", place, at=hand.project.board)
    assert hand.commit().returncode == 0


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("config.yaml", "version: 9\n", "config.yaml: the state branch has format 9"),
        ("prompts/worker.md", "Do {{ it\n", "prompts/worker.md: the prompt template `worker.md:1` is broken"),
        (
            "prompts/parts/task.md",
            "{% if %}\n",
            "prompts/parts/task.md: the prompt template `parts/task.md:1`",
        ),
    ],
)
def test_what_the_team_could_not_work_with_is_refused(hand: Hand, path: str, text: str, message: str) -> None:
    file = hand.project.board / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    git("add", ".", at=hand.project.board)
    assert f"error: {message}" in hand.refused()
    file.write_text("version: 1\n" if path == "config.yaml" else "Do it.\n")
    assert hand.commit().returncode == 0


def test_settings_that_are_no_utf_8_are_refused(hand: Hand) -> None:
    file = hand.project.board / "config.yaml"
    file.write_bytes(b"version: 1\nagent: caf\xe9\n")
    assert hand.refused() == "error: config.yaml:2:11: this is not UTF-8\n  hint: save the file as UTF-8\n"


@pytest.mark.parametrize("text", ["", "hello\n"])
def test_a_file_without_frontmatter_is_said_to_lack_it_and_is_no_conflict(hand: Hand, text: str) -> None:
    hand.project.ok("note", "k7f2", "n")
    hand.project.board_file("k7f2").write_text(text)
    assert "there is no frontmatter" in hand.refused()
    assert "edited, refused: line 1: there is no frontmatter" in hand.project.ok("status")
    git("checkout", "--quiet", ".", at=hand.project.board)
    assert hand.project.board_status() == ""
    assert hand.project.notes("k7f2") == ["n"]


@pytest.mark.parametrize("name", ["tasks/f2/k7f2/keys.txt", "tasks/f2/k7f2/worklog.md", "keys.txt"])
def test_a_secret_in_a_file_that_is_no_task_is_refused_too(hand: Hand, name: str) -> None:
    file = hand.project.board / name
    file.write_text(f"# Keys\n\nghp_{'a1B2' * 9}\n")
    git("add", ".", at=hand.project.board)
    assert f"error: {name}:3: holds a secret: GitHub token\n  hint: remove it" in hand.refused()
    file.write_text("# Keys\n")
    assert hand.commit().returncode == 0


def test_a_new_task_in_other_letters_is_refused_with_its_name(hand: Hand) -> None:
    file = hand.project.board / "tasks/n1/plan1/task.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nid: plan1\ntitle: Plan\nstatus: pending\n---\n")
    git("add", ".", at=hand.project.board)
    said = hand.refused()
    assert "error: tasks/n1/plan1/task.md: a task's file is called `TASK.md`\n" in said
    subprocess.run(["sh", "-ec", said.split("`")[3]], cwd=hand.project.path, check=True)
    assert hand.commit().returncode == 0
    assert hand.project.task("plan1").title == "Plan"
