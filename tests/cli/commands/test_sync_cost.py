"""What a sync asks of the network, by the programs of git that it starts."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.support.clones import Clone, make_two_clones

TRANSPORTS = ("fetch", "push", "ls-remote", "pull", "clone", "remote")


@pytest.fixture
def clones(tmp_path: Path) -> list[Clone]:
    return make_two_clones(tmp_path)


@pytest.fixture
def calls(tmp_path: Path, clones: list[Clone], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which every call of git is written down, one a line."""
    real, log = shutil.which("git"), tmp_path / "calls"
    program = tmp_path / "watched" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >> "{log}"\nexec "{real}" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return log


def transports(calls: Path) -> list[str]:
    """Returns the commands that left the machine since the last look, and forgets them."""
    lines = calls.read_text().splitlines()
    calls.unlink()
    words = [word for line in lines for word in line.split() if word in TRANSPORTS]
    assert words, "no call of git was seen"
    return words


def test_with_nothing_to_do_it_costs_one_fetch(clones: list[Clone], calls: Path) -> None:
    clones[0].ok("sync")
    assert transports(calls) == ["fetch"]
    clones[0].ok("sync")
    assert transports(calls) == ["fetch"]


def test_what_is_new_on_one_side_costs_no_more_than_it_has_to(clones: list[Clone], calls: Path) -> None:
    clones[0].create()
    clones[0].ok("sync")
    assert transports(calls) == ["fetch", "push"]
    clones[1].ok("sync")
    assert transports(calls) == ["fetch"]


def test_both_sides_changes_cost_one_of_each(clones: list[Clone], calls: Path) -> None:
    for clone in clones:
        clone.create()
    clones[0].ok("sync")
    transports(calls)
    clones[1].ok("sync")
    assert transports(calls) == ["fetch", "push"]
