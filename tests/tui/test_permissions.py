"""What agents ask to be allowed, answered by keys: in Home's inbox and in its own place, on a run of another process."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gitticks.model.audit import UserAction
from gitticks.model.ids import TaskId
from gitticks.model.settings import PermissionRule
from gitticks.runner.questions import Question, Questions
from gitticks.store.audit import PendingAudit
from gitticks.tui.messages import Batch
from gitticks.tui.screens import permissions, verdicts
from gitticks.tui.screens.base import Loaded
from gitticks.tui.screens.home import Home
from gitticks.tui.screens.permissions import Permissions
from gitticks.tui.widgets.lines import Lines, words
from gitticks.tui.widgets.permission_rows import decision_rows
from gitticks.workflow.permissions import Access, Operation
from tests.runner.test_permissions import BASH, audit_of, set_up
from tests.support.hooked_clients import answers
from tests.support.projects import make_project
from tests.support.runs import RunProject
from tests.support.waiting import LONGEST_SECONDS
from tests.tui import made_up_places
from tests.tui.made_up import NOW, QUESTIONS, StillApp, snapshot
from tests.tui.support import NARROW, SMALL, WIDE, Shown, play


async def export_twice(shown: Shown) -> None:
    for said in ("decisions written to audit-export.jsonl", "audit-export.jsonl`: file exists `ls -ld"):
        await shown.press("e")
        await shown.sees("Export the decisions", "audit-export.jsonl")
        await shown.press("enter")
        await shown.reads(said)


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
            await shown.sees("k7f2", "? shell      make", "1 for you")
            await shown.press("i")
            await shown.sees("? shell      make", "k7f2  permission", "denied in", "Y and N remember")
            await answer(shown, "y", "make")
            await shown.sees("go test ./a", "1 waiting")
            await shown.press("enter")
            await shown.sees("Requests", "Y remembers", "go test", "asked: approved")
            await answer(shown, "Y", "go test ./a")
            await answer(shown, "n", "docker ps")
            process.wait(LONGEST_SECONDS)
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
        await shown.press("escape")
        await export_twice(shown)

    play(project.path, work)
    assert [one for one, _ in answers(folder)] == ["allow", "allow", "allow", "deny"]
    asked = [one.user_action for one in audit_of(project).entries]
    assert asked == [UserAction.APPROVED, UserAction.APPROVED_ALWAYS, None, UserAction.REJECTED]
    written = (project.path / "audit-export.jsonl").read_text().splitlines()
    assert [json.loads(one)["target"] for one in written] == list(commands)
    (project.path / "audit-export.jsonl").unlink()
    assert project.ok("config", "permissions.mode").split()[0] == "auto-all"


_LONG = "cd build && cmake -DCMAKE_BUILD_TYPE=Release -DWITH_TESTS=ON -DCMAKE_INSTALL_PREFIX=/usr/local .. && make -j8"
_DANGEROUS = f"{_LONG} && rm -rf ~/important"


class AnsweringApp(StillApp):
    """Shows a request for this command, and keeps what is answered."""

    def __init__(self, path: Path, command: str) -> None:
        super().__init__(path)
        self.command = command
        self.answered: list[object] = []

    def act(self, do: object, *_more: object, **_named: object) -> None:
        """Keeps what would be done."""
        self.answered.append(do)

    async def shows(self, shown: Shown, *others: Question) -> None:
        """Opens the permissions with the request, after others."""
        access = Access(Operation.SHELL, self.command)
        rule = PermissionRule(Operation.SHELL, commands=("cmake *", "make *", "rm -rf *"))
        asked = QUESTIONS[1]._replace(access=access, rule=rule)
        await shown.sees("Parallel test")
        self.feed.batches.append(Batch(replace(snapshot(), questions=(*others, asked), number=2)))
        self.feed._wake()
        await shown.until(lambda: self.snapshot.number == 2, "the request")
        self.go("permissions")
        await shown.sees("? ")
        self.screen.query_one("#asked", Lines).moved_at = 0.0  # it was there for a while


@pytest.mark.parametrize(("key", "empty"), [("i", "Nothing is waiting"), ("a", "No open requests")])
def test_a_request_that_comes_when_none_is_open_is_not_answered_before_it_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, empty: str
) -> None:
    monkeypatch.setattr(Loaded, "load", lambda self: self._take_loaded(made_up_places.asked()))
    monkeypatch.setattr(verdicts, "_UNREAD_SECONDS", 60.0)
    app = AnsweringApp(tmp_path, "")

    async def work(shown: Shown) -> None:
        await shown.sees("Parallel test")
        await shown.press(key)
        for number, questions, sees in ((2, (), empty), (3, QUESTIONS[:1], "? network")):
            app.feed.batches.append(Batch(replace(snapshot(), inbox=(), questions=questions, number=number)))
            app.feed._wake()
            await shown.sees(sees)
        await shown.press("Y")
        await shown.reads("this request has only just come; read it first")
        assert not app.answered
        monkeypatch.setattr(verdicts, "_UNREAD_SECONDS", 0.0)
        await shown.press("Y")
        await shown.until(lambda: app.answered, "the answer")

    play(tmp_path, work, WIDE, app)


def test_decisions_of_another_day_have_its_date() -> None:
    decisions = made_up_places.asked().decisions
    before = decisions[-1].entry.timestamp - timedelta(days=2)
    older = decisions[-1]._replace(entry=decisions[-1].entry._replace(timestamp=before))
    rows = [words(row) for row in decision_rows([*decisions, older], NOW, 90)]
    assert rows[0].startswith(f"{decisions[0].entry.timestamp.astimezone():%H:%M:%S} ")
    assert rows[-1].startswith(f"{before.astimezone():%Y-%m-%d %H:%M}  v6tn")
    assert len({row.index(one.task) for row, one in zip(rows, [*decisions, older], strict=True)}) == 1


def test_the_cursor_stays_on_a_decision_while_others_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = made_up_places.asked()
    monkeypatch.setattr(Loaded, "load", lambda self: self._take_loaded(found))

    async def work(shown: Shown) -> None:
        await shown.sees("Parallel test")
        shown.app.go("permissions")
        await shown.sees("tests/test_queue.py")
        view = shown.app.screen
        assert isinstance(view, Permissions)
        await shown.press("tab", "down")
        later = found.decisions[0].entry._replace(timestamp=NOW, target="later.py")
        newest = found.decisions[0]._replace(entry=later)
        view._take_loaded(found._replace(decisions=(newest, *found.decisions)))
        await shown.sees("later.py")
        await shown.press("enter")
        await shown.sees(f"{found.decisions[1].task}  decision")
        assert words(shown.app.screen.query_one("#said", Lines).rows[0]) == found.decisions[1].entry.target

    play(tmp_path, work, WIDE, StillApp(tmp_path))


def test_a_decision_is_shown_once_it_was_made_and_all_are_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permissions, "_MOST_DECISIONS", 1)
    project = make_project(tmp_path / "project")
    project.make("k7f2", title="Login")
    pending = PendingAudit(project.path / ".git/gitticks", TaskId("k7f2"))

    async def work(shown: Shown) -> None:
        await shown.sees("Login")
        shown.app.go("permissions")
        await shown.sees("No decisions yet.")
        entries = [
            one.entry._replace(target=f"make {one.task}") for one in made_up_places.asked().decisions[:2]
        ]
        for entry in sorted(entries):
            pending.note(entry)
            await shown.sees(entry.target)
        await shown.press("e")
        await shown.sees("Export the decisions")
        await shown.press("enter")
        await shown.sees("2 decisions written to audit-export.jsonl")

    play(project.path, work)


def test_a_request_that_was_scrolled_away_is_not_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Loaded, "load", lambda self: self._take_loaded(made_up_places.asked()))
    app = AnsweringApp(tmp_path, _LONG * 60)

    async def work(shown: Shown) -> None:
        await app.shows(shown, QUESTIONS[0])
        pane = app.screen.query_one("#asked", Lines)
        await shown.sees("? network")
        first, height = pane._place(pane.key)
        assert first == 0
        await shown.until(lambda: pane.max_scroll_y > height, "the rows of both")
        pane.scroll_to(y=height, animate=False, force=True)
        await shown.until(lambda: pane.scroll_offset.y == height, "the other one alone")
        await shown.press("y")
        await shown.reads("move to the request's end before you allow it")
        assert not app.answered

    play(tmp_path, work, SMALL, app)


@pytest.mark.parametrize("size", [WIDE, SMALL, NARROW], ids=["wide", "small", "narrow"])
def test_a_request_is_whole_at_every_width_and_enter_shows_all_about_it(
    tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Loaded, "load", lambda self: self._take_loaded(made_up_places.asked()))
    app = AnsweringApp(tmp_path, _DANGEROUS)

    async def work(shown: Shown) -> None:
        await app.shows(shown)
        await shown.reads("&& rm -rf ~/important claude on e4mq: the default asks")
        await shown.reads("Y remembers shell: cmake *, make *, rm -rf *")
        await shown.press("enter")
        await shown.sees("e4mq  permission", "Y and N remember")
        await shown.press("escape", "tab", "enter")
        await shown.sees(
            "e4mq  decision", "tests/test_queue.py", "claude on e4mq asked for", "the mode auto-edit"
        )

    play(tmp_path, work, size, app)


def test_what_has_no_room_is_scrolled_to_its_end_before_it_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Loaded, "load", lambda self: self._take_loaded(made_up_places.asked()))
    app = AnsweringApp(tmp_path, f"{_LONG * 60} && rm -rf ~/important")

    async def work(shown: Shown) -> None:
        await app.shows(shown)
        assert "important" not in shown.text
        await shown.press("y", "Y")
        await shown.reads("move to the request's end before you allow it")
        assert not app.answered
        for _ in range(20):
            await shown.press("down")
        await shown.sees("important", "Y remembers")
        await shown.press("y")
        await shown.until(lambda: app.answered, "the answer")
        for _ in range(20):
            await shown.press("up")
        await shown.sees("? shell      cd build")
        await shown.press("n")
        await shown.until(lambda: len(app.answered) == 2, "the denial, which needs no reading")

    play(tmp_path, work, SMALL, app)
