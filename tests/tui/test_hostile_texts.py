"""Whatever tasks, agents and runs say: no pane, dialog, toast or row of a bar is steered, marked up or broken by it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gitticks.git.merges.history import DiffSummary
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry
from gitticks.model.settings import PermissionRule
from gitticks.model.status import ActorKind
from gitticks.store.index import BrokenFile
from gitticks.tui.iterations import Iteration
from gitticks.tui.messages import Batch, Said
from gitticks.tui.screens.base import Loaded
from gitticks.tui.screens.dashboard import Dashboard
from gitticks.tui.transcript import Piece
from gitticks.workflow.permissions import Access, Operation
from tests.support.doses import IS_FULL
from tests.tui import made_up_places as places
from tests.tui.made_up import NOW, QUESTIONS, StillApp, ago, snapshot
from tests.tui.support import NARROW, WIDE, Shown, play
from tests.tui.test_task_and_graph import harmless

HOSTILE = (
    "[/x] [red]markup[/red] [@click=app.quit]x[/] \\[ \u202eright to left\u2066 שלום",
    "\x1b[2J\x1b]0;owned\x07\x9b31m gone 👩‍👩‍👧‍👦 🇩🇪 e\u0301\u0301 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字 a\rb\r\nc\td\x00 \u2028 \U000e0041",
    "word " * 2_000 + "x" * 10_000,
)
SIZES = (WIDE, NARROW)


@pytest.mark.parametrize(
    ("text", "size"),
    [(text, size) for turn, text in enumerate(HOSTILE) for size in (SIZES if IS_FULL else [SIZES[turn % 2]])],
    ids=itertools.count(),
)
def test_no_text_steers_any_place(
    tmp_path: Path, text: str, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    question = QUESTIONS[0]._replace(
        agent=text,
        reason=text,
        access=Access(Operation.SHELL, text),
        rule=PermissionRule(Operation.SHELL, commands=(text,)),
        expires=NOW + timedelta(seconds=90),
    )
    usual = snapshot()
    rows = tuple(one._replace(title=text) for one in usual.rows)
    inbox = tuple(
        one._replace(
            standing=usual.standing(rows[usual.rows.index(one.standing.task)]),
            questions=(Entry(ago(2), ActorKind.AGENT, text, text),) if one.questions else (),
            said=text,
            review=one.review and one.review._replace(by=text, text=text),
        )
        for one in usual.inbox
    )
    hostile = replace(
        usual,
        rows=rows,
        graph=type(usual.graph).of(rows),
        inbox=inbox,
        questions=(question,),
        broken=(BrokenFile(f"tasks/{text[:40]}/TASK.md", None, text),),
        sessions={
            key: one._replace(agent=text, workspace=f"/{text[:60]}") for key, one in usual.sessions.items()
        },
        workspaces=dict.fromkeys(usual.sessions, f"/{text[:60]}"),
    )
    pieces = (
        Piece(text, is_prose=True),
        Piece(text),
        Piece(text, text[:20], "1", (text, f"+ {text}"), failed=True),
        Piece(f"# {text}\n\n```\n{text}\n```\n| {text} | b |\n|---|---|\n", is_prose=True),
    )
    said = tuple(Said(one, ago(3), pieces) for one in usual.sessions)
    work, decided = places.work(), places.asked()
    view = work.view._replace(
        task=replace(work.view.task, title=text, base=text[:30]),
        handoff=f"- DONE: {text}\n- UNCERTAIN: {text}",
        reviews={text[:30]: f"{text}\n\nVERDICT: BLOCKING"},
        conflicts=(text,),
        changes=DiffSummary(1, 1, 1, (text,)),
        said=text,
    )
    read: dict[str, Callable[[], Any]] = {
        "graph": lambda: places.graph(hostile),
        "review": lambda: work._replace(
            view=view, policy=work.policy._replace(agent=text), commits={"5c1f0de" + "0" * 33: text}
        ),
        "task": lambda: places.page(hostile)._replace(commits={"5c1f0de" + "0" * 33: text}),
        "permissions": lambda: decided._replace(
            decisions=tuple(
                one._replace(entry=one.entry._replace(target=text, reason=text)) for one in decided.decisions
            ),
        ),
    }
    monkeypatch.setattr(Loaded, "load", lambda self: self._take_loaded(read[self.place]()))

    async def look(shown: Shown) -> None:
        app = shown.app
        await shown.until(lambda: app.snapshot.number, "the tasks")
        warned = (f"warning: m3xq: {text}", f"error: {text}")
        app.feed.batches.append(Batch(replace(hostile, number=2), said, tuple(warned)))
        app.feed._wake()
        await shown.until(lambda: app.snapshot.number == 2, "what is hostile")

        async def steps(*keys: str) -> None:
            for key in keys:
                await shown.press(key)
                harmless(shown)

        await steps("i", "down", "down", "down", "down", "down", "i")
        assert "[red]" not in text or "[red]markup[/red]" in shown.text, "what looks like markup is a text"
        await steps("s")
        app.refuse(text, text)
        await steps("i", "home", "down", "y", "escape", "n", "escape", "enter", "escape", "escape", "g")
        app.go("run", "h8d4")
        dashboard = app.screen
        assert isinstance(dashboard, Dashboard)
        await shown.until(lambda: dashboard.query("#iterations"), "its panes")
        dashboard._take_iterations(
            [Iteration(TaskId("v6tn"), ago(1), 1, text, text, "good", text, 0.31, 400)]
        )
        await steps("v", "tab", "down", "up", "tab", "down", "n", "escape", "y", "escape", "w", "k", "escape")
        await steps("plus", "escape", "m", "question_mark", "escape", "ctrl+p", "x", "escape", "slash", "x")
        await steps("escape")
        for place in ("permissions", "task", "review"):
            app.go(place, None if place == "permissions" else "k7f2")
            await steps("tab", "down", "tab", "y", "escape", "question_mark", "escape")
        app.use_theme("gt-plain")
        await steps("right_square_bracket", "c", "escape", "n", "escape")

    play(tmp_path, look, size, StillApp(tmp_path))
