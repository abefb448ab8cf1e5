"""Clones that share a remote, with a run in each: no task is worked on twice, whichever of them is killed."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gitticks.git.identity import ENGINE_IDENTITY
from gitticks.git.repository import discover
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId
from gitticks.model.status import Status
from gitticks.store.claims import CLAIMS, Claims
from tests.cli.support import command
from tests.support.clones import Clone, make_clones, make_first_clone, on_path
from tests.support.doses import LONGEST_TEST_SECONDS, dose
from tests.support.repositories import git
from tests.support.runs import COMMIT, HANDOFF, NO_PERSON, allow_shared
from tests.support.tasks import write_files
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["on_path"]

pytestmark = [pytest.mark.usefixtures("on_path"), pytest.mark.timeout(LONGEST_TEST_SECONDS)]

TASKS = dose(4, 40)
KILLS = dose(1, 6)
DONE = f"## Script\n\n```sh\n{COMMIT}{HANDOFF}```\n"


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gives a folder that agents may write to."""
    folder = tmp_path / "shared"
    folder.mkdir()
    allow_shared(folder, monkeypatch)
    return folder


def clones_with(folder: Path, count: int, body: str = DONE, lease: str = "10m") -> list[Clone]:
    """Makes two clones whose tasks need neither a review nor a person."""
    first = make_first_clone(folder)
    write_files(first.store, {"config.yaml": f"version: 1\n{NO_PERSON}claims: {{lease: {lease}}}\n".encode()})
    for number in range(count):
        first.make(f"t{number:02}x", title=f"Task {number}", body=body)
    clones = make_clones(folder, first, 2)
    clones[0].ok("sync")  # the other one has just taken the tasks over
    for clone in clones:
        clone.ok("trust", "--yes")
    return clones


