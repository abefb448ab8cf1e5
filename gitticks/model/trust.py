"""What on the state branch runs programs or instructs agents, and how it is recognised once trusted."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import NamedTuple


class RunnableKind(StrEnum):
    """Where something that runs comes from."""

    SETTING = "setting"
    TEMPLATE = "template"
    SCRIPT = "script"
    REPOSITORY = "repository"
    AUTHOR = "author"


class Runnable(NamedTuple):
    """One thing that would run: a setting's value, a template, or the script of a task.

    Attributes:
        kind: where it stands.
        name: the setting's dotted name, the template's path, the task's id, what of the repository changed, or
            who writes.
        text: what would run.
    """

    kind: RunnableKind
    name: str
    text: str

    @property
    def digest(self) -> str:
        """Returns what it is remembered by; a script is the same under another id, as tasks may be renamed."""
        name = "" if self.kind is RunnableKind.SCRIPT else self.name
        return hashlib.sha256(
            f"{self.kind}\0{name}\0{self.text}".encode("utf-8", "surrogatepass")
        ).hexdigest()
