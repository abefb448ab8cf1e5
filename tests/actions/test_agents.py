"""An agent that the settings do not know is named where it is typed; the block in AGENTS.md leaves all else alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.actions.agents import with_block, without_block
from gitticks.errors import GitticksError
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
    project.ok("config", "agents.claud.model", "opus")
    assert "has neither `type` nor `argv`" in _warning(project.gt("create", "Login", "--agent", "claud"))
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


TEXT = "## Tasks\n\nuse gt"
FILES = st.lists(
    st.sampled_from([b"# Title", b"words", b"\n", b"\r\n", b"\r", b"  ", b"\xff\xfe", b"<!-- x -->"])
).map(b"".join)


def test_the_block_stands_at_the_end_after_an_empty_line() -> None:
    lines = with_block(b"# Mine\n", TEXT).decode().splitlines()
    assert lines[:2] == ["# Mine", ""]
    assert lines[2].startswith("<!-- gitticks:begin 1 ")
    assert lines[3:] == ["", "## Tasks", "", "use gt", "", "<!-- gitticks:end -->"]


@given(FILES)
def test_taking_it_out_gives_back_the_file_that_it_was_put_into(content: bytes) -> None:
    held = with_block(content, TEXT)
    assert held.startswith(content)
    assert with_block(held, TEXT) == held
    assert without_block(held) == content
    assert without_block(content) == content


@given(FILES, FILES)
def test_another_text_replaces_the_block_alone(before: bytes, after: bytes) -> None:
    held = with_block(before, TEXT) + after
    renewed = with_block(held, "other words")
    assert without_block(renewed) == without_block(held)
    assert renewed.endswith(after)
    assert b"use gt" not in renewed.removesuffix(after)


def test_line_breaks_are_those_of_the_file() -> None:
    held = with_block(b"# Mine\r\n", TEXT)
    assert held.count(b"\r\n") == held.count(b"\n") == 9
    assert without_block(held) == b"# Mine\r\n"


def test_what_is_written_around_it_stays() -> None:
    held = b"above\n" + with_block(b"", TEXT) + b"below\n"
    assert without_block(held) == b"above\nbelow\n"
    moved = with_block(b"x\n", TEXT).removeprefix(b"x\n\n")
    assert without_block(b"word" + b"\n" + moved) == b"word"


BEGIN, END = b"<!-- gitticks:begin 0 -->\n", b"<!-- gitticks:end -->\n"


@pytest.mark.parametrize(
    "content", [BEGIN, END, END + BEGIN, BEGIN + BEGIN + END, BEGIN + END + END, BEGIN + END + BEGIN + END]
)
def test_damaged_markers_are_named_with_their_lines(content: bytes) -> None:
    for change in (without_block, lambda found: with_block(found, TEXT)):
        with pytest.raises(GitticksError, match=r"markers of its block are damaged: `(begin|end)` in line 2"):
            change(b"# Mine\n" + content)


def test_a_marker_within_a_line_is_text() -> None:
    content = b"say `<!-- gitticks:begin -->` to begin\n"
    assert without_block(content) == content
