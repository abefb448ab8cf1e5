"""The topics that `gt help` explains besides commands: each with one line of what it is, and its page."""

from __future__ import annotations

from gitticks.model.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitticks.cli.render import Screen


class Topic(Value):
    """A page of help: what it is about, and its lines for a screen."""

    summary: str
    page: Callable[[Screen], list[str]]


def _workflow(on: Screen) -> list[str]:
    from gitticks.cli.workflow_page import workflow_page

    return workflow_page(on)


TOPICS = {"workflow": Topic("How a task moves: statuses, steps, gates and whose turn it is.", _workflow)}
