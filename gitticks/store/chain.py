"""The chain: commits not yet on the branch, so that queued writers share one sync and one move of the ref.

It begins at the branch's tip. Each writer puts its commit on the chain's end while it holds the chain's lock, and
whoever holds the store's lock next makes the whole chain durable and moves the ref to its end. A chain that does not
begin at the tip is void, and so is one whose writers are all dead: nobody waits for it, and nobody was told of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from gitticks.git.locks import HeldLock, hold_lock, peek_note
from gitticks.git.repository import Repository
from gitticks.processes import ProcessIdentity, is_alive


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
    return repository.own_dir / "chain"


def peek_chain(repository: Repository, tip: str) -> tuple[Link, ...]:
    """Returns the chain on `tip` without waiting for its lock; a link that is just being added may be missing."""
    return links_on(tip, peek_note(chain_path(repository)))


def read_chain(held: HeldLock, tip: str) -> tuple[Link, ...]:
    """Returns the chain on `tip`; none if nobody alive waits for it."""
    links = links_on(tip, held.read_note())
    return links if any(is_alive(link.owner) for link in reversed(links)) else ()


def write_chain(held: HeldLock, links: Iterable[Link]) -> None:
    """Notes a chain in place of the one that was there."""
    held.write_note("".join(f"{_line(link)}\n" for link in links))


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
            commit, parent, subject, (pid, ticks, boot), objects = json.loads(line)
        except (ValueError, TypeError, RecursionError):
            return
        owner = ProcessIdentity(pid, ticks, boot)
        yield Link(commit, parent, subject, owner, tuple(objects))


def _line(link: Link) -> str:
    owner = (link.owner.pid, link.owner.start_ticks, link.owner.boot_id)
    return json.dumps((link.commit, link.parent, link.subject, owner, link.objects))
