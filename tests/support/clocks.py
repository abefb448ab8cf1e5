"""A wall clock that a test sets, for `gt`, git, agents and whatever they start; made of Debian's `faketime`.

What is faked is what a person sees who sets the clock of their machine: the time of day. The monotonic clock runs on,
and files have the times that the kernel gives them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_LIBRARY = "faketime/libfaketimeMT.so.1"
_SLEEP = '''"""Sleeps by `select`: libfaketime takes the monotonic time until which Python sleeps for one of its own."""

import select
import time

time.sleep = lambda seconds: select.select([], [], [], seconds)
'''


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock that everything started with `environment` goes by; `folder` holds how it is set."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> Clock:
        """Makes a clock that is right."""
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(_SLEEP)
        clock = cls(folder)
        clock.set("+0")
        return clock

    @property
    def file(self) -> Path:
        """Returns the file that says how the clock is set; writing `-1d` or `+10y` into it sets it."""
        return self.folder / "time"

    def set(self, offset: str) -> None:
        """Sets the clock to a time that differs from the real one by, say, `-1d` or `+10y`."""
        aside = self.folder / "time.new"
        aside.write_text(f"{offset}\n")
        aside.replace(self.file)

    def environment(self, outer: Mapping[str, str]) -> dict[str, str]:
        """Returns the variables that let a process go by this clock."""
        return {
            "LD_PRELOAD": str(library()),
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
            "PYTHONPATH": f"{self.folder}:{outer.get('PYTHONPATH', '')}".rstrip(":"),
        }


def library() -> Path:
    """Returns the library that fakes the time, for programs with threads."""
    return next(folder / _LIBRARY for folder in Path("/usr/lib").glob("*") if (folder / _LIBRARY).is_file())
