"""What a client's hook is told in a run, the rules and the mode, and what the audit keeps of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitticks.document.audit import AuditFile, find_breaks, read_audit
from gitticks.model.audit import Decided
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId
from gitticks.store.layout import audit_path
from tests.cli.support import gt_process
from tests.support.agents import write_program
from tests.support.hooked_clients import answers, make_client
from tests.support.repositories import git
from tests.support.runs import COMMIT as COMMIT_SH
from tests.support.runs import HANDOFF, NO_REVIEW, RunProject, project
from tests.support.tasks import write_files
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

DENIES = (
    "permissions:\n  deny:\n    - {operation: file_write, paths: ['**/.env']}\n"
    "    - {operation: shell, commands: [sudo]}\n"
)
WRITE, READ, BASH = "Write", "Read", "Bash"
COMMIT = (BASH, {"command": "echo x >> a.txt; git add -A; git commit -qm work"})


def audit_of(project: RunProject, task_id: str = "k7f2") -> AuditFile:
    return read_audit(project.store.read(audit_path(TaskId(task_id))) or b"")


def set_up(project: RunProject, kind: str, *uses: tuple[str, dict[str, Any]], settings: str = "") -> Path:
    folder = project.path.parent / "client"
    folder.mkdir(exist_ok=True)
    program = make_client(folder, kind, *uses)
    project.settings(f"{NO_REVIEW}  {kind}: {{argv: ['{program}']}}\n".replace(NO_REVIEW, "", 1))
    project.settings(NO_REVIEW + settings)
    project.make("k7f2", agent=kind)
    return folder


def test_of_several_reviewers_it_is_said_which_one_asked(project: RunProject) -> None:
    folder = project.path.parent / "client"
    folder.mkdir()
    program = make_client(folder, "claude", (BASH, {"command": "sudo ls"}))
    agents = f"{{mine: {{type: command, argv: ['{project.agent_file}']}}, claude: {{argv: ['{program}']}}}}"
    reviewers = "[{name: tests, agent: claude}, {name: security, agent: claude}]"
    text = f"version: 1\nagent: mine\nreview: council\nreviewers: {reviewers}\nagents: {agents}\n{DENIES}"
    write_files(project.store, {"config.yaml": text.encode()})
    project.make()
    assert "`claude (security)` was refused shell `sudo ls`" in project.run().err
    assert {one.agent for one in audit_of(project).entries} == {"claude (tests)", "claude (security)"}
    found = project.ok("audit", "--agent", "claude")
    assert "claude (tests)" in found
    assert "claude (security)" in found


@pytest.mark.parametrize("kind", ["claude", "codex", "gemini"])
def test_a_denied_tool_is_refused_to_each_client_that_has_a_hook(project: RunProject, kind: str) -> None:
    writing = {"claude": WRITE, "codex": "apply_patch", "gemini": "write_file"}[kind]
    given = (
        {"command": "*** Begin Patch\n*** Add File: .env\n+x\n"}
        if kind == "codex"
        else {"file_path": "{here}/.env"}
    )
    running = "run_shell_command" if kind == "gemini" else BASH
    folder = set_up(project, kind, (writing, given), (running, {"command": "ls && sudo ls"}), settings=DENIES)
    project.run()
    assert answers(folder) == [
        ("deny", "gitticks: denied by the rule `file_write: **/.env` of `config.yaml`"),
        ("deny", "gitticks: denied by the rule `shell: sudo` of `config.yaml`"),
    ]
    found = audit_of(project)
    assert [(one.agent, one.operation, one.target, one.decision) for one in found.entries] == [
        (kind, "file_write", ".env", Decided.DENIED),
        (kind, "shell", "ls && sudo ls", Decided.DENIED),
    ]
    assert find_breaks(found) == ()


def test_a_file_is_judged_by_its_strictest_name_and_noted_once(project: RunProject) -> None:
    rules = "permissions:\n  deny:\n    - {operation: file_write, paths: ['secret/**']}\n"
    (project.path / "lnk").symlink_to("secret")
    git("add", "lnk", at=project.path)
    git("commit", "-qm", "link", at=project.path)
    calls = [(WRITE, {"file_path": f"{{here}}/lnk/{name}"}) for name in "ab"]
    folder = set_up(project, "claude", *calls, (READ, {"file_path": "{here}/lnk/a"}), settings=rules)
    project.run()
    assert [one for one, _ in answers(folder)] == ["deny", "deny", "none"]
    assert [(one.operation, one.target, one.decision) for one in audit_of(project).entries] == [
        ("file_write", "secret/a", Decided.DENIED),
        ("file_write", "secret/b", Decided.DENIED),
        ("file_read", "secret/a", Decided.ALLOWED),
    ]
    said = project.ok("permissions", "explain", "file_write", "lnk/a")
    assert said.startswith("deny  file_write secret/a\n")


def test_a_call_that_is_refused_in_part_is_noted_as_refused(project: RunProject) -> None:
    patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Add File: .env\n+x\n"
    set_up(project, "codex", ("apply_patch", {"command": patch}), settings=DENIES)
    project.run()
    assert [(one.target, one.decision) for one in audit_of(project).entries] == [(".env", Decided.DENIED)]


def test_the_pattern_of_a_search_and_a_write_without_a_path_get_no_more_than_they_name(
    project: RunProject,
) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("Glob", {"pattern": "/root/**"}),
        ("Glob", {"pattern": "../*", "path": "{here}"}),
        ("Glob", {"pattern": "**/*.py"}),
        ("Glob", {"pattern": "src/*.py"}),
        (WRITE, {}),
    ]
    folder = set_up(project, "claude", *calls, settings="permissions: {default: ask}\n")
    project.run()
    assert [one for one, _ in answers(folder)] == ["deny", "deny", "none", "none", "deny"]
    above = str(project.workspace().parent)
    targets = [one.target for one in audit_of(project).entries]
    assert targets == ["/root", above, ".", "src", "(no path)"]


def test_every_call_is_audited_and_the_commit_names_the_head_of_the_chain(project: RunProject) -> None:
    here = {"file_path": "{here}/a"}
    calls: list[tuple[str, dict[str, Any]]] = [(READ, here), (WRITE, here), ("TodoWrite", {}), COMMIT]
    folder = set_up(project, "claude", *calls, settings="permissions: {mode: auto-all}\n")
    project.run()
    assert [decision for decision, _ in answers(folder)] == ["none", "none", "none", "none"]
    found = audit_of(project)
    assert [(one.iteration, one.epic_id, one.operation, one.decision) for one in found.entries] == [
        (1, None, "file_read", Decided.ALLOWED),
        (1, None, "file_write", Decided.ALLOWED),
        (1, None, "shell", Decided.ALLOWED),
    ]
    anchors = git(
        "log", "--format=%(trailers:key=Audit,valueonly)", "gitticks/state", at=project.path
    ).split()
    assert anchors == ["k7f2", found.lines[0].writer, found.lines[-1].hash]
    assert not list((project.path / ".git/gitticks/audit").glob("*.jsonl"))


def test_the_chain_goes_on_with_the_next_session(project: RunProject) -> None:
    set_up(project, "claude", (READ, {"file_path": "{here}/a"}))
    project.run()
    project.ok("reject", "k7f2", "more")
    project.run("k7f2")
    found = audit_of(project)
    assert (len(found.lines), find_breaks(found)) == (2, ())
    assert found.lines[1].before == found.lines[0].hash
    assert [one.iteration for one in found.entries] == [1, 2]


def test_a_secret_in_a_command_is_not_shown(project: RunProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "wren-moss-41-lantern")
    monkeypatch.setenv("GITTICKS_CONFIG_SANDBOX_PRESET", "none")
    set_up(project, "claude", (BASH, {"command": "sudo curl -H wren-moss-41-lantern"}), settings=DENIES)
    ran = project.run()
    assert "was refused shell `sudo curl -H (masked value of SHOP_API_KEY)`" in ran.seen
    assert "lantern" not in ran.seen
    assert "lantern" not in audit_of(project).entries[0].target


def test_what_the_log_takes_no_more_is_not_allowed(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitticks.store.audit._MOST_NOTED", 100)
    read = (READ, {"file_path": "{here}/a"})
    folder = set_up(project, "claude", read, read)
    project.run()
    (first, _), (second, why) = answers(folder)
    assert (first, second) == ("none", "deny")
    assert "more decisions than the audit log takes" in why
    assert len(audit_of(project).lines) == 1


def test_tightening_holds_at_once_also_for_an_agent_at_work(project: RunProject) -> None:
    waits = (BASH, {"command": "touch began; while [ ! -e tightened ]; do sleep 0.05; done; sleep 1.1"})
    folder = set_up(project, "claude", waits, (WRITE, {"file_path": "{here}/a"}))
    with project.running() as process:
        until((project.workspace() / "began").exists)
        project.ok("permissions", "mode", "interactive")
        (project.workspace() / "tightened").touch()
        process.wait(LONGEST_SECONDS)
    assert [one for one, _ in answers(folder)][:2] == ["none", "deny"]


def test_loosening_is_confirmed_and_waits_for_the_next_session(project: RunProject) -> None:
    waits = (BASH, {"command": "touch began; while [ ! -e loosened ]; do sleep 0.05; done; sleep 1.1"})
    call = (WRITE, {"file_path": "{here}/a"})
    folder = set_up(project, "claude", waits, call, settings="permissions: {allow: [{operation: shell}]}\n")
    project.ok("permissions", "mode", "interactive")
    with project.running() as process:
        until((project.workspace() / "began").exists)
        assert project.gt("permissions", "mode", "default").code != 0
        assert "until their next iteration" in project.ok("permissions", "mode", "default", "--yes")
        (project.workspace() / "loosened").touch()
        process.wait(LONGEST_SECONDS)
    # What it left uncommitted gives it another session.
    hooked = [one for one, _ in answers(folder) if one != "asked"]
    assert hooked[:4] == ["allow", "deny", "allow", "none"]


def test_what_loosens_only_one_agents_own_mode_is_confirmed_too(project: RunProject) -> None:
    project.ok("config", "agents.claude.mode", "yolo")
    project.ok("permissions", "mode", "auto-edit")
    refused = project.gt("permissions", "mode", "default")
    assert "agents may do more under `yolo`, the mode of `claude`" in refused.err
    assert "auto-edit, from gt permissions mode" in project.ok("permissions", "mode")
    project.ok("permissions", "mode", "default", "--yes")


def test_what_the_team_allows_is_confirmed_where_this_clone_did_not(project: RunProject) -> None:
    project.settings("permissions: {mode: auto-all}\n")
    project.ok("permissions", "mode", "auto-edit")
    assert "agents may do more under `auto-all`" in project.gt("permissions", "mode", "default").err


def test_a_mode_that_is_still_set_elsewhere_is_named(project: RunProject) -> None:
    git("config", "gitticks.permissions.mode", "interactive", at=project.path)
    ran = project.gt("permissions", "mode", "default", "--yes")
    assert (ran.out, ran.err) == (
        "interactive → interactive\n",
        "\nhint: it is set by git config gitticks.permissions.mode\n",
    )


def test_a_hook_without_a_run_refuses(project: RunProject) -> None:
    hook = ("hook", "permission", "claude", str(project.path / "none.sock"))
    ran = gt_process(*hook, at=project.path, input="{}")
    assert (ran.code, ran.out) == (2, "")
    assert "no run is answering" in ran.err


def test_what_is_secret_is_masked_before_it_is_hashed(project: RunProject) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    set_up(project, "claude", (BASH, {"command": f"curl -H 'Authorization: {key}' x"}))
    project.run()
    content = project.store.read(audit_path(TaskId("k7f2"))) or b""
    assert key.encode() not in content
    assert b"curl" in content
    assert find_breaks(read_audit(content)) == ()


def test_a_line_that_a_crash_cut_off_is_left_out_and_said(project: RunProject) -> None:
    set_up(project, "claude", (READ, {"file_path": "{here}/a"}))
    folder = project.path / ".git/gitticks/audit"
    folder.mkdir(parents=True)
    (folder / "k7f2.jsonl").write_text('{"timestamp": "2026-')
    ran = project.run()
    assert "cut off by a crash" in ran.err
    found = audit_of(project)
    assert (len(found.lines), find_breaks(found), found.broken) == (1, (), ())


def test_yolo_without_a_sandbox_takes_a_word(project: RunProject) -> None:
    set_up(project, "claude", (BASH, {"command": "make"}))
    ran = project.run("--permission", "yolo")
    assert ran.code != 0
    assert "--yolo-without-sandbox" in ran.err
    project.run("--permission", "yolo", "--yolo-without-sandbox")
    assert [one.operation for one in audit_of(project).entries] == ["mode", "shell"]
    assert audit_of(project).entries[0].target == "yolo without a sandbox"


def test_yolo_without_a_sandbox_is_noted_for_an_agent_that_asks_nothing(project: RunProject) -> None:
    project.agent(COMMIT_SH + HANDOFF)
    project.settings(NO_REVIEW)
    project.make("k7f2")
    project.run("--permission", "yolo", "--yolo-without-sandbox")
    assert [(one.agent, one.target) for one in audit_of(project).entries] == [
        ("mine", "yolo without a sandbox")
    ]


def test_a_rule_of_a_person_is_explained_with_its_place(project: RunProject) -> None:
    for name in ("deny", "allow"):
        rule = "[{operation: shell, commands: [make]}]"
        git("config", f"gitticks.permissions.{name}", rule, at=project.path)
    said = project.ok("permissions", "explain", "shell", "make")
    assert "denied by the rule `shell: make` of `git config gitticks.permissions.*`" in said


def test_the_flags_of_a_run_are_rules(project: RunProject) -> None:
    calls = (
        (BASH, {"command": "make"}),
        ("WebFetch", {"url": "https://x.org"}),
        (WRITE, {"file_path": "/tmp/out/x"}),
    )
    folder = set_up(project, "claude", *calls, settings="permissions: {default: ask}\n")
    project.run("--deny-commands", "make,rm -rf", "--allow-network", "--allow-paths", "/tmp/out")
    assert [one for one, _ in answers(folder)] == ["deny", "allow", "allow"]
    assert EventType.SESSION_ENDED in project.kinds()


def _shows(project: RunProject, kind: str, *events: dict[str, Any]) -> None:
    """Makes a client that uses tools without asking, and shows it."""
    lines = "".join(f"{json.dumps(event)}\n" for event in events)
    shown = project.path.parent / "shown.jsonl"
    shown.write_text(lines)
    program = write_program(
        project.path.parent / kind, f"cat > /dev/null; cat '{shown}'\n{COMMIT_SH}{HANDOFF}"
    )
    project.settings(f"  {kind}: {{argv: ['{program}']}}\n{NO_REVIEW}{DENIES}")
    project.make("k7f2", agent=kind)


def test_what_a_client_without_a_hook_shows_is_noted_and_flagged(project: RunProject) -> None:
    use = {"tool": "bash", "callID": "c", "state": {"status": "completed", "input": {"command": "sudo ls"}}}
    look = {"tool": "read", "callID": "d", "state": {"status": "completed", "input": {"filePath": "a.txt"}}}
    _shows(
        project,
        "opencode",
        {"type": "step_start", "sessionID": "ses_1", "part": {}},
        {"type": "tool_use", "sessionID": "ses_1", "part": use},
        {"type": "tool_use", "sessionID": "ses_1", "part": look},
        {"type": "text", "part": {"text": "<promise>COMPLETE</promise>"}},
        {"type": "step_finish", "part": {"reason": "stop"}},
    )
    ran = project.run()
    assert "`opencode` did something that is denied" in ran.err
    first, second = audit_of(project).entries[:2]
    assert (first.target, first.decision) == ("sudo ls", Decided.ALLOWED)
    assert first.reason.startswith("NOT STOPPED, seen afterwards")
    assert second.reason.startswith("seen afterwards")


def test_a_client_that_never_calls_its_hook_is_not_trusted_to_have_one(project: RunProject) -> None:
    block = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}
    _shows(
        project,
        "claude",
        {"type": "system", "subtype": "init", "session_id": "s-1"},
        {"type": "assistant", "session_id": "s-1", "message": {"id": "m", "content": [block]}},
        {"type": "result", "subtype": "success", "is_error": False, "result": "<promise>COMPLETE</promise>"},
    )
    ran = project.run()
    assert "never called its hook" in ran.err
    assert "`claude` never called its hook" in audit_of(project).entries[0].reason


def test_what_was_decided_before_its_runner_died_is_kept(project: RunProject) -> None:
    set_up(project, "claude", (READ, {"file_path": "{here}/a"}), (BASH, {"command": "touch began; sleep 60"}))
    with project.running() as process:
        until((project.workspace() / "began").exists)
        process.kill()
    until(lambda: "was processed" in project.ok("health"))
    found = audit_of(project)
    assert [one.operation for one in found.entries] == ["file_read", "shell"]
    assert find_breaks(found) == ()


def test_yolo_without_walls_does_not_begin_in_the_middle_of_a_run(project: RunProject) -> None:
    call = (WRITE, {"file_path": "/etc/x"})
    waits = (BASH, {"command": "touch began; while [ ! -e loosened ]; do sleep 0.05; done; sleep 1.1"})
    folder = set_up(project, "claude", waits, call, settings="permissions: {default: ask}\nlimits: {}\n")
    project.ok("permissions", "mode", "auto-all", "--yes")
    with project.running() as process:
        until((project.workspace() / "began").exists)
        project.ok("permissions", "mode", "yolo", "--yes")
        (project.workspace() / "loosened").touch()
        process.wait(LONGEST_SECONDS)
    assert "deny" in [one for one, _ in answers(folder)]
    assert "allow" not in [one for one, _ in answers(folder)]
