"""Words are completed in the real shells, on a terminal, by their own scripts."""

from __future__ import annotations

import os
import pty
import select
import shlex
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitticks.model.ids import TaskId
from gitticks.store.transaction import Transaction
from tests.cli.support import command, gt
from tests.support.repositories import make_repository
from tests.support.stores import ADA, make_queue, put_task
from tests.support.waiting import LONGEST_SECONDS

BELL = "\a"
HOSTILE = "Rename $(touch pwned) `touch pwned` 'it' \"so\" \x1b[31m; a:b\ttab\nline *"


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    """Makes a repository with tasks, and a folder with `gt` in it beside it."""
    store = make_queue(tmp_path / "repository")

    def put(transaction: Transaction) -> None:
        put_task(transaction, HOSTILE, id="h0st", labels=("needs work", "area:ui"))
        put_task(transaction, "Two of them", id="h0st-2", parent=TaskId("e0pc"))

    store.transact(put, author=ADA)
    program = tmp_path / "bin" / "gt"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(command())} "$@"\n')
    program.chmod(0o755)
    return tmp_path / "repository"


def environment(at: Path, columns: int = 80) -> dict[str, str]:
    path = f"{at.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "TERM": "xterm", "PS1": "$ ", "COLUMNS": str(columns), "LINES": "50"}


