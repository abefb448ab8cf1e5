"""Walls in the other ways that an agent or a command is started: tmux, set-up commands, reviewers, one's own checkout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitticks.agents.base import EndReason, Limits
from gitticks.agents.process import StopRequest, run_supervised
from gitticks.git.checkouts import checkout_at
from gitticks.git.repository import discover
from gitticks.model.settings import SandboxPreset, SandboxSettings, Settings
from gitticks.model.status import Status
from gitticks.runner.workspace_environment import walled_command
from tests.support.agents import write_program
from tests.support.repositories import git
from tests.support.runs import COMMIT, DONE, HANDOFF, NO_PERSON, PASS, RunProject, project
from tests.support.waiting import LONGEST_SECONDS

pytestmark = pytest.mark.debian("bubblewrap", program="bwrap")
__all__ = ["project"]

STRICT = ("--sandbox", "strict")


@pytest.mark.debian("tmux")
def test_an_agent_in_tmux_is_behind_walls(project: RunProject) -> None:
    project.settings(NO_PERSON)
    seen = "test -n $TMUX && ! test -e $(echo $TMUX | cut -d, -f1) && echo unseen"
    project.agent(f"echo $GITTICKS_SANDBOX > walls.txt; {seen} >> walls.txt; {COMMIT}{HANDOFF}")
    project.make()
    ran = project.run("--tmux", *STRICT)
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert git("show", "main:walls.txt", at=project.path) == "strict\nunseen"


def test_setup_and_reviewers_are_behind_walls(project: RunProject, tmp_path: Path) -> None:
    project.settings(
        f"human: when-required\nsetup: {{run: 'echo $GITTICKS_SANDBOX > setup.txt; echo x > {tmp_path}/out'}}\n"
    )
    project.agent(f"if [ $GITTICKS_ROLE = reviewer ]; then touch {tmp_path}/reviewed; {PASS} else {DONE} fi")
    project.make()
    ran = project.run(*STRICT)
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert git("show", "main:setup.txt", at=project.path) == "strict"
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "reviewed").exists()


def test_in_ones_own_checkout_there_are_no_walls_and_no_run(project: RunProject) -> None:
    project.agent(DONE)
    project.make()
    ran = project.run("--isolation", "none", *STRICT)
    assert ran.code == 64
    assert "cannot be used in your own checkout" in ran.err
    assert project.task("k7f2").status is Status.PENDING
    project.ok("config", "isolation", "none")
    project.ok("config", "sandbox.preset", "permissive")
    assert "cannot be used in your own checkout" in project.gt("doctor").out
    assert git("log", "--format=%s", "main", at=project.path).splitlines()[-1:] != ["work on k7f2"]


def test_a_gate_in_ones_own_checkout_reads_its_history_and_writes_none(project: RunProject) -> None:
    repository = discover(project.path)
    checkout = checkout_at(repository, project.path)
    before = git("for-each-ref", at=project.path)
    settings = Settings(sandbox=SandboxSettings(SandboxPreset.STRICT))
    with walled_command(
        repository, checkout, settings, {"PATH": "/usr/bin:/bin", "HOME": str(Path.home())}
    ) as walled:
        ended = run_supervised(walled("git log -1 --format=%s && git branch evil"), Limits(total_seconds=60))
    assert ended.is_success, ended.output
    assert git("for-each-ref", at=project.path) == before


def test_denied_paths_and_limits_stand(project: RunProject) -> None:
    settings = Settings(
        sandbox=SandboxSettings(
            SandboxPreset.PERMISSIVE,
            denied_paths=("*.pem", "secrets"),
            max_processes=20,
            max_file_size=1_000_000,
        )
    )
    (project.path / "key.pem").write_text("key")
    (project.path / "secrets").mkdir()
    (project.path / "secrets/x").write_text("key")
    repository = discover(project.path)
    checkout = checkout_at(repository, project.path)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(Path.home())}
    with walled_command(repository, checkout, settings, environment) as walled:
        seen = run_supervised(walled("cat key.pem secrets/x; ls secrets"), Limits(total_seconds=60))
        large = run_supervised(walled("head -c 3000000 /dev/zero > large"), Limits(total_seconds=60))
        bomb = run_supervised(
            walled("for i in $(seq 60); do sleep 30 & done; wait"),
            Limits(total_seconds=60, processes=walled.processes),
        )
    assert "key\n" not in seen.output
    assert not large.is_success
    assert bomb.reason is EndReason.CROWDED or not bomb.is_success
    assert (project.path / "key.pem").read_text() == "key"


@pytest.mark.parametrize("hosts", [(), ("example.org",)])
@pytest.mark.parametrize("preset", [SandboxPreset.PERMISSIVE, SandboxPreset.STRICT])
def test_a_command_that_is_stopped_has_its_grace(
    project: RunProject, preset: SandboxPreset, hosts: tuple[str, ...]
) -> None:
    settings = Settings(sandbox=SandboxSettings(preset, allowed_hosts=hosts))
    repository, stop = discover(project.path), StopRequest()
    checkout = checkout_at(repository, project.path)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(Path.home())}
    script = "trap 'sleep 0.3; echo saved; exit 7' TERM; echo ready; while :; do sleep 0.05; done"
    with walled_command(repository, checkout, settings, environment) as walled:
        ended = run_supervised(
            walled(script),
            Limits(LONGEST_SECONDS, grace_seconds=LONGEST_SECONDS, processes=walled.processes),
            lambda line: stop.request() if line == "ready" else None,
            stop,
        )
    assert (ended.reason, ended.exit_code) == (EndReason.STOPPED, 7)
    assert ended.output.endswith("saved\n"), ended.output


@pytest.mark.parametrize("preset", [SandboxPreset.PERMISSIVE, SandboxPreset.STRICT])
def test_what_is_written_to_memory_has_a_limit(project: RunProject, preset: SandboxPreset) -> None:
    (project.path / "hidden").mkdir()
    settings = Settings(sandbox=SandboxSettings(preset, denied_paths=("hidden",), max_memory=20_000_000))
    repository = discover(project.path)
    checkout = checkout_at(repository, project.path)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(Path.home())}
    script = (
        "for folder in /tmp /run /dev /dev/shm ~ hidden; do chmod u+w $folder; echo begun > $folder/some\n"
        "head -c 30000000 /dev/zero > $folder/much && echo $folder; done 2> /dev/null; wc -l < /dev/shm/some"
    )
    with walled_command(repository, checkout, settings, environment) as walled:
        ended = run_supervised(walled(script), Limits(LONGEST_SECONDS))
    assert ended.output == "1\n"


def test_doctor_tries_the_walls(project: RunProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project.settings("sandbox: {preset: strict}\n")
    assert project.gt("doctor").code == 0
    write_program(
        tmp_path / "broken/bwrap", "echo 'bwrap: No permissions to create new namespace' >&2; exit 1"
    )
    monkeypatch.setenv("PATH", f"{tmp_path / 'broken'}:/usr/bin:/bin")
    found = project.gt("doctor", "--json")
    assert "No permissions to create new namespace" in json.dumps(json.loads(found.out))
    assert found.code != 0


@pytest.mark.parametrize("preset", ["none", "permissive"])
def test_a_set_up_that_walls_stop_says_that_they_are_there(project: RunProject, preset: str) -> None:
    project.settings(f"setup: {{run: 'false'}}\nsandbox: {{preset: {preset}}}\n")
    project.make()
    ran = project.gt("start", "k7f2")
    assert "&& false`" in ran.err
    assert ("it ran in the sandbox: `gt help run-agents-in-a-sandbox`" in ran.err) is (preset != "none")
