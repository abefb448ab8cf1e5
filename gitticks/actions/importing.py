"""`gt import`: everything that another tracker holds becomes tasks here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.importing.bring_in import BringIn, Imported
from gitticks.importing.record import Format
from gitticks.importing.sources import find_source, read_source

if TYPE_CHECKING:
    from gitticks.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be imported: a format and a place where they were named, and how far to go."""

    format: Format | None = None
    path: str | None = None
    is_dry_run: bool = False
    takes_updates: bool = False


def import_tasks(context: Context, wish: Wish) -> Imported:
    """Brings in what a source holds, and returns what came of it.

    Raises:
        NotFoundError: there is no such source.
        GitticksError: nothing of it can be read.
        RefusedError: this is an agent's session.
    """
    context.require_person("import tasks")
    top = context.repository.here_worktree or context.directory
    source = find_source(wish.format, wish.path, context.directory, top)
    bring_in = BringIn(
        read_source(source, context.directory), context.actor, context.world, wish.takes_updates
    )
    outcome = Imported(source.format, source.name, source.is_guessed, wish.is_dry_run)

    def write(transaction: Transaction) -> Imported:
        return bring_in.into(transaction, outcome)

    if wish.is_dry_run:
        return write(context.store.snapshot())
    return context.store.transact(write, author=context.author)
