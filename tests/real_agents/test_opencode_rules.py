"""OpenCode asks nobody, and is given the rules: what one denies is not done, the rest is."""

from __future__ import annotations

from gitticks.model.status import Status
from tests.real_agents.clients import FOUND
from tests.real_agents.support import TASK, RealProject
from tests.support.runs import NO_PERSON
from tests.support.wire_formats import Shell, Write

CLIENTS = tuple(one for one in FOUND if one.name == "opencode")
RULES = (
    "permissions:\n  mode: auto-all\n  deny:\n    - {operation: file_write, paths: ['**/keys.txt']}\n"
    "    - {operation: shell, commands: ['git log']}\n"
)


def test_what_a_rule_denies_is_not_done(project: RealProject) -> None:
    project.settings(f"{NO_PERSON}{RULES}")
    project.make(TASK, title="Say hello")
    workspace = project.workspace()
    project.play_work(
        Write(str(workspace / "keys.txt"), "KEY=1\n"),
        Shell("git log --oneline > log.txt"),
        Shell("git status > status.txt"),
    )
    ran = project.run()
    assert project.stands() == (Status.DONE, None), ran.seen + project.said()
    assert {"keys.txt", "log.txt", "status.txt"} & set(project.files("main")) == {"status.txt"}, (
        project.said()
    )
