"""An agent finds the `gt` of its session, whatever its client's shell makes of the environment."""

from __future__ import annotations

import json
import os
import sys

import pytest

from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Status
from tests.support.agents import asked_of, fake_client
from tests.support.runs import DONE, TO_REVIEW, RunProject, project

__all__ = ["project"]

ASKED = (Status.CLARIFICATION, Awaiting.INPUT)


def questions(project: RunProject) -> list[tuple[str, str]]:
    return [(entry.name, entry.text) for entry in project.file("k7f2").entries(Section.QUESTIONS)]


def test_gt_is_found_by_its_name_before_any_other_program_of_that_name(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = project.path.parent / "other"
    other.mkdir()
    (other / "gt").write_text("#!/bin/sh\nexit 9\n")
    (other / "gt").chmod(0o755)
    monkeypatch.setenv("PATH", f"{other}:{os.environ['PATH']}")
    project.agent('gt ask "Which tone?"')
    project.make()
    project.run()
    assert project.stands() == ASKED
    assert questions(project) == [("mine", "Which tone?")]


def test_its_path_works_where_a_login_shell_has_reset_everything(project: RunProject) -> None:
    project.agent('exec env -i PATH=/usr/bin:/bin "$GITTICKS_MAILBOX/gt" ask "Which tone?"')
    project.make()
    project.run()
    assert project.stands() == ASKED
    assert questions(project) == [("mine", "Which tone?")], "it is the agent that asks, and no person"


def test_a_shell_that_takes_its_stdin_for_a_network_login_does_not_lose_it(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codex gives its shells a socket, and bash then reads `.bashrc`, unless it knows that another shell is above."""
    home = project.path.parent / "home"
    home.mkdir()
    (home / ".bashrc").write_text("export PATH=/usr/bin:/bin\n")
    monkeypatch.delenv("SHLVL", raising=False)
    agent = project.path.parent / "agent.py"
    agent.write_text(
        "import os, socket, subprocess\n"
        f"environment = {{**os.environ, 'HOME': {str(home)!r}}}\n"
        "ours, theirs = socket.socketpair()\n"
        "subprocess.run(['bash', '-c', 'gt ask \"Which tone?\"'], stdin=theirs, env=environment)\n"
    )
    line = json.dumps([sys.executable, "-IS", str(agent)])
    project.ok("config", "agents.mine.argv", line)
    project.make()
    project.run("--max-iterations", "1")
    assert project.stands() == ASKED


def test_a_folder_of_the_work_is_never_taken_for_gitticks(project: RunProject) -> None:
    project.agent('mkdir gitticks; echo "raise SystemExit(9)" > gitticks/__init__.py; gt ask "Which tone?"')
    project.make()
    project.run()
    assert project.stands() == ASKED


def test_the_prompt_says_where_it_is(project: RunProject) -> None:
    project.agent(f'cp "$GITTICKS_MAILBOX/prompt.md" "{project.path.parent}/prompt"; gt ask "Which tone?"')
    project.make()
    project.run()
    assert f"`{project.workspace()}/.gt/gt`" in (project.path.parent / "prompt").read_text()


@pytest.mark.parametrize("kind", ["claude", "gemini", "opencode"])
def test_a_client_that_is_told_which_commands_it_may_run_may_run_it_by_its_path(
    project: RunProject, kind: str
) -> None:
    top = project.path.parent
    program = fake_client(top, kind)
    project.ok("config", f"agents.{kind}.argv", json.dumps([str(program)]))
    project.ok("config", "agent", kind)
    project.make()
    project.run("--max-iterations", "1")
    asked = asked_of(top, kind)
    assert f"{project.workspace()}/.gt/gt" in json.dumps([asked["argv"], asked["environment"]])


def test_codex_is_told_to_leave_the_path_alone(project: RunProject) -> None:
    top = project.path.parent
    program = fake_client(top, "codex")
    project.ok("config", "agents.codex.argv", json.dumps([str(program)]))
    project.ok("config", "agent", "codex")
    project.make()
    project.run("--max-iterations", "1")
    argv = asked_of(top, "codex")["argv"]
    assert isinstance(argv, list)
    assert argv[argv.index("allow_login_shell=false") - 1] == "-c"


def test_a_reviewer_writes_its_review_by_command(project: RunProject) -> None:
    said = project.path.parent / "said"
    project.agent(
        f'if [ $GITTICKS_ROLE = worker ]; then "$GT" review k7f2 PASS 2> "{said}"; {DONE}'
        f'else "$GT" review m3xq FAIL 2>> "{said}"; "$GT" review "PASS: tests no longer FAIL"; fi'
    )
    project.make()
    project.run()
    assert project.stands() == TO_REVIEW
    assert project.file("k7f2").section(Section.REVIEW) == "PASS\n\ntests no longer FAIL"
    assert "only a reviewer writes the review" in said.read_text()
    assert "this session works on `k7f2`, not on `m3xq`" in said.read_text()
