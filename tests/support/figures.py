"""Keeps what the fault tests measured, so that a document can quote it and the next run be held against it.

The figures of a run are the lines of the file that `GITTICKS_FIGURES` names; without it nothing is kept.
"""

from __future__ import annotations

import json
import os


def record(test: str, **numbers: float | str) -> None:
    """Prints a test's figures, and adds them to the file of the run as one line of JSON.

    The line is `{"test": …, "dose": what GITTICKS_DOSE says, or "ci", …numbers}`; workers that write at once do not
    mix theirs.
    """
    dose = os.environ.get("GITTICKS_DOSE") or "ci"
    line = json.dumps({"test": test, "dose": dose, **numbers}, ensure_ascii=False) + "\n"
    print(line, end="")  # noqa: T201 - pytest shows it with -rP
    path = os.environ.get("GITTICKS_FIGURES")
    if path:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)
