from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitticks.board.place import create_board
from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Status
from gitticks.runner.records import Sessions
from gitticks.runner.run_record import write_skipped
from tests.cli.support import gt
from tests.support.projects import make_project, make_reviewing
from tests.support.records import make_session
from tests.support.repositories import git, make_repository
from tests.support.stores import NOW, change_task, make_queue, make_store, make_task
from tests.support.tasks import write_files

AWAITING = """\
waiting for you
⊙ r3vw  Faster start                                           review, waits 3 h
        gt review r3vw · gt approve r3vw · gt reject r3vw "…"
waiting for others
  1 task: `gt inbox --all`
"""
NARROW = """\
waiting for you
⊙ r3vw  Faster start   review, waits 3 h
  gt review r3vw · gt approve r3vw
  gt reject r3vw "…"
waiting for others
  1 task: `gt inbox --all`
ready
  c0de  Delete an account
  k7f2  Login loses the return URL
8 tasks: 5 pending, 1 clarification,
1 reviewing, 1 done
"""


def test_what_awaits_and_what_is_ready(tmp_path: Path) -> None:
    create_board(make_queue(tmp_path).repository)
    assert (
        gt("status", at=tmp_path, now=NOW).seen
        == f"""\
{AWAITING}ready
  c0de  Delete an account
  k7f2  Login loses the return URL
8 tasks: 5 pending, 1 clarification, 1 reviewing, 1 done
--- 0
"""
    )


def test_forty_columns(tmp_path: Path) -> None:
    create_board(make_queue(tmp_path).repository)
    assert gt("status", at=tmp_path, now=NOW, columns=40).out == NARROW


