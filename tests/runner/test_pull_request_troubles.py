"""What goes wrong with pull requests: answers of the forge, a program or login that is missing, refused pushes."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from gitticks.agents.base import Command, Ended, Limits
from gitticks.agents.process import run_supervised
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Task
from gitticks.runner.pull_requests import PullRequests
from gitticks.store.branch import Store
from tests.support.agents import write_program
from tests.support.forges import PROJECT, StandIn
from tests.support.projects import make_reviewing
from tests.support.pull_requests import URL, forge, gitlab, notes, offered, recorded, token
from tests.support.repositories import git
from tests.support.runs import RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["forge", "gitlab", "project", "recorded", "token"]

JOB = f"https://github.com/{PROJECT}/actions/runs/1/job/77"
FAULTS = {
    "limited": (403, '{"message": "API rate limit exceeded"}', "rate limit is reached"),
    "refused": (401, '{"message": "Bad credentials"}', "`gh auth login --hostname github.com`"),
    "hidden": (404, '{"message": "Not Found"}', "or hides it from you"),
    "broken": (500, "<html>", "`gh` failed with exit code 1"),
    "nonsense": (200, "\x1b[31mHello", "not an answer from GitHub"),
    "list": (200, '{"a": 1}', "not an answer from GitHub"),
}


def hang_at_logs(forge: StandIn) -> threading.Event:
    """Lets the forge take as long for each log as the returned event is not set."""
    over = threading.Event()

    def fault(path: str) -> None:
        if path.endswith("/logs"):
            over.wait(LONGEST_SECONDS)

    forge.fault = fault
    return over


@pytest.mark.parametrize("name", [*FAULTS])
def test_what_goes_wrong_loses_nothing(project: RunProject, forge: StandIn, name: str) -> None:
    status, text, words = FAULTS[name]
    make_reviewing(project)
    before = project.events("k7f2")
    forge.fault = lambda _: (status, text)
    ran = project.gt("approve", "k7f2")
    assert ran.code == 1, ran.seen
    assert words in ran.out, ran.seen
    assert "\x1b" not in ran.seen
    assert project.task("k7f2").is_merging
    assert len(project.events("k7f2")) == len(before) + 1
    forge.fault = lambda _: None
    project.ok("merge", "k7f2")
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)
    forge.fault = lambda _: (status, text)
    ran = project.gt("sync")
    assert ran.code == 0
    assert words in ran.err, ran.seen
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)


@pytest.mark.parametrize(
    ("errors", "reason"),
    [
        ('[{"message": "No commits between main and it"}]', "No commits between main and it"),
        ('[{"resource": "PullRequest", "field": "base", "code": "invalid"}]', "base invalid"),
    ],
)
def test_a_pull_request_that_is_refused_says_why(
    project: RunProject, forge: StandIn, errors: str, reason: str
) -> None:
    make_reviewing(project)
    body = f'{{"message": "Validation Failed", "errors": {errors}}}'
    forge.fault = lambda _: (422, body) if forge.asked[-1].startswith("POST") else None
    out = project.gt("approve", "k7f2").out
    assert f"Validation Failed (HTTP 422): {reason}" in out
    assert "shows the whole answer" not in out


def test_without_the_program_it_says_what_to_install(
    project: RunProject, recorded: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_reviewing(project)
    (project.path.parent / "programs" / "gh").unlink()
    without = project.path.parent / "without"
    without.mkdir()
    folders = [Path(one) for one in os.environ["PATH"].split(os.pathsep)]
    for program in (found for folder in folders if (folder / "gh").exists() for found in folder.iterdir()):
        if program.name != "gh" and not (without / program.name).is_symlink():
            (without / program.name).symlink_to(program)
    kept = [str(folder) for folder in folders if not (folder / "gh").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join([*kept, str(without)]))
    out = project.gt("approve", "k7f2").out
    assert "`gh` is not installed" in out
    assert "`gh auth login --hostname github.com`" in out


def test_without_a_login_it_says_what_to_type(
    project: RunProject, forge: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_reviewing(project)
    monkeypatch.delenv("GH_TOKEN")
    assert "`gh` is not logged in" in project.gt("approve", "k7f2").out


def test_a_remote_that_is_no_forge_is_named(project: RunProject, recorded: StandIn) -> None:
    git("remote", "set-url", "origin", str(recorded.remote), at=project.path)
    make_reviewing(project)
    assert "`origin` is not a project on a forge" in project.gt("approve", "k7f2").out


def test_a_push_that_is_refused_waits(project: RunProject, recorded: StandIn) -> None:
    make_reviewing(project)
    hook = recorded.remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho no agents here; exit 1\n")
    hook.chmod(0o755)
    assert "`origin` refused `gitticks/work/k7f2`: no agents here" in project.gt("approve", "k7f2").out
    assert recorded.pulls == {}
    hook.unlink()
    assert URL in project.ok("merge", "k7f2")


@pytest.mark.parametrize("address", ["https://example.com/design/5", URL])
def test_an_address_that_an_agent_named_is_not_followed_and_stops_nothing(
    project: RunProject, recorded: StandIn, address: str
) -> None:
    offered(project)
    make_reviewing(project, "a2b3", pr=address)
    recorded.merge("squash")
    ran = project.gt("sync")
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert project.stands("a2b3") == (Status.REVIEWING, Awaiting.REVIEW)
    assert f"`a2b3`: gitticks did not open {address}, and does not follow it; `gt approve a2b3`" in ran.err


def test_one_that_the_forge_does_not_have_stops_no_other(project: RunProject, recorded: StandIn) -> None:
    offered(project)
    make_reviewing(project, "a2b3")
    project.ok("approve", "a2b3")
    recorded.fault = lambda path: (404, '{"message": "Not Found"}') if path.endswith("pulls/2") else None
    with project.running("--poll", "1", "--auto") as process:
        until(lambda: recorded.asked.count(f"GET repos/{PROJECT}/pulls/2") > 2, "three looks")
        recorded.merge("squash")
        until(lambda: project.task("k7f2").status is Status.DONE, "the merge")
        project.interrupt(process)
        out, _ = process.communicate()
    assert project.stands("a2b3") == (Status.REVIEWING, Awaiting.REVIEW)
    assert out.count("its pull request was not checked: GitHub has no such project") == 1, out


def test_a_bug_with_one_is_reported_and_stops_no_other(
    project: RunProject, recorded: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered(project)
    make_reviewing(project, "a2b3")
    project.ok("approve", "a2b3")
    real = PullRequests._look_at

    def fail(following: PullRequests, store: Store, task: Task) -> bool:
        if task.id == "a2b3":
            raise KeyError("odd")
        return real(following, store, task)

    monkeypatch.setattr(PullRequests, "_look_at", fail)
    recorded.merge("squash")
    ran = project.gt("sync")
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert "`a2b3`: its pull request was not checked: this is a bug in gitticks: KeyError" in ran.err


def test_one_whose_address_an_agent_replaced_is_still_followed(
    project: RunProject, recorded: StandIn
) -> None:
    offered(project)
    project.ok("reject", "k7f2", "not yet")
    project.change("k7f2", pr="https://example.com/design/5")
    recorded.merge("squash")
    ran = project.gt("sync")
    assert project.stands() == (Status.WORKING, Awaiting.ESCALATION), ran.seen
    assert "did not open" not in ran.seen


def test_a_branch_of_that_name_in_a_fork_is_not_the_tasks(project: RunProject, gitlab: StandIn) -> None:
    made = {"source_branch": "gitticks/work/k7f2", "target_branch": "main", "title": "", "description": ""}
    gitlab._open(made, "source_branch", "target_branch", "description").update(fork=99, head="1" * 40)
    make_reviewing(project)
    project.ok("approve", "k7f2")
    assert str(project.task("k7f2").pr).endswith("/merge_requests/2")
    assert gitlab.pulls[2]["title"] == project.task("k7f2").title


@pytest.mark.parametrize(("name", "is_sent_back"), [("limited", False), ("hidden", True)])
def test_a_log_counts_as_none_only_where_the_forge_has_none(
    project: RunProject, recorded: StandIn, name: str, *, is_sent_back: bool
) -> None:
    offered(project)
    recorded.check("unit", "failure", html_url=JOB)
    recorded.texts["actions/jobs/77/logs"] = "E  assert 1 == 2"
    recorded.fault = lambda path: FAULTS[name][:2] if path.endswith("/logs") else None
    project.ok("sync")
    assert (project.stands()[0] is Status.WORKING) == is_sent_back
    recorded.fault = lambda _: None
    project.ok("sync")
    assert project.stands()[0] is Status.WORKING


def test_a_log_whose_reading_the_end_of_a_run_cut_short_is_read_by_the_next(
    project: RunProject, recorded: StandIn
) -> None:
    offered(project)
    over = hang_at_logs(recorded)
    recorded.texts["actions/jobs/77/logs"] = "E  assert 1 == 2"
    with project.running("--poll", "1", "--auto") as process:
        until(lambda: recorded.asked.count(f"GET repos/{PROJECT}/pulls/1") > 1, "two looks")
        recorded.check("unit", "failure", html_url=JOB)
        until(lambda: recorded.asked[-1].endswith("/logs"), "the reading")
        project.interrupt(process)
        process.communicate()
    over.set()
    assert project.stands()[0] is Status.REVIEWING
    project.ok("sync")
    assert "E  assert 1 == 2" in str(project.events("k7f2"))


def test_a_forge_that_hangs_delays_a_look_once(
    project: RunProject, recorded: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered(project)
    make_reviewing(project, "a2b3")
    project.ok("approve", "a2b3")
    monkeypatch.setattr("gitticks.forge.base.LONGEST_SECONDS", 0.5)
    write_program(project.path.parent / "programs" / "gh", "exec sleep 600")
    err = project.gt("sync").err
    assert err.count("`gh` did not answer: took longer than") == 1, err


def test_a_log_that_takes_too_long_holds_up_no_other(
    project: RunProject, recorded: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered(project)
    recorded.check("unit", "failure", html_url=JOB)
    over = hang_at_logs(recorded)

    def hurried(command: Command, limits: Limits, **more: Any) -> Ended:
        is_log = command.argv[-1].endswith("/logs")
        return run_supervised(
            command, limits._replace(total_seconds=1 if is_log else LONGEST_SECONDS), **more
        )

    monkeypatch.setattr("gitticks.forge.base.run_supervised", hurried)
    project.ok("sync")
    over.set()
    assert project.stands()[0] is Status.WORKING


def test_a_project_that_was_renamed_is_followed_at_its_new_address(
    project: RunProject, recorded: StandIn
) -> None:
    offered(project)
    recorded.project = "acme/store"
    recorded.check("unit", "failure")
    address = f"https://github.com/{recorded.project}.git"
    git("config", f"url.{recorded.remote}.insteadOf", address, at=project.path)
    git("remote", "set-url", "origin", address, at=project.path)
    project.ok("sync")
    assert project.stands()[0] is Status.WORKING


def test_a_project_that_was_renamed_needs_its_new_address_for_what_is_offered(
    project: RunProject, recorded: StandIn
) -> None:
    offered(project)
    recorded.project = "acme/store"
    project.ok("reject", "k7f2", "not yet")
    project.change("k7f2", status=Status.REVIEWING, awaiting=Awaiting.REVIEW)
    out = project.gt("approve", "k7f2").out
    assert "`https://github.com/acme/store/pull/1` is not a pull request of acme/shop" in out
    assert "`git remote set-url`" in out


def test_a_closed_one_of_another_project_is_not_called_done(project: RunProject, recorded: StandIn) -> None:
    offered(project)
    recorded.merge("squash")
    address = "https://github.com/acme/other.git"
    git("config", f"url.{recorded.remote}.insteadOf", address, at=project.path)
    git("remote", "set-url", "origin", address, at=project.path)
    err = project.gt("sync").err
    assert f"`{URL}` is not a pull request of acme/other on github.com" in err
    assert "gt close" not in err
    assert "`git remote set-url`" in err


def test_a_thread_that_is_resolved_sends_nothing_back(project: RunProject, gitlab: StandIn) -> None:
    offered(project)
    gitlab.lists["notes"] = [{
        "id": 1, "system": False, "body": "This leaks.", "author": {"id": 3, "username": "grace"},
        "resolvable": True, "resolved": True, "created_at": "2020-11-23T10:00:00.123Z",
    }]  # fmt: skip
    project.ok("sync")
    assert (project.stands()[0], notes(project)) == (Status.REVIEWING, ["This leaks."])
