"""Clones that share tasks by plain git: merge, pull, rebase and cherry-pick, with our driver, without it, without us."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from gitticks.model.ids import TaskId, task_path
from tests.support.clones import Clone, make_clones, make_first_clone, on_path
from tests.support.repositories import git, run_git_command
from tests.support.tasks import write_files

TASK = TaskId("k7f2")
PATH = task_path(TASK)
WAYS = "`git -C .gitticks commit --no-edit` or `git -C .gitticks merge --abort`"


__all__ = ["on_path"]


@pytest.fixture
def clones(tmp_path: Path, on_path: Path) -> list[Clone]:
    first = make_first_clone(tmp_path)
    first.make(TASK, body="The summary.\n\n## Context\n\nOne line.\n")
    first.make("m3xq")
    return make_clones(tmp_path, first, 2)


def diverge(ours: Clone, theirs: Clone) -> None:
    """Changes one task on both sides in ways that lines cannot join, and pushes theirs."""
    theirs.ok("note", TASK, "Seen by them.")
    theirs.ok("update", TASK, "-p", "0", "-l", "theirs")
    theirs.push()
    ours.ok("note", TASK, "Seen by us.")
    ours.ok("update", TASK, "--title", "Say it louder", "-l", "ours")


def assert_joined(clone: Clone) -> None:
    task = clone.task(TASK)
    assert (task.title, task.priority, set(task.labels)) == ("Say it louder", 0, {"ours", "theirs"})
    text = (clone.board / PATH).read_text()
    assert text.count("Seen by us.") == text.count("Seen by them.") == 1
    assert git("status", "--porcelain", at=clone.board) == ""
    clone.ok("doctor")


def test_init_lets_git_merge_tasks_by_meaning(clones: list[Clone]) -> None:
    for clone in clones:
        command = git("config", "merge.gitticks.driver", at=clone.path)
        assert command.endswith(
            "gt merge-driver %O %A %B %L %P || git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"
        )
    before = (clones[0].path / ".git/config").read_bytes()
    clones[0].ok("init")
    assert (clones[0].path / ".git/config").read_bytes() == before


def test_pull_by_merge(clones: list[Clone]) -> None:
    ours, theirs = clones
    diverge(ours, theirs)
    assert ours.pull().returncode == 0
    assert_joined(ours)
    ours.push()
    assert theirs.pull().returncode == 0
    assert theirs.store.tip() == ours.store.tip()


def test_both_clones_merge_to_one_tree(clones: list[Clone]) -> None:
    ours, theirs = clones
    diverge(ours, theirs)
    git("fetch", "--quiet", str(ours.path), "gitticks/state:refs/ours", at=theirs.path)
    assert ours.pull().returncode == 0
    assert run_git_command("merge", "--no-edit", "refs/ours", at=theirs.board).returncode == 0
    trees = [git("rev-parse", "gitticks/state:tasks", at=clone.path) for clone in clones]
    blobs = [git("rev-parse", f"gitticks/state:{PATH}", at=clone.path) for clone in clones]
    assert blobs[0] == blobs[1]
    assert len(trees) == 2


def test_pull_by_rebase(clones: list[Clone]) -> None:
    ours, theirs = clones
    diverge(ours, theirs)
    pulled = run_git_command("pull", "--rebase", "origin", "gitticks/state", at=ours.board)
    assert pulled.returncode == 0, pulled.stderr
    assert_joined(ours)


def test_cherry_pick(clones: list[Clone]) -> None:
    ours, theirs = clones
    base = theirs.store.tip()
    diverge(ours, theirs)
    git("fetch", "--quiet", "origin", at=ours.path)
    picked = run_git_command("cherry-pick", f"{base}..origin/gitticks/state", at=ours.board)
    assert picked.returncode == 0, picked.stderr
    assert_joined(ours)


def rewrite_twice(ours: Clone, theirs: Clone) -> None:
    """Lets both sides rewrite one line of a section, each by a plain commit on the board."""
    for clone, text in ((theirs, "Their line."), (ours, "Our line.")):
        file = clone.board / PATH
        file.write_text(file.read_text().replace("One line.", text))
        git("commit", "--quiet", "-am", "by hand", at=clone.board)
    theirs.push()


@pytest.mark.parametrize("way", ["--no-rebase", "--rebase"])
def test_a_true_conflict_stands_marked_and_stops_nobody(clones: list[Clone], way: str) -> None:
    ours, theirs = clones
    rewrite_twice(ours, theirs)
    pulled = run_git_command("pull", "--no-edit", way, "origin", "gitticks/state", at=ours.board)
    assert pulled.returncode == 0
    assert "both sides changed ## Context: both versions are there, marked, until you choose" in pulled.stderr
    text = (ours.board / PATH).read_text()
    assert "Our line." in text
    assert "Their line." in text
    assert not ours.is_merging
    assert ours.task(TASK).title == theirs.task(TASK).title
    assert " error " not in ours.gt("doctor").out
    git("revert", "--no-edit", "HEAD~1" if way == "--rebase" else "HEAD^2", at=ours.board)
    assert " error " not in ours.gt("doctor").out


@pytest.mark.parametrize("way", ["stash", "rebase", "merge"])
def test_edits_that_git_stashes_and_puts_back_stand_as_edits(clones: list[Clone], way: str) -> None:
    ours, theirs = clones
    theirs.ok("update", TASK, "--title", "Theirs", "-d", "Their line.", "-p", "0")
    theirs.push()
    updated = theirs.task(TASK).updated
    file = ours.board / PATH
    mine = re.sub("(?m)^title: .*", "title: Mine", file.read_text()).replace("The summary.", "My line.")
    file.write_text(mine)
    if way == "stash":
        git("stash", at=ours.board)
        assert ours.pull().returncode == 0
        popped = run_git_command("stash", "pop", at=ours.board)
        assert "both sides set `title`: `Mine` was stashed and stands, `Theirs` is dropped" in popped.stderr
    else:
        pull = ["pull", "--autostash", "--rebase" if way == "rebase" else "--no-rebase"]
        ours.ok("note", "m3xq", "so that there is something to rebase")
        assert run_git_command(*pull, "--no-edit", "origin", "gitticks/state", at=ours.board).returncode == 0
    text = file.read_text()
    assert "title: Mine\n" in text
    assert "My line." in text
    assert "Their line." in text
    assert "priority: 0\n" in text
    assert git("diff", "--name-only", at=ours.board) == PATH
    assert f"updated: {updated:%Y-%m-%dT%H:%M:%SZ}" in text
    file.write_text(re.sub("(?m)^<!-- gitticks conflict.*\n", "", text))
    git("commit", "--quiet", "-am", "mine", at=ours.board)
    assert ours.task(TASK).title == "Mine"
    ours.ok("doctor")


@pytest.mark.parametrize("way", ["stash", "--rebase", "--no-rebase"])
@pytest.mark.parametrize("section", ["Handoff", "Review"])
def test_edits_of_what_agents_wrote_and_of_the_status_come_back_too(
    clones: list[Clone], way: str, section: str
) -> None:
    ours, theirs = clones
    written = f"## {section}\n\n- DONE: all of it\n"
    write_files(theirs.store, {PATH: f"{(theirs.board / PATH).read_text()}\n{written}".encode()})
    theirs.push()
    assert ours.pull().returncode == 0
    theirs.ok("note", TASK, "from the other side")
    theirs.push()
    ours.ok("note", "m3xq", "so that there is something to rebase")
    file = ours.board / PATH
    mine = file.read_text().replace(written, f"{written}- UNCERTAIN: my line\n")
    file.write_text(re.sub("(?m)^status: .*", "status: cancelled", mine))
    pull = ["pull", "--no-edit", "origin", "gitticks/state"]
    if way == "stash":
        git("stash", at=ours.board)
        git(*pull, "--no-rebase", at=ours.board)
        git("stash", "pop", at=ours.board)
    else:
        git(*pull, "--autostash", way, at=ours.board)
    text = file.read_text()
    assert f"{written}- UNCERTAIN: my line\n" in text
    assert "status: cancelled\n" in text
    assert "from the other side" in text
    assert git("diff", "--name-only", at=ours.board) == PATH


@pytest.mark.parametrize("chosen", ["Our line.", "Their line.", "Both lines."])
@pytest.mark.parametrize("by_git", [False, True])
def test_a_conflict_is_settled_in_the_file(clones: list[Clone], chosen: str, by_git: bool) -> None:
    ours, theirs = clones
    theirs.ok("update", TASK, "-d", "Their line.")
    theirs.push()
    ours.ok("update", TASK, "-d", "Our line.")
    assert ours.pull().returncode == 0
    file = ours.board / PATH
    text, settled = file.read_text(), re.compile("<!-- gitticks conflict.*end -->", re.DOTALL)
    file.write_text(settled.sub(chosen, text))
    if by_git:
        git("commit", "--quiet", "-am", "settled", at=ours.board)
    assert "conflict" not in ours.ok("status")
    assert f"\n---\n\n{chosen}\n" in ours.file(TASK).data.decode()
    assert file.read_bytes() == ours.file(TASK).data
    ours.push()
    assert theirs.pull().returncode == 0
    assert theirs.file(TASK).data == ours.file(TASK).data


def test_a_sync_keeps_files_executable(clones: list[Clone]) -> None:
    ours, theirs = clones
    program = theirs.board / "check.sh"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    git("add", "check.sh", at=theirs.board)
    git("commit", "--quiet", "-m", "check", at=theirs.board)
    theirs.ok("sync")
    ours.ok("note", TASK, "Seen by us.")
    ours.ok("sync")
    theirs.ok("sync")
    assert theirs.tip() == ours.tip()
    for clone in clones:
        assert git("ls-tree", "HEAD", "check.sh", at=clone.board).startswith("100755 ")
        assert os.access(clone.board / "check.sh", os.X_OK)
        assert git("status", "--porcelain", at=clone.board) == ""


def test_a_sync_lets_a_file_become_a_folder_and_a_file_again(clones: list[Clone]) -> None:
    ours, theirs = clones
    plan = theirs.board / "plan"
    for content in ({"plan": "x"}, {"plan/a.md": "y"}, {"plan": "z"}):
        run_git_command("rm", "-rq", "plan", at=theirs.board)
        for path, text in content.items():
            (theirs.board / path).parent.mkdir(exist_ok=True)
            (theirs.board / path).write_text(text)
        git("add", "plan", at=theirs.board)
        git("commit", "--quiet", "-m", "plan", at=theirs.board)
        theirs.ok("sync")
        ours.ok("note", TASK, "Seen by us.")
        ours.ok("sync")
        theirs.ok("sync")
        for clone in clones:
            assert git("status", "--porcelain", at=clone.board) == ""
            assert {path: (clone.board / path).read_text() for path in content} == content
    assert plan.is_file()


def import_from_backlog(clone: Clone, title: str, created: str) -> None:
    """Imports `back-1` from a project of that name beside the clone."""
    file = clone.path.parent / title / "backlog/tasks/back-1 - it.md"
    file.parent.mkdir(parents=True)
    fields = f"id: BACK-1\ntitle: {title}\nstatus: To Do\ncreated_date: '{created}'\nlabels: []\n"
    file.write_text(f"---\n{fields}---\n\n## Description\n\nText.\n")
    clone.ok("import", str(clone.path.parent / title))


@pytest.mark.parametrize("is_closed_before", [True, False])
def test_what_was_done_to_a_task_that_got_another_id_elsewhere_follows_it(
    clones: list[Clone], is_closed_before: bool
) -> None:
    ours, theirs = clones
    import_from_backlog(ours, "one", "2025-01-01")
    import_from_backlog(theirs, "other", "2025-06-01")
    if is_closed_before:
        theirs.ok("close", "back-1")
    theirs.ok("sync")
    assert "renamed back-1 to " in ours.ok("sync")
    if not is_closed_before:
        theirs.ok("close", "back-1")
    else:
        theirs.ok("note", "back-1", "Seen.")
    renamed = re.findall("renamed back-1 to (.*): other ", theirs.ok("sync"))
    ours.ok("sync")
    for clone in clones:
        found = [clone.task(TaskId(one)) for one in ("back-1", *renamed)]
        assert [(one.title, str(one.status)) for one in found] == [("one", "pending"), ("other", "done")]
        clone.ok("doctor")
    assert clones[0].tip() == clones[1].tip()


def test_without_gitticks_git_merges_by_text(clones: list[Clone], on_path: Path) -> None:
    ours, theirs = clones
    diverge(ours, theirs)
    driver = git("config", "merge.gitticks.driver", at=ours.path)
    git("config", "merge.gitticks.driver", driver[driver.index("gt merge-driver") :], at=ours.path)
    on_path.write_text("#!/bin/sh\nexit 127\n")
    assert ours.pull().returncode == 1
    text = (ours.board / PATH).read_text()
    assert "<<<<<<< ours" in text
    assert "Seen by us." in text
    assert "Seen by them." in text
    git("merge", "--abort", at=ours.board)


def test_a_deletion_never_drops_a_task_with_newer_changes(clones: list[Clone]) -> None:
    ours, theirs = clones
    theirs.ok("note", TASK, "Still needed.")
    theirs.push()
    git("rm", "--quiet", "-r", f"{PATH.rpartition('/')[0]}", at=ours.board)
    git("commit", "--quiet", "--no-verify", "-m", "gone", at=ours.board)
    assert ours.pull().returncode == 1
    assert "Still needed." in (ours.board / PATH).read_text()
    assert "one side deleted what the other changed" in ours.gt("doctor").out
    ours.gt("doctor", "--fix")
    git("commit", "--quiet", "--no-edit", at=ours.board)
    assert "Still needed." in ours.ok("show", TASK)
    assert "note" in ours.ok("log", TASK)


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_what_git_merged_by_lines_is_named_and_fixed(clones: list[Clone], on_path: Path, style: str) -> None:
    ours, theirs = clones
    diverge(ours, theirs)
    git("config", "merge.conflictStyle", style, at=ours.path)
    git("config", "--remove-section", "merge.gitticks", at=ours.path)
    on_path.write_text("#!/bin/sh\nexit 127\n")
    assert ours.pull().returncode == 1
    assert "<<<<<<< " in (ours.board / PATH).read_text()
    assert ours.ok("show", "m3xq")
    assert "k7f2" in ours.ok("list")
    found = ours.gt("doctor")
    assert found.code == 0
    assert f".gitticks/{PATH}:" in found.out
    assert "git merged this task line by line" in found.out
    assert "git merges tasks line by line in this clone" in found.out
    assert "checkout HEAD" not in found.out  # it would take their side away
    stands = ours.gt("status")
    assert f"  .gitticks/{PATH}  conflict: git's markers begin at line " in stands.out
    assert stands.err.endswith(f"`gt doctor --fix` merges both sides, then {WAYS}\n")
    joined = ours.ok("doctor", "--fix")
    assert f"git is in the middle of a merge in .gitticks/\n           {WAYS}\n" in joined
    assert "checkout HEAD" not in joined
    assert ours.gt("status").err.endswith(f"hint: git is in the middle of a merge in .gitticks/: {WAYS}\n")
    assert "gt merge-driver" in git("config", "merge.gitticks.driver", at=ours.path)
    git("commit", "--quiet", "--no-edit", at=ours.board)
    assert_joined(ours)


def test_a_merge_that_the_doctor_has_joined_can_still_be_given_up(clones: list[Clone], on_path: Path) -> None:
    ours, theirs = clones
    diverge(ours, theirs)
    git("config", "--remove-section", "merge.gitticks", at=ours.path)
    on_path.write_text("#!/bin/sh\nexit 127\n")
    before = (ours.board / PATH).read_text()
    assert ours.pull().returncode == 1
    ours.ok("doctor", "--fix")
    git("merge", "--abort", at=ours.board)
    assert (ours.board / PATH).read_text() == before
    assert git("status", "--porcelain", at=ours.board) == ""


def test_settings_of_both_sides_are_joined_unless_both_set_the_same(clones: list[Clone]) -> None:
    ours, theirs = clones
    theirs.ok("config", "parallel", "2")
    theirs.push()
    ours.ok("config", "iterations", "5")
    assert ours.pull().returncode == 1
    assert ".gitticks/config.yaml:" in ours.gt("doctor").out
    ours.ok("doctor", "--fix")
    git("commit", "--quiet", "--no-edit", at=ours.board)
    assert (ours.ok("config", "parallel"), ours.ok("config", "iterations")) == (
        theirs.ok("config", "parallel"),
        ours.ok("config", "iterations"),
    )
    assert "5" in ours.ok("config", "iterations")
    ours.push()
    theirs.ok("config", "iterations", "7")
    ours.ok("config", "iterations", "8")
    ours.push()
    assert theirs.pull().returncode == 1
    theirs.gt("doctor", "--fix")
    assert git("diff", "--name-only", "--diff-filter=U", at=theirs.board) == "config.yaml"


def test_markers_that_were_committed_are_fixed_too(clones: list[Clone]) -> None:
    ours, _ = clones
    file = ours.board / PATH
    hunk = "<<<<<<< ours\npriority: 0\n||||||| base\n=======\nreviewer: Bob\n>>>>>>> theirs\n"
    file.write_text(file.read_text().replace("status:", f"{hunk}status:"))
    git("commit", "--quiet", "--no-verify", "-am", "unread", at=ours.board)
    listed = ours.gt("list")
    assert "m3xq" in listed.out
    assert f".gitticks/{PATH}:" in listed.err
    assert "conflict markers" in listed.err
    ours.ok("doctor", "--fix")
    task = ours.task(TASK)
    assert (task.priority, task.reviewer) == (0, "Bob")
    assert ours.gt("list").err == ""


def test_markers_that_tell_no_sides_stay_as_they_are(clones: list[Clone]) -> None:
    ours, _ = clones
    file = ours.board / PATH
    text = file.read_text().replace("status:", "<<<<<<< ours\n[\n=======\n]\n>>>>>>> theirs\nstatus:")
    file.write_text(text)
    git("commit", "--quiet", "--no-verify", "-am", "unread", at=ours.board)
    ours.gt("doctor", "--fix")
    assert file.read_text() == text
    assert "conflict markers" in ours.gt("list").err
