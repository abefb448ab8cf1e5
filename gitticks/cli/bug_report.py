"""The report of a bug."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback

from gitticks import __version__


def report(error: BaseException, arguments: list[str]) -> tuple[str, str]:
    """Writes a report and returns the message and the hint; where nothing can be written the hint holds the place."""
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
