"""The entry point of `gt`."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import NoReturn

from gitticks.cli.at_once import answer_at_once
from gitticks.cli.before import read_before
from gitticks.errors import UsageError

_OBJECTS_BETWEEN_COLLECTIONS = 50_000


def main() -> NoReturn:
    """Runs `gt` with the words it was called with, and ends the process with the command's exit code."""
    # Loading a command makes thousands of objects that stay; Python would look through them again and again.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    _open_missing_streams()
    words = sys.argv[1:]
    if words[:2] == ["hook", "permission"]:  # which clients call before each use of a tool
        from gitticks.cli.permission_hook import answer_hook

        _leave(answer_hook(words[2:]))
    _leave(_run(words))


def _run(words: list[str]) -> int:
    try:
        words = read_before(words)
    except UsageError as error:
        from gitticks.cli.failures import tell

        return tell(words, error.message, error.hint, error.exit_code)
    code = answer_at_once(words)
    if code is None:
        from gitticks.cli.app import run

        code = run(words)
    return code


def _open_missing_streams() -> None:
    """Opens /dev/null for each of stdin, stdout and stderr that was closed (`>&-`), as git does.

    Else the next file that is opened, such as the index, would take its number, and a subprocess would print into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8"))  # noqa: PTH123, SIM115


def _leave(code: int) -> NoReturn:
    """Ends the process without taking Python down piece by piece, which takes a tenth of a command's time.

    What was put off to the end is done, and a thread that is still at work is waited for as ever.
    """
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        sys.exit(code)
    atexit._run_exitfuncs()  # noqa: SLF001 (as Python itself does, of which `os._exit` does nothing)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        pass  # whoever read them has gone
    os._exit(code)
