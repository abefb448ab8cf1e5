"""Keeps applying what people save on the board, and reports what happens on the state branch."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.taking_up import take_up
from gitticks.board.place import board_path
from gitticks.board.watch import wakes
from gitticks.errors import GitticksError
from gitticks.file_watch import Reason
from gitticks.git.log import LoggedCommit, read_log
from gitticks.git.refs import read_ref
from gitticks.store.layout import STATE_REF

_MOST_COMMITS = 200
_MOST_LOOKS_AT_SOME = 20
"""One after the other without a look at the whole board, as where files are written all the time."""

_REST_SECONDS, _LONGEST_REST_SECONDS, _REST_WHERE_BLIND = 60.0, 600.0, 5.0
"""So long after the last look the next is made that nothing has woken."""
_LOOKS_IN_A_REST = 300
"""A rest lasts at least as long as this many looks, so that a large board takes no more of the machine than a small one."""

_BLIND_FOR_SURE = 2
"""A folder that went at the wrong moment makes one look blind; only what lasts is worth telling."""

NO_BOARD = "there is no board, so saved edits are not committed: `gt doctor` says why"
BLIND = "this machine allows no more file watches, so it looks for saved edits every few seconds"


class EditTaken(NamedTuple):
    """A saved edit that is committed now; `path` from the board's top."""

    path: str


class EditLeft(NamedTuple):
    """A saved edit that stays as it is, with the reason."""

    path: str
    reason: str


class Trouble(NamedTuple):
    """Something that keeps the watch from its work for now; reported once until it changes."""

    message: str


Happening = LoggedCommit | EditTaken | EditLeft | Trouble
"""A commit is one that is new on the state branch."""
Tell = Callable[[Happening], None]


@dataclass(slots=True)
class Watcher:
    """Looks at board and branch, and reports what is new since the last look.

    `left` are the saved edits that stayed as they are at the last look at the whole board, with the reasons;
    `looks_at_some` is how many looks there have been since, at some files alone.
    """

    context: Context
    tell: Tell
    tells_commits: bool = True
    left: Mapping[str, str] = field(default_factory=dict)
    looks_at_some: int = 0
    _tip: str | None = None
    _trouble: tuple[str, ...] = ()

    def begin(self) -> None:
        """Notes where the state branch stands: what comes after it is reported."""
        self._tip = self.context.store.tip()

    def look(self, among: Collection[str] | None = None) -> None:
        """Applies what is saved, and reports that and the commits since.

        Where paths are given, from the board's top, only they are looked at as long as nothing else may matter; a look
        at the whole board is owed then.
        """
        context = self.context.renewed()
        try:
            self._tip = self._tip or context.store.tip()
            self._take_up(context, among)
            self._tell_commits(context)
        except (GitticksError, OSError) as error:
            context.warnings.append(str(error))
        for message in context.warnings:
            if message not in self._trouble:
                self.tell(Trouble(message))
        self._trouble = tuple(context.warnings)

    @property
    def has_moved(self) -> bool:
        """True if the state branch is no longer where the last look left it."""
        try:
            return read_ref(self.context.repository.common_dir, STATE_REF) != self._tip
        except (GitticksError, OSError):
            return True

    def _take_up(self, context: Context, among: Collection[str] | None) -> None:
        if board_path(context.repository) is None:
            context.warnings.append(NO_BOARD)
        taken = take_up(context, among if self.looks_at_some < _MOST_LOOKS_AT_SOME else None)
        self.looks_at_some = 0 if taken.is_whole else self.looks_at_some + 1
        for path in taken.paths:
            self.tell(EditTaken(path))
        for path, reason in sorted(taken.left.items()):
            if self.left.get(path) != reason:
                self.tell(EditLeft(path, reason))
        if taken.is_whole:
            self.left = taken.left

    def _tell_commits(self, context: Context) -> None:
        tip = context.store.tip()
        if tip == self._tip:
            return
        before, self._tip = self._tip, tip
        if not self.tells_commits:
            return
        for commit in reversed(read_log(context.repository, f"{before}..{tip}", count=_MOST_COMMITS)):
            self.tell(commit)


def keep_watching(
    watcher: Watcher, over: threading.Event, is_over: Callable[[], bool] = lambda: False
) -> None:
    """Looks whenever something may have happened, until `over` is set or `is_over`, asked each second, says so."""
    clock = watcher.context.world.monotonic_seconds

    def look_at_all() -> float:
        began = clock()
        watcher.look()
        return clock() - began

    took, blind, ended = look_at_all(), 0, clock()
    for wake in wakes(watcher.context.repository, over):
        if is_over():
            return
        is_blind = wake.reason is Reason.BLIND
        blind = blind + 1 if is_blind else 0
        if blind == _BLIND_FOR_SURE:
            watcher.tell(Trouble(BLIND))
        rest = min(_LONGEST_REST_SECONDS, max(_REST_SECONDS, _LOOKS_IN_A_REST * took))
        rest = _REST_WHERE_BLIND if is_blind else rest
        if wake.reason is Reason.EVENT:
            watcher.look(wake.paths)
        elif watcher.looks_at_some or watcher.has_moved or clock() - ended >= rest:
            took = look_at_all()
        else:
            continue
        ended = clock()


@contextlib.contextmanager
def watching(context: Context, tell: Tell, *, after_seconds: float) -> Iterator[Watcher]:
    """Keeps watching in a thread while the block runs; it begins `after_seconds`, so that a short block pays nothing.

    Commits are not reported.
    """
    watcher = Watcher(context, tell, tells_commits=False)

    def keep(over: threading.Event) -> None:
        if not over.wait(after_seconds):
            keep_watching(watcher, over)

    with in_background(keep, "board"):
        yield watcher


@contextlib.contextmanager
def in_background(work: Callable[[threading.Event], None], name: str) -> Iterator[None]:
    """Runs `work` in a thread of this name while the block runs, and waits for its end.

    It gets an event that is set when the block is over.
    """
    over = threading.Event()
    thread = threading.Thread(target=work, args=(over,), name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
