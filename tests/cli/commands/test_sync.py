from __future__ import annotations

import json
import select
import signal
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.support import command, gt
from tests.support.clones import Clone, make_first_clone, make_two_clones
from tests.support.git_servers import git_daemon
from tests.support.repositories import fsck_problems, git
from tests.support.tasks import task_ids
from tests.support.waiting import LONGEST_SECONDS


@pytest.fixture
def clones(tmp_path: Path) -> list[Clone]:
    return make_two_clones(tmp_path)


def remote_tip(clone: Clone) -> str:
    return git("ls-remote", "origin", "refs/heads/gitticks/state", at=clone.path).split("\t")[0]


def test_tasks_go_and_come(clones: list[Clone]) -> None:
    one, other = clones
    task = one.create("Fix login")
    out = one.ok("sync")
    assert out.startswith("sent to origin: 1 task\n")
    assert f"  {task}  new" in out
    assert remote_tip(one) == one.tip()
    assert f"received from origin: 1 task\n  {task}  new           Fix login\n" in other.ok("sync")
    assert other.tip() == one.tip()
    assert other.board_file(task).exists()
    assert other.ok("sync") == "up to date with origin\n"


def test_both_sides_notes_are_joined_and_pushed(clones: list[Clone]) -> None:
    one, other = clones
    task = one.create()
    one.ok("sync")
    other.ok("sync")
    one.ok("note", task, "from one")
    other.ok("note", task, "from the other")
    one.ok("sync")
    other.ok("sync")
    one.ok("sync")
    assert one.tip() == other.tip() == remote_tip(one)
    assert sorted(one.notes(task)) == ["from one", "from the other"]
    assert one.board_status() == other.board_status() == ""
    assert fsck_problems(one.path) == ""


def test_json_says_what_moved(clones: list[Clone]) -> None:
    task = clones[0].create("Fix login")
    done = json.loads(clones[0].ok("sync", "--json"))["sync"]
    assert done["reached"] == "done"
    went = {"id": task, "is_new": True, "is_gone": False, "status": "pending", "title": "Fix login"}
    assert done["went"]["tasks"] == [went]
    assert done["came"] == {"tasks": [], "files": []}


def test_what_follows_here_from_what_came_did_not_come(clones: list[Clone]) -> None:
    one, other = clones
    epic = one.create("Log in", "--type", "epic")
    first, mine, theirs = (one.create(title, "--parent", epic) for title in ("First", "Mine", "Theirs"))
    one.ok("close", first)
    one.ok("sync")
    other.ok("sync")
    other.ok("close", theirs)
    other.ok("sync")
    one.ok("close", mine)
    before = one.task(epic).status
    done = json.loads(one.ok("sync", "--json"))["sync"]
    assert one.task(epic).status is not before
    assert [task["id"] for task in done["came"]["tasks"]] == [theirs]
    assert {task["id"] for task in done["went"]["tasks"]} == {mine, epic}


def test_a_saved_edit_goes_too(clones: list[Clone]) -> None:
    one, other = clones
    task = one.create("Fix login")
    file = one.board_file(task)
    file.write_text(file.read_text().replace("Fix login", "Repair login"))
    assert f"committed your edit of .gitticks/tasks/{task[-2:]}/{task}/TASK.md" in one.ok("sync")
    other.ok("sync")
    assert other.task(task).title == "Repair login"


def test_settings_that_cannot_be_joined_are_named_in_both_clones_until_somebody_chose(
    clones: list[Clone],
) -> None:
    one, other = clones
    for clone, number in ((one, "1"), (other, "2")):
        clone.ok("config", "parallel", number)
    one.ok("sync")
    warning = (
        "warning: both sides changed .gitticks/config.yaml and could not be merged: the other version is in "
    )
    hint = "hint: `gt doctor` says how to resolve it"
    assert warning in (ran := other.gt("sync")).err
    assert hint in ran.err
    assert warning in one.gt("sync").err
    (left,) = one.board.glob("config.other-*.yaml")
    git("rm", "-q", left.name, at=one.board)
    git("commit", "-q", "-m", "settled", at=one.board)
    one.ok("sync")
    assert other.gt("sync").err == ""


def test_a_task_that_came_and_cannot_be_read_is_not_gone(clones: list[Clone]) -> None:
    one, other = clones
    task = one.create("Fix login")
    one.ok("sync")
    other.ok("sync")
    file = other.board_file(task)
    file.write_text("<<<<<<< ours\n" + file.read_text())
    git("commit", "--quiet", "--no-verify", "-am", "odd", at=other.board)
    other.push()
    assert f"{task}  not readable: `gt doctor`" in one.ok("sync")


