"""Turns every failure into a message and an exit code: the outermost boundary of every command."""

from __future__ import annotations

import os
import sys

from gitticks.cli.text import visible
from gitticks.errors import Exit, GitticksError
from gitticks.signs import safe_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TextIO

_RUN_USAGE = 64


def guarded(arguments: Sequence[str], command: Callable[[], int]) -> int:
    """Runs a command and returns its exit code, or that of the failure that it tells."""
    try:
        code = command()
        sys.stdout.flush()
    except GitticksError as error:
        return tell(arguments, error.message, error.hint, error.exit_code)
    except KeyboardInterrupt:
        _write(["interrupted"])
        return Exit.INTERRUPTED
    except BrokenPipeError:
        _leave(sys.stdout)
        _leave(sys.stderr)
        return Exit.DONE
    except Exception as error:  # noqa: BLE001 (the outermost boundary: a bug is reported, never shown as a traceback)
        return _tell_unexpected(arguments, error)
    return code


def tell(arguments: Sequence[str], message: str, hint: str | None, code: int) -> int:
    """Prints a failure and returns its exit code.

    `gt run` has codes of its own, in which usage, an unknown id and no repository are 64.
    """
    called = next((argument for argument in arguments if not argument.startswith("-")), None)
    if called == "run" and code in (Exit.FAILED, Exit.USAGE):
        code = _RUN_USAGE
    _write(_lines(arguments, message, hint, code))
    return code


def _tell_unexpected(arguments: Sequence[str], error: Exception) -> int:
    """Tells what the machine refused, or reports a bug."""
    from gitticks.cli.bug_report import report
    from gitticks.cli.machine import refusal_of

    refusal = refusal_of(error)
    if refusal is not None:
        return tell(arguments, refusal.message, refusal.hint, refusal.exit_code)
    return tell(arguments, *report(error, list(arguments)), Exit.BUG)


def _lines(arguments: Sequence[str], message: str, hint: str | None, code: int) -> Iterator[str]:
    if "--json" in arguments:
        import json

        body = {"message": message, "hint": hint, "exit": code}
        yield safe_json(json.dumps({"schema": 1, "error": body}, ensure_ascii=False))
        return
    from gitticks.cli.from_here import from_here

    yield "error: " + visible(message, keep="\n")
    if hint:
        yield "\nhint: " + visible(from_here(hint), keep="\n")


def _write(lines: Sequence[str] | Iterator[str]) -> None:
    try:
        sys.stderr.write("".join(f"{line}\n" for line in lines))
        sys.stderr.flush()
    except BrokenPipeError:
        _discard(sys.stderr)


def _leave(stream: TextIO) -> None:
    """Writes what is left in a stream's buffer, if anybody reads it still."""
    try:
        stream.flush()
    except OSError:
        _discard(stream)


def _discard(stream: TextIO) -> None:
    """Lets what is left in a stream's buffer go nowhere: its reader went away, and it must not raise again at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):
        return
