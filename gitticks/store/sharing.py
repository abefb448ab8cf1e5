"""Merges a remote's tasks with ours, and remembers what the two have in common.

That memory is a ref of this clone alone: a remote's branch that does not contain it any more was rewound or
rewritten, whatever other programs fetched meanwhile.

Paths that no checkout can hold, such as `tasks/..`, are kept off the branch. Git itself makes no such tree, but it
stores, fetches and pushes one, and then refuses to check anything of it out. What such a path holds stays in the
history; a commit on top removes it, so that every clone that syncs is rid of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from gitticks.git.identity import ENGINE_IDENTITY, Identity
from gitticks.git.objects import Objects
from gitticks.git.objects.failures import RefLockedError, RefMovedError
from gitticks.git.objects.trees import commit_without, is_possible, walk_differences
from gitticks.git.refs import read_ref
from gitticks.store.layout import CONFIG_PATH, STATE_BRANCH, refuse_newer_format
from gitticks.store.merging.commits import MergeReport, merge_commits
from gitticks.store.transaction import read_file

if TYPE_CHECKING:
    from gitticks.store.branch import Store

RESTORE = "`gt sync --restore` merges both and pushes what you have here"
_SHARED = "refs/gitticks/shared/"
_MOST_WALKED = 10_000
_LOGGED = "gitticks: remove paths that cannot be checked out"


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
        store.move_ref(_SHARED + remote, old, commit, "gitticks: shared")
    except (RefMovedError, RefLockedError):
        return


def words_of_rewritten(store: Store, remote: str, known: str, theirs: str | None) -> str | None:
    """Returns in words that a remote's branch, now at `theirs`, lost `known`, which it had; None if it did not."""
    if theirs is not None and store.objects.is_ancestor(known, theirs):
        return None
    how = "is gone" if theirs is None else f"was rewound or rewritten: it is at {theirs[:9]}"
    return f"the branch `{STATE_BRANCH}` of `{remote}` {how}, and had {known[:9]} before"


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
        base = store.repository.objects.merge_base(ours, theirs)
        # Before the merge, as no tree can be made with what it removes.
        clean, removed = without_impossible(objects, base, theirs)
        merged = merge_commits(objects, base, ours, clean)
        made = objects.write_commit(
            (ours, clean), merged.changes, author=author, message=message, executable=merged.executable
        )
        objects.sync(made.objects)
        return made.id, TakenIn(ours, made.id, merged.report, removed)

    return store.take_in(make, logged, author=author)


class ImpossiblePath(NamedTuple):
    """A path that no checkout can hold, and the commit that brought it."""

    path: str
    commit: str

    @property
    def words(self) -> str:
        """Returns the path with the commit that brought it."""
        return f"`{shown(self.path)}` cannot be checked out; it came with {self.commit[:10]}"

    @property
    def look(self) -> str:
        """Returns the command that shows who brought it and what it holds."""
        return f"git show --format=full --stat {self.commit}"


def shown(path: str) -> str:
    """Returns a path as one line of plain characters, cut short in the middle of a very long one."""
    text = quote(ascii(path)[1:-1]).strip("'")
    return text if len(text) <= 120 else f"{text[:80]}…{text[-20:]}"  # noqa: PLR2004 - a line of a terminal


def find_impossible(objects: Objects, old: str | None, new: str) -> tuple[ImpossiblePath, ...]:
    """Returns the outermost paths that `new` has, that differ from the commit `old`, and that no checkout can hold."""
    found: list[ImpossiblePath] = []
    trees = None if old is None else objects.tree_of(old), objects.tree_of(new)
    inside: str | None = None
    for path, _, entry in walk_differences(objects.changed_entries, trees, ""):
        if entry is None or (inside is not None and path.startswith(inside)):
            continue
        name = path.rpartition("/")[2]
        if not is_possible(name, is_link=not entry.is_file and not entry.is_tree):
            inside = f"{path}/"
            found.append(ImpossiblePath(path, _origin(objects, new, path)))
    return tuple(found)


def without_impossible(
    objects: Objects, ours: str | None, commit: str
) -> tuple[str, tuple[ImpossiblePath, ...]]:
    """Returns a commit on top of `commit` that lacks what no checkout can hold, and what that was; itself if nothing.

    `ours` is a commit that is known to be free of such paths, so that less is looked at.
    """
    found = find_impossible(objects, ours, commit)
    if not found:
        return commit, ()
    lines = "".join(f"{one.words}\n" for one in found)
    message = f"remove paths that cannot be checked out\n\n{lines}"
    paths = [one.path for one in found]
    return commit_without(objects, commit, paths, author=ENGINE_IDENTITY, message=message), found


def remove_impossible(store: Store) -> tuple[ImpossiblePath, ...]:
    """Removes from the branch what no checkout can hold, and returns it."""
    return store.take_in(
        lambda tip: without_impossible(store.objects, None, tip), _LOGGED, author=ENGINE_IDENTITY
    )


def warnings_of(found: Iterable[ImpossiblePath]) -> Iterator[str]:
    """Yields what a user should know of paths that were removed."""
    for one in found:
        yield f"{one.words}, and was removed; `{one.look}` shows it"


def _origin(objects: Objects, commit: str, path: str) -> str:
    """Returns the commit that brought a path: the last on the way back that has it while its parents have not."""
    for _ in range(_MOST_WALKED):
        parents = objects.parents_of(commit)
        before = (one for one in parents if objects.find(objects.tree_of(one), path) is not None)
        found = next(before, None)
        if found is None:
            break
        commit = found
    return commit