def test_settings_that_came_and_would_run_are_named(clones: list[Clone]) -> None:
    one, other = clones
    one.ok("config", "verify.test", "make test")
    assert "gt trust" not in one.gt("sync").seen
    assert other.gt("sync").err.endswith("hint: `gt trust` shows what is waiting, and asks\n")
    other.ok("trust", "--yes")
    one.ok("config", "parallel", "2")
    one.ok("sync")
    assert "gt trust" not in other.gt("sync").seen


def test_a_true_conflict_names_the_task_and_its_file(clones: list[Clone]) -> None:
    one, other = clones
    task = one.create("Fix login", "-d", "The summary.")
    one.ok("sync")
    other.ok("sync")
    for clone in clones:
        file = clone.board_file(task)
        file.write_text(file.read_text().replace("The summary.", f"Written in {clone.path.name}."))
    one.ok("sync")
    ran = other.gt("sync")
    assert ran.code == 0
    assert f"{task} is conflicted: both sides changed " in ran.err
    assert f".gitticks/tasks/{task[-2:]}/{task}/TASK.md" in ran.err
    assert f"`gt edit {task}` and keep what is right" in ran.err


def test_a_file_beside_a_task_that_cannot_be_joined_is_no_conflict_of_the_task(clones: list[Clone]) -> None:
    one, other = clones
    task = one.create("Fix login")
    one.ok("sync")
    other.ok("sync")
    for clone in clones:
        (clone.board_file(task).parent / "plan.md").write_text(f"Written in {clone.path.name}.")
        git("add", "-A", at=clone.board)
        git("commit", "-q", "-m", "plan", at=clone.board)
    one.ok("sync")
    ran = other.gt("sync")
    assert f"both sides changed .gitticks/tasks/{task[-2:]}/{task}/plan.md and could not be merged" in ran.err
    assert "hint: `gt doctor` says how to resolve it" in ran.err
    assert "conflicted" not in ran.err


def test_tasks_born_with_one_id_are_both_kept(clones: list[Clone]) -> None:
    one, other = clones
    one.make("k7f2", title="First", created=datetime(2026, 2, 1, tzinfo=UTC))
    other.make("k7f2", title="Second", created=datetime(2026, 3, 1, tzinfo=UTC))
    other.make("m3aa", title="Waits", blocked_by=("k7f2",))
    one.ok("sync")
    assert "(two tasks were created with the same id)" in other.ok("sync")
    one.ok("sync")
    assert one.tip() == other.tip()
    assert sorted(other.store.task_file(one_id).task.title for one_id in task_ids(other.store)) == [
        "First",
        "Second",
        "Waits",
    ]
    (blocker,) = other.task("m3aa").blocked_by
    assert other.task(blocker).title == "Second"


def unplug(clone: Clone) -> None:
    """Lets the address of the remote lead nowhere, without changing it."""
    address = git("config", "remote.origin.url", at=clone.path)
    git("config", "url.http://127.0.0.1:9/none.git.insteadOf", address, at=clone.path)