def start(clone: Clone, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command("run", "--json", "--debounce", "0", *words),
        cwd=clone.path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def claims_at(clone: Clone) -> str:
    return git("ls-remote", "origin", f"{CLAIMS}*", at=clone.path)


def state_of(clone: Clone, task_id: str) -> tuple[bool, str]:
    shown = json.loads(clone.ok("show", task_id, "--json"))["task"]
    return shown["ready"], shown["session_state"]


def begun(clone: Clone, task_id: str) -> int:
    return sum(one.type is EventType.SESSION_STARTED for one in clone.events(task_id))


def test_two_runs_do_no_task_twice(tmp_path: Path) -> None:
    clones = clones_with(tmp_path, TASKS)
    runs = [start(clone) for clone in clones]
    said = [run.communicate(timeout=LONGEST_SECONDS)[0] for run in runs]
    for clone in clones:
        clone.ok("sync")
    ids = [f"t{number:02}x" for number in range(TASKS)]
    assert {clones[0].task(one).status for one in ids} == {Status.DONE}, said
    assert {one: begun(clones[0], one) for one in ids} == dict.fromkeys(ids, 1), said
    merges = Counter[str]()
    for clone in clones:
        listed = git(
            "log", "main", "--first-parent", "--format=%(trailers:key=Task,valueonly)", at=clone.path
        )
        merges.update(listed.split())
    assert merges == Counter(ids), said
    assert claims_at(clones[0]) == ""


def test_a_task_that_another_clone_works_on_is_left_to_it_and_said(tmp_path: Path, shared: Path) -> None:
    waits = f"## Script\n\n```sh\ntouch {shared}/up; while [ ! -e {shared}/go ]; do sleep 0.1; done\n{COMMIT}{HANDOFF}```\n"
    one, other = clones_with(tmp_path, 1, waits)
    run = start(one)
    until((shared / "up").exists, "the agent")
    assert state_of(other, "t00x") == (True, "idle")
    other.ok("sync")
    assert state_of(other, "t00x") == (False, "working")
    assert (other.ok("ready"), other.gt("next").code) == ("", 1)
    ran = other.gt("run", "--headless", "--debounce", "0")
    assert ran.code == 1
    assert "warning: t00x: claimed by Ada Lovelace on" in ran.seen
    assert "another clone is working on `t00x`" in ran.seen
    refused = other.gt("start", "t00x")
    assert refused.code == 3
    assert "`t00x` is claimed by" in refused.err
    assert not (other.path / ".gitticks-work").exists()
    (shared / "go").touch()
    assert run.communicate(timeout=LONGEST_SECONDS)[0]
    other.ok("run", "--headless", "--debounce", "0")
    assert other.task("t00x").status is Status.DONE
    assert begun(other, "t00x") == 1


def test_a_task_that_nobody_here_could_work_on_is_not_claimed(tmp_path: Path) -> None:
    clone, _ = clones_with(tmp_path, 1)
    clone.make("t01x", agent="gemini")
    hook, pushed = tmp_path / "remote.git/hooks/update", tmp_path / "pushed"
    hook.write_text(f'#!/bin/sh\necho "$1" >> {pushed}\n')
    hook.chmod(0o755)
    ran = clone.gt("run", "--headless", "--debounce", "0")
    assert "t01x: skipped in this run: the agent `gemini` is not on PATH" in ran.err, ran.seen
    assert f"{CLAIMS}t00x" in pushed.read_text()
    assert f"{CLAIMS}t01x" not in pushed.read_text()


def test_what_another_clone_gave_back_meanwhile_is_asked_for_once_more_at_the_end(
    tmp_path: Path, shared: Path
) -> None:
    waits = f"## Script\n\n```sh\ntouch {shared}/up; while [ ! -e {shared}/go ]; do sleep 0.1; done\n{COMMIT}{HANDOFF}```\n"
    one, _ = clones_with(tmp_path, 1)
    one.make("t01x", body=waits, priority=4)
    one.ok("trust", "--yes")
    one.ok("sync")
    body = json.dumps({"by": "Bob", "host": "there", "expires": "2999-01-01T00:00:00+00:00"}).encode()
    taken = one.store.objects.write_commit((), {"claim.json": body}, author=ENGINE_IDENTITY, message="x\n")
    git("push", "-q", "origin", f"{taken.id}:{CLAIMS}t00x", at=one.path)
    run = start(one, "--parallel", "1")
    until((shared / "up").exists, "the agent of the task that is free")
    git("push", "-q", "origin", f":{CLAIMS}t00x", at=one.path)
    (shared / "go").touch()
    said = run.communicate(timeout=LONGEST_SECONDS)[0]
    assert said.count("claimed by Bob on there") == 1
    assert one.task("t00x").status is Status.DONE, said


def test_a_claim_that_was_given_back_or_expired_is_forgotten_with_the_next_sync(tmp_path: Path) -> None:
    one, other = clones_with(tmp_path, 1)
    for year, state in ((2999, (False, "working")), (1999, (True, "idle")), (2999, (False, "working"))):
        body = json.dumps({"by": "Ada", "host": "there", "expires": f"{year}-01-01T00:00:00+00:00"}).encode()
        made = one.store.objects.write_commit((), {"claim.json": body}, author=ENGINE_IDENTITY, message="x\n")
        git("push", "-q", "--force", "origin", f"{made.id}:{CLAIMS}t00x", at=one.path)
        for clone in (one, other):
            clone.ok("sync")
            assert state_of(clone, "t00x") == state
    git("push", "-q", "origin", f":{CLAIMS}t00x", at=one.path)
    other.ok("sync")
    assert state_of(other, "t00x") == (True, "idle")


@pytest.mark.without_sandbox("the script is not trusted, so that nothing is started")
def test_a_task_that_was_never_started_is_given_back_though_the_remote_takes_no_tasks(tmp_path: Path) -> None:
    one, other = clones_with(tmp_path, 0)
    one.make("t00x", body=DONE)
    one.ok("sync")
    other.ok("sync")
    other.ok("note", "t00x", "not sent yet")
    refuse = tmp_path / "remote.git/hooks/update"
    refuse.write_text('#!/bin/sh\ntest "$1" != refs/heads/gitticks/state\n')
    refuse.chmod(0o755)
    ran = other.gt("run", "--headless", "--debounce", "0")
    assert ran.code == 1
    assert "came from elsewhere, and nobody has trusted it" in ran.err
    assert claims_at(other) == ""


def test_what_was_done_is_not_given_back_before_the_remote_has_it(tmp_path: Path) -> None:
    one, _ = clones_with(tmp_path, 1)
    refuse = tmp_path / "remote.git/hooks/update"
    refuse.write_text('#!/bin/sh\ntest "$1" != refs/heads/gitticks/state\n')
    refuse.chmod(0o755)
    assert "not shared" in one.gt("run", "--headless", "--debounce", "0").err
    assert one.task("t00x").status is Status.DONE
    assert f"{CLAIMS}t00x" in claims_at(one)
    refuse.unlink()
    one.ok("run", "--headless", "--debounce", "0")
    assert claims_at(one) == ""


def test_what_a_killed_run_had_claimed_of_tasks_that_are_done_is_given_back_by_the_next(
    tmp_path: Path,
) -> None:
    clone, _ = clones_with(tmp_path, 2)
    repository = discover(clone.path)
    claims = Claims(repository, "origin", ("Ada", "host"), timedelta(hours=1), lambda: datetime.now(UTC))
    for task_id in ("t00x", "t01x"):
        assert claims.take(TaskId(task_id)) is None
    clone.ok("close", "t00x", "done elsewhere")
    clone.ok("defer", "t01x", "+2w")
    clone.gt("run", "--headless", "--debounce", "0")
    assert claims_at(clone).partition("\t")[2] == f"{CLAIMS}t01x"


def test_a_task_that_was_started_by_hand_is_no_other_clones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = clones_with(tmp_path, 1)
    one.ok("start", "t00x")
    assert claims_at(one) == ""
    other.gt("run", "--headless", "--debounce", "0")
    assert other.task("t00x").status is Status.WORKING
    assert begun(other, "t00x") == 1
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Grace")
    refused = other.gt("start", "t00x")
    assert refused.code == 3
    assert "Ada Lovelace has been working on `t00x` on" in refused.err
    assert "`gt start t00x --take-over`" in refused.err
    assert not (other.path / ".gitticks-work").exists()
    assert begun(other, "t00x") == 1
    other.ok("start", "t00x", "--take-over")
    assert begun(other, "t00x") == 2
    claim = other.task("t00x").claim
    assert claim is not None
    assert claim.runner == "hand:Grace"


def test_a_claim_that_nobody_renews_is_taken_over_after_its_lease(tmp_path: Path, shared: Path) -> None:
    waits = f"## Script\n\n```sh\nif [ ! -e {shared}/up ]; then touch {shared}/up; sleep 600; fi\n{COMMIT}{HANDOFF}```\n"
    one, other = clones_with(tmp_path, 1, waits, lease="4s")
    run = start(one)
    until((shared / "up").exists, "the agent")
    run.kill()
    run.communicate()
    until(lambda: other.gt("run", "--headless", "--debounce", "0").code == 0, "the other clone")
    assert other.task("t00x").status is Status.DONE


def test_without_the_remote_the_run_says_that_it_works_unclaimed(tmp_path: Path) -> None:
    one, _ = clones_with(tmp_path, 1)
    (tmp_path / "remote.git").rename(tmp_path / "away.git")
    ran = one.gt("run", "--headless", "--debounce", "0")
    assert ran.code == 0, ran.seen
    assert "work continues without a claim, so another clone may work on the same task" in ran.seen
    assert one.task("t00x").status is Status.DONE


def test_kills_of_either_run_leave_nothing_twice(tmp_path: Path) -> None:
    clones = clones_with(tmp_path, TASKS, lease="20s")
    ids = [f"t{number:02}x" for number in range(TASKS)]
    for number in range(KILLS):
        runs = [start(clone) for clone in clones]
        begun_before = number + 1

        def is_begun(count: int = begun_before) -> bool:
            return sum(clones[0].task(one).status is not Status.PENDING for one in ids) >= count

        until(is_begun, "work")
        runs[number % 2].kill()
        for run in runs:
            run.communicate(timeout=LONGEST_SECONDS)

    def are_done() -> bool:
        for clone in clones:
            clone.gt("run", "--headless", "--debounce", "0")
            clone.gt("sync")
        return all(clone.task(one).status is Status.DONE for clone in clones for one in ids)

    until(are_done, "all tasks")
    merges = Counter[str]()
    for clone in clones:
        listed = git(
            "log", "main", "--first-parent", "--format=%(trailers:key=Task,valueonly)", at=clone.path
        )
        merges.update(listed.split())
    assert merges == Counter(ids)
    assert "error" not in {
        one["severity"] for one in json.loads(clones[0].ok("doctor", "--json"))["findings"]
    }


@pytest.mark.without_sandbox("its checks stand in for another clone, and write there")
def test_what_another_clone_did_while_the_tests_of_a_merge_ran_counts(tmp_path: Path) -> None:
    """The claim was lost meanwhile; that it can be had again says nothing of what was done in between."""
    one, other = clones_with(tmp_path, 1)
    lost = " && ".join(
        (
            f"git -C {other.path} push -q origin :{CLAIMS}t00x",
            f"cd {other.path}",
            f"env -u GITTICKS_AGENT {tmp_path}/bin/gt sync",
            f"env -u GITTICKS_AGENT {tmp_path}/bin/gt cancel t00x",
            f"env -u GITTICKS_AGENT {tmp_path}/bin/gt sync",
        )
    )
    test = f"if [ -e {tmp_path}/handed-over ]; then {lost}; else touch {tmp_path}/handed-over; fi"
    one.ok("config", "verify.test", test)
    one.ok("sync")
    ran = one.gt("run", "--headless", "--debounce", "0")
    assert one.task("t00x").status is Status.CANCELLED, ran.seen
    assert git("log", "main", "--format=%(trailers:key=Task,valueonly)", at=one.path).strip() == ""


def test_who_lost_the_claim_hands_nothing_off(tmp_path: Path, shared: Path) -> None:
    waits = f"## Script\n\n```sh\ntouch {shared}/up; while [ ! -e {shared}/go ]; do sleep 0.1; done\n{COMMIT}{HANDOFF}```\n"
    one, _ = clones_with(tmp_path, 1, waits)
    run = start(one)
    until((shared / "up").exists, "the agent")
    body = json.dumps({"by": "Bob", "host": "there", "expires": "2999-01-01T00:00:00+00:00"}).encode()
    taken = one.store.objects.write_commit((), {"claim.json": body}, author=ENGINE_IDENTITY, message="x\n")
    git("push", "-q", "--force", "origin", f"{taken.id}:{CLAIMS}t00x", at=one.path)
    (shared / "go").touch()
    said = run.communicate(timeout=LONGEST_SECONDS)[0]
    assert "claimed by Bob on there" in said
    assert one.task("t00x").status is Status.WORKING
    (ended,) = (event for event in one.events("t00x") if event.type is EventType.SESSION_ENDED)
    assert ended.data["ending"] == "stopped"
    assert not list((one.board / "tasks").glob("*/t00x/checkpoints/*"))


def test_what_is_cancelled_elsewhere_while_its_agent_works_is_neither_reviewed_nor_merged(
    tmp_path: Path, shared: Path
) -> None:
    waits = f"## Script\n\n```sh\ntouch {shared}/up; while [ ! -e {shared}/go ]; do sleep 0.1; done\n{COMMIT}{HANDOFF}```\n"
    one, other = clones_with(tmp_path, 1, waits)
    run = start(one)
    until((shared / "up").exists, "the agent")
    other.ok("cancel", "t00x")
    other.ok("sync")
    (shared / "go").touch()
    said = run.communicate(timeout=LONGEST_SECONDS)[0]
    assert one.task("t00x").status is Status.CANCELLED, said
    assert "it is cancelled" in said
    assert "Merge t00x" not in git("log", "main", "--format=%s", at=one.path)
