"""What a hook says of a commit or a push that it refuses, or that it can only speak of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a commit is refused: the file, what is wrong with it, and what to type."""

    path: str
    message: str
    hint: str | None = None
