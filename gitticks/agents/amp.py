"""Amp: its flags; its stream is Claude Code's.

Its loop runs on its own service. It has no modes but asking, which nobody answers here, and allowing all.
"""

from __future__ import annotations

from gitticks.agents.base import AgentSpec, Invocation, Places, Request
from gitticks.agents.claude import ClaudeReader
from gitticks.model.settings import PermissionMode

PROGRAM = "amp"
HOSTS = ("ampcode.com",)
VARIABLES = ("AMP_",)
PLACES = Places(folders=("~/.local/share/amp",), copies=("~/.config/amp",))
MODES = (PermissionMode.INTERACTIVE, PermissionMode.YOLO)


def invocation(spec: AgentSpec, request: Request) -> Invocation:
    """Returns how to start Amp for one session; the prompt goes in by stdin, its models are named by mode."""
    resumed = ("threads", "continue", request.session_id) if request.session_id else ()
    argv = [*(spec.argv or (PROGRAM,)), *resumed, "-x", "--stream-json"]
    if spec.mode is PermissionMode.YOLO:
        argv.append("--dangerously-allow-all")
    if spec.model:
        argv += ["--mode", spec.model]
    return Invocation((*argv, *spec.args), ClaudeReader, stdin=request.prompt.encode())
