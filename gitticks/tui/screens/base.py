"""What all places share: bars above and below, data from the feed, help, search, sizes of panes, and the way back."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen
from textual.widget import Widget

from gitticks.errors import GitticksError
from gitticks.machine_errors import machine_error_of
from gitticks.model.ids import TaskId
from gitticks.safe_read import reason_of
from gitticks.tui import places, run_settings
from gitticks.tui.editing import set_up
from gitticks.tui.screens import verdicts
from gitticks.tui.screens.asking import ask_to_block, ask_to_unblock
from gitticks.tui.screens.dialogs import Dialog, Search
from gitticks.tui.widgets.chrome import COMPACT, NARROW, KeyBar, TopBar
from gitticks.tui.widgets.lines import Lines, line
from gitticks.tui.widgets.markdown import wrapped

if TYPE_CHECKING:
    from gitticks.actions.context import Context
    from gitticks.tui.app import GitticksApp
    from gitticks.tui.messages import Batch, Snapshot

R = TypeVar("R")
Refuse = Callable[[str, str | None], None]
"""Takes what an error says, and its hint."""
WIDTH, HEIGHT = "sized-width", "sized-height"
"""The classes of panes whose size a person can choose."""
_OF_HEIGHT = "-height"
"""How the names of heights end, beside those of widths."""
_LEAST_WIDTH, _LEAST_HEIGHT, _OTHER_ROWS = 20, 3, 8


def refusal_of(error: Exception, where: str) -> tuple[str, str | None]:
    """Returns what an error says, and its hint; one that is a bug is reported, as what was done in `where`."""
    if isinstance(error, GitticksError):
        return error.message, error.hint
    if isinstance(error, OSError):
        told = machine_error_of(error)
        return (
            (f"`{error.filename}`: {reason_of(error)}", None) if told is None else (told.message, told.hint)
        )
    from gitticks.bugs import report, upgraded

    return upgraded() or report(error, [where])


class Problem(Lines):
    """What is in every place instead of its panes while the repository cannot be read: why, and what to do."""

    def tell(self, problem: str, hint: str | None) -> None:
        """Shows the reason and the hint, and takes `enter` where it can help."""
        said = [*wrapped(problem, self.inner_width, "fg"), *wrapped(hint or "", self.inner_width, "muted")]
        if hint and hint.startswith("`gt init`"):
            said += [line(), line(("enter", "*focus"), " sets them up now", key="gt init")]
        self.show(said)

    def on_lines_chosen(self, event: Lines.Chosen) -> None:
        event.stop()
        set_up(self.screen)  # type: ignore[arg-type]


class View(Screen[None]):
    """A place. A subclass names its `place` of the table, yields its panes in `body` and fills them in `draw`.

    `subject` is the task that it is about, if it was opened on one. Rows are made from `self.snapshot`, which is
    replaced as a whole; only cursor and folds are the screen's own. What comes of a key later opens and closes screens
    only while the place `is_active`: one that `is_current` may be under what a person types in.
    """

    place: ClassVar[str] = ""
    requests_in: ClassVar[str] = ""
    """The id of the pane that lists agents' requests for permission, in places that have one."""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-compact"), (COMPACT, "-wide")]

    def __init_subclass__(cls, **arguments: Any) -> None:
        if cls.place:
            cls.BINDINGS = places.bindings_of(cls.place)
        super().__init_subclass__(**arguments)

    def __init__(self, subject: str | None = None) -> None:
        super().__init__()
        self.subject = subject
        self._reading: set[str] = set()
        self._owed: dict[str, Callable[[], None]] = {}
        self._defaults: dict[str, str] = {}
        self._defaults_due = 0.0
        self._left: Widget | None = None

    @property
    def gt(self) -> GitticksApp:
        return self.app  # type: ignore[return-value]

    @property
    def snapshot(self) -> Snapshot:
        return self.gt.snapshot

    @property
    def task_id(self) -> TaskId:
        return TaskId(self.subject or "")

    @property
    def about(self) -> str | None:
        """Returns the task that keys for a task mean: the one under the cursor, where the place shows several."""
        return self.subject

    @property
    def is_open(self) -> bool:
        """True until the place is closed; what a thread reads for it may come after that."""
        return self.app.is_running and self.is_mounted and self in self.app.screen_stack

    @property
    def heading(self) -> str:
        """Returns what the top row says of a place that it does not list: the task's id and title."""
        row = self.snapshot.find(self.subject)
        if row is not None:
            return f"{row.id}  {row.title}"
        return self.subject or self.place.capitalize()

    @property
    def labels(self) -> Mapping[str, str]:
        """Returns what keys do now, by key, where this is something else than the table says."""
        return {}

    def compose(self) -> ComposeResult:
        """Yields the bars and the body."""
        yield TopBar(self)
        with Container(id="body"):
            yield from self.body()
        yield Problem("No tasks to show", id="problem")
        yield KeyBar()

    def body(self) -> Iterable[Widget]:
        """Yields the panes; `with` of containers works as in `compose`."""
        raise NotImplementedError

    def draw(self) -> None:
        """Fills the panes from the snapshot, once there is one; called whenever data or size have changed."""

    def take(self, batch: Batch) -> None:
        """Takes what the feed brought; the snapshot is in place already, and `draw` follows if there was a new one."""

    def pane(self, name: str) -> Lines:
        """Returns a list by its id."""
        return self.query_one(f"#{name}", Lines)

    @property
    def shows_requests(self) -> bool:
        """True while agents' requests for permission are on the screen."""
        return bool(self.requests_in) and self.pane(self.requests_in).size.height > 0

    def redraw(self) -> None:
        """Draws bars and panes, once their sizes are known."""
        if not self.is_open or not self.is_current:
            return
        bars = self.query(TopBar)
        if not bars:
            return  # not composed yet, or on its way out
        bars.first().refresh()
        self._draw_problem()
        if self.snapshot.problem is None and self.snapshot.number:
            self.draw()

    def _draw_problem(self) -> None:
        pane, body, problem = self.query_one(Problem), self.query_one("#body"), self.snapshot.problem
        if problem is not None:
            pane.tell(problem, self.snapshot.hint)
        if body.disabled == (problem is not None):
            return
        if problem is not None:
            self._left = self.focused
        pane.display = body.disabled = problem is not None
        body.display = problem is None
        self.set_focus(self._left if problem is None else pane)

    def on_mount(self) -> None:
        self._apply_sizes()

    def on_resize(self) -> None:
        self.call_after_refresh(self._resized)

    def _resized(self) -> None:
        if self.is_mounted:
            self._apply_sizes()
            self.call_after_refresh(self.redraw)

    def on_descendant_focus(self) -> None:
        self.query(KeyBar).refresh()

    def on_lines_resized(self) -> None:
        self.redraw()

    def on_screen_resume(self) -> None:
        self.call_after_refresh(self.redraw)

    def look_up(
        self, find: Callable[[Context], R], done: Callable[[R], object], refuse: Refuse | None = None
    ) -> None:
        """Reads in a thread what a pane needs beside the snapshot, one at a time for each `done`.

        Of what is asked for meanwhile the newest is read next, so that it is drawn last. Without `refuse` nothing is said
        if it fails.
        """
        name = done.__qualname__

        def take(found: R) -> None:
            if self.is_open:
                done(found)
                self._read_next(name)

        def failed(error: Exception) -> None:
            if self.is_open:
                if refuse is not None:
                    refuse(*refusal_of(error, self.place))
                self._read_next(name)

        self._owed[name] = lambda: self.gt.look_up(find, take, failed)
        if name not in self._reading:
            self._read_next(name)

    def _read_next(self, name: str) -> None:
        self._reading.discard(name)
        if name in self._owed:
            self._reading.add(name)
            self._owed.pop(name)()

    def read_defaults(self) -> dict[str, str]:
        """Returns the settings of the next run as far as they are known; after a while they are read again."""
        if time.monotonic() >= self._defaults_due:
            self._defaults_due = time.monotonic() + run_settings.DEFAULTS_SECONDS
            self.look_up(run_settings.defaults_of, self._take_defaults)
        return self._defaults

    def _take_defaults(self, found: dict[str, str]) -> None:
        self._defaults = found
        self.redraw()

    def action_help(self) -> None:
        table = places.keys_of(self.place)
        wide = max(len(key.sign) for key in table)
        rows = [line((f"{key.sign:>{wide}}", "*focus"), "  ", key.words) for key in table]
        self.app.push_screen(Dialog(f"{self.heading}: keys", rows, do="close"))

    def action_back(self) -> None:
        self.gt.back()

    def action_search(self) -> None:
        self.gt.ask(Search(), partial(self.gt.go, "task"))

    def action_task(self) -> None:
        if self.about is not None:
            self.gt.go("task", self.about)

    def action_verdict(self) -> None:
        verdicts.open_waiting(self, self.about)

    def action_note(self) -> None:
        row = self.snapshot.find(self.about)
        if row is not None:
            verdicts.ask_note(self, row)

    def action_block(self) -> None:
        if self.about is not None:
            ask_to_block(self, self.about)

    def action_unblock(self) -> None:
        if self.about is not None:
            ask_to_unblock(self, self.about)

    def action_resize(self, across: int, down: int) -> None:
        """Makes the column or pane with the focus wider or higher by so much, and remembers it."""
        pane, sign = self._resizable(WIDTH if across else HEIGHT)
        if pane is None or self.has_class("-narrow"):
            self.gt.say(f"this pane has the whole {'width' if across else 'height'}")
            return
        before = pane.outer_size.width if across else pane.outer_size.height
        least = _LEAST_WIDTH if across else _LEAST_HEIGHT
        size = max(least, before + sign * (across or down))
        name = f"{pane.id}" if across else f"{pane.id}{_OF_HEIGHT}"
        self.gt.preferences.remember(f"{self.place}-{name}", str(size))
        self._resized()

    def _resizable(self, side: str) -> tuple[Widget | None, int]:
        """Returns the pane whose edge the focused one has, and -1 if it is the pane at the edge's other side."""
        above = self.focused.ancestors_with_self if self.focused is not None else ()
        for pane in (one for one in above if isinstance(one, Widget) and one is not self):
            if pane.has_class(side):
                return pane, 1
            beside = [one for one in pane.siblings if one.has_class(side)]
            if beside:
                return beside[0], -1
        return None, 1

    def _apply_sizes(self) -> None:
        """Gives the panes the sizes that were chosen for them; in one column there are none."""
        for pane in self.query(f".{WIDTH}"):
            pane.styles.width = self._chosen_size(
                f"{pane.id}", self.app.size.width - _LEAST_WIDTH, _LEAST_WIDTH
            )
        for pane in self.query(f".{HEIGHT}"):
            self.fit_height(pane)

    def fit_height(self, pane: Widget, rows: int | None = None) -> None:
        """Gives a pane the height that was chosen for it, else room for so many rows, else that of the style sheet."""
        size = self._chosen_size(f"{pane.id}{_OF_HEIGHT}", self.app.size.height - _OTHER_ROWS, _LEAST_HEIGHT)
        if size is None and rows is not None and not self.has_class("-narrow"):
            size = max(1, rows) + (2 if self.has_class("-wide") else 1)
        pane.styles.height = size

    def _chosen_size(self, name: str, most: int, least: int) -> int | None:
        size = self.gt.preferences.sizes(self.place).get(name)
        return None if size is None or self.has_class("-narrow") else max(least, min(size, most))


