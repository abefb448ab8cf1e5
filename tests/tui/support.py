"""The interface as a test sees it: real keys, the text on the screen, and waiting for a condition."""

from __future__ import annotations

import asyncio
import os
import re
import threading
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from gitticks.actions.context import Context
from gitticks.tui.app import GitticksApp
from gitticks.tui.theme import use_ascii
from gitticks.world import World
from tests.support.waiting import LONGEST_SECONDS

WIDE, SMALL, NARROW = (120, 40), (80, 24), (40, 24)
_BELOW_LAST_ROW = 6
_LOOKS_WITHOUT_CHANGE, _LONGEST_UNTIL_SETTLED = 10, 30.0
_TOP = Path(__file__).resolve().parents[2]
WRITE = "WRITE_PICTURES"
"""With this variable set the pictures are written anew, to be looked at and committed."""


class Shown:
    """An interface that is open."""

    def __init__(self, app: GitticksApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def text(self) -> str:
        """Returns the screen's text."""
        strips = self.app.screen._compositor.render_strips(self.app.size)
        return "\n".join(strip.text.rstrip() for strip in strips)

    async def press(self, *keys: str) -> None:
        """Presses keys one after the other."""
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        """Types a text."""
        names = {" ": "space", "?": "question_mark", "!": "exclamation_mark", ".": "full_stop", ",": "comma"}
        await self.pilot.press(*(names.get(one, one) for one in text))

    async def until(self, condition: Callable[[], object], what: str = "it") -> None:
        """Waits until a condition holds."""
        deadline = time.monotonic() + LONGEST_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"{what} never came:\n{self.text}"
            await self.pilot.pause(0.02)

    async def sees(self, *words: str) -> None:
        """Waits until the screen shows all of these words."""
        await self.until(lambda: all(word in self.text for word in words), f"{words}")

    async def reads(self, words: str) -> None:
        """Waits until the screen shows these words, however they are broken into rows."""
        await self.until(lambda: words in " ".join(re.sub("[│▌▎]", " ", self.text).split()), words)

    async def no_longer_sees(self, word: str) -> None:
        """Waits until the screen does not show a word any more."""
        await self.until(lambda: word not in self.text, f"the end of {word}")


def play(
    path: Path,
    script: Callable[[Shown], Awaitable[None]],
    size: tuple[int, int] = WIDE,
    app: GitticksApp | None = None,
) -> None:
    """Opens the interface on a repository, lets a script use it, and closes it."""

    async def run() -> None:
        shown = app or GitticksApp(Context(World().elsewhere(), path, does_much=True))
        try:
            async with shown.run_test(size=size, notifications=True) as pilot:
                await script(Shown(shown, pilot))
        finally:
            shown.feed.stop()
            shown.feed.wait()
            use_ascii(wanted=False)

    asyncio.run(run())


def held_back(monkeypatch: pytest.MonkeyPatch, name: str) -> threading.Event:
    """Has a function of a module wait, whoever calls it there, until the event that this returns is set."""
    module, _, function = name.rpartition(".")
    real, goes_on = getattr(import_module(module), function), threading.Event()

    def call_late(*arguments: Any, **named: Any) -> Any:
        goes_on.wait(LONGEST_SECONDS)
        return real(*arguments, **named)

    monkeypatch.setattr(name, call_late)
    return goes_on


async def check_picture(shown: Shown, name: str) -> None:
    """Compares the screen, once it has settled, with its stored picture; the large ones stand in the docs."""
    width, height = shown.app.size
    folder = _TOP / ("docs/pictures" if (width, height) == WIDE else "tests/tui/pictures")
    file = folder / f"{name}-{width}x{height}.svg"
    stored = file.read_text(encoding="utf-8") if file.exists() else ""
    before, same, deadline = "", 0, time.monotonic() + _LONGEST_UNTIL_SETTLED
    while same < _LOOKS_WITHOUT_CHANGE and time.monotonic() < deadline:
        await shown.pilot.pause(0.1)
        picture = self_contained(shown.app.export_screenshot(title="gt"))
        if picture == stored:
            return
        before, same = picture, same + 1 if picture == before else 0
    if os.environ.get(WRITE):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(before, encoding="utf-8")
        return
    raise AssertionError(f"{file} shows something else; {WRITE}=1 writes it anew")


def self_contained(picture: str) -> str:
    """Returns a picture that loads nothing: the export names fonts on a foreign host."""
    picture = re.sub(r"@font-face \{.*?\}\n", "", picture, flags=re.DOTALL)
    picture = re.sub(r"<!--.*?-->\n?", "", picture, flags=re.DOTALL)
    fonts = "font-family: Menlo, Consolas, 'DejaVu Sans Mono', monospace"
    picture = re.sub(r"font-family: [^;]*monospace", fonts, picture)
    # The last row's letters reach below the export's clip.
    clip = re.compile(r'(clip-terminal">\s*<rect [^>]*height=")([\d.]+)')
    picture = clip.sub(lambda found: f"{found[1]}{float(found[2]) + _BELOW_LAST_ROW}", picture)
    return re.sub(r"[ \t]+\n", "\n", picture)
