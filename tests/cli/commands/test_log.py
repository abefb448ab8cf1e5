from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from gitticks.model.event import ENGINE, Event, EventType
from gitticks.model.status import Status
from tests.cli.support import gt
from tests.support.projects import make_project
from tests.support.repositories import git, make_repository
from tests.support.stores import NOW, make_store, make_task

EVENTS = tuple(
    Event(EventType.ADVANCED, NOW - timedelta(minutes=minutes), ENGINE, Status.PENDING, Status.WORKING, "go")
    for minutes in (9, 8, 7)
)


def test_a_tasks_events_oldest_first(tmp_path: Path) -> None:
    make_task(make_store(tmp_path), id="k7f2", events=EVENTS[:1])
    assert (
        gt("log", "k7", at=tmp_path, now=NOW).seen
        == """\
05:00  created            Ada Lovelace
05:51  pending → working  engine        go
--- 0
"""
    )


def test_only_the_last_events(tmp_path: Path) -> None:
    make_task(make_store(tmp_path), id="k7f2", events=EVENTS)
    assert (
        gt("log", "k7f2", "-n", "1", at=tmp_path, now=NOW).seen
        == """\
05:53  pending → working  engine  go
--- 0
3 earlier events left out
"""
    )


def test_since_looks_back(tmp_path: Path) -> None:
    make_task(make_store(tmp_path), id="k7f2", events=EVENTS)
    ran = gt("log", "k7f2", "--since", "8m", at=tmp_path, now=NOW)
    assert (ran.out.count("pending → working"), ran.err) == (2, "2 earlier events left out\n")
    tree = git("rev-parse", "gitticks/state^{tree}", at=tmp_path)
    parents: list[str] = []
    for days in range(30, 0, -1):
        at = f"{NOW - timedelta(days=days):%Y-%m-%dT%H:%M:%SZ}"
        dates = {"GIT_COMMITTER_DATE": at, "GIT_AUTHOR_DATE": at}
        commit = git("commit-tree", tree, *parents, "-m", "k7f2: noted", at=tmp_path, environment=dates)
        parents = ["-p", commit]
    git("update-ref", "refs/heads/gitticks/state", commit, at=tmp_path)
    assert len(gt("log", at=tmp_path, now=NOW).out.splitlines()) == 20
    assert len(gt("log", "--since", "25d", at=tmp_path, now=NOW).out.splitlines()) == 25
    assert len(gt("log", "--since", "25d", "-n", "3", at=tmp_path, now=NOW).out.splitlines()) == 3
    day = f"{NOW - timedelta(days=25):%Y-%m-%d}"
    assert len(gt("log", "--since", day, at=tmp_path, now=NOW).out.splitlines()) == 25
    assert len(gt("log", "--since", "2w", at=tmp_path, now=NOW).out.splitlines()) == 14
    assert gt("log", "--since", "soon", at=tmp_path, now=NOW).code == 2


def test_events_in_json(tmp_path: Path) -> None:
    make_task(make_store(tmp_path), id="k7f2", events=EVENTS[:1])
    found = json.loads(gt("log", "k7f2", "--json", at=tmp_path).out)
    assert found["id"] == "k7f2"
    assert [event["type"] for event in found["events"]] == ["task.created", "auto.advanced"]


def test_without_an_id_the_commits_of_the_state_branch_newest_first(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, id="k7f2")
    make_task(store, id="m3xq")
    lines = gt("log", "-n", "2", at=tmp_path).out.splitlines()
    assert [line.split("  ")[1:] for line in lines] == [
        ["Ada Lovelace", "m3xq: created", "Login loses the return URL"],
        ["Ada Lovelace", "k7f2: created", "Login loses the return URL"],
    ]


def test_forty_columns_and_more(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, "A title that is much longer than any line", id="k7f2", events=EVENTS[:1])
    assert gt("log", "k7f2", at=tmp_path, now=NOW, columns=40).out == (
        "05:00  created            Ada Lovelace\n05:51  pending → working  engine\n  go\n"
    )
    narrow = gt("log", "-n", "1", at=tmp_path, columns=40).out.splitlines()
    assert narrow[0].endswith("  Ada Lovelace  k7f2: created")
    assert narrow[1] == "  A title that is much longer than any…"
    for columns in (20, 40, 80, 120):
        for words in (("log",), ("log", "k7f2")):
            lines = gt(*words, at=tmp_path, columns=columns).out.splitlines()
            assert all(len(line) <= columns for line in lines)


def test_a_title_is_reported_once(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    task_id = project.create("Say hello")
    assert project.ok("log", "-n", "1").rstrip().endswith(f"{task_id}: created: Say hello")


def test_commits_in_json(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    found = json.loads(gt("log", "--json", at=tmp_path).out)
    assert [one["commit"] for one in found["commits"]] == [store.tip()]
    assert found["commits"][0]["subject"] == "gitticks: create the state branch"


def test_subjects_cannot_steer_the_screen(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    tree = git("rev-parse", "gitticks/state^{tree}", at=tmp_path)
    evil = git("commit-tree", tree, "-p", store.tip(), "-m", "a\x1b[2Jb", at=tmp_path)
    git("update-ref", "refs/heads/gitticks/state", evil, at=tmp_path)
    assert "a\\x1b[2Jb" in gt("log", at=tmp_path).out


def test_without_a_state_branch(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert gt("log", at=tmp_path).seen == (
        "--- 1\nerror: this repository has no tasks yet\n\nhint: `gt init` sets them up\n"
    )


@pytest.mark.parametrize("words", [("-n", "3"), ("--since", "1h")])
def test_what_verify_would_not_heed_is_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    make_project(tmp_path)
    ran = gt("log", "--verify", *words, at=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "`--verify` looks at the whole history" in ran.err
