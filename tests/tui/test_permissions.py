"""What agents ask to be allowed, answered by keys: in Home's inbox and in its own place, on a run of another process."""

from __future__ import annotations

import json

from gitticks.model.audit import UserAction
from gitticks.runner.questions import Questions
from gitticks.tui.screens.home import Home
from tests.runner.test_permissions import BASH, audit_of, set_up
from tests.support.hooked_clients import answers
from tests.support.runs import RunProject
from tests.tui.support import Shown, play


def test_a_permission_is_given_once_and_always_and_denied(played: RunProject) -> None:
    project = played
    commands = ("make", "go test ./a", "go test ./b", "docker ps")
    folder = set_up(project, "claude", *((BASH, {"command": one}) for one in commands))
    questions = Questions(project.path / ".git/gitticks")

    async def answer(shown: Shown, key: str, target: str) -> None:
        await shown.sees(target)
        [asked] = questions.open()
        while asked in questions.open():  # a key right after another question came up is not taken
            await shown.press(key)
            await shown.pilot.pause(0.3)

    async def work(shown: Shown) -> None:
        await shown.until(lambda: questions.is_attended, "somebody to ask")
        with project.running() as process:
            await shown.sees("k7f2", "claude asks for shell make: i answers", "1 for you")
            await shown.press("i")
            await shown.sees("? shell      make", "k7f2  permission", "denied in", "Y always")
            await answer(shown, "y", "make")
            await shown.sees("go test ./a", "1 waiting")
            await shown.press("enter")
            await shown.sees("Requests", "Y remembers", "go test", "asked: approved")
            await answer(shown, "Y", "go test ./a")
            await answer(shown, "n", "docker ps")
            process.wait(30)
        await shown.sees("No open requests", "asked: rejected", "asked: approved always")
        assert not isinstance(shown.app.screen, Home)
        project.ok("cancel", "k7f2")
        await shown.press("escape")
        await shown.until(lambda: not shown.app.snapshot.roots, "the end of the task")
        shown.app.go("permissions")
        await shown.sees("asked: approved always")  # what was decided is still seen afterwards

        await shown.press("m")
        await shown.sees("What agents may do without asking")
        await shown.press("down", "enter")
        await shown.sees("Loosen auto-edit to auto-all?")
        await shown.press("enter")
        await shown.sees("mode auto-all, from the next iteration on")
        await shown.press("p")
        await shown.sees("Policy", "auto-all", "go test", "A request is denied")
        await shown.press("escape", "e")
        await shown.sees("Export the decisions", "audit-export.jsonl")
        await shown.press("enter")
        await shown.sees("decisions written to audit-export.jsonl")

    play(project.path, work)
    assert [one for one, _ in answers(folder)] == ["allow", "allow", "allow", "deny"]
    asked = [one.user_action for one in audit_of(project).entries]
    assert asked == [UserAction.APPROVED, UserAction.APPROVED_ALWAYS, None, UserAction.REJECTED]
    written = (project.path / "audit-export.jsonl").read_text().splitlines()
    assert [json.loads(one)["target"] for one in written] == list(commands)
    (project.path / "audit-export.jsonl").unlink()
    assert project.ok("config", "permissions.mode").split()[0] == "auto-all"