class Terminal:
    """A shell on a terminal, which is typed to."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.seen = ""

    def type(self, text: str) -> None:
        """Types, as a person does."""
        os.write(self._descriptor, text.encode())

    def wait_for(self, text: str) -> str:
        """Returns what the screen showed since the last call, once the text is there."""
        deadline = time.monotonic() + LONGEST_SECONDS
        shown = ""
        while text not in shown and select.select([self._descriptor], [], [], deadline - time.monotonic())[0]:
            shown += os.read(self._descriptor, 65536).decode("utf-8", "replace").replace(BELL, "")
        self.seen += shown
        assert text in shown, self.seen
        return shown


@contextmanager
def shell(*words: str, at: Path, columns: int = 80) -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        words,
        cwd=at,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(at, columns),
        start_new_session=True,
        preexec_fn=None,
    ) as process:
        os.close(theirs)
        try:
            yield Terminal(ours)
        finally:
            process.kill()
            os.close(ours)


@contextmanager
def bash(at: Path, columns: int = 80) -> Iterator[Terminal]:
    with shell("bash", "--norc", "--noprofile", "-i", at=at, columns=columns) as terminal:
        terminal.type(
            f'COLUMNS={columns}; bind "set enable-bracketed-paste off"; eval "$(gt completion bash)"; echo rea""dy\n'
        )
        terminal.wait_for("ready")
        yield terminal


@contextmanager
def zsh(at: Path, columns: int = 80) -> Iterator[Terminal]:
    with shell("zsh", "-f", "-i", at=at, columns=columns) as terminal:
        terminal.type("unsetopt prompt_sp; autoload -Uz compinit; compinit -u -D\n")
        terminal.type(f'COLUMNS={columns}; eval "$(gt completion zsh)"; echo rea""dy\n')
        terminal.wait_for("ready")
        yield terminal


def fish(at: Path, typed: str) -> list[str]:
    """Returns what fish would offer for a line."""
    program = f"source (gt completion fish | psub); complete --do-complete {shlex.quote(typed)}"
    done = subprocess.run(
        ["fish", "--no-config", "-c", program],
        cwd=at,
        env=environment(at),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.debian("bash")
def test_bash_completes_and_lists(queue: Path) -> None:
    with bash(queue) as terminal:
        terminal.type("gt show k\t")
        assert "k7f2 " in terminal.wait_for("k7f2")
        terminal.type("\x15gt show h\t")
        terminal.wait_for("h0st")
        terminal.type("\t\t")
        listed = terminal.wait_for("Two of them")
        assert "h0st-2  Two of them" in listed
        assert "\\x1b[31m" in listed
        assert "\x1b[31m" not in listed
        terminal.type("\x15gt list --status=pending,wor\t")
        terminal.wait_for("working")
        terminal.type("\x15gt list --label nee\t")
        terminal.wait_for("needs\\ work")
        terminal.type("\x15gt list --label area:u\t")
        terminal.wait_for("area:ui ")
        terminal.type("\x15echo gone; gt appr\tr\t; ls; echo $((6*7))\n")
        assert "pwned" not in terminal.wait_for("42")
    assert "gt approve r3vw" in terminal.seen
    assert "gt list --status=pending,working" in terminal.seen


@pytest.mark.debian("bash")
def test_bash_lists_on_a_narrow_terminal(queue: Path) -> None:
    with bash(queue, columns=40) as terminal:
        terminal.type("gt show \t\t")
        listed = terminal.wait_for("d3fr")
    assert max(len(line) for line in listed.replace("\r", "").split("\n")) <= 40


@pytest.mark.debian("bash")
def test_bash_completes_names_of_files_where_files_are_asked_for(queue: Path) -> None:
    (queue / "some notes.txt").touch()
    with bash(queue) as terminal:
        terminal.type("gt note k7f2 --file som\t")
        terminal.wait_for("some\\ notes.txt")


@pytest.mark.debian("zsh")
def test_zsh_completes_and_lists(queue: Path) -> None:
    with zsh(queue) as terminal:
        terminal.type("gt show k\t")
        terminal.wait_for("k7f2")
        terminal.type("\x15gt show h\t\t")
        listed = terminal.wait_for("Two of them")
        assert "h0st-2  Two of them" in listed
        assert "\\x1b[31m" in listed
        terminal.type("\x15gt list --status=pending,wor\t")
        terminal.wait_for("working")
        terminal.type("\x15gt list --label nee\t")
        terminal.wait_for("needs\\ work")
        terminal.type("\x15gt appr\tr\t; ls; echo $((6*7))\n")
        assert "pwned" not in terminal.wait_for("42")


@pytest.mark.debian("zsh")
def test_zsh_loads_the_script_from_a_folder_too(queue: Path) -> None:
    folder = queue.parent / "functions"
    folder.mkdir()
    (folder / "_gt").write_text(gt("completion", "zsh", at=queue).out)
    with shell("zsh", "-f", "-i", at=queue) as terminal:
        terminal.type(f"unsetopt prompt_sp; fpath=({folder} $fpath)\n")
        terminal.type('autoload -Uz compinit; compinit -u -D; echo rea""dy\n')
        terminal.wait_for("ready")
        terminal.type("gt show k\t")
        terminal.wait_for("k7f2")


@pytest.mark.debian("zsh")
def test_zsh_lists_on_a_narrow_terminal(queue: Path) -> None:
    with zsh(queue, columns=40) as terminal:
        terminal.type("gt show \t")
        listed = terminal.wait_for("d3fr")
    lines = [
        line
        for line in listed.replace("\r", "").replace("\x1b[K", "").split("\n")
        if line.startswith(("k7f2", "h0st"))
    ]
    assert len(lines) == 3
    assert max(map(len, lines)) <= 40


@pytest.mark.debian("zsh")
def test_zsh_completes_names_of_files_where_files_are_asked_for(queue: Path) -> None:
    (queue / "some notes.txt").touch()
    with zsh(queue) as terminal:
        terminal.type("gt note k7f2 --file=som\t")
        terminal.wait_for("some\\ notes.txt")


@pytest.mark.debian("fish")
def test_fish_offers_words_with_their_meanings(queue: Path) -> None:
    assert fish(queue, "gt show k") == ["k7f2\tLogin loses the return URL"]
    hostile, other = fish(queue, "gt show h")
    assert other == "h0st-2\tTwo of them"
    assert hostile.startswith("h0st\tRename $(touch pwned)")
    assert "\\x1b[31m" in hostile
    assert fish(queue, "gt list --status=pending,wor") == [
        "--status=pending,working\ta worker is working on it, or will continue"
    ]
    assert fish(queue, "gt appr") == ["approve\tApprove tasks, and merge them."]
    assert fish(queue, "gt list --label nee") == ["needs work"]
    (queue / "some notes.txt").touch()
    assert fish(queue, "gt note k7f2 --file som") == ["some notes.txt"]
    assert fish(queue, "gt note k7f2 --file=som") == ["--file=some notes.txt"]
    assert not (queue / "pwned").exists()


@pytest.mark.debian("fish")
def test_where_there_are_no_tasks_nothing_is_offered(queue: Path) -> None:
    empty = make_repository(queue.parent / "empty")
    assert fish(empty, "gt show k") == []
    assert fish(empty, "gt list --status wor") != []
