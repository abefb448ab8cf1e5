"""`gt worktree open` and `gt worktree gc`."""

from __future__ import annotations

import json
import os
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote

import pytest

from gitticks.model.status import Status
from tests.support.agents import write_program
from tests.support.clones import make_two_clones
from tests.support.projects import Project, make_project, make_reviewing, make_working
from tests.support.repositories import commit_file, git
from tests.support.stores import write_task_file


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "a project")


def test_open_starts_the_persons_shell_in_the_workspace(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = make_working(project)
    shows = f"(pwd; git rev-parse --abbrev-ref HEAD) > {tmp_path}/seen"
    monkeypatch.setenv("SHELL", str(write_program(tmp_path / "shell", shows)))
    project.ok("worktree", "open", "k7f2", environment={"GIT_DIR": str(project.path / ".git")})
    assert (tmp_path / "seen").read_text().splitlines() == [str(workspace), "gitticks/work/k7f2"]
    assert json.loads(project.ok("worktree", "open", "k7f2", "--json"))["path"] == str(workspace)
    monkeypatch.setenv("SHELL", "/no/shell")
    told = project.gt("worktree", "open", "k7f2").err
    assert "there is no shell `/no/shell`" in told
    assert f"`cd {quote(str(workspace))}`" in told
    project.make("m3xq")
    assert "`gt start m3xq` makes one" in project.gt("worktree", "open", "m3xq").err
    shutil.rmtree(workspace)
    ran = project.gt("worktree", "open", "k7f2")
    assert (ran.code, f"the workspace `{workspace}` is gone" in ran.err) == (1, True), ran


def test_a_run_removes_expired_transcripts_when_it_ends(project: Project) -> None:
    transcripts = project.path / ".git" / "gitticks" / "transcripts" / "m3xq"
    transcripts.mkdir(parents=True)
    old, young = transcripts / "old.log", transcripts / "young.log"
    for file in (old, young):
        file.write_text("said\n")
    os.utime(old, (0, 0))
    project.ok("run", "--headless")
    assert (old.exists(), young.exists()) == (False, True)


def test_gc_removes_what_nobody_needs_and_keeps_the_rest(project: Project) -> None:
    needed, clean, dirty = (make_working(project, name) for name in ("k7f2", "m3xq", "p2aa"))
    (dirty / "half.txt").write_text("half\n")
    for name in ("m3xq", "p2aa"):
        project.change(name, status=Status.CANCELLED)
    transcripts = project.path / ".git" / "gitticks" / "transcripts" / "m3xq"
    transcripts.mkdir(parents=True)
    old, young = transcripts / "old.log", transcripts / "young.log"
    for file in (old, young):
        file.write_text("said\n")
    os.utime(old, (0, 0))
    now = {"GIT_COMMITTER_DATE": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"}
    commit = git("commit-tree", "-m", "kept", "main^{tree}", at=project.path, environment=now)
    git("update-ref", "refs/gitticks/rescued/young", commit, at=project.path)
    stamp = {"GIT_COMMITTER_DATE": "2001-01-01T00:00:00Z"}
    aged = git("commit-tree", "-m", "aged", "main^{tree}", at=project.path, environment=stamp)
    git("update-ref", "refs/gitticks/rescued/aged", aged, at=project.path)
    wanted = [("workspace", "m3xq"), ("workspace", "p2aa"), ("transcript", "m3xq/old.log")]
    rescued = ("rescued", f"aged ({aged[:10]})")
    tried = json.loads(project.ok("worktree", "gc", "--dry-run", "--json"))["leftovers"]
    assert [(one["kind"], one["name"]) for one in tried] == [*wanted, rescued]
    assert clean.is_dir()
    assert old.exists()
    ran = project.gt("worktree", "gc")
    assert ran.code == 1
    assert "workspace p2aa" in ran.out
    assert "has uncommitted work: `half.txt`; commit it there, or `gt worktree clean p2aa --force`" in ran.out
    assert (needed.is_dir(), clean.is_dir(), dirty.is_dir()) == (True, False, True)
    assert (old.exists(), young.exists()) == (False, True)
    refs = git("for-each-ref", "--format=%(refname)", "refs/gitticks/rescued", at=project.path)
    assert refs.split() == ["refs/gitticks/rescued/young"]


def test_gc_with_nothing_left_over(project: Project) -> None:
    make_working(project)
    ran = project.gt("worktree", "gc")
    assert (ran.code, ran.out, ran.err) == (0, "", "nothing to remove\n")


def test_a_task_that_cannot_be_read_keeps_its_workspace(project: Project) -> None:
    workspace = make_working(project)
    write_task_file(project.store, "k7f2", "---\nid: [\n---\n")
    assert "nothing to remove" in project.gt("worktree", "gc").err
    assert "unreadable" in project.ok("worktree", "list")
    project.ok("worktree", "clean")
    assert workspace.is_dir()
    ran = project.gt("conflicts", "k7f2")
    assert (ran.code, "TASK.md:2:5" in ran.err) == (1, True), ran


def test_open_finds_the_workspace_that_an_epics_tasks_share(project: Project) -> None:
    project.ok("config", "isolation", "epic")
    epic = project.ok("create", "Both", "--type", "epic").strip()
    task_id = project.ok("create", "First", "--parent", epic).strip()
    project.ok("start", task_id)
    opened = json.loads(project.ok("worktree", "open", task_id, "--json"))
    assert opened["path"] == str(project.path / ".gitticks-work" / epic)


def test_what_a_dead_reviewer_committed_is_kept(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    make_reviewing(project)
    place = project.path / ".gitticks-work/reviews/k7f2"
    git("worktree", "add", "-q", "--detach", str(place), str(project.task("k7f2").end_sha), at=project.path)
    commit_file(place, "found.txt", "a note\n")
    ran = project.gt("worktree", "gc")
    assert ran.code == 0
    assert not place.exists()
    kept = re.search("it is kept at `(.+?)`", ran.err)
    assert kept is not None, ran.seen
    assert git("show", f"{kept[1]}:found.txt", at=project.path) == "a note"


def test_gc_removes_nothing_sooner_because_somebody_else_says_so(tmp_path: Path) -> None:
    mine, other = make_two_clones(tmp_path)
    other.ok("config", "keep.rescued", "1s")
    other.ok("sync")
    mine.ok("sync")
    assert "`keep.rescued` came from elsewhere" in mine.gt("worktree", "gc").err
    mine.ok("config", "keep.rescued", "1s")
    mine.ok("worktree", "gc")


@pytest.mark.parametrize("is_link", [False, True])
def test_gc_removes_nothing_where_somebody_else_sends_it(tmp_path: Path, is_link: bool) -> None:
    mine, other = make_two_clones(tmp_path)
    outside = tmp_path / "outside"
    for name in ("reviews/k7f2", ".removed/k7f2"):
        (outside / name).mkdir(parents=True)
    if is_link:
        (mine.path / ".gitticks-work").symlink_to(outside)
    else:
        other.ok("config", "workspace.dir", str(outside))
        other.ok("sync")
        mine.ok("sync")
    assert mine.gt("worktree", "gc").code == (0 if is_link else 3)
    assert sorted(path.name for path in outside.rglob("k7f2")) == ["k7f2", "k7f2"]
