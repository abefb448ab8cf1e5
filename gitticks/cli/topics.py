"""The topics that `gt help` explains besides commands: each with one line of what it is, and its page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitticks.cli.render import Screen


@dataclass(frozen=True, slots=True)
class Topic:
    """A page of help: what it is about, and its lines for a screen."""

    summary: str
    page: Callable[[Screen], list[str]]


def _workflow(on: Screen) -> list[str]:
    from gitticks.cli.workflow_page import workflow_page

    return workflow_page(on)


TOPICS = {"workflow": Topic("How a task moves: statuses, steps, gates and whose turn it is.", _workflow)}

TOPICS_ELSEWHERE = dict.fromkeys(
    ("gate", "gates", "statuses", "states", "transitions", "steps", "verdicts", "awaiting", "turns"),
    "workflow",
)
"""Words that people look up, and the topic that explains them."""