def test_of_much_that_awaits_a_person_the_most_urgent_is_shown(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    create_board(store.repository)
    for number in range(7):
        make_task(store, f"Number {number}", id=f"t{number}", awaiting=Awaiting.WORK, priority=min(4, number))
    out = gt("status", at=tmp_path, now=NOW).out
    assert out.count("gt close t") == 5
    assert "  … 2 more: `gt inbox`\n" in out


def test_what_is_in_work(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    create_board(store.repository)
    make_task(store, id="k7f2", status=Status.WORKING)
    with Sessions(store.repository.own_dir).hold(make_session("k7f2")):
        ran = gt("status", at=tmp_path, now=NOW)
    assert (
        ran.seen
        == """\
in work
  k7f2  claude  worker, iteration 1  0 s  Login loses the return URL  /w/k7f2
1 task: 1 working
--- 0
"""
    )


def test_a_saved_edit_is_taken_up(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.make("k7f2")
    file = project.board_file("k7f2")
    file.write_text(file.read_text().replace("status: pending", "status: cancelled") + "\nmore\n")
    ran = project.gt("status")
    assert ran.out == (
        "board\n  .gitticks/tasks/f2/k7f2/TASK.md  edited, now committed\n1 task: 1 cancelled\n"
    )
    assert project.file("k7f2").summary.endswith("more")
    assert project.board_status() == ""
    assert "board" not in project.ok("status")


@pytest.mark.parametrize(
    ("old", "new", "words", "hint"),
    [
        (
            "status: pending",
            "status: reddy",
            "edited, refused: line 4: `status` is not one of pending, ",
            "fix what was refused, then run `gt status` again",
        ),
        (
            "status: pending",
            "status: done",
            "edited, refused: `k7f2` cannot go from pending to done: ",
            "fix what was refused, then run `gt status` again",
        ),
        (
            "status: pending",
            "status: pending\ncrash_count: 3",
            "edited, refused: line 5: `crash_count` can only be written by gitticks",
            "fix what was refused, then run `gt status` again",
        ),
        (
            "status: pending",
            "status: pending\nverdict: approved",
            "edited, refused: `k7f2` is not waiting for anyone: it is pending",
            "fix what was refused, then run `gt status` again",
        ),
        (
            "awaiting: work",
            "awaiting: work\nverdict: approved",
            "edited, its verdict counts once it is committed",
            'commit the edits on the board: `git -C .gitticks commit -am "…"`',
        ),
    ],
)
def test_what_is_not_taken_up_is_named_with_the_reason(
    tmp_path: Path, old: str, new: str, words: str, hint: str
) -> None:
    project = make_project(tmp_path)
    project.make("k7f2", awaiting=Awaiting.WORK if "awaiting" in old else None)
    file = project.board_file("k7f2")
    edited = file.read_text().replace(old, new)
    file.write_text(edited)
    ran = project.gt("status")
    assert f"board\n  .gitticks/tasks/f2/k7f2/TASK.md  {words}" in ran.out
    assert ran.err == f"\nhint: {hint}\n"
    assert file.read_text() == edited
    assert project.task("k7f2").status is Status.PENDING


def test_what_is_staged_is_left_to_its_commit(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.make("k7f2")
    file = project.board_file("k7f2")
    file.write_text(file.read_text() + "\nmore\n")
    git("add", ".", at=project.board)
    ran = project.gt("status")
    assert "board\n  .gitticks/tasks/f2/k7f2/TASK.md  edited, not committed\n" in ran.out
    assert ran.err == '\nhint: commit the edits on the board: `git -C .gitticks commit -am "…"`\n'


def test_a_deleted_file_is_no_cancelled_task(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.make("k7f2")
    project.board_file("k7f2").unlink()
    assert "refused: tasks are cancelled, not deleted (`gt cancel k7f2`)" in project.ok("status")
    assert project.task("k7f2").status is Status.PENDING


def test_a_board_that_is_behind_is_brought_in_step(tmp_path: Path) -> None:
    store = make_queue(tmp_path)
    board = create_board(store.repository)
    change_task(store, "k7f2", title="Another")
    assert gt("status", at=tmp_path, now=NOW).code == 0
    assert "title: Another" in (board / "tasks/f2/k7f2/TASK.md").read_text()


def test_long_lists_are_cut_short(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    create_board(store.repository)
    for number in range(7):
        make_task(store, f"task {number}", id=f"k7f{number}")
    out = gt("status", at=tmp_path).out
    assert "  k7f4  task 4\n  … 2 more: `gt ready`\n7 tasks: 7 pending\n" in out


def test_titles_stand_below_one_another_however_long_the_ids(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    create_board(store.repository)
    make_task(store, "short", id="k7f2")
    make_task(store, "long", id="pier-7-a")
    assert gt("status", at=tmp_path).out.startswith("ready\n  k7f2      short\n  pier-7-a  long\n")


def test_a_merge_that_nobody_is_at_comes_with_what_to_type(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    make_reviewing(project)
    (project.path / "login.txt").write_text("mine\n")
    project.gt("approve", "k7f2")
    ran = project.gt("status")
    assert ran.out.startswith(
        "merging\n  k7f2  waits  Login loses the return URL\n    your uncommitted changes in "
    )
    assert ran.err == "\nhint: `gt merge k7f2` tries the merge again\n"
    waits = project.ok("inbox").splitlines()
    assert waits[0].startswith("k7f2  merge waits: your uncommitted changes in ")
    assert waits[1].strip() == "gt merge k7f2"
    merges = json.loads(project.ok("inbox", "--json"))["merges"]
    assert [one["id"] for one in merges] == ["k7f2"]
    (project.path / "login.txt").unlink()
    project.ok("merge", "k7f2")
    assert "merge waits" not in project.gt("inbox").seen
    assert not (project.path / ".git/gitticks/merging.json").exists()


def test_an_approved_task_that_nobody_tried_to_merge_comes_with_what_to_type(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    make_reviewing(project)
    project.ok("approve", "k7f2", "--no-wait")
    ran = project.gt("status")
    assert ran.out.startswith("merging\n  k7f2  Login")
    assert ran.err == "\nhint: `gt merge` merges approved work, or says why it cannot\n"


def test_json(tmp_path: Path) -> None:
    make_queue(tmp_path)
    found = json.loads(gt("status", "--json", at=tmp_path, now=NOW).out)
    assert found["schema"] == 1
    assert [task["id"] for task in found["awaiting"]] == ["r3vw", "m3xq"]
    assert [task["id"] for task in found["ready"]] == ["c0de", "k7f2"]
    assert found["counts"]["pending"] == 5
    assert found["board"] == {
        "exists": False,
        "taken_up": [],
        "uncommitted": {},
        "pending": {},
        "is_refused": False,
    }


def test_with_a_newer_format_it_and_a_run_say_what_to_upgrade(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.create()
    config = project.board / "config.yaml"
    config.write_text(config.read_text().replace("version: 1", "version: 2"))
    git("commit", "--quiet", "--no-verify", "-am", "x", at=project.board)
    assert project.gt("status").err.splitlines()[-1].endswith("not change them: `pipx upgrade gitticks`")
    ran = project.gt("run")
    assert (ran.code, ran.out) == (64, "")
    assert "hint: `pipx upgrade gitticks`" in ran.err


@pytest.mark.parametrize(
    ("head", "why", "fix"),
    [
        ("--detach", "HEAD is detached, and `base` is not set", "`gt config base main`"),
        ("new", "the base branch `new` does not exist here or has no commits", "`git commit`"),
    ],
)
def test_without_a_base_to_begin_from_it_says_so_as_the_doctor_does(
    tmp_path: Path, head: str, why: str, fix: str
) -> None:
    project = make_project(tmp_path / "project")
    project.make()
    write_files(project.store, {"config.yaml": b"version: 1\n"})
    assert "hint: `gt run`" in project.gt("status").seen
    if head == "new":
        git("symbolic-ref", "HEAD", "refs/heads/new", at=project.path)
    else:
        git("checkout", "-q", head, at=project.path)
    status, found = project.gt("status").seen, project.gt("doctor")
    assert f"hint: {why}" in status
    assert fix in status
    assert found.code == 0
    assert f"warning  {why}" in found.seen
    assert fix in found.seen
    project.ok("config", "base", "main")
    assert why not in project.gt("status").seen + project.gt("doctor").seen
    git("symbolic-ref", "HEAD", "refs/heads/main", at=project.path)


def test_on_a_detached_head_it_names_a_branch_that_is_there(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    project.make()
    write_files(project.store, {"config.yaml": b"version: 1\n"})
    git("branch", "-qm", "trunk", at=project.path)
    git("checkout", "-q", "--detach", at=project.path)
    assert "`gt config base BRANCH`" in project.gt("status").seen
    assert "`gt config base BRANCH`" in project.gt("init").seen
    git("branch", "master", at=project.path)
    assert "`gt config base master`" in project.gt("status").seen


def test_no_tasks(tmp_path: Path) -> None:
    create_board(make_store(tmp_path).repository)
    assert gt("status", at=tmp_path).seen == (
        'no tasks\n--- 0\n\nhint: `gt create "…"` creates the first task\n'
    )


def test_no_state_branch(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert gt("status", at=tmp_path).err == (
        "error: this repository has no tasks yet\n\nhint: `gt init` sets them up\n"
    )


def test_ready_tasks_whose_agent_is_not_here_are_not_listed_as_ready(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.make("k7f2", agent="script")
    project.make("m3xq", agent="nobody")
    assert (
        project.ok("status")
        == """\
ready
  k7f2  Login loses the return URL
not started
  m3xq  there is no agent `nobody` (`gt agents` lists the agents)
2 tasks: 2 pending
"""
    )
    found = json.loads(project.ok("status", "--json"))
    assert [task["id"] for task in found["ready"]] == ["k7f2", "m3xq"]
    assert [one["id"] for one in found["skipped"]] == ["m3xq"]
    assert "hint: `gt run`" in project.gt("status").err
    project.ok("cancel", "k7f2")
    assert "hint" not in project.gt("status").err, "a run would start nothing"


def test_a_run_is_proposed_also_where_only_a_review_is_left(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.make(status=Status.AGENT_REVIEW)
    assert "hint: `gt run`" in project.gt("status").err
    updated = str(project.task("k7f2").updated)
    write_skipped(project.store.repository.own_dir, {TaskId("k7f2"): (updated, "nobody could")})
    said = project.gt("status").seen
    assert "not started\n  k7f2  in the last run: nobody could\n" in said
    assert "hint" not in said
