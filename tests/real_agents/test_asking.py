"""Claude asks by its own protocol where it would ask a person, and is answered as its hook was, or by a person."""

from __future__ import annotations

import json
import os
from pathlib import Path

from gitticks.runner.questions import Questions
from tests.real_agents.clients import FOUND
from tests.real_agents.support import TASK, RealProject
from tests.support.runs import NO_PERSON
from tests.support.waiting import until
from tests.support.wire_formats import Shell, Write

CLIENTS = tuple(one for one in FOUND if one.name == "claude")


def asks_for_itself(rule: str) -> None:
    """Has the client ask for a tool whatever a hook says."""
    settings = Path(os.environ["HOME"], ".claude/settings.json")
    settings.parent.mkdir()
    settings.write_text(json.dumps({"permissions": {"ask": [rule]}}))


def test_what_rules_allow_is_done_though_the_client_wants_to_ask(project: RealProject) -> None:
    asks_for_itself("Bash(touch:*)")
    project.settings(
        f"{NO_PERSON}permissions: {{mode: interactive, allow: [{{operation: shell}}, {{operation: file_write, paths: ['./**']}}]}}\n"
    )
    project.make(TASK, title="Say hello")
    project.play_work(Shell("touch asked.txt"))
    ran = project.run()
    assert {"asked.txt", "hello.txt"} <= set(project.files("main")), ran.seen + project.said()
    assert project.said().count("can_use_tool") == 1, project.said()


def test_a_person_is_asked_once(project: RealProject) -> None:
    asks_for_itself("Bash(touch:*)")
    project.settings(f"{NO_PERSON}permissions: {{mode: interactive}}\n")
    project.make(TASK, title="Say hello")
    project.services.play(Shell("touch asked.txt"), Write(str(project.workspace() / "no.txt"), "no\n"))
    questions = Questions(project.path / ".git/gitticks")
    with questions.attached(), project.running("--max-iterations", "1") as process:
        for answer in ("allow", "deny"):
            until(lambda: questions.open() or process.poll() is not None, "a question")
            assert len(questions.open()) == 1, project.said()
            project.ok("permissions", answer, "--all")
        process.communicate(timeout=60)
    assert (project.workspace() / "asked.txt").exists(), project.said()
    assert not (project.workspace() / "no.txt").exists(), project.said()
