"""What a bug in gitticks comes to: one line for people, and the path of a report to send.

Loaded when a command starts, so that an upgrade of its files meanwhile is noticed.
"""

from __future__ import annotations

import os
import sys
import time

from gitticks import __version__
from gitticks.errors import GitticksError

_STARTED = time.time()


def upgraded() -> tuple[str, str] | None:
    """Returns what to tell where this process's own files were replaced since it began, and the hint; else None.

    Modules are loaded when they are first needed, and those of two versions do not fit together.
    """
    from pathlib import Path

    try:
        newest = max(file.stat().st_ctime for file in Path(__file__).parent.rglob("*.py"))
    except (OSError, ValueError):  # it is being replaced, or gone
        newest = _STARTED
    return None if newest < _STARTED else ("gitticks was upgraded while this was running", "start it again")


def failure_of_task(error: Exception, again: str) -> GitticksError:
    """Returns what to tell the user about an error that ends the work on one task and no other; a bug is reported.

    `again` is the command that tries once more. Where gitticks was upgraded meanwhile, no other task would go on either.

    Raises:
        Exception: the error itself, after an upgrade.
    """
    if isinstance(error, GitticksError):
        return error
    if upgraded() is not None:  # first: what is loaded from here on may be of the other version
        raise error
    from gitticks.machine_errors import machine_error_of

    refusal = machine_error_of(error)
    if refusal is not None:
        return refusal
    message, hint = report(error, ["run"])
    return GitticksError(message, hint=f"{hint}; `{again}` tries again")


def report(error: BaseException, arguments: list[str]) -> tuple[str, str]:
    """Writes a report and returns the message and the hint; where nothing can be written the hint holds the place."""
    import platform
    import tempfile
    import traceback

    text = "\n".join(
        [
            f"gitticks {__version__}, Python {platform.python_version()}, {platform.platform()}",
            f"command: gt {arguments[0] if arguments else ''}",
            "".join(traceback.format_exception(error)),
        ]
    )
    message = f"this is a bug in gitticks: {type(error).__name__}: {error}"
    try:
        handle, path = tempfile.mkstemp(prefix="gitticks-report-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError:
        last = traceback.extract_tb(error.__traceback__)[-1] if error.__traceback__ else None
        where = f"{last.filename}:{last.lineno}" if last else sys.executable
        return message, f"it happened at {where}"
    return message, f"please report it with the contents of {path}"