@pytest.mark.parametrize(
    "address",
    [
        "http://nosuch.invalid/none.git",
        "http://ada:secret@127.0.0.1:9/none.git",
        "127.0.0.1:none.git",
        "{root}/none.git",
        "file://{root}/none.git",
        "nosuch",
    ],
)
@pytest.mark.parametrize("is_new", [False, True])
def test_an_address_that_never_answered_is_an_error(
    clones: list[Clone], address: str, is_new: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = clones[0]
    monkeypatch.setenv("GIT_SSH_COMMAND", "ssh -p 9 -o BatchMode=yes -o ConnectTimeout=2")
    task, name = one.create(), "elsewhere" if is_new else "origin"
    one.ok("sync")
    how = ("add", name) if is_new else ("set-url", name)
    git("remote", *how, address.format(root=one.path.parent), at=one.path)
    for _ in range(2):
        ran = one.gt("sync", name)
        assert (ran.code, ran.out) == (1, ""), ran.seen
        assert f"the address of `{name}`: " in ran.err
        assert f"`git remote set-url {name} URL` corrects the address" in ran.err
        assert "secret" not in ran.err
    assert one.task(task).id == task
    git("remote", "set-url", name, str(one.path.parent / "remote.git"), at=one.path)
    assert one.ok("sync", name) == f"up to date with {name}\n"


def test_a_server_that_has_no_such_repository_is_an_error_though_it_had(clones: list[Clone]) -> None:
    one = clones[0]
    with git_daemon(one.path.parent) as server:
        git("remote", "set-url", "origin", f"{server}/remote.git", at=one.path)
        one.ok("sync")
        (one.path.parent / "remote.git").rename(one.path.parent / "renamed.git")
        ran = one.gt("sync")
        assert (ran.code, "`git remote set-url origin URL`" in ran.err) == (1, True), ran.seen
    assert one.gt("sync").code == 0, "nothing answers any more, as it did before"


def test_a_folder_that_was_there_before_may_be_unplugged(clones: list[Clone]) -> None:
    one = clones[0]
    one.ok("sync")
    (one.path.parent / "remote.git").rename(one.path.parent / "renamed.git")
    ran = one.gt("sync")
    assert (ran.code, "origin cannot be reached" in ran.out, "git says: " in ran.err) == (0, True, True)


def test_a_clone_that_never_synced_knows_that_its_remote_was_there(clones: list[Clone]) -> None:
    one = clones[1]
    (one.path / ".git/gitticks/answered").unlink()
    unplug(one)
    assert "origin cannot be reached" in one.ok("sync")


def test_an_address_in_place_of_a_name_is_told_how_to_be_named(clones: list[Clone]) -> None:
    ran = clones[0].gt("sync", "https://example.org/x.git")
    assert ran.seen == (
        "--- 1\nerror: there is no remote `https://example.org/x.git`\n\n"
        "hint: `git remote add NAME https://example.org/x.git` adds it, then run `gt sync NAME`\n"
    )


def test_being_offline_is_no_error(clones: list[Clone]) -> None:
    task = clones[0].create()
    unplug(clones[0])
    ran = clones[0].gt("sync")
    assert ran.code == 0
    assert "origin cannot be reached; your tasks are safe here" in ran.out
    assert clones[0].task(task).id == task
    assert json.loads(clones[0].ok("sync", "--json"))["sync"]["reached"] == "offline"


def test_without_a_remote_that_is_said(tmp_path: Path) -> None:
    project = make_first_clone(tmp_path)
    ran = project.gt("sync")
    assert (ran.code, ran.out) == (0, "there is no remote to share tasks with\n")
    assert "git remote add origin URL" in ran.err


def test_a_remote_that_nobody_named(tmp_path: Path) -> None:
    project = make_first_clone(tmp_path)
    git("init", "--quiet", "--bare", str(tmp_path / "b.git"), at=tmp_path)
    for name in ("here", "there"):
        git("remote", "add", name, str(tmp_path / "b.git"), at=project.path)
    ran = project.gt("sync")
    assert ran.code == 1
    assert "git config branch.gitticks/state.remote here" in ran.err
    assert project.gt("sync", "nowhere").code == 1
    git("config", "branch.gitticks/state.remote", "there", at=project.path)
    assert "sent to there" in project.ok("sync")


@pytest.mark.parametrize("how", ["rewound", "rewritten", "deleted"])
def test_a_remote_that_lost_commits_is_never_followed_silently(clones: list[Clone], how: str) -> None:
    one, other = clones
    before = one.tip()
    task = one.create("Fix login")
    one.ok("sync")
    other.ok("sync")
    bare = one.path.parent / "remote.git"
    if how == "deleted":
        git("update-ref", "-d", "refs/heads/gitticks/state", at=bare)
    else:
        git("update-ref", "refs/heads/gitticks/state", before, at=bare)
    if how == "rewritten":
        fork = git("commit-tree", "-p", before, "-m", "another", f"{before}^{{tree}}", at=bare)
        git("update-ref", "refs/heads/gitticks/state", fork, at=bare)
    ran = other.gt("sync")
    assert ran.code == 3
    assert "nothing was taken in or pushed" in ran.err
    assert "`gt sync --restore`" in ran.err
    assert other.gt("sync").code == 3, "it is told again, not forgotten"
    assert ("`gt sync --restore`" in other.gt("doctor").out) is (how != "deleted")
    other.ok("sync", "--restore")
    assert "no problems found" in other.ok("doctor")
    assert remote_tip(other) == other.tip()
    assert other.task(task).title == "Fix login"
    assert one.gt("sync").code == 0


def test_a_remote_that_refuses_says_why(clones: list[Clone]) -> None:
    hook = clones[0].path.parent / "remote.git/hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho 'tasks are closed on Sundays' >&2\nexit 1\n")
    hook.chmod(0o755)
    clones[0].create()
    ran = clones[0].gt("sync")
    assert ran.code == 3
    assert "tasks are closed on Sundays" in ran.err


