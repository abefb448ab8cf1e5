"""Reads what strace saw of a command: every call that changes the disk, in order, with the paths that it was about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.support.victims import Command

SYNCS = ("fsync", "fdatasync", "syncfs", "sync")
RENAMES = ("rename", "renameat", "renameat2", "link", "linkat")
WRITES = ("write", "writev", "pwrite64", "ftruncate", "fallocate")
OTHERS = ("openat", "unlink", "unlinkat", "mkdir", "mkdirat", "exit_group")
CHANGING = (*SYNCS, *RENAMES, *WRITES, *OTHERS)

_LINE = re.compile(r"(\d+) +(.*)")
_CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+|\?)(.*)")
_RESUMED = re.compile(r"<\.\.\. (\w+) resumed>(.*)")
_DESCRIPTOR = re.compile(r"^(?:AT_FDCWD|\d+)<((?:[^<>\\]|\\.)*)>")
_QUOTED = re.compile(r'(?:(?:AT_FDCWD|\d+)<((?:[^<>\\]|\\.)*)>, )?"((?:[^"\\]|\\.)*)"')
_GONE = " (deleted)"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the system.

    Attributes:
        process: who made it.
        name: as strace names it.
        words: its arguments, as strace shows them.
        begun: the line of the trace that it began in.
        ended: the line that it ended in.
        result: what it returned; None if it did not return.
        is_injected: its outcome is strace's own.
        ordinal: the how manieth call of that name this process made.
    """

    process: int
    name: str
    words: str
    begun: int
    ended: int
    result: int | None
    is_injected: bool = False
    ordinal: int = 0

    @property
    def is_done(self) -> bool:
        """True if it succeeded."""
        return self.result is not None and self.result >= 0

    @property
    def open_file(self) -> str | None:
        """Returns the path of the open file that the call is about, None for other calls."""
        if self.name in (*RENAMES, *OTHERS):
            return None
        found = _DESCRIPTOR.match(self.words)
        return None if found is None else found[1].removesuffix(_GONE)

    @property
    def paths(self) -> tuple[str, ...]:
        """Returns the paths that the call names, or that of its open file."""
        if self.open_file is not None:
            return (self.open_file,)
        if self.name not in (*RENAMES, *OTHERS):
            return ()
        return tuple(_joined(folder, name) for folder, name in _QUOTED.findall(self.words))

    def is_within(self, place: Path) -> bool:
        """True if the call is about a file below a folder, or about what a command says on stdout."""
        return self.words.startswith("1</") or any(Path(path).is_relative_to(place) for path in self.paths)


def traced(
    command: Command, trace: Path, calls: Sequence[str] = CHANGING, inject: str | None = None
) -> Command:
    """Returns the command that runs another one under strace.

    Args:
        command: what to run.
        trace: the file that strace writes.
        calls: the names of the calls to follow, all others run at full speed.
        inject: what to put in place of a call's outcome, as strace's option `-e inject=` takes it.
    """
    known = [f"?{name}" for name in calls]
    options = ["-f", "-y", "-qq", "-s", "80", "-e", "signal=none", "-o", str(trace)]
    options += ["-e", f"trace={','.join(known)}"]
    if (
        inject is None or "signal=" not in inject
    ):  # with it, calls are stopped too late to be the place of a signal
        options.append("--seccomp-bpf")
    if inject is not None:
        options += ["-e", f"inject={inject}"]
    return replace(command, argv=("strace", *options, *command.argv))


def read_trace(trace: Path) -> list[Call]:
    """Returns the calls of a trace in the order in which they began."""
    calls = sorted(_read(trace.read_text(encoding="utf-8", errors="replace").splitlines()), key=_begun)
    counts: dict[tuple[int, str], int] = {}
    numbered = []
    for call in calls:
        key = (call.process, call.name)
        counts[key] = counts.get(key, 0) + 1
        numbered.append(replace(call, ordinal=counts[key]))
    return numbered


def _begun(call: Call) -> int:
    return call.begun


def _read(lines: Iterable[str]) -> Iterator[Call]:
    open_calls: dict[int, tuple[int, str]] = {}
    for number, line in enumerate(lines):
        found = _LINE.fullmatch(line)
        if found is None:
            continue
        process, text, begun = int(found[1]), found[2], number
        resumed = _RESUMED.match(text)
        if resumed is not None and process in open_calls:
            begun, first = open_calls.pop(process)
            text = first + resumed[2]
        elif text.endswith("<unfinished ...>"):
            open_calls[process] = (number, text.removesuffix("<unfinished ...>").rstrip())
            continue
        call = _CALL.fullmatch(text)
        if call is not None:
            result = None if call[3] == "?" else int(call[3])
            yield Call(process, call[1], call[2].strip(), begun, number, result, "(INJECTED)" in call[4])
    for process, (begun, text) in open_calls.items():
        name, _, words = text.partition("(")
        yield Call(process, name, words, begun, begun, None)


def _joined(folder: str, name: str) -> str:
    return name if name.startswith("/") or not folder else f"{folder}/{name}"
