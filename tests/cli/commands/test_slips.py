"""Slips of a person at the commands around review and workspaces: each says what is wrong and what to type."""

from __future__ import annotations

from pathlib import Path

from tests.support.projects import make_project, make_reviewing, make_working


def test_a_line_without_a_word_about_it_is_no_comment(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    make_reviewing(project)
    ran = project.gt("review", "k7f2", "--comment", "login.txt:1")
    assert ran.code == 2
    assert "there is no comment for `login.txt:1`" in ran.err
    assert "--comment login.txt:1" in ran.err
    assert "notes" not in project.ok("show", "k7f2").lower()
    project.ok("review", "k7f2", "--comment", "see other:1")


def test_what_is_no_checkpoint_leads_to_those_that_there_are(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    ran = project.gt("resume", "foo")
    assert ran.code != 0
    assert "`gt checkpoints`" in ran.err


def test_another_agent_cannot_be_asked_to_take_over_what_nobody_works_on(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.make("k7f2")
    ran = project.gt("attach", "k7f2", "--agent", "mine")
    assert ran.code == 1
    assert "`--agent` only works for a task that asks something" in ran.err


def test_an_agent_opens_no_shell(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    make_working(project)
    ran = project.gt("worktree", "open", "k7f2", environment={"GITTICKS_AGENT": "1"})
    assert ran.code != 0
    assert "a person" in ran.err
