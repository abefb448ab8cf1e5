"""Places that show more than a snapshot has: it is read in a thread, and drawn when it is there."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from textual import work

from gitticks.tui.screens.base import View, refusal_of
from gitticks.tui.widgets.lines import Lines
from gitticks.tui.widgets.markdown import wrapped

if TYPE_CHECKING:
    from gitticks.actions.context import Context

T = TypeVar("T")


class Loaded(View, Generic[T]):
    """A place that reads with `read`, in a thread, whenever `mark` changes; `loaded` is what it read last."""

    def __init__(self, subject: str | None = None) -> None:
        super().__init__(subject)
        self.loaded: T | None = None
        self._mark: object = None
        self._is_reading = self._is_owed = False

    @abstractmethod
    def read(self, context: Context) -> T:
        """Returns what the place shows; called in a thread."""

    @abstractmethod
    def fill(self, loaded: T) -> None:
        """Fills the panes."""

    @abstractmethod
    def refuse(self, message: str, hint: str | None) -> None:
        """Shows why there is nothing to show."""

    def explain(self, pane: Lines, message: str, hint: str | None) -> None:
        """Shows a refusal whole in a pane."""
        width = pane.inner_width
        pane.show([*wrapped(message, width, "bad"), *wrapped(hint or "", width, "muted")])

    @property
    def mark(self) -> object:
        """Returns what differs once there is something new to read."""
        row = self.snapshot.find(self.subject)
        return row, self.snapshot.details.get(row.id) if row else self.snapshot.number

    def draw(self) -> None:
        """Reads again if there is anything new, and fills the panes with what is known."""
        if self.snapshot.number and self.mark != self._mark:
            self._mark = self.mark
            self.load()
        if self.loaded is not None:
            self.fill(self.loaded)

    def load(self) -> None:
        """Reads, and then draws; one read at a time, so that the newest is drawn last."""
        if self._is_reading:
            self._is_owed = True
        else:
            self._is_reading = True
            self._load()

    @work(thread=True, exit_on_error=False)
    def _load(self) -> None:
        context = self.gt.context.renewed()
        take: Callable[[], None]
        try:
            take = partial(self._take_loaded, self.read(context))
        except Exception as error:  # noqa: BLE001 (a bug is reported, and takes nothing else down)
            take = partial(self.refuse, *refusal_of(error, self.place))
        finally:
            if "index" in context.__dict__:
                context.index.close()
        self.gt.call_later(self._finish, take)

    def _finish(self, take: Callable[[], None]) -> None:
        self._is_reading = False
        if not self.is_open:
            return
        take()
        if self._is_owed:
            self._is_owed = False
            self.load()

    def _take_loaded(self, found: T) -> None:
        self.loaded = found
        self.fill(found)
