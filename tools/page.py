"""A page that is made from the code: compared with what it should say, or written again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

Make = Callable[[str], str]
"""Returns what a page should say, from what it says now."""


def check_or_write(arguments: list[str], program: str, page: Path, make: Make, what: str) -> int:
    """Compares a page with what the code says, or with `--write` renews it; returns the exit code.

    Args:
        arguments: the command line, `--write` and `--page`.
        program: the tool's module, for its help.
        page: where the page lies if `--page` says nothing else.
        make: what the page should say; an absent page is the empty text.
        what: the source of truth in words, for the message.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {program}")
    parser.add_argument("--write", action="store_true", help="renew the page")
    parser.add_argument("--page", type=Path, default=page)
    options = parser.parse_args(arguments)
    path: Path = options.page
    present = path.read_text(encoding="utf-8") if path.is_file() else ""
    wanted = make(present)
    if options.write:
        path.write_text(wanted, encoding="utf-8")
        return 0
    if present == wanted:
        return 0
    print(f"error: {path} is not what {what} say\n\nhint: make docs", file=sys.stderr)
    return 1
