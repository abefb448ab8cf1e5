"""The palette: every place, key and theme by name, and every task."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from gitticks.tui import places, theme
from gitticks.tui.widgets.lines import clean

if TYPE_CHECKING:
    from gitticks.tui.app import GitticksApp


class Commands(Provider):
    """Every place, key and theme by name, and every task."""

    @property
    def _gt(self) -> GitticksApp:
        return self.app  # type: ignore[return-value]

    def _all(self) -> Iterable[tuple[str, Callable[[], Any], str]]:
        app, view = self._gt, self._gt.view
        for place, label in places.MAIN_PLACES:
            yield f"go to {label}", partial(app.go, place), ""
        if view is not None:
            for key in places.keys_of(view.place):
                if key.action and "," not in key.key and not key.action.startswith("app.go"):
                    yield key.label, partial(view.run_action, key.action), f"{key.words} ({key.sign})"
        for name in theme.NAMES:
            yield f"theme {theme.LABELS[name]}", partial(app.choose_theme, name), ""

    async def discover(self) -> Hits:
        for name, do, text in self._all():
            yield DiscoveryHit(name, do, help=text)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, do, text in self._all():
            if (score := matcher.match(name)) > 0:
                yield Hit(score, matcher.highlight(name), do, help=text)
        for row in self._gt.snapshot.rows:
            name = clean(f"{row.id}  {row.title}")
            if (score := matcher.match(name)) > 0:
                # As content and not highlighted: a title in brackets would be read as markup.
                yield Hit(score, Content(name), partial(self._gt.go, "task", row.id), text=name)
