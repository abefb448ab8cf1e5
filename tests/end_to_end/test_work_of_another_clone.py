"""Work that was handed off or merged in another clone, and whose commits nobody has brought into this one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from gitticks.git.identity import ENGINE_IDENTITY
from gitticks.model.event import ENGINE, Event, EventType
from gitticks.model.status import Status, TaskType
from gitticks.store.claims import CLAIMS
from tests.cli.support import command
from tests.support.clones import Clone, make_clones, make_first_clone, on_path
from tests.support.projects import make_reviewing, make_working
from tests.support.repositories import commit_file, git
from tests.support.runs import COMMIT, HANDOFF, NO_PERSON
from tests.support.stores import NOW
from tests.support.tasks import write_files
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["on_path"]

SCRIPT = f"## Script\n\n```sh\n{COMMIT}{HANDOFF}```\n"
BRANCH = "gitticks/work/k7f2"


@pytest.fixture
def clones(tmp_path: Path, on_path: Path) -> list[Clone]:
    """Makes two clones, the first of which has the work on `k7f2`; `m3xq` is ready."""
    first = make_first_clone(tmp_path)
    write_files(first.store, {"config.yaml": f"version: 1\n{NO_PERSON}claims: {{lease: 10m}}\n".encode()})
    make_reviewing(first, body=SCRIPT)
    first.make("m3xq", title="Another", body=SCRIPT)
    clones = make_clones(tmp_path, first, 2)
    clones[0].ok("sync")
    git("push", "--quiet", "origin", "--delete", BRANCH, at=clones[0].path)
    git("clone", "--quiet", "--no-local", "remote.git", "fresh", at=tmp_path)
    fresh = Clone(tmp_path / "fresh")
    fresh.ok("init")
    fresh.ok("trust", "--yes")
    return [clones[0], fresh]


def test_it_is_neither_judged_nor_begun_anew_before_its_commits_are_here(clones: list[Clone]) -> None:
    ours, here = clones
    missing = "error: the code of `k7f2` is not in this clone: commit "
    fetch = f"git fetch origin {BRANCH}:{BRANCH}"
    tip = here.tip()
    for words in (
        "review k7f2",
        "approve k7f2",
        "approve k7f2 --key none",
        "review k7f2 --accept",
        "close k7f2",
    ):
        ran = here.gt(*words.split())
        assert ran.err.startswith(missing), ran.seen
        assert f"hint: `git push origin {BRANCH}` where it was made, then `{fetch}` here" in ran.err
    assert here.tip() == tip
    here.ok("reject", "k7f2", "rename it")
    ran = here.gt("run", "--headless", "--debounce", "0")
    assert "k7f2: skipped in this run: the code of `k7f2` is not in this clone" in ran.err, ran.seen
    assert here.task("k7f2").status is Status.WORKING
    assert here.task("m3xq").status is Status.DONE
    git("push", "--quiet", "origin", BRANCH, at=ours.path)
    git(*fetch.split()[1:], "--quiet", at=here.path)
    here.ok("run", "--headless", "--debounce", "0")
    assert here.task("k7f2").status is Status.DONE
    assert git("show", "main:login.txt", at=here.path) == "k7f2"


def test_what_was_never_handed_off_is_neither_handed_off_nor_closed_without_its_branch(
    tmp_path: Path, on_path: Path
) -> None:
    first = make_first_clone(tmp_path)
    first.ok("config", "verify.test", "false")
    workspace = make_working(first)
    first.ok("handoff", "k7f2", "--done", "the login keeps the return URL")
    ours, here = make_clones(tmp_path, first, 2)
    git("push", "--quiet", "origin", "--delete", BRANCH, at=ours.path)
    git("fetch", "--quiet", "--prune", at=here.path)
    here.ok("trust", "--yes")
    tip = here.tip()
    fetch = f"git fetch origin {BRANCH}:{BRANCH}"
    for words in ("complete k7f2", "update k7f2 --status agent-review", "close k7f2", "close k7f2 done"):
        ran = here.gt(*words.split())
        missing = f"error: the work on `k7f2` is on `{BRANCH}`, and that branch is not in this clone"
        assert (ran.code, ran.err.splitlines()[0]) == (3, missing), ran.seen
        assert f"hint: `git push origin {BRANCH}` where it was made, then `{fetch}` here; if" in ran.err
    assert here.tip() == tip
    git("push", "--quiet", "origin", BRANCH, at=ours.path)
    git(*fetch.split()[1:], "--quiet", at=here.path)
    here.ok("config", "verify.test", "true")
    assert "merged into main" in here.ok("close", "k7f2")
    assert git("rev-parse", "main^2", at=here.path) == git("rev-parse", "HEAD", at=workspace)


def test_what_is_lost_is_begun_again_as_the_hint_says(clones: list[Clone]) -> None:
    here = clones[1]
    here.ok("reject", "k7f2", "do it again")
    hint = here.gt("start", "k7f2", "--take-over").err
    assert "here; if it is lost, `gt cancel k7f2`, then `gt reopen k7f2` to begin again" in hint
    here.ok("cancel", "k7f2")
    here.ok("reopen", "k7f2")
    here.ok("run", "--headless", "--debounce", "0", "k7f2")
    assert here.task("k7f2").status is Status.DONE
    assert "k7f2.txt" in git("ls-tree", "--name-only", "main", at=here.path)


def test_closing_is_no_way_past_a_branch_that_is_behind(clones: list[Clone]) -> None:
    ours, here = clones
    git("push", "--quiet", "origin", BRANCH, at=ours.path)
    git("fetch", "--quiet", "origin", f"{BRANCH}:{BRANCH}", at=here.path)
    head = commit_file(ours.path / ".gitticks-work/k7f2", "more.txt", "more\n", "more")
    ours.change("k7f2", end_sha=head)
    ours.ok("sync")
    here.ok("sync")
    assert here.gt("close", "k7f2").err.startswith("error: the code of `k7f2` is not in this clone")
    git("push", "--quiet", "origin", BRANCH, at=ours.path)
    git("fetch", "--quiet", "origin", at=here.path)
    assert f"in this clone, behind {head[:7]}" in here.gt("close", "k7f2").err
    assert here.task("k7f2").is_open
    git("fetch", "--quiet", "origin", f"{BRANCH}:{BRANCH}", at=here.path)
    assert "merged into main" in here.ok("close", "k7f2")
    assert git("show", "main:more.txt", at=here.path) == "more"


def test_what_waits_for_it_starts_only_from_its_code(tmp_path: Path, on_path: Path) -> None:
    first = make_first_clone(tmp_path)
    write_files(first.store, {"config.yaml": f"version: 1\n{NO_PERSON}".encode()})
    first.make("k7f2", body=SCRIPT)
    first.make("m3xq", title="Another", body=SCRIPT, blocked_by=["k7f2"])
    ours, here = make_clones(tmp_path, first, 2)
    ours.ok("trust", "--yes")
    ours.ok("run", "--headless", "--debounce", "0", "k7f2")
    ours.ok("sync")
    here.ok("sync")
    here.ok("trust", "--yes")
    merge = (here.task("k7f2").merged_sha or "")[:10]
    missing = f"`m3xq` waits for the code of `k7f2`: `main` lacks the merge {merge}"
    for _ in range(2):
        ran = here.gt("run", "--headless", "--debounce", "0")
        assert ran.code == 1
        assert f"m3xq: skipped in this run: {missing} (`git pull`, once" in ran.err, ran.seen
        ran = here.gt("start", "m3xq")
        assert ran.err.startswith(f"error: {missing}"), ran.seen
        assert "`gt unblock m3xq k7f2` starts without it" in ran.err
        git("push", "--quiet", "origin", "main", at=ours.path)
        git("fetch", "--quiet", "origin", at=here.path)
    git("pull", "--quiet", at=here.path)
    here.ok("run", "--headless", "--debounce", "0")
    assert here.task("m3xq").status is Status.DONE
    assert "k7f2.txt" in git("ls-tree", "--name-only", here.task("m3xq").start_sha or "", at=here.path)


def test_where_merges_are_pushed_a_run_fetches_what_its_tasks_wait_for(tmp_path: Path, on_path: Path) -> None:
    first = make_first_clone(tmp_path)
    write_files(first.store, {"config.yaml": f"version: 1\n{NO_PERSON}merge: {{push: true}}\n".encode()})
    first.make("k7f2", body=SCRIPT)
    first.make("m3xq", title="Another", body=SCRIPT, blocked_by=["k7f2"])
    ours, here = make_clones(tmp_path, first, 2)
    for one in (ours, here):
        one.ok("trust", "--yes")
    ours.ok("run", "--headless", "--debounce", "0", "k7f2")
    ours.ok("sync")
    here.ok("sync")
    here.ok("run", "--headless", "--debounce", "0")
    assert here.task("m3xq").status is Status.DONE
    assert "k7f2.txt" in git("ls-tree", "--name-only", here.task("m3xq").start_sha or "", at=here.path)


def test_where_merges_are_pushed_what_conflicted_with_others_starts_from_their_merge(
    tmp_path: Path, on_path: Path
) -> None:
    first = make_first_clone(tmp_path)
    write_files(first.store, {"config.yaml": f"version: 1\n{NO_PERSON}merge: {{push: true}}\n".encode()})
    failed = Event(EventType.MERGE_FAILED, NOW, ENGINE, reason="conflicts with main in login.txt")
    looks = SCRIPT.replace("```sh\n", "```sh\ngit rev-parse main > base.txt\n")
    make_working(first, "k7f2", body=looks, events=[failed])
    ours, other = make_clones(tmp_path, first, 2)
    head = commit_file(other.path, "theirs.txt", "theirs\n", "merged elsewhere")
    git("push", "--quiet", "origin", "main", at=other.path)
    ours.ok("trust", "--yes")
    ours.ok("run", "--headless", "--debounce", "0")
    assert git("show", "main:base.txt", at=ours.path) == head


def test_a_blocker_that_was_rebased_onto_the_base_is_there(tmp_path: Path, on_path: Path) -> None:
    here = make_first_clone(tmp_path)
    write_files(here.store, {"config.yaml": f"version: 1\n{NO_PERSON}".encode()})
    here.make("k7f2", body=SCRIPT)
    here.make("m3xq", title="Another", blocked_by=["k7f2"])
    here.ok("trust", "--yes")
    before = git("rev-parse", "main", at=here.path)
    here.ok("run", "--headless", "--debounce", "0", "k7f2")
    merge = here.task("k7f2").merged_sha or ""
    git("reset", "--quiet", "--hard", before, at=here.path)
    assert f"hint: `git merge --no-edit {merge[:10]}` on `main` restores it" in here.gt("start", "m3xq").err
    git("cherry-pick", here.task("k7f2").end_sha or "", at=here.path)
    here.ok("start", "m3xq")


@pytest.mark.parametrize("push", [True, False])
def test_what_one_person_sent_back_is_not_merged_by_anothers_approval(
    clones: list[Clone], push: bool
) -> None:
    ours, here = clones
    git("push", "--quiet", "origin", BRANCH, at=ours.path)
    git("fetch", "--quiet", "origin", f"{BRANCH}:{BRANCH}", at=here.path)
    base = git("rev-parse", "main", at=here.path)
    if push:
        git("config", "gitticks.merge.push", "true", at=here.path)
    ours.ok("reject", "k7f2", "rename it")
    ours.ok("sync")
    ran = here.gt("approve", "k7f2", *(() if push else ("--no-wait",)))
    assert ran.code == (3 if push else 0), ran.seen
    assert not push or "error: `k7f2` is not approved: it is working" in ran.err
    for clone in (here, ours):
        clone.ok("sync")
        assert clone.task("k7f2").status is Status.WORKING
        assert "rename it" in clone.ok("show", "k7f2")
        assert git("rev-parse", "main", at=clone.path) == base
        clone.ok("doctor")


def test_a_run_that_lacks_the_code_leaves_the_merge_to_a_clone_that_has_it(clones: list[Clone]) -> None:
    ours, here = clones
    ours.ok("approve", "k7f2", "--no-wait")
    ours.ok("sync")
    here.ok("sync")
    here.ok("cancel", "m3xq")
    log = here.path.parent / "log"
    words = ("run", "--auto", "--headless", "--debounce", "0", "--all")
    with (
        log.open("w") as said,
        subprocess.Popen(
            command(*words), cwd=here.path, stdin=subprocess.DEVNULL, stdout=said, stderr=said
        ) as run,
    ):
        until(
            lambda: "the code of `k7f2` is not in this clone" in log.read_text(), "the run says why it waits"
        )
        assert git("ls-remote", "origin", "refs/gitticks/claims/*", at=ours.path) == ""
        ours.ok("sync")
        ours.ok("run", "--headless", "--debounce", "0")
        run.terminate()
        run.wait(LONGEST_SECONDS)
    assert ours.task("k7f2").status is Status.DONE
    assert git("show", "main:login.txt", at=ours.path) == "k7f2"


def test_what_another_clone_is_merging_or_has_merged_is_not_called_lost(clones: list[Clone]) -> None:
    ours, here = clones
    ours.ok("approve", "k7f2", "--no-wait")
    ours.ok("sync")
    here.ok("sync")
    here.ok("cancel", "m3xq")
    body = json.dumps({"by": "Bob", "host": "there", "expires": "2999-01-01T00:00:00+00:00"}).encode()
    taken = ours.store.objects.write_commit((), {"claim.json": body}, author=ENGINE_IDENTITY, message="x\n")
    git("push", "-q", "origin", f"{taken.id}:{CLAIMS}k7f2", at=ours.path)
    ran = here.gt("run", "--headless", "--debounce", "0")
    assert "`k7f2` is claimed by Bob on there" in ran.seen
    assert "is not in this clone" not in ran.seen
    git("push", "-q", "origin", f":{CLAIMS}k7f2", at=ours.path)
    ours.ok("run", "--headless", "--debounce", "0")
    assert "is not in this clone" not in here.gt("run", "--headless", "--debounce", "0").seen
    assert here.task("k7f2").status is Status.DONE


def test_a_branch_that_is_behind_the_hand_off_is_told_from_one_with_new_commits(clones: list[Clone]) -> None:
    ours, here = clones
    git("push", "--quiet", "origin", BRANCH, at=ours.path)
    git("fetch", "--quiet", "origin", f"{BRANCH}:{BRANCH}", at=here.path)
    workspace = ours.path / ".gitticks-work/k7f2"
    head = commit_file(workspace, "more.txt", "more\n", "more")
    ours.change("k7f2", end_sha=head)
    ours.ok("sync")
    here.ok("sync")
    missing = here.gt("approve", "k7f2")
    assert missing.err.startswith(
        f"error: the code of `k7f2` is not in this clone: commit {head[:10]} is missing"
    )
    git("push", "--quiet", "origin", BRANCH, at=ours.path)
    git("fetch", "--quiet", "origin", at=here.path)
    behind = here.gt("approve", "k7f2")
    assert (
        f"is at {git('rev-parse', BRANCH, at=here.path)[:7]} in this clone, behind {head[:7]}" in behind.err
    )
    assert "new commits" not in here.ok("inbox")
    git("branch", "--force", BRANCH, head[:10], at=here.path)
    assert f"hint: `git branch --force {BRANCH} {head[:10]}` brings it there" in behind.err
    assert "merged into main" in here.ok("approve", "k7f2")


@pytest.mark.parametrize("is_checked_out", [False, True])
def test_an_older_branch_is_not_worked_on_where_the_last_hand_off_is_missing(
    clones: list[Clone], is_checked_out: bool
) -> None:
    ours, here = clones
    git("push", "--quiet", "origin", BRANCH, at=ours.path)
    git("fetch", "--quiet", "origin", f"{BRANCH}:{BRANCH}", at=here.path)
    fetch = f"git fetch origin {BRANCH}:{BRANCH}"
    if is_checked_out:
        workspace = here.path / ".gitticks-work/k7f2"
        git("worktree", "add", "--quiet", str(workspace), BRANCH, at=here.path)
        fetch = f"git -C {workspace} pull --no-rebase --no-edit origin {BRANCH}"
    head = commit_file(ours.path / ".gitticks-work/k7f2", "more.txt", "more\n", "more")
    ours.change("k7f2", end_sha=head)
    ours.ok("sync")
    here.ok("sync")
    here.ok("reject", "k7f2", "rename it")
    tip = git("rev-parse", BRANCH, at=here.path)
    missing = f"the code of `k7f2` is not in this clone: commit {head[:10]} is missing"
    ran = here.gt("run", "--headless", "--debounce", "0", "k7f2")
    assert f"k7f2: skipped in this run: {missing}" in ran.err, ran.seen
    ran = here.gt("start", "k7f2")
    assert ran.err.startswith(f"error: {missing}"), ran.seen
    assert f"where it was made, then `{fetch}` here" in ran.err
    assert git("rev-parse", BRANCH, at=here.path) == tip
    git("push", "--quiet", "origin", BRANCH, at=ours.path)
    git(*fetch.split()[1:], at=here.path)
    here.ok("run", "--headless", "--debounce", "0", "k7f2")
    assert git("show", "main:more.txt", at=here.path) == "more"


@pytest.fixture
def epics(tmp_path: Path, on_path: Path) -> list[Clone]:
    """Makes two clones in step with an epic of two tasks that share a workspace."""
    first = make_first_clone(tmp_path)
    write_files(first.store, {"config.yaml": f"version: 1\n{NO_PERSON}isolation: epic\n".encode()})
    first.make("e0pc", type=TaskType.EPIC)
    for child in ("k7f2", "m3xq"):
        first.make(child, body=SCRIPT, parent="e0pc")
    clones = make_clones(tmp_path, first, 2)
    for clone in clones:
        clone.ok("trust", "--yes")
        clone.ok("sync")
    return clones


def test_an_epic_moves_on_where_its_last_children_were_closed_in_two_clones(epics: list[Clone]) -> None:
    ours, here = epics
    ours.ok("cancel", "k7f2")
    here.ok("cancel", "m3xq")
    ours.ok("sync")
    assert ours.task("e0pc").is_open
    here.ok("sync")
    assert "e0pc  done" in ours.ok("sync")
    assert [clone.task("e0pc").status for clone in epics] == [Status.DONE] * 2


def test_a_task_of_an_epic_starts_only_from_the_code_of_the_others(epics: list[Clone]) -> None:
    ours, here = epics
    ours.ok("run", "--headless", "--debounce", "0", "k7f2")
    ours.ok("sync")
    here.ok("sync")
    ran = here.gt("start", "m3xq")
    assert ran.err.startswith("error: `gitticks/work/e0pc` here lacks the code of `k7f2`"), ran.seen
    git("push", "--quiet", "origin", "gitticks/work/e0pc", at=ours.path)
    git("fetch", "--quiet", "origin", "gitticks/work/e0pc:gitticks/work/e0pc", at=here.path)
    here.ok("run", "--headless", "--debounce", "0")
    assert here.task("e0pc").status is Status.DONE
    assert {"k7f2.txt", "m3xq.txt"} <= set(git("ls-tree", "--name-only", "main", at=here.path).split())


def test_an_epic_is_not_merged_without_what_another_clone_did_of_it(epics: list[Clone]) -> None:
    ours, here = epics
    remote = git("remote", "get-url", "origin", at=here.path)
    ours.ok("run", "--headless", "--debounce", "0", "k7f2")
    git("remote", "set-url", "origin", f"{remote}-is-not-reached", at=here.path)
    here.ok("run", "--headless", "--debounce", "0", "m3xq")
    git("remote", "set-url", "origin", remote, at=here.path)
    ours.ok("sync")
    here.ok("sync")
    assert here.task("e0pc").is_merging
    base = git("rev-parse", "main", at=here.path)
    ran = here.gt("merge", "e0pc")
    assert ran.code != 0
    assert "is not in this clone: commit" in ran.err, ran.seen
    git("push", "--quiet", "origin", "gitticks/work/e0pc", at=ours.path)
    git("fetch", "--quiet", "origin", "gitticks/work/e0pc", at=here.path)
    here.gt("merge", "e0pc")
    assert not here.task("e0pc").is_merging
    assert git("rev-parse", "main", at=here.path) == base
