"""A person's place between agents that do as they are told: a repository, their steps, and real commands."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import Ran, gt_process
from tests.support.agents import write_program
from tests.support.repositories import git
from tests.support.runs import NO_REVIEW, RunProject

AGENT = '''\
"""Does for each task, session by session, what its list of steps says, and keeps every prompt that it gets."""

import json, os, pathlib, subprocess, sys

top = pathlib.Path(sys.argv[1])
task, mailbox = os.environ["GITTICKS_TASK"], pathlib.Path(os.environ["GITTICKS_MAILBOX"])
prompts = top / "prompts" / task
prompts.mkdir(parents=True, exist_ok=True)
number = len(list(prompts.iterdir()))
(prompts / f"{number:02}").write_text(sys.stdin.read())
step = json.loads((top / "steps.json").read_text())[task][number]


def add_section(name, text):
    with (mailbox / "TASK.md").open("a") as file:
        file.write(f"\\n## {name}\\n\\n{text}\\n")


if step.startswith(("COMPLETE", "APPROVAL_NEEDED", "REVIEW_REQUESTED", "CONTENT_REVIEW")):
    pathlib.Path(f"{task}.txt").write_text(f"after {number + 1} sessions\\n")
    subprocess.run(["git", "add", "-A"], check=True)
    subprocess.run(["git", "commit", "-qm", f"{task}: {number + 1}"], check=True)
    add_section("Handoff", "- DONE: it\\n- REMAINING: nothing")
if step == "crash":
    sys.exit("no such module")
if step.startswith("{"):
    print(step)
elif step.startswith("PASS"):
    add_section("Review", step)
else:
    print("<promise>" + step + "</promise>")
'''


@dataclass(frozen=True, slots=True)
class Desk:
    """A person's place: a repository, an agent that is told what to do, and commands as processes."""

    project: RunProject

    @property
    def top(self) -> Path:
        """Returns where the agent keeps what it gets."""
        return self.project.shared

    def gt(self, *arguments: str, **more: Any) -> Ran:
        """Runs a command."""
        return gt_process(*arguments, at=self.project.path, **more)

    def ok(self, *arguments: str, **more: Any) -> str:
        """Runs a command that must succeed, and returns what it printed."""
        ran = self.gt(*arguments, **more)
        assert ran.code == 0, ran.seen
        return ran.out

    def create(self, *arguments: str, steps: list[str]) -> str:
        """Creates a task with what its agent will do, session by session."""
        task_id = self.project.ok("create", *arguments).strip()
        place = self.top / "steps.json"
        known = json.loads(place.read_text()) if place.exists() else {}
        place.write_text(json.dumps({**known, task_id: steps}))
        return task_id

    def run(self, code: int) -> None:
        """Runs what is ready, and expects an exit code."""
        ran = self.gt("run", "--headless", "--debounce", "0")
        assert ran.code == code, ran.seen

    def shown(self, task_id: str) -> dict[str, Any]:
        """Returns a task as JSON."""
        found = json.loads(self.project.ok("show", task_id, "--json"))["task"]
        assert isinstance(found, dict)
        return found

    def stands(self, task_id: str) -> tuple[str, str | None]:
        """Returns a task's status and what it awaits."""
        task = self.shown(task_id)
        return task["status"], task["awaiting"]

    def awaiting(self, *kinds: str) -> list[str]:
        """Returns the tasks that await a person, as `gt list` tells."""
        listed = json.loads(self.ok("list", "--awaiting", *kinds, "--json"))["tasks"]
        return [task["id"] for task in listed]

    def next(self, *arguments: str) -> str | None:
        """Returns what comes next."""
        ran = self.gt("next", *arguments, "--json")
        task = json.loads(ran.out)["task"]
        assert ran.code == (0 if task else 1)
        return None if task is None else str(task["id"])

    def prompts(self, task_id: str) -> list[str]:
        """Returns the prompts that the agent got for a task."""
        return [file.read_text() for file in sorted(self.top.glob(f"prompts/{task_id}/*"))]

    def commits(self) -> int:
        """Returns how many commits the state branch has."""
        return int(git("rev-list", "--count", "gitticks/state", at=self.project.path))

    def merged(self) -> list[str]:
        """Returns the files of the agent's on the base branch."""
        return [name for name in self.project.files() if name.endswith(".txt")]


@pytest.fixture
def desk(project: RunProject) -> Iterator[Desk]:
    """Gives a desk, and checks at the end that the whole branch is legal."""
    top = project.shared
    (top / "agent.py").write_text(AGENT)
    write_program(project.agent_file, f'exec {sys.executable} -IS "{top}/agent.py" "{top}"')
    (top / "prompts").mkdir()
    project.settings(NO_REVIEW)
    desk = Desk(project)
    yield desk
    checked = project.gt("doctor", "--json")
    assert checked.code == 0, checked.seen


def in_one_commit(desk: Desk, *arguments: str) -> str:
    """Runs a command that must succeed with exactly one commit on the state branch."""
    before = desk.commits()
    said = desk.ok(*arguments)
    assert desk.commits() == before + 1
    return said
