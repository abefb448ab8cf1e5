"""The places and every key of each, once: bindings, footer, help and palette are made from these tables."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from textual.binding import Binding, BindingType
from textual.keys import format_key

from gitticks.tui.theme import uses_ascii

if TYPE_CHECKING:
    from gitticks.tui.screens.base import View


class Place(NamedTuple):
    """A screen, loaded when it is first opened; one without a label is opened on a task."""

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
"""The places of the top row, with their labels."""


def open_place(name: str, subject: str | None = None) -> View:
    """Returns a new screen of a place; `subject` is the task that it is about."""
    place = next(one for one in PLACES if one.name == name)
    module = import_module(f"gitticks.tui.screens.{place.module}")
    view: View = getattr(module, place.view)(subject)
    return view


_ASCII = {"↑ ↓": "up down", "← →": "left right", "← ↑ ↓ →": "arrows"}


class Key(NamedTuple):
    """One key, or several with commas between them, what it does and how the footer and the help name it.

    A key without an action is only listed: a widget binds it. `{key}` in an action is the key itself.
    `is_first` takes it before the focused pane does; one that holds everywhere, in dialogs too. `elsewhere` has what the
    footer calls it while the pane of that id has the focus, where this is something else; nothing if it does nothing there.
    """

    key: str
    action: str
    label: str
    help: str = ""
    shown: str = ""
    in_footer: bool = True
    is_first: bool = False
    elsewhere: Mapping[str, str] = MappingProxyType({})

    @property
    def sign(self) -> str:
        """Returns the key as it is shown."""
        named = self.key if self.key == "enter" else format_key(self.key).replace("ctrl+", "^")
        shown = self.shown or named
        return shown if not uses_ascii() else _ASCII.get(shown, shown)

    @property
    def words(self) -> str:
        """Returns what the help says."""
        return self.help or self.label


EVERYWHERE: tuple[Key, ...] = (
    Key("i", "app.inbox", "inbox", "what waits for you"),
    Key("r", "app.go('run')", "run", "what runs now"),
    Key("g", "app.go('graph')", "graph", "what waits for what"),
    Key("w", "app.go('parallel')", "parallel", "all epics side by side"),
    Key("a", "app.go('permissions')", "permissions", "what agents asked to do"),
    Key("slash", "search", "search", "find a task by words"),
    Key("ctrl+p", "app.command_palette", "palette", "all commands by name"),
    Key("ctrl+t", "app.next_theme", "theme", "the next theme"),
    Key("less_than_sign", "resize(-4, 0)", "narrower", "make the focused pane narrower"),
    Key("greater_than_sign", "resize(4, 0)", "wider", "make the focused pane wider"),
    Key("minus", "resize(0, -1)", "lower", "make the focused pane lower"),
    Key("equals_sign", "resize(0, 1)", "higher", "make the focused pane higher"),
    Key("question_mark", "help", "help", "this list"),
    Key("escape", "back", "back", "back to where you came from"),
    Key("q", "app.quit", "leave", "leave; runs continue"),
    Key("ctrl+z", "app.suspend_process", "suspend", "back to the shell; fg returns", is_first=True),
    Key("ctrl+c", "app.ask_to_leave", "leave", "leave, or stop the run", is_first=True),
    Key("", "", "move", "move (also j and k)", shown="↑ ↓"),
    Key("", "", "next pane", "next pane", shown="tab"),
)
"""The footer shows none of these, except where a place lists one too."""

_NOT_BESIDE_ROOTS = {"inbox": "", "settings": ""}

KEYS: dict[str, tuple[Key, ...]] = {
    "home": (
        Key(
            "enter",
            "nothing",
            "start",
            "on an epic or task: start it; in the inbox: answer",
            elsewhere={"inbox": "answer", "settings": "change"},
        ),
        Key("space", "select", "select", "select the epic or task", elsewhere=_NOT_BESIDE_ROOTS),
        Key("A", "select_all", "all", "select all epics and tasks, or none", elsewhere=_NOT_BESIDE_ROOTS),
        Key("i", "app.inbox", "inbox", "what waits for you", elsewhere={"inbox": ""}),
        Key(
            "y", "approve", "approve", "approve or answer what is waiting; in the inbox: allow a request once"
        ),
        Key(
            "n",
            "reject",
            "reject",
            "send it back with feedback, or cancel what was asked; in the inbox: deny a request once",
        ),
        Key("Y", "approve(True)", "always", "in the inbox: allow it, and remember the rule", in_footer=False),
        Key("N", "reject(True)", "never", "in the inbox: deny it, and remember the rule", in_footer=False),
        Key("t", "task", "open", "open the page of the task under the cursor"),
        Key("e", "edit", "edit", "open its file in your editor", in_footer=False),
        Key("plus", "new_task", "new task"),
        Key("s", "settings", "settings", "settings for the next run", elsewhere={"settings": ""}),
        Key("r", "app.go('run')", "run", "what is running"),
        Key("w", "app.go('parallel')", "parallel"),
        Key("slash", "search", "search"),
        Key("q", "app.quit", "leave"),
    ),
    "run": (
        Key("p", "pause", "pause", "start nothing new; running agents finish"),
        Key("r", "resume", "resume", "resume, or start a run (of everything: asks first)"),
        Key(
            "enter",
            "",
            "open",
            "on a task: open it; on a tool call: unfold it",
            elsewhere={"output": "unfold"},
        ),
        Key("v", "verbose", "verbose", "unfold every tool call"),
        Key("y", "verdict", "answer", "answer or approve the task, if it is waiting for you"),
        Key("n", "note", "note to agent", "a note for the next prompt"),
        Key("f", "follow", "follow", "follow the output"),
        Key("g", "app.go('graph')", "graph"),
        Key("w", "app.go('parallel')", "parallel"),
        Key("a", "app.go('permissions')", "permissions"),
        Key("q", "app.quit", "leave"),
    ),
    "parallel": (
        Key("1,2,3,4,5,6,7,8,9", "focus_epic({key})", "focus", "go to that row", shown="1-9"),
        Key("enter", "", "watch", "watch its run"),
        Key("m", "merge", "merge", "merge what is approved, or show what is missing"),
        Key("k", "stop", "stop", "stop its agents", is_first=True),
        Key("plus", "add", "add", "add an epic or a task to the run"),
        Key("t", "task", "open page", "open the page of the epic or task"),
        Key("", "", "move", "move (also j)", shown="↑ ↓", in_footer=False),
        Key("p", "pause", "pause all", "start nothing new anywhere"),
        Key("g", "app.go('graph')", "graph"),
        Key("q", "app.quit", "leave"),
    ),
    "graph": (
        Key("", "", "move", "move between tasks (also h, j, k and l)", shown="← ↑ ↓ →"),
        Key("enter", "", "open task"),
        Key("b", "block", "block", "make the task wait for another"),
        Key("u", "unblock", "unblock", "remove one of its blockers"),
        Key("d", "hide_done", "show done", "show done tasks, or hide them"),
        Key("escape", "back", "back"),
    ),
    "permissions": (
        Key("y", "answer(True, False)", "allow once", "allow the selected request once"),
        Key("Y", "answer(True, True)", "always", "allow it, and remember the rule"),
        Key("n", "answer(False, False)", "deny", "deny it once"),
        Key("N", "answer(False, True)", "never", "deny it, and remember the rule"),
        Key("enter", "", "details", "show the whole of a request, or of a decision"),
        Key("m", "mode", "mode", "what agents may do without asking"),
        Key("p", "policy", "policy", "the rules in effect, and where each comes from"),
        Key("e", "export", "export", "export the decisions to a file"),
        Key("escape", "back", "back"),
    ),
    "review": (
        Key(
            "y",
            "approve",
            "approve",
            "approve (asks before it merges code), answer a question, or decide about a stuck task",
        ),
        Key("n", "reject", "reject", "send it back with your comments, or cancel what was asked"),
        Key("c", "comment", "comment", "comment the line under the cursor"),
        Key("right_square_bracket", "file(1)", "next file", shown="]"),
        Key("right_curly_bracket", "hunk(1)", "next hunk", shown="}"),
        Key("e", "edit", "edit", "open the task in your editor"),
        Key("o", "shell", "shell", "a shell in the task's workspace"),
        Key("t", "task", "task", "the task's page"),
        Key("r", "reload", "reload", "reload the work"),
        Key("escape", "back", "back"),
        Key("left_square_bracket", "file(-1)", "previous file", in_footer=False),
        Key("left_curly_bracket", "hunk(-1)", "previous hunk", in_footer=False),
        Key("right,left", "", "scroll", "scroll the code sideways", shown="← →", in_footer=False),
    ),
    "task": (
        Key("e", "edit", "edit", "edit TASK.md in your editor"),
        Key("n", "note", "note", "add a note for the next prompt"),
        Key("y", "verdict", "answer", "answer or approve, if it is waiting for you"),
        Key("d", "review", "review", "what was done, and the changes"),
        Key("b", "block", "block", "make it wait for another task"),
        Key("plus", "child", "new task", "a new task below this epic, or beside this task"),
        Key("g", "graph", "graph", "what it waits for, and what waits for it"),
        Key("right_square_bracket", "round(1)", "later round", shown="]"),
        Key("escape", "back", "back"),
        Key("left_square_bracket", "round(-1)", "earlier round", in_footer=False),
        Key("u", "unblock", "unblock", "remove one of its blockers", in_footer=False),
    ),
}
"""The keys of each place, the most important first."""


def keys_of(place: str) -> tuple[Key, ...]:
    """Returns the keys of a place, then those that hold everywhere unless the place has its own meaning for them."""
    own = KEYS[place]
    taken = {one for key in own for one in key.key.split(",") if one}
    listed = {key.label for key in own if not key.key}
    others = (key for key in EVERYWHERE if key.key not in taken and (key.key or key.label not in listed))
    return (*own, *(key._replace(in_footer=False) for key in others))


def bindings_of(place: str) -> list[BindingType]:
    """Returns the bindings of a place's screen."""
    return [
        Binding(one, key.action.replace("{key}", one), key.words, show=False, priority=key.is_first)
        for key in keys_of(place)
        if key.action
        for one in key.key.split(",")
    ]
