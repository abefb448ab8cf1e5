"""The places of the interface: name, label in the top row, and where the screen is, loaded when it is first opened."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gitticks.tui.screens.base import View


class Place(NamedTuple):
    """A screen; one without a label is opened on a task."""

    name: str
    label: str
    module: str
    view: str


PLACES: tuple[Place, ...] = (
    Place("home", "Home", "home", "Home"),
    Place("run", "Run", "dashboard", "Dashboard"),
    Place("parallel", "Parallel", "parallel", "Parallel"),
    Place("graph", "Graph", "graph", "GraphView"),
    Place("permissions", "Permissions", "permissions", "Permissions"),
    Place("review", "", "review", "Review"),
    Place("task", "", "task", "TaskView"),
)
MAIN_PLACES: tuple[tuple[str, str], ...] = tuple((one.name, one.label) for one in PLACES if one.label)
_BY_NAME = {one.name: one for one in PLACES}


def open_place(name: str, subject: str | None = None) -> View:
    """Returns a new screen of a place; `subject` is the task that it is about."""
    place = _BY_NAME[name]
    module = import_module(f"gitticks.tui.screens.{place.module}")
    view: View = getattr(module, place.view)(subject)
    return view
