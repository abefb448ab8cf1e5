"""Real agents ask before they use a tool: what a rule denies is not done, and what is asked is what another process answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.document.audit import find_breaks, read_audit
from gitticks.model.audit import AuditEntry, Decided, UserAction
from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Status
from gitticks.runner.questions import Questions
from gitticks.store.layout import audit_path
from tests.real_agents.clients import FOUND
from tests.real_agents.support import TASK, RealProject
from tests.support.repositories import commit_file
from tests.support.runs import NO_PERSON
from tests.support.waiting import until
from tests.support.wire_formats import Shell, Write

DENIES = (
    "permissions:\n  deny:\n    - {operation: file_write, paths: ['**/keys.txt']}\n"
    "    - {operation: shell, commands: ['git log']}\n"
)
HOOKS_OFF = {
    "claude": (".claude/settings.json", '{"disableAllHooks": true, "env": {"CLAUDE_CODE_SIMPLE": "1"}}'),
    "codex": (".codex/config.toml", "[features]\nhooks = false\n"),
    "gemini": (".gemini/settings.json", '{"hooksConfig": {"enabled": false}}'),
}
CLIENTS = tuple(one for one in FOUND if one.is_asking)


def audited(project: RealProject) -> tuple[AuditEntry, ...]:
    found = read_audit(project.store.read(audit_path(TaskId(TASK))) or b"")
    assert find_breaks(found) == ()
    return found.entries


@pytest.mark.debian("bubblewrap", program="bwrap")
@pytest.mark.parametrize("preset", ["none", "permissive"])
def test_what_a_rule_denies_is_not_done(project: RealProject, preset: str) -> None:
    project.settings(f"{NO_PERSON}{DENIES}sandbox: {{preset: {preset}}}\n")
    project.make(TASK, title="Say hello")
    workspace = project.workspace()
    project.play_work(Write(str(workspace / "keys.txt"), "KEY=1\n"), Shell("git log --oneline > log.txt"))
    ran = project.run()
    assert project.stands() == (Status.DONE, None), ran.seen + project.said()
    assert {"keys.txt", "log.txt"}.isdisjoint(project.files("main")), project.said()
    denied = [(one.operation, one.target) for one in audited(project) if one.decision is Decided.DENIED]
    assert denied == [("file_write", "keys.txt"), ("shell", "git log --oneline > log.txt")], project.said()
    assert project.services.said_to_model().count("denied by the rule") >= 2


def test_settings_in_the_workspace_do_not_switch_its_hook_off(project: RealProject) -> None:
    name = project.client.name
    commit_file(project.path, *HOOKS_OFF[name])
    if name == "codex":  # else it reads none of the workspace's
        with (Path.home() / ".codex/config.toml").open("a") as file:
            file.write(f'[projects."{project.path}"]\ntrust_level = "trusted"\n')
    project.settings(f"{NO_PERSON}{DENIES}")
    project.make(TASK, title="Say hello")
    project.play_work(Shell("git log --oneline > log.txt"))
    ran = project.run()
    if name == "gemini":
        assert project.stands() == (Status.STUCK, Awaiting.ESCALATION), ran.seen + project.said()
        assert "remove `hooksConfig`" in ran.seen
        assert project.services.turns == []
    else:
        assert project.stands() == (Status.DONE, None), ran.seen + project.said()
        assert project.services.said_to_model().count("denied by the rule") >= 1


@pytest.mark.parametrize("answer", ["allow", "deny"])
def test_another_process_answers_what_is_asked(project: RealProject, answer: str) -> None:
    mode = (
        "interactive" if project.client.name == "codex" else "auto-edit"
    )  # else it leaves commands to its own walls
    project.settings(f"{NO_PERSON}permissions: {{mode: {mode}}}\n")
    project.make(TASK, title="Say hello")
    project.services.play(Shell("touch asked.txt"))
    questions = Questions(project.path / ".git/gitticks")
    with questions.attached(), project.running("--permission", mode) as process:
        until(lambda: questions.open() or process.poll() is not None)
        assert questions.open(), project.said()
        project.ok("permissions", answer, "--all")
        until(lambda: project.services.unplayed == 0 and len(project.services.turns) > 1)
        until(lambda: any(one.user_action for one in audited(project)))
        project.interrupt(process)
        project.interrupt(process)
        process.communicate(timeout=60)
    (asked,) = (one for one in audited(project) if one.user_action)
    action = {"allow": UserAction.APPROVED, "deny": UserAction.REJECTED}[answer]
    assert (asked.operation, asked.target, asked.user_action) == ("shell", "touch asked.txt", action)
    is_done = (project.workspace() / "asked.txt").exists()
    # Of a yes only claude makes use: the others' own mode has to allow it too.
    assert is_done == (answer == "allow" and project.client.name == "claude"), project.said()
