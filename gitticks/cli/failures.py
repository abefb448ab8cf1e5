"""Turns every failure into a message and an exit code; the outermost boundary of every command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from gitticks.bugs import report, upgraded
from gitticks.cli.render import PrintingError, discard
from gitticks.cli.text import from_here, visible
from gitticks.errors import Exit, GitticksError
from gitticks.terminal_safety import safe_json

_RUN_USAGE = 64


def guarded(arguments: Sequence[str], command: Callable[[], int]) -> int:
    """Runs a command and returns its exit code, or that of the failure that it tells."""
    try:
        code = command()
        sys.stdout.flush()
        _leave(sys.stderr)
    except PrintingError as error:
        discard(sys.stdout)
        hint = "what was changed stays: see `gt log` before you repeat the command"
        return tell(arguments, f"the output could not be printed: {error}", hint, Exit.FAILED)
    except GitticksError as error:
        return tell(arguments, error.message, error.hint, error.exit_code)
    except KeyboardInterrupt:
        return tell_interrupted()
    except BrokenPipeError:
        _leave(sys.stdout)
        _leave(sys.stderr)
        return Exit.DONE
    except Exception as error:  # noqa: BLE001 (the outermost boundary: a bug is reported, never shown as a traceback)
        return _tell_unexpected(arguments, error)
    return code


def tell_interrupted() -> int:
    """Says that Ctrl-C ended the command, and returns its exit code."""
    _write(["interrupted"])
    return Exit.INTERRUPTED


def tell(arguments: Sequence[str], message: str, hint: str | None, code: int) -> int:
    """Prints a failure and returns its exit code.

    `gt run` has codes of its own, in which usage, an unknown id and no repository are 64.
    """
    if _command_in(arguments) == "run" and code in (Exit.FAILED, Exit.USAGE):
        code = _RUN_USAGE
    _write(_lines(arguments, message, hint, code))
    return code


def _command_in(arguments: Sequence[str]) -> str | None:
    words = iter(arguments)
    for word in words:
        if word in ("-C", "--color"):
            next(words, None)
        elif not word.startswith("-"):
            return word
    return None


def _tell_unexpected(arguments: Sequence[str], error: Exception) -> int:
    replaced = upgraded()  # first: what is loaded from here on may be of the other version
    if replaced is not None:
        return tell(arguments, *replaced, Exit.FAILED)
    from gitticks.machine_errors import machine_error_of

    refusal = machine_error_of(error)
    if refusal is not None:
        return tell(arguments, refusal.message, refusal.hint, refusal.exit_code)
    return tell(arguments, *report(error, list(arguments)), Exit.BUG)


def _lines(arguments: Sequence[str], message: str, hint: str | None, code: int) -> Iterator[str]:
    if not {"--json", "--json-output"}.isdisjoint(arguments):
        import json

        body = {"message": message, "hint": hint, "exit": code}
        yield safe_json(json.dumps({"schema": 1, "error": body}, ensure_ascii=False))
        return
    yield "error: " + visible(message, keep="\n")
    if hint:
        yield "\nhint: " + visible(from_here(hint), keep="\n")


def _write(lines: Sequence[str] | Iterator[str]) -> None:
    try:
        sys.stderr.write("".join(f"{line}\n" for line in lines))
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)


def _leave(stream: TextIO) -> None:
    """Writes what is left in a stream's buffer, if anybody reads it still."""
    try:
        stream.flush()
    except OSError:
        discard(stream)
