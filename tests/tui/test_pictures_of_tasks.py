"""The graph, a review, a task and the permissions as pictures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitticks.tui.screens.base import Loaded
from gitticks.tui.widgets.diff import Place
from tests.tui import made_up_places as places
from tests.tui.made_up import StillApp, snapshot
from tests.tui.support import SMALL, WIDE, Shown, check_picture, play

READ: dict[str, Callable[[], Any]] = {
    "graph": lambda: places.graph(snapshot()),
    "review": places.work,
    "task": lambda: places.page(snapshot()),
    "permissions": places.asked,
}
LINE = Place("src/auth/redirect.py", 22, text='            return self.again("That took too long.")')


@pytest.mark.parametrize(("size", "theme"), [(WIDE, "gt-dark"), (SMALL, "gt-light")], ids=["large", "small"])
def test_places_look_as_they_did(
    tmp_path: Path, size: tuple[int, int], theme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Loaded, "load", lambda self: self._take_loaded(READ[self.place]()))

    async def look(shown: Shown) -> None:
        app = shown.app
        app.use_theme(theme)
        await shown.sees("Parallel test")
        app.unsent.change("k7f2", {LINE.key: "Say what to do: sign in again."})
        for place, subject, words in (
            ("graph", None, ("e4mq", "frees")),
            ("review", "k7f2", ("signer", "approve", "1 comment")),
            ("task", "k7f2", ("Acceptance Criteria", "Refuse other hosts")),
            ("permissions", None, ("api.github.com", "pypi.org")),
        ):
            app.go(place, subject)
            await shown.sees(*words)
            await check_picture(shown, place)

    play(tmp_path, look, size, StillApp(tmp_path))
