"""The built-in agent that needs no model: it runs the `sh` blocks under a task's `## Script`."""

from __future__ import annotations

from gitticks.agents.base import AgentSpec, Invocation, Request
from gitticks.agents.command import LinesReader
from gitticks.errors import GitticksError

_RUN_EACH = 'for block do sh -e -c "$block" || exit; done'
"""Every block is an argument and gets a shell of its own; stdin stays free for what the blocks start."""


def invocation(spec: AgentSpec, request: Request) -> Invocation:
    """Returns how to run the blocks in their order; the first command that fails ends it.

    Raises:
        GitticksError: the task has no blocks for this role.
    """
    if not request.script:
        raise GitticksError(
            "there is no `sh` block under `## Script` for the agent `script` to run",
            hint="`gt edit` the task, or choose an agent: `gt agents`",
        )
    return Invocation(("sh", "-c", _RUN_EACH, spec.name, *request.script), LinesReader)
