"""The chain of commits that are not yet on the branch, and how it is published, under one lock.

The chain begins at the branch's tip, so that queued writers share one sync and one move of the ref. Each writer puts
its commit on the chain's end while it holds the chain's lock, and whoever holds the store's lock next syncs the whole
chain to disk, moves the ref to its end once, and updates board and index. A chain that does not begin at the tip is
void, and so is one whose writers are all dead: nobody waits for it, and nobody was told of it.

Until the ref moves nothing has happened; once it has moved everything of the chain has, and it is on disk. The swap
compares, so another program's move in between makes the chain void and every writer in it starts over.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

from gitticks.errors import GitticksError
from gitticks.git.checkouts import checked_out_elsewhere
from gitticks.git.identity import Identity
from gitticks.git.locks import HeldLock, clear_stale_ref_lock, hold_lock, is_no_lock_of_git, peek_note
from gitticks.git.objects.database import MoveRef
from gitticks.git.objects.failures import LostObjectError, RefLockedError, RefMovedError
from gitticks.git.refs import read_ref, read_symbolic_ref
from gitticks.git.repository import Repository
from gitticks.processes import ProcessIdentity, is_alive
from gitticks.store import layout
from gitticks.store.index_database import index_path
from gitticks.store.layout import state_tip

LOCKED_SECONDS = 35.0
"""Longer than any lock of the ref is believed, so that one left behind stops nobody for good."""
_LONGEST_PAUSE_SECONDS = 0.2


BoardStep: TypeAlias = Callable[[str, str], object]
"""The board, made ready to follow one move of the state branch: it brings the files from the old commit to the new."""


class Board(Protocol):
    """Whatever keeps the checkout of the state branch up to date with it."""

    def prepare(self, repository: Repository, new_commit: str, /) -> AbstractContextManager[BoardStep]:
        """Readies the board before the ref moves to the new commit, and releases it after."""


class Publisher(NamedTuple):
    """What publishing needs: the repository, and what follows a move."""

    repository: Repository
    board: Board | None

    @contextmanager
    def hold(self) -> Iterator[HeldLock]:
        """Holds the store's lock, under which alone gitticks moves the ref, and fixes what a killed holder left.

        Raises:
            LostRaceError: it was not free for long.
            GitticksError: the branch is checked out in the main checkout, which would fall behind.
        """
        repository = self.repository
        main = repository.main_worktree
        if main is not None and read_symbolic_ref(repository.common_dir, "HEAD") == layout.STATE_REF:
            raise checked_out_elsewhere(repository, layout.STATE_BRANCH, main)
        with hold_lock(repository.own_file("lock")) as held:
            if held.unfinished is not None:
                self._finish_for(held, held.unfinished)
            yield held

    def settle(self, commit: str, who: Identity, held: HeldLock | None = None) -> bool:
        """Waits until the commit is the branch's, publishing it if nobody else does; False if it never will be.

        `held` is the lock, if the caller has it.

        Raises:
            GitticksError: it could not be published; it is withdrawn.
        """
        try:
            with nullcontext(held) if held is not None else self.hold() as locked:
                is_settled = self._settle(commit, who, locked)
        except BaseException:
            with contextlib.suppress(GitticksError, OSError):
                self._withdraw(commit)
            raise
        if not is_settled:
            # Its writer makes it again. Where the tip is what it was, the new one would else stand on this one.
            self._withdraw(commit)
        return is_settled

    def swap(self, held: HeldLock, old: str | None, new: str, move: MoveRef) -> None:
        """Moves the state branch, waiting for and fixing a ref lock that is in the way.

        Raises:
            RefMovedError: it is not at `old`.
            RefLockedError: another program keeps it locked.
        """
        deadline = time.monotonic() + LOCKED_SECONDS
        while True:
            try:
                move(layout.STATE_REF, old, new)
            except RefLockedError:
                place = self.repository.common_dir, layout.STATE_REF
                is_free = clear_stale_ref_lock(*place, held)
                if time.monotonic() > deadline or (not is_free and is_no_lock_of_git(*place)):
                    raise
                pause(1)
            else:
                return

    def advance(self, old: str, new: str, message: str, who: Identity, held: HeldLock | None = None) -> bool:
        """Moves the state branch to a commit that came from elsewhere; False if it is not at `old` any more.

        `new` is on disk and contains `old`; `held` is the lock, if the caller has it.
        """
        taken = nullcontext(held) if held is not None else self.hold()
        with taken as locked, locked.moving(layout.STATE_REF):
            with (
                self.repository.objects.ready_to_move(message, who) as move,
                self._prepared_board(new) as follow,
            ):
                try:
                    self.swap(locked, old, new, move)
                except RefMovedError:
                    return False
                follow(old, new)
            self._update_index(new)
        return True

    def _settle(self, commit: str, who: Identity, held: HeldLock) -> bool:
        tip = state_tip(self.repository)
        if self.repository.objects.is_ancestor(commit, tip):
            return True
        links = self._chain_with(commit, tip)
        if not links:
            return False
        try:
            self._publish(held, tip, links, who)
        except (RefMovedError, LostObjectError):
            return False
        return True

    def _chain_with(self, commit: str, tip: str) -> tuple[Link, ...]:
        """Returns the chain on the tip if it holds the commit.

        That it does not is believed only under the chain's lock, as it is the end of the commit: a look without the
        lock may meet a writer at the very moment of its writing.
        """
        links = peek_chain(self.repository, tip)
        if any(link.commit == commit for link in links):
            return links
        with hold_chain(self.repository) as held:
            links = links_on(tip, held.read_note())
        return links if any(link.commit == commit for link in links) else ()

    def _publish(self, held: HeldLock, tip: str, links: tuple[Link, ...], who: Identity) -> None:
        try:
            self.repository.objects.sync(one for link in links for one in link.objects)
        except GitticksError:  # a chain of which something cannot be written is given up as a whole
            with hold_chain(self.repository) as chain:
                write_chain(chain, ())
            raise
        last = links[-1].commit
        with held.moving(layout.STATE_REF):
            with (
                self.repository.objects.ready_to_move(_reason(links), who) as move,
                self._prepared_board(last) as follow,
            ):
                if not self._chain_with(last, tip):  # it was withdrawn while it was brought to the disk
                    raise RefMovedError("the chain was abandoned", hint="run the command again")
                self.swap(held, tip, last, move)
                follow(tip, last)
            self._update_index(last)

    def _withdraw(self, commit: str) -> None:
        """Removes a commit whose writer gave up from the chain, with everything on top of it."""
        with hold_chain(self.repository) as held:
            links = links_on(state_tip(self.repository), held.read_note())
            commits = [link.commit for link in links]
            if commit in commits:
                write_chain(held, links[: commits.index(commit)])

    def _finish_for(self, held: HeldLock, ref: str) -> None:
        """Does for a holder that was killed what it had not come to: its ref lock, the index, the board."""
        if not clear_stale_ref_lock(self.repository.common_dir, ref, held):
            return
        tip = read_ref(self.repository.common_dir, layout.STATE_REF)
        if tip is not None:
            with self._prepared_board(tip) as follow:
                follow(tip, tip)
            self._update_index(tip)
        held.write_note("")

    def _prepared_board(self, new: str) -> AbstractContextManager[BoardStep]:
        return (
            nullcontext(lambda *_: None) if self.board is None else self.board.prepare(self.repository, new)
        )

    def _update_index(self, commit: str) -> None:
        if index_path(self.repository).exists():
            from gitticks.store.indexing import update_index  # loads the YAML reader

            update_index(self.repository, commit)


def pause(attempt: int) -> None:
    """Waits a random moment, so that two writers that met do not meet again."""
    import random  # only where writers met

    longest = min(_LONGEST_PAUSE_SECONDS, 0.01 * 2 ** min(attempt, 5))
    time.sleep(random.uniform(0, longest))  # noqa: S311 - jitter, no secret


def _reason(links: tuple[Link, ...]) -> str:
    subject = links[-1].subject
    return (
        f"gitticks: {subject}" if len(links) == 1 else f"gitticks: {len(links)} changes, the last: {subject}"
    )


class Link(NamedTuple):
    """One commit of the chain.

    Attributes:
        commit: its id.
        parent: the link before, or the tip that the chain began at.
        subject: the first line of its message.
        owner: the process that waits for it.
        objects: what must be on disk before a ref may name the commit; some may have lain there before, unsynced,
            for a link that was never published.
    """

    commit: str
    parent: str
    subject: str
    owner: ProcessIdentity
    objects: tuple[str, ...]


def hold_chain(repository: Repository) -> AbstractContextManager[HeldLock]:
    """Holds the chain's lock, in whose file the chain is noted; never to be waited for by the holder of a chain.

    Whoever wants the store's lock too takes it first: the other way round two writers could wait for each other.

    Raises:
        LostRaceError: it was not free for long.
    """
    return hold_lock(chain_path(repository))


def chain_path(repository: Repository) -> Path:
    """Returns the file that is locked and that holds the chain."""
    return repository.own_file("chain")


def peek_chain(repository: Repository, tip: str) -> tuple[Link, ...]:
    """Returns the chain on `tip` without waiting for its lock; a link that is just being added may be missing."""
    return links_on(tip, peek_note(chain_path(repository)))


def read_chain(held: HeldLock, tip: str) -> tuple[Link, ...]:
    """Returns the chain on `tip`; none if nobody alive waits for it."""
    links = links_on(tip, held.read_note())
    return links if any(is_alive(link.owner) for link in reversed(links)) else ()


def write_chain(held: HeldLock, links: Iterable[Link]) -> None:
    """Notes a chain in place of the one that was there."""
    held.write_note("".join(f"{json.dumps(link)}\n" for link in links))


def links_on(tip: str, note: str) -> tuple[Link, ...]:
    """Returns the links of a note that follow on `tip`; none where they lead back to another commit."""
    found: list[Link] = []
    for link in reversed(tuple(_links(note))):
        if link.commit == tip or (found and found[-1].parent != link.commit):
            return ()
        found.append(link)
        if link.parent == tip:
            return tuple(reversed(found))
    return ()


def _links(note: str) -> Iterator[Link]:
    """Yields the links up to the first line that is torn."""
    for line in note.splitlines():
        try:
            commit, parent, subject, owner, objects = json.loads(line)
            yield Link(commit, parent, subject, ProcessIdentity(*owner), tuple(objects))
        except (ValueError, TypeError, RecursionError):
            return
