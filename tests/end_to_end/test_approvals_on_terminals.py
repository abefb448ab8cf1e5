"""Approvals that a person gives at a terminal: what is shown is what is approved, and no session can confirm."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Callable

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Awaiting
from tests.cli.support import command
from tests.support.repositories import commit_file, git
from tests.support.runs import RunProject, project

__all__ = ["project"]


def on_terminal(
    project: RunProject,
    typed: str,
    *arguments: str,
    environment: dict[str, str] | None = None,
    meanwhile: Callable[[], object] = lambda: None,
) -> str:
    """Runs a command whose terminal is a real one, and returns what it showed.

    At what it asks first `meanwhile` is called, and `typed` is what the keyboard answers.
    """
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command(*arguments),
        cwd=project.path,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, **(environment or {})},
        start_new_session=True,
    ) as process:
        os.close(theirs)
        shown, is_asked = b"", False
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:
                break
            if not part:
                break
            shown += part
            if not is_asked and b"to approve it" in shown:
                is_asked = True
                meanwhile()
                os.write(ours, f"{typed}\n".encode())
        process.wait()
    os.close(ours)
    return shown.decode()


def test_l1_is_asked_on_a_terminal_and_nowhere_else(project: RunProject) -> None:
    project.settings("review: none\napprovals: {minimum: L1}\n")
    project.make()
    project.run()

    for verb in ("approve", "close"):
        assert f"not a terminal\n\nhint: `gt {verb} k7f2` in your own" in project.gt(verb, "k7f2").err
        assert f"was not {verb}d" in on_terminal(project, "yes", verb, "k7f2")
    supervised = on_terminal(project, "k7f2", "approve", "k7f2", environment={"GITTICKS_AGENT": ""})
    assert "done" in supervised
    assert project.last(EventType.VERDICT).data["strength"] == "L1"


@pytest.mark.parametrize("verb", ["close", "approve"])
@pytest.mark.parametrize("shown", ["code", "no code"])
def test_what_was_committed_after_the_prompt_is_not_approved(
    project: RunProject, shown: str, verb: str
) -> None:
    project.settings("review: none\napprovals: {minimum: L1}\n")
    project.make()
    project.ok("start", "k7f2")
    if shown == "code":
        commit_file(project.workspace(), "login.txt", "seen\n")
    if verb == "approve":
        project.ok("update", "k7f2", "--awaiting", "approval")
    before = project.tip()

    def commit() -> None:
        commit_file(project.workspace(), "login.txt", "unseen\n")

    ran = on_terminal(project, "k7f2", verb, "k7f2", meanwhile=commit)

    head = git("rev-parse", "--short=7", "HEAD", at=project.workspace())
    assert f"`k7f2` changed since you looked: its head is {head} now" in " ".join(ran.split())
    assert project.tip() == before
    assert "done" in on_terminal(project, "k7f2", verb, "k7f2")
    assert git("show", "main:login.txt", at=project.path) == "unseen"


def test_what_a_person_resolved_is_asked_about_too(project: RunProject) -> None:
    project.settings("review: none\napprovals: {minimum: L1}\n")
    project.make()
    project.ok("start", "k7f2")
    commit_file(project.workspace(), "login.txt", "mine\n")
    commit_file(project.path, "login.txt", "yours\n")
    assert "conflicts with main" in on_terminal(project, "k7f2", "close", "k7f2")
    git("merge", "-q", "-s", "ours", "--no-edit", "main", at=project.workspace())

    assert "this is not a terminal" in project.gt("merge", "--continue", "k7f2").err
    assert "done" in on_terminal(project, "k7f2", "merge", "--continue", "k7f2")
    assert git("show", "main:login.txt", at=project.path) == "mine"


def test_a_session_cannot_confirm_even_with_a_clean_environment(project: RunProject) -> None:
    project.settings("review: none\napprovals: {minimum: L1}\n")
    project.make("m3xq", awaiting=Awaiting.APPROVAL)
    project.make()
    project.agent(
        'script -qec "env -u GITTICKS_AGENT -u GITTICKS_MAILBOX -u GITTICKS_TASK -u GITTICKS_ROLE '
        f'-u GITTICKS_SUPERVISION $GT approve m3xq" "{project.shared}/seen" < /dev/null || true\n'
        + project.agent_file.read_text()
    )

    project.run("k7f2")

    seen = (project.shared / "seen").read_text()
    assert "belongs to a session" in seen
    assert project.task("m3xq").awaiting is Awaiting.APPROVAL
