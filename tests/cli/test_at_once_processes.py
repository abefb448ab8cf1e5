"""Answers before click in processes of their own: on a terminal, with closed streams, and with readers who leave."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import support
from tests.cli.both_ways import varied
from tests.support.stores import NOW
from tests.support.waiting import LONGEST_SECONDS

__all__ = ["varied"]


AT_ONCE = "from gitticks.cli.entry import main; main()"
BY_CLICK = "import sys; from gitticks.cli.app import run; sys.exit(run(sys.argv[1:]))"
CLOCK_STOPPED = (
    "from datetime import datetime; from gitticks.world import World; "
    f"World.now = lambda _: datetime.fromisoformat('{NOW}'); "
)


def test_on_a_terminal(varied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [
        (words, columns)
        for words in (("list", "--all"), ("tree", "-a"), ("show", "f0ll"))
        for columns in (100, 40, 20)
    ]
    answers = []
    for program in (AT_ONCE, BY_CLICK):
        start = [sys.executable, "-P", "-c", CLOCK_STOPPED + program]
        monkeypatch.setattr(support, "command", lambda *words, start=start: [*start, *words])
        answers.append(
            [support.gt_on_terminal(*words, at=varied, columns=columns) for words, columns in calls]
        )
    assert answers[0] == answers[1]
    assert "\x1b[" in answers[0][0].out


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_with_closed_streams(varied: Path, closed: str) -> None:
    answers = [
        subprocess.run(
            ["sh", "-c", f'"$@" {closed}', "sh", *command("list", "--awaiting", "work")],
            cwd=varied,
            capture_output=True,
            check=False,
            timeout=LONGEST_SECONDS,
        )
        for command in (support.command, by_entry_and_click)
    ]
    assert len({(done.returncode, done.stdout, done.stderr) for done in answers}) == 1


def by_entry_and_click(*arguments: str) -> list[str]:
    """Returns the command line of the entry point where nothing is answered before click."""
    program = (
        "from gitticks.cli import at_once, entry; entry.answer_at_once = lambda words: None; entry.main()"
    )
    return [sys.executable, "-P", "-c", program, *arguments]


@pytest.mark.parametrize(
    "words",
    [("list", "--all", "--json"), ("show", "none"), ("tree", "-a"), ("inbox",), ("search", "-a", "e")],
    ids=" ".join,
)
def test_whoever_reads_may_leave(varied: Path, words: tuple[str, ...]) -> None:
    codes = []
    for command in (support.command, by_entry_and_click):
        reading, writing = os.pipe()
        os.close(reading)
        with subprocess.Popen(command(*words), cwd=varied, stdout=writing, stderr=writing) as process:
            os.close(writing)
            codes.append(process.wait(LONGEST_SECONDS))
    assert codes[0] == codes[1]
