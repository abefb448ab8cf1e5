"""Real editors that keep a file open while something else happens, and save it over that when they are told to."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
from pathlib import Path
from typing import Protocol

from tests.support.waiting import LONGEST_SECONDS


class OpenEditor(Protocol):
    """An editor with a file in its buffer."""

    def add(self, *lines: str) -> None:
        """Adds lines at the end of the buffer."""

    def replace(self, old: str, new: str) -> None:
        """Replaces a word in every line of the buffer that has it."""

    def save(self) -> None:
        """Saves the buffer over whatever the file is by now, as a person does who is warned and says yes."""

    def quit(self) -> None:
        """Ends the editor without saving."""


class Ed:
    """The editor of lines that reads from a pipe as well as from a terminal; it saves in place."""

    def __init__(self, file: Path) -> None:
        self._process = subprocess.Popen(
            ["ed", "-s", str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._wait()

    def add(self, *lines: str) -> None:
        """Adds lines at the end of the buffer."""
        self._type("$a", *lines, ".")

    def replace(self, old: str, new: str) -> None:
        """Replaces a word in every line of the buffer that has it."""
        self._type(f"g/{old}/s/{old}/{new}/")

    def save(self) -> None:
        """Saves the buffer; where the file has changed, the first time only warns."""
        self._type("w", "w")
        self._wait()

    def quit(self) -> None:
        """Ends the editor without saving."""
        with contextlib.suppress(BrokenPipeError):
            self._type("Q")
        self._process.communicate(timeout=LONGEST_SECONDS)

    def _type(self, *lines: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("".join(f"{line}\n" for line in lines))
        self._process.stdin.flush()

    def _wait(self) -> None:
        self._type("!echo done")
        assert self._process.stdout is not None
        while "done" not in (line := self._process.stdout.readline()):
            assert line, "ed has ended"


class Vim:
    """Vim on a terminal of its own, which saves by renaming or in place, and keeps a swap file beside the file."""

    def __init__(self, file: Path, *, renames: bool) -> None:
        settings = f"set nocompatible swapfile directory=. noautoread backupcopy={'no' if renames else 'yes'}"
        self._terminal, theirs = pty.openpty()
        command = ["vim", "-u", "NONE", "-i", "NONE", "--cmd", settings, str(file)]
        self._process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "dumb"}
        )
        os.close(theirs)
        self._type(":echo 'do'.'ne'\r")
        self._see("done")

    def add(self, *lines: str) -> None:
        """Adds lines at the end of the buffer."""
        self._type("Go" + "\r".join(lines) + "\x1b")

    def replace(self, old: str, new: str) -> None:
        """Replaces a word in every line of the buffer that has it."""
        self._type(f":%s/{old}/{new}/e\r")

    def save(self) -> None:
        """Saves the buffer, and says yes if vim asks whether it is to be written over what others wrote."""
        self._type(":w!\r")
        if self._see("(y/n)?", "written") == "(y/n)?":
            self._type("y")
            self._see("written")
        self._type("\r:echo 'sa'.'ved'\r")
        self._see("saved")  # else the next save may read this one's words

    def quit(self) -> None:
        """Ends the editor without saving."""
        self._type("\x1b:qa!\r")
        while self._read():
            pass
        self._process.wait(LONGEST_SECONDS)
        os.close(self._terminal)

    def _type(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def _see(self, *words: str) -> str:
        """Waits until one of the words stands on the screen, and returns it."""
        seen = ""
        while not any(word in seen for word in words):
            more = self._read()
            assert more, f"vim has ended: {seen}"
            seen += more
        return next(word for word in words if word in seen)

    def _read(self) -> str:
        try:
            return os.read(self._terminal, 65536).decode(errors="replace")
        except OSError:  # how Linux tells that the last writer of a terminal has gone
            return ""
