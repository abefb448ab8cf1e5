"""An agent that the settings do not know is named where it is typed, and keeps nobody from listing the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import Ran
from tests.support.projects import Project, make_project

UNKNOWN = "there is no agent `claud`; did you mean `claude`? (`gt agents` lists the agents)"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


def _warning(ran: Ran) -> str:
    assert ran.code == 0, ran.seen
    return ran.err.strip()


def test_a_task_for_an_agent_that_there_is_not_is_made_and_warned_of(project: Project) -> None:
    made = project.gt("create", "Login", "--agent", "claud")
    task = made.out.strip()
    assert _warning(made) == f"warning: runs here skip `{task}`: {UNKNOWN}"
    assert project.task(task).agent == "claud"
    assert _warning(project.gt("update", task, "-p", "1")) == ""
    assert _warning(project.gt("update", task, "--agent", "null")) == ""
    assert _warning(project.gt("update", task, "--agent", "claud")) == _warning(made)
    assert _warning(project.gt("update", task, "--agent", "codex")) == ""


def test_an_agent_of_the_settings_is_known(project: Project) -> None:
    project.ok("config", "agents.claud.argv", '["./agent.sh"]')
    assert _warning(project.gt("create", "Login", "--agent", "claud")) == ""
    assert _warning(project.gt("config", "agent", "claud")) == ""


def test_settings_that_cannot_be_read_keep_no_task_from_being_made(project: Project) -> None:
    project.ok("config", "agents.claud.type", "nonsense")
    assert _warning(project.gt("create", "Login", "--agent", "claud")) == ""
    broken = {"GITTICKS_CONFIG_PARALLEL": "many"}
    assert _warning(project.gt("create", "Login", "--agent", "claud", environment=broken)) == ""


def test_a_default_that_there_is_not_is_reported_and_the_others_are_listed(project: Project) -> None:
    assert _warning(project.gt("config", "agent", "claud")) == f"warning: {UNKNOWN}"
    listed = project.gt("agents", "--json")
    assert (
        _warning(listed) == "warning: the setting `agent`: there is no agent `claud`; did you mean `claude`?"
    )
    agents = json.loads(listed.out)["agents"]
    assert "script" in [agent["name"] for agent in agents]
    assert not any(agent["is_default"] for agent in agents)


def test_the_doctor_names_open_tasks_that_no_run_here_takes(project: Project) -> None:
    for number in range(5):
        project.make(f"k7f{number}", agent="claud")
    project.make("m3xq", agent="codex")
    project.ok("cancel", "k7f0")
    told = project.gt("doctor").out
    assert f"warning  runs here skip `k7f1`, `k7f2`, `k7f3` and 1 more: {UNKNOWN}\n" in told
    assert "`gt update k7f1 --agent null` uses the default" in told
    assert "m3xq" not in told


def test_the_doctor_names_settings_with_an_agent_that_there_is_not(project: Project) -> None:
    project.ok("config", "reviewers", "[{name: one, agent: claud}]")
    told = project.gt("doctor").out
    assert f"warning  the setting `reviewers`: {UNKNOWN}\n           `gt config reviewers`\n" in told
