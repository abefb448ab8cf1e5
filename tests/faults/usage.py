"""What a person tries on a repository, and what a healthy one answers."""

from __future__ import annotations

from dataclasses import dataclass

from tests.faults.forked import Ended
from tests.faults.scene import IDLE, OTHER, VICTIM, WAITING
from tests.support.doses import IS_FULL
from tests.support.forking import CRASHED

BUG = 70
ENDINGS = frozenset({0, 1, 2, 3, 4, 64})
"""With these a command may end, whatever it found."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command, what it ends with where no problems found, and whether it only reads."""

    arguments: tuple[str, ...]
    code: int = 0
    reads: bool = False
    in_ci: bool = True

    @property
    def is_about_victim(self) -> bool:
        """True if it names the task that is broken where one is."""
        return VICTIM in self.arguments

    @property
    def lists(self) -> bool:
        """True if it prints every task's id."""
        return self.arguments[0] == "list"


_ALL_COMMANDS = (
    Command(("list",), reads=True),
    Command(("list", "--json"), reads=True, in_ci=False),
    Command(("show", VICTIM), reads=True),
    Command(("show", OTHER, "--json"), reads=True),
    Command(("next",), reads=True),
    Command(("ready",), reads=True, in_ci=False),
    Command(("log",), reads=True, in_ci=False),
    Command(("health",), reads=True, in_ci=False),
    Command(("status",), reads=True),
    Command(("create", "One more")),
    Command(("note", OTHER, "seen"), in_ci=False),
    Command(("note", VICTIM, "seen")),
    Command(("update", OTHER, "-p", "1")),
    Command(("update", VICTIM, "-p", "1"), in_ci=False),
    Command(("approve", WAITING, "the friendly one")),
    Command(("run", IDLE), code=2),
)
COMMANDS = tuple(command for command in _ALL_COMMANDS if command.in_ci or IS_FULL)


def complaint(ended: Ended) -> str | None:
    """Returns what no corruption excuses: a bug, a traceback, a failure without a word."""
    if ended.code in (BUG, CRASHED) or "Traceback" in ended.err:
        return "it met a bug"
    if ended.code not in ENDINGS:
        return f"{ended.code} is no code to end with"
    if ended.code != 0 and not ended.err.strip() and not ended.out.strip():
        return "it failed without a word"
    return None