class Loaded(View, Generic[R]):
    """A place that shows more than a snapshot has: `loaded` is what `read` returned last, read whenever `mark` changes."""

    refuses_in: ClassVar[str]
    """The id of the pane that says why there is nothing to show."""

    def __init__(self, subject: str | None = None) -> None:
        super().__init__(subject)
        self.loaded: R | None = None
        self.refused: tuple[str, str | None] | None = None
        self._mark: object = None

    @abstractmethod
    def read(self, context: Context) -> R:
        """Returns what the place shows; called in a thread."""

    @abstractmethod
    def fill(self, loaded: R) -> None:
        """Fills the panes."""

    def refuse(self, message: str, hint: str | None) -> None:
        """Shows why there is nothing to show, also whenever it is drawn until there is."""
        self.loaded, self.refused = None, (message, hint)
        pane = self.pane(self.refuses_in)
        width = pane.inner_width
        pane.show([*wrapped(message, width, "bad"), *wrapped(hint or "", width, "muted")])

    @property
    def mark(self) -> object:
        """Returns what differs once there is something new to read: each change of the branch may be a note."""
        return self.snapshot.number

    def draw(self) -> None:
        """Reads again if there is anything new, and fills the panes with what is known."""
        if self.mark != self._mark:
            self._mark = self.mark
            self.load()
        if self.loaded is not None:
            self.fill(self.loaded)
        elif self.refused is not None:
            Loaded.refuse(self, *self.refused)

    def load(self) -> None:
        """Reads, and then draws."""
        self.look_up(self.read, self._take_loaded, self.refuse)

    def _take_loaded(self, found: R) -> None:
        self.loaded = found
        self.fill(found)
