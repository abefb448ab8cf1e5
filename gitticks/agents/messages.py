"""Remembering what an agent said, within a bound: what comes last counts, so what came first is forgotten first."""

from __future__ import annotations

from collections import deque

LARGEST_TOTAL = 4_000_000
_COST_OF_ONE = 100
"""Python's own price of a short string, in bytes: ten million empty messages are no small thing."""


class Messages:
    """The latest messages of an agent, in order."""

    def __init__(self, largest_total: int = LARGEST_TOTAL) -> None:
        self._largest_total = largest_total
        self._kept: deque[str] = deque()
        self._total = 0

    def add(self, message: str) -> None:
        """Takes a message; one that is too long by itself keeps its end."""
        message = message[-self._largest_total :]
        self._kept.append(message)
        self._total += len(message) + _COST_OF_ONE
        while self._total > self._largest_total and len(self._kept) > 1:
            self._total -= len(self._kept.popleft()) + _COST_OF_ONE

    def extend_last(self, text: str) -> None:
        """Adds to the last message, for agents that speak in pieces."""
        last = self._kept.pop() if self._kept else ""
        self._total -= len(last) + _COST_OF_ONE if last else 0
        self.add(last + text)

    @property
    def last(self) -> str | None:
        """Returns the last message, if anything was said."""
        return self._kept[-1] if self._kept else None

    def as_tuple(self) -> tuple[str, ...]:
        """Returns all that is remembered, in order."""
        return tuple(self._kept)
