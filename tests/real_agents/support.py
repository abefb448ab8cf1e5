"""A project whose agent is a real program, and what such an agent does in a task that goes well."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.real_agents.clients import Client
from tests.support.model_services import ModelServices
from tests.support.repositories import make_repository
from tests.support.runs import RunProject, assert_sound
from tests.support.tasks import write_files
from tests.support.wire_formats import Read, Say, Shell, Write

TASK = "k7f2"
DONE = "<promise>COMPLETE</promise>"


@dataclass(frozen=True, slots=True)
class RealProject(RunProject):
    """A project whose agent is `client`, which talks to `services`."""

    client: Client
    services: ModelServices

    @property
    def mailbox(self) -> Path:
        """Returns the worker's mailbox."""
        return self.workspace() / ".gt"

    def play_work(self, *first: Shell | Write) -> None:
        """Has the model write and commit a file, hand off and end; `first` comes before that."""
        self.services.play(
            *first,
            Write(str(self.workspace() / "hello.txt"), "hello\n"),
            Shell("git add -A"),
            Shell("git commit -qm 'Say hello'"),
            Shell("gt handoff --done 'hello.txt is there'"),
            Say(f"It is done.\n\n{DONE}"),
        )

    def play_review(self) -> None:
        """Has the model read the task and pass it."""
        file = self.path / ".gitticks-work/reviews" / TASK / ".gt/TASK.md"
        self.services.play(
            Shell("git log --oneline"),
            Read(str(file)),
            lambda: Write(str(file), f"{file.read_text()}\n## Review\n\nPASS\n\nhello.txt is there.\n"),
            Say("I have reviewed it."),
        )

    def said(self) -> str:
        """Returns the client's own output of all sessions."""
        logs = sorted((self.path / ".git/gitticks/transcripts").rglob("*.log"))
        return "\n".join(log.read_text() for log in logs)


def begin(
    path: Path, client: Client, services: ModelServices, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RealProject]:
    """Gives a project, and checks afterwards that nothing survived."""
    mark = f"mark-{secrets.token_hex(8)}"
    # Every client is handed its own variables; this one is among those of each.
    for prefix in ("CLAUDE_", "CODEX_", "GEMINI_", "OPENCODE_"):
        monkeypatch.setenv(f"{prefix}TEST_MARK", mark)
    make_repository(path)
    project = RealProject(path, mark, client, services)
    project.ok("init")
    text = f"version: 1\nagent: {client.name}\nagents:\n  {client.name}: {{model: {client.model}}}\n"
    write_files(project.store, {"config.yaml": text.encode()})
    yield project
    services.over.set()
    assert_sound(project)
