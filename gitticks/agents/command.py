"""Any command line as an agent: its stdout is what it says, its exit code how it ended."""

from __future__ import annotations

from datetime import datetime

from gitticks.agents.base import AgentReport, AgentSpec, Invocation, Request
from gitticks.agents.messages import Messages
from gitticks.agents.stream import judge_exit
from gitticks.agents.supervised import Ended
from gitticks.errors import GitticksError
from gitticks.model.session import Ending
from gitticks.model.settings import PromptWay
from gitticks.model.task import Usage


def invocation(spec: AgentSpec, request: Request) -> Invocation:
    """Returns how to start the command, with the prompt by stdin, as the last argument, or as a file's name.

    Raises:
        GitticksError: the settings name no command.
    """
    if not spec.argv:
        raise GitticksError(
            f"the agent `{spec.name}` has no command",
            hint=f"`gt config agents.{spec.name}.argv '[\"./agent.sh\"]'`",
        )
    argv = (*spec.argv, *spec.args)
    match spec.prompt:
        case PromptWay.STDIN:
            return Invocation(argv, LinesReader, stdin=request.prompt.encode())
        case PromptWay.ARGUMENT:
            return Invocation((*argv, request.prompt), LinesReader)
        case PromptWay.FILE:
            if request.prompt_file is None:
                raise GitticksError(
                    f"the agent `{spec.name}` reads its prompt from a file, and there is none"
                )
            return Invocation((*argv, request.prompt_file), LinesReader)


class LinesReader:
    """Takes every line of stdout as a message; a signal counts only on lines of its own, for anything may stand there."""

    def __init__(self) -> None:
        self.session_id: str | None = None
        self._messages = Messages()

    def feed(self, line: str) -> str | None:
        """Takes a line of stdout and returns it."""
        self._messages.add(line)
        return line

    def report(self, ended: Ended, now: datetime) -> AgentReport:  # noqa: ARG002 - readers of limits need the time
        """Returns what came of the session; the last line that says something is the final message."""
        trouble = judge_exit(ended)
        messages = self._messages.as_tuple()
        said = next((line for line in reversed(messages) if line.strip()), None)
        return AgentReport(
            ending=trouble.ending,
            messages=messages,
            final_message=said if trouble.ending is Ending.CLEAN else None,
            usage=Usage(seconds=ended.seconds),
            detail=trouble.detail,
            signals_on_own_lines=True,
        )
