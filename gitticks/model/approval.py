"""A strong approval: the exact statement that is signed, and how it is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

NAMESPACE = "gitticks-approval@v1"
"""What `ssh-keygen` binds a signature to, so that none made for git or files counts here."""
NAME, TERMINAL, SIGNED, HARDWARE = LEVELS = ("L0", "L1", "L2", "L3")
SIGNATURE = "signature"
"""In an event: the armored signature."""
WORDS = {
    NAME: "a name alone",
    TERMINAL: "confirmed on a terminal",
    SIGNED: "a signature",
    HARDWARE: "a signature by a hardware key",
}


def is_enough(strength: str, minimum: str) -> bool:
    """True if an approval of some strength meets a minimum; what is no level, as of a waived person, meets only L0."""
    return minimum == NAME or (strength in LEVELS and strength >= minimum)


class Statement(NamedTuple):
    """What somebody approves: this head and tree of this task, for this base, under these gates and this policy.

    `base_commit` is where the base stood, and from where the allowed signers are read; `by` is `Name <address>`, `at`
    the time in UTC. What there is none of is empty.
    """

    task: str
    head: str
    tree: str
    base: str
    base_commit: str
    gates: str
    policy: str
    by: str
    at: str

    def payload(self) -> bytes:
        """Returns the bytes that are signed."""
        lines = [NAMESPACE, *(f"{name} {value}" for name, value in self._asdict().items())]
        return "".join(f"{line}\n" for line in lines).encode()

    def to_data(self) -> dict[str, str]:
        """Returns what an event carries of it; the task is the one whose history holds the event."""
        return {_key(name): value for name, value in self._asdict().items() if name != "task"}

    @property
    def address(self) -> str:
        """Returns the address of who approves."""
        return self.by.rpartition("<")[2].removesuffix(">")


def statement_of(task: str, data: Mapping[str, object]) -> Statement | None:
    """Returns the statement that a verdict's event carries; None if it carries none, or not all of it."""
    values = {name: data.get(_key(name)) for name in Statement._fields if name != "task"}
    texts = {name: value for name, value in values.items() if isinstance(value, str) and "\n" not in value}
    return Statement(task, **texts) if len(texts) == len(values) else None


def _key(name: str) -> str:
    return {"by": "signer", "at": "signed_at"}.get(name, name)
