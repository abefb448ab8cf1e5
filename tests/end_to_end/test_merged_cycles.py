"""Cycles that nobody made: two clones link tasks each in one direction, and the merge joins both."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gitticks.model.status import TaskType
from tests.support.clones import Clone, make_clones, make_first_clone, on_path
from tests.support.repositories import git

__all__ = ["on_path"]

Way = Callable[[list[Clone]], None]
LINKS = {
    "blockers": (("block", "a2aa", "b2aa"), ("block", "b2aa", "a2aa")),
    "parents": (("update", "e2aa", "--parent", "f2aa"), ("update", "f2aa", "--parent", "e2aa")),
    "both": (("update", "a2aa", "--parent", "e2aa"), ("block", "a2aa", "e2aa")),
}
NAMED = {
    "blockers": ("a2aa → b2aa → a2aa", "gt unblock a2aa b2aa"),
    "parents": ("e2aa → f2aa → e2aa", "gt update e2aa --parent=null"),
    "both": ("a2aa → e2aa → a2aa", "gt unblock a2aa e2aa"),
}
LOOKS = ("list", "tree", "graph", "board", "inbox", "ready", "stats")


@pytest.fixture
def clones(tmp_path: Path, on_path: Path) -> list[Clone]:
    first = make_first_clone(tmp_path)
    for task in ("a2aa", "b2aa", "free"):
        first.make(task)
    for epic in ("e2aa", "f2aa"):
        first.make(epic, type=TaskType.EPIC)
    return make_clones(tmp_path, first, 2)


def by_sync(clones: list[Clone]) -> None:
    for clone in (*clones, *clones):
        clone.ok("sync")


def by_pull(clones: list[Clone]) -> None:
    for clone in (*clones, *clones):
        assert clone.pull().returncode == 0
        assert clone.push().returncode == 0


def by_rebase(clones: list[Clone]) -> None:
    for clone in (*clones, *clones):
        git("pull", "--quiet", "--rebase", "origin", "gitticks/state", at=clone.board)
        assert clone.push().returncode == 0


@pytest.mark.parametrize("way", [by_sync, by_pull, by_rebase])
@pytest.mark.parametrize("kind", LINKS)
def test_a_cycle_is_named_with_its_fix_and_stops_nobody_else(
    clones: list[Clone], kind: str, way: Way
) -> None:
    cycle, fix = NAMED[kind]
    for clone, words in zip(clones, LINKS[kind], strict=True):
        clone.ok(*words)
    way(clones)
    assert clones[0].tip() == clones[1].tip()
    for clone in clones:
        told = clone.gt("doctor")
        assert told.code == 1
        assert f"tasks wait for one another in a cycle: {cycle}\n           `{fix}`\n" in told.out
        assert f"wait for one another\n  {cycle}  `{fix}`\n" in clone.ok("status")
        assert json.loads(clone.ok("status", "--json"))["cycles"] == [
            {"tasks": cycle.split(" → "), "fix": f"`{fix}`"}
        ]
        assert [clone.gt(words).code for words in LOOKS] == [0] * len(LOOKS)
        assert clone.ok("next").split()[0] not in cycle
    clones[0].ok(*fix.split()[1:])
    way(clones)
    for clone in clones:
        clone.ok("doctor")
        assert "wait for one another" not in clone.ok("status")


def test_the_sync_that_joins_both_links_says_so(clones: list[Clone]) -> None:
    for clone, words in zip(clones, LINKS["blockers"], strict=True):
        clone.ok(*words)
    assert clones[0].gt("sync").err == ""
    warning = "warning: tasks wait for one another in a cycle: a2aa → b2aa → a2aa; `gt unblock a2aa b2aa` removes a link\n"
    assert clones[1].gt("sync").err == warning
    assert clones[0].gt("sync").err == warning
    assert clones[0].gt("sync").err == ""
