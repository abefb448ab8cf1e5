"""Merges a remote's tasks with ours, and remembers what the two have in common.

That memory is a ref of this clone alone: a remote's branch that does not contain it any more was rewound or
rewritten, whatever other programs fetched meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gitticks.git.merges.history import merge_base
from gitticks.git.objects.failures import RefLockedError, RefMovedError
from gitticks.git.refs import read_ref
from gitticks.store.branch import Store
from gitticks.store.impossible_paths import ImpossiblePath, without_impossible
from gitticks.store.layout import CONFIG_PATH, refuse_newer_format
from gitticks.store.merging.commits import MergeReport, merge_commits
from gitticks.store.transaction import read_file

if TYPE_CHECKING:
    from gitticks.git.identity import Identity

_SHARED = "refs/gitticks/shared/"


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What became of the branch: from which commit to which, what the merge says of itself, what no checkout can hold."""

    before: str
    after: str
    report: MergeReport = field(default_factory=MergeReport)
    removed: tuple[ImpossiblePath, ...] = ()


def last_shared(store: Store, remote: str) -> str | None:
    """Returns the newest commit of a remote's state branch that this clone has taken in or pushed; None at first."""
    return read_ref(store.repository.common_dir, _SHARED + remote)


def remember_shared(store: Store, remote: str, commit: str) -> None:
    """Remembers what a remote has, for the next time; another command that does so at the same moment may win."""
    old = last_shared(store, remote)
    if old == commit:
        return
    try:
        store.objects.move_ref(_SHARED + remote, old, commit, "gitticks: shared")
    except (RefMovedError, RefLockedError):
        return


def take_in(store: Store, theirs: str, remote: str, *, author: Identity) -> TakenIn:
    """Lets the state branch contain what `remote` has, `theirs`, too.

    Raises:
        GitticksError: their format is newer, they hold more files than any disk, or an object is damaged.
        LostRaceError: other programs moved the branch every time.
    """
    objects = store.objects
    refuse_newer_format(read_file(objects, objects.tree_of(theirs), CONFIG_PATH))
    objects.refuse_excess(store.tip(), theirs)
    message = f"merge the tasks of {remote}\n"
    return join(store, theirs, message, f"gitticks: take in what {remote} has", author=author)


def join(store: Store, theirs: str, message: str, logged: str, *, author: Identity) -> TakenIn:
    """Lets the state branch contain `theirs` too: nothing to do, a step forward, or a merge by meaning.

    Raises:
        GitticksError: an object is damaged.
        LostRaceError: other programs moved the branch every time.
    """
    objects = store.objects

    def make(ours: str) -> tuple[str, TakenIn]:
        if objects.is_ancestor(theirs, ours):
            return ours, TakenIn(ours, ours)
        if objects.is_ancestor(ours, theirs):
            after, removed = without_impossible(objects, ours, theirs)
            return after, TakenIn(ours, after, removed=removed)
        base = merge_base(store.repository, ours, theirs)
        # Before the merge, as no tree can be made with what it removes.
        clean, removed = without_impossible(objects, base, theirs)
        merged = merge_commits(objects, base, ours, clean)
        made = objects.write_commit((ours, clean), merged.changes, author=author, message=message)
        objects.sync(made.objects)
        return made.id, TakenIn(ours, made.id, merged.report, removed)

    return store.take_in(make, logged, author=author)