def test_a_remote_that_is_somebodys_clone_says_what_to_type_there(clones: list[Clone]) -> None:
    one, other = clones
    one.create()
    one.ok("sync")
    other.ok("sync")
    git("remote", "set-url", "origin", str(one.path), at=other.path)
    task = other.create("Fix login")
    ran = other.gt("sync")
    assert ran.code == 3
    assert ran.err == (
        "error: `origin` refused the tasks: it is a clone that has `gitticks/state` checked out; "
        "`git config receive.denyCurrentBranch updateInstead`, typed there, lets it take pushes\n\n"
        "hint: nothing is lost: they are here, and `gt sync` pushes them once that is fixed\n"
    )
    git("config", "receive.denyCurrentBranch", "updateInstead", at=one.path)
    other.ok("sync")
    assert one.board_file(task).exists()
    assert "no problems found" in one.ok("doctor")


def test_a_newer_format_is_left_alone(clones: list[Clone]) -> None:
    one, other = clones
    (one.board / "config.yaml").write_text("version: 99\n")
    git("commit", "--no-verify", "--quiet", "-am", "newer", at=one.board)
    git("push", "--quiet", "origin", "gitticks/state", at=one.board)
    before = other.tip()
    ran = other.gt("sync")
    assert ran.code == 1
    assert "format 99" in ran.err
    assert other.tip() == before


def test_a_clone_without_tasks_is_told_how_to_begin(clones: list[Clone]) -> None:
    path = clones[0].path.parent / "fresh"
    git("clone", "--quiet", str(clones[0].path.parent / "remote.git"), str(path), at=clones[0].path)
    ran = gt("sync", at=path)
    assert ran.code == 1
    assert "`gt init`" in ran.err
    assert gt("sync", "--timeout", "soon", at=path).code == 2


@pytest.mark.parametrize("how", ["moved", "no remote", "offline"])
def test_watching_says_from_the_start_that_it_goes_on(clones: list[Clone], how: str) -> None:
    one = clones[0]
    if how == "moved":
        one.create("Fix login")
    elif how == "no remote":
        git("remote", "remove", "origin", at=one.path)
    else:
        unplug(one)
    process = subprocess.Popen(command("sync", "--watch"), cwd=one.path, stdout=subprocess.PIPE, bufsize=0)
    try:
        said = [_line(process)]
        if how == "moved":
            said += [_line(process), _line(process)]
        assert [line.endswith("; watching, Ctrl-C ends it\n") for line in said][-1]
    finally:
        process.kill()
        process.communicate()


def test_watching_takes_in_and_pushes_until_interrupted(clones: list[Clone]) -> None:
    one, other = clones
    process = subprocess.Popen(
        command("sync", "--watch", "--every", "1s"), cwd=one.path, stdout=subprocess.PIPE, bufsize=0
    )
    try:
        assert _line(process) == "up to date with origin; watching, Ctrl-C ends it\n"
        task = one.create("Here")
        assert _line(process) == "sent to origin: 1 task\n"
        assert task in _line(process)
        other.ok("sync")
        other.create("There")
        other.ok("sync")
        assert _line(process) == "received from origin: 1 task\n"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LONGEST_SECONDS)
    finally:
        process.kill()
    assert process.returncode == 0


def _line(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], LONGEST_SECONDS)[0], "nothing was said"
    return process.stdout.readline().decode()


def test_what_a_command_changed_is_shared_where_the_settings_ask_for_it(clones: list[Clone]) -> None:
    one, other = clones
    git("config", "gitticks.sync.auto", "push", at=one.path)
    task = one.create("Fix login")
    assert remote_tip(one) == one.tip()
    git("config", "gitticks.sync.auto", "both", at=other.path)
    other.ok("status")
    assert other.task(task).title == "Fix login"
    other.ok("note", task, "seen")
    one.ok("status")
    assert one.tip() != other.tip()
    one.ok("note", task, "again")
    assert remote_tip(one) == one.tip()
    assert sorted(one.notes(task)) == ["again", "seen"]


def test_a_remote_that_is_away_fails_no_command(clones: list[Clone]) -> None:
    git("config", "gitticks.sync.auto", "push", at=clones[0].path)
    git("remote", "set-url", "origin", "http://127.0.0.1:9/none.git", at=clones[0].path)
    ran = clones[0].gt("create", "Fix login")
    assert ran.code == 0
    assert "not shared yet: `origin` cannot be reached" in ran.err
