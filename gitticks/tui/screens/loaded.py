"""Places that show more than a snapshot has: it is read in a thread, and drawn when it is there."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

from textual import work
from textual.worker import get_current_worker

from gitticks.errors import GitticksError
from gitticks.tui.screens.base import View

if TYPE_CHECKING:
    from gitticks.actions.context import Context

T = TypeVar("T")


class Loaded(View, Generic[T]):
    """A place that reads with `read`, in a thread, whenever `mark` changes; `loaded` is what it read last."""

    def __init__(self, subject: str | None = None) -> None:
        super().__init__(subject)
        self.loaded: T | None = None
        self._mark: object = None

    @abstractmethod
    def read(self, context: Context) -> T:
        """Returns what the place shows; called in a thread."""

    @abstractmethod
    def fill(self, loaded: T) -> None:
        """Fills the panes."""

    @abstractmethod
    def refuse(self, message: str, hint: str | None) -> None:
        """Shows why there is nothing to show."""

    @property
    def mark(self) -> object:
        """Returns what differs once there is something new to read."""
        row = self.snapshot.find(self.subject)
        return row, self.snapshot.details.get(row.id) if row else self.snapshot.number

    def draw(self) -> None:
        """Reads anew if there is anything new, and fills the panes with what is known."""
        if self.snapshot.number and self.mark != self._mark:
            self._mark = self.mark
            self.load()
        if self.loaded is not None:
            self.fill(self.loaded)

    @work(thread=True, exclusive=True, group="load", exit_on_error=False)
    def load(self) -> None:
        """Reads, and then draws."""
        worker = get_current_worker()
        context = self.gt.context.renewed()
        try:
            found = self.read(context)
        except GitticksError as error:
            self.app.call_from_thread(self.refuse, error.message, error.hint)
            return
        except OSError as error:
            self.app.call_from_thread(self.refuse, str(error), None)
            return
        finally:
            if "index" in context.__dict__:
                context.index.close()
        if not worker.is_cancelled:
            self.app.call_from_thread(self._take_loaded, found)

    def _take_loaded(self, found: T) -> None:
        self.loaded = found
        if self.is_mounted:
            self.fill(found)
