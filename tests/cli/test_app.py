from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.support import command
from tests.support.repositories import make_repository
from tests.support.stores import make_queue
from tests.support.waiting import LONGEST_SECONDS


def run_unread(*words: str, at: Path, with_errors: bool = False) -> tuple[int, str]:
    """Runs a command whose stdout, and on demand stderr, is a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    errors = writing if with_errors else subprocess.PIPE
    with subprocess.Popen(command(*words), cwd=at, stdout=writing, stderr=errors, text=True) as process:
        os.close(writing)
        _, err = process.communicate(timeout=LONGEST_SECONDS)
    return process.returncode, err


@pytest.mark.parametrize(
    "words",
    [
        *(["list"], ["list", "--json"], ["list", "--awaiting"], ["inbox"], ["tree"], ["board"], ["stats"]),
        *(["graph", "k7f2"], ["graph", "k7f2", "--svg"], ["graph", "k7f2", "--mermaid"], ["search", "login"]),
        *(["show", "k7f2"], ["show", "k7f2", "--json"], ["log"], ["log", "k7f2"], ["next"], ["ready"]),
        *(["status"], ["export", "--format", "csv"], ["help", "workflow"], ["skill"], ["completion", "bash"]),
        *(["create", "a"], ["--help"], ["show", "--help"], ["config"], ["version"]),
    ],
    ids=" ".join,
)
def test_a_reader_that_goes_away_is_no_failure(tmp_path: Path, words: list[str]) -> None:
    make_queue(tmp_path)
    assert run_unread(*words, at=tmp_path) == (0, "")


def test_an_error_that_nobody_reads_keeps_its_code(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert run_unread("show", "k7f2", at=tmp_path, with_errors=True)[0] == 1


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_may_be_closed(tmp_path: Path, closed: str) -> None:
    make_queue(tmp_path)
    for words in (["list"], ["create", "Fix it"]):
        line = ["sh", "-c", f'"$@" {closed}', "sh", *command(*words)]
        done = subprocess.run(
            line, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=LONGEST_SECONDS
        )
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "words", [["list"], ["create", "a"], ["init"], ["status", "--json"], ["run"]], ids=" ".join
)
def test_a_folder_that_is_gone_is_reported(tmp_path: Path, words: list[str]) -> None:
    line = ["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh", *command(*words)]
    done = subprocess.run(
        line, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=LONGEST_SECONDS
    )
    assert (done.returncode, done.stdout) == (64 if words == ["run"] else 1, "")
    assert "the current folder no longer exists" in done.stderr
    assert "`cd` to one that exists" in done.stderr
