"""Runs the console blocks of a document in a fresh repository, so that no example outlives what it shows.

In a fenced block named `console`, a line that begins with `$ ` is a command, one with `> ` continues it, and the lines
up to the next command are what it must print. `…` stands for any text in a line, a line of `…` alone for any
lines. A command with no lines below it may print what it likes. It must exit with 0, unless what it prints has a
line that begins with `error: `, or the next command is `echo $?`. Where `gt create` is shown to print an id, that
id means the one that it really printed, from there on. All commands of a document share one shell. Blocks of other
languages are not run.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.shell import Shell

FENCE = re.compile(r"^```console[^\n]*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
ASKS_EXIT_CODE = "echo $?"


@dataclass(frozen=True, slots=True)
class Example:
    """One command of a document and what it is shown to print; `line` counts from 1."""

    line: int
    command: str
    shown: str


class ExampleError(Exception):
    """An example does something else than the document shows."""


def examples_of(text: str) -> list[Example]:
    """Returns the examples of all console blocks, in document order."""
    return [
        example
        for match in FENCE.finditer(text)
        for example in _examples_of_block(match[1].splitlines(), text.count("\n", 0, match.start(1)) + 1)
    ]


def _examples_of_block(lines: list[str], first: int) -> Iterator[Example]:
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in pairwise([*starts, len(lines)]):
        command, shown = [lines[start][2:]], lines[start + 1 : end]
        while shown and shown[0].startswith("> "):
            command.append(shown.pop(0)[2:])
        yield Example(first + start, "\n".join(command), "\n".join(shown).strip("\n"))


def matches(shown: str, printed: str) -> bool:
    """True if the lines are equal, `…` aside; space at the ends of lines does not count."""
    wanted = "".join(
        r"(?:[^\n]*\n)*" if line.strip() == "…" else _pattern_of(line) for line in shown.strip().splitlines()
    )
    normal = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())
    return re.fullmatch(wanted, normal) is not None


def _pattern_of(line: str) -> str:
    return r"[^\n]*".join(re.escape(part) for part in line.rstrip().split("…")) + r"\n"


def run(examples: list[Example], shell: Shell) -> None:
    """Runs the examples in order.

    Raises:
        ExampleError: the first one that prints or exits otherwise than shown.
    """
    names: dict[str, str] = {}
    following = [example.command for example in examples[1:]] + [""]
    for example, next_command in zip(examples, following, strict=False):
        code, printed = shell.run(_renamed(example.command, names))
        shown = _renamed(example.shown, names)
        if _is_id(shown) and _is_id(printed) and example.command.startswith("gt create"):
            names[shown] = printed.strip()
        elif shown and not matches(shown, printed):
            raise ExampleError(
                f"line {example.line}: `{example.command}` printed:\n{printed}\nbut is shown as:\n{shown}"
            )
        may_fail = next_command == ASKS_EXIT_CODE or re.search(r"^error: ", shown, re.MULTILINE)
        if code != 0 and not may_fail:
            raise ExampleError(f"line {example.line}: `{example.command}` exited with {code}:\n{printed}")


def _is_id(text: str) -> bool:
    return re.fullmatch(r"[0-9a-z-]+\n?", text) is not None


def _renamed(text: str, names: dict[str, str]) -> str:
    for shown, real in names.items():
        text = re.sub(rf"\b{re.escape(shown)}\b", real, text)
    return text


def _run_document(path: str) -> str | None:
    """Runs the examples of one document in a repository of its own; returns what is wrong with one of them."""
    examples = examples_of(Path(path).read_text(encoding="utf-8"))
    with (
        TemporaryDirectory(prefix="gitticks-blocks-") as folder,
        Shell.in_fresh_repository(Path(folder)) as shell,
    ):
        try:
            run(examples, shell)
        except ExampleError as error:
            return f"error: {path}: {error}"
    print(f"{path}: {len(examples)} examples run")
    return None


def main(paths: list[str]) -> int:
    """Runs the examples of each document, several at once; returns the exit code."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [one for one in pool.map(_run_document, paths) if one is not None]
    for one in wrong:
        print(one, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
