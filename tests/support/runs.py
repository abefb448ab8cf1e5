"""A project in which agents run for real, and what must hold when a run is over, whatever the agents did."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gitticks.flocks import is_lock_held
from gitticks.model.event import Event, EventType
from gitticks.model.status import Awaiting, Status
from tests.cli.support import Ran, command
from tests.support.agents import processes_with, write_program
from tests.support.projects import Project, make_project
from tests.support.repositories import git
from tests.support.tasks import write_files
from tests.support.waiting import until

NO_REVIEW = "review: none\n"
NO_PERSON = f"{NO_REVIEW}human: when-required\n"
TO_REVIEW = (Status.REVIEWING, Awaiting.REVIEW)
HANDOFF = "printf '\\n## Handoff\\n\\n- DONE: it\\n' >> \"$GITTICKS_MAILBOX/TASK.md\"\n"
COMMIT = 'date +%N >> "$GITTICKS_TASK.txt"; git add -A; git commit -qm "work on $GITTICKS_TASK"\n'
DONE = f"{COMMIT}{HANDOFF}echo '<promise>COMPLETE</promise>'\n"
PASS = "printf '\\n## Review\\n\\nPASS, fine\\n' >> \"$GITTICKS_MAILBOX/TASK.md\"\n"
FAIL = "printf '\\n## Review\\n\\nFAIL, not yet\\n' >> \"$GITTICKS_MAILBOX/TASK.md\"\n"


@dataclass(frozen=True, slots=True)
class RunProject(Project):
    """A project with one agent, `mine`: a shell script that each test writes; `mark` is in all its processes."""

    mark: str

    @property
    def agent_file(self) -> Path:
        """Returns where the agent's program lies, outside of the repository."""
        return self.path.parent / "agent.sh"

    @property
    def shared(self) -> Path:
        """Returns the folder outside of the repository that agents may write to, in a sandbox too."""
        return self.path.parent / "shared"

    def agent(self, body: str) -> None:
        """Makes `body` the agent."""
        write_program(self.agent_file, body)

    def settings(self, text: str) -> None:
        """Adds lines to `config.yaml`."""
        before = self.store.read("config.yaml") or b""
        write_files(self.store, {"config.yaml": before + text.encode()})

    def run(self, *arguments: str, **more: Any) -> Ran:
        """Runs `gt run --headless` without waiting for edits to settle."""
        return self.gt("run", "--headless", "--debounce", "0", *arguments, **more)

    def events_of_run(self, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
        """Runs `gt run --json` and returns its exit code and the events."""
        ran = self.gt("run", "--json", "--debounce", "0", *arguments)
        return ran.code, [json.loads(line) for line in ran.out.splitlines()]

    def stands(self, task_id: str = "k7f2") -> tuple[Status, Awaiting | None]:
        """Returns a task's status and what it awaits."""
        task = self.task(task_id)
        return task.status, task.awaiting

    def kinds(self, task_id: str = "k7f2") -> list[EventType]:
        """Returns the types of a task's events in order."""
        return [event.type for event in self.events(task_id)]

    def last(self, kind: EventType, task_id: str = "k7f2") -> Event:
        """Returns a task's last event of a type."""
        return next(event for event in reversed(self.events(task_id)) if event.type is kind)

    def workspace(self, name: str = "k7f2") -> Path:
        """Returns where a workspace lies."""
        return self.path / ".gitticks-work" / name

    def files(self, ref: str = "main") -> list[str]:
        """Returns the files of a branch."""
        return git("ls-tree", "-r", "--name-only", ref, at=self.path).split()

    def merges(self, ref: str = "main") -> list[str]:
        """Returns which tasks the commits of a branch were merged for, newest first."""
        listed = git(
            "log",
            "--first-parent",
            "--format=%(trailers:key=Task,valueonly,separator=%x20)",
            ref,
            at=self.path,
        )
        return listed.split()

    @contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Starts `gt run` as a process of its own, which is killed at the end of the block if it still runs."""
        with subprocess.Popen(
            command("run", "--headless", "--debounce", "0", *arguments),
            cwd=self.path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.kill()

    def interrupt(self, process: subprocess.Popen[str]) -> None:
        """Presses Ctrl-C."""
        process.send_signal(signal.SIGINT)


def make_run_project(path: Path, mark: str, config: str = "") -> RunProject:
    """Makes a project whose agent is `mine` and does the work."""
    project = RunProject(make_project(path).path, mark)
    project.shared.mkdir(exist_ok=True)
    project.agent(DONE)
    text = f"version: 1\nagent: mine\nagents:\n  mine: {{type: command, argv: ['{project.agent_file}']}}\n"
    write_files(project.store, {"config.yaml": f"{text}{config}".encode()})
    return project


def allow_shared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets agents write to a folder outside of their workspace, unless they run without a sandbox anyway."""
    if os.environ.get("GITTICKS_CONFIG_SANDBOX_PRESET") != "none":
        monkeypatch.setenv("GITTICKS_CONFIG_SANDBOX_ALLOWED_PATHS", json.dumps([str(folder)]))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunProject]:
    """Gives a project, and checks afterwards that nothing survived.

    Agents find `gt` as `$GT`.
    """
    mark = f"mark-{secrets.token_hex(8)}"
    shown = " ".join(f"'{word}'" for word in command())
    project = make_run_project(tmp_path / "repo", mark)
    program = write_program(project.shared / "gt", f'exec {shown} "$@"')
    allow_shared(project.shared, monkeypatch)
    monkeypatch.setenv("RUN_MARK", mark)
    monkeypatch.setenv("GT", str(program))
    yield project
    assert_sound(project)


def assert_sound(project: RunProject) -> None:
    """Fails if a process is left, or if a lock lies about; git's own check follows every test."""
    trees = list((project.path / ".git/gitticks").glob("sessions/*.tree"))
    until(lambda: not any(map(is_lock_held, trees)), "the end of every supervisor")
    until(lambda: not processes_with(project.mark), "the end of every process")
    git_dir = project.path / ".git"
    own = git_dir / "gitticks"
    locks = [path.relative_to(git_dir) for path in git_dir.rglob("*.lock")]
    # `gt` keeps its own also in the git directory that a sandbox has.
    locks = [path for path in locks if own.name not in path.parts]
    assert locks == []
    for workspace in project.path.glob(".gitticks-work/*"):
        assert (workspace / ".git").exists(), f"{workspace} is left and no worktree"
    assert not list((own / "sessions").glob("*.json")), "a session's record is left"
