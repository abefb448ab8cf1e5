"""Asks the doctor, and types the commands that it gives."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.support import Ran, command, gt
from tests.support.projects import Project, make_project
from tests.support.waiting import LONGEST_SECONDS

COMMAND = re.compile(r"`([^`]+)`")


@pytest.fixture(autouse=True)
def our_gt_on_path(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a `gt` of ours first on PATH, so that fixes can be typed."""
    folder = tmp_path_factory.mktemp("bin")
    start = " ".join(f"'{word}'" for word in command())
    make_program(folder, f'#!/bin/sh\n# gitticks\nexec {start} "$@"\n')
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def make_program(folder: Path, text: str) -> None:
    (folder / "gt").write_text(text)
    (folder / "gt").chmod(0o755)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Returns a repository as `gt init` leaves it."""
    return make_project(tmp_path / "my project")


def findings(ran: Ran) -> dict[str, str]:
    return {found["what"]: found["severity"] for found in json.loads(ran.out)["findings"]}


def found_in(place: Path, *options: str) -> dict[str, str]:
    return findings(gt("doctor", "--json", *options, at=place))


def fixes(place: Path, *options: str) -> list[str]:
    """Returns the first command of each finding's fix."""
    told = [found["fix"] for found in json.loads(gt("doctor", "--json", *options, at=place).out)["findings"]]
    return [match[1] for words in told if words and (match := COMMAND.search(words))]


def type_fixes(place: Path, *options: str) -> None:
    """Types the first command of each finding's fix, as a person does who pastes it."""
    for typed in fixes(place, *options):
        done = subprocess.run(
            ["sh", "-ec", typed],
            cwd=place,
            check=False,
            capture_output=True,
            text=True,
            timeout=LONGEST_SECONDS,
        )
        assert done.returncode == 0, f"{typed}\n{done.stdout}{done.stderr}"


def make_old(file: Path) -> None:
    past = time.time() - 3600
    os.utime(file, (past, past))
