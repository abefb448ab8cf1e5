"""Keeps paths off the state branch that no checkout can hold, such as `tasks/..`.

Git itself makes no such tree, but it stores, fetches and pushes one, and then refuses to check anything of it out.
What such a path holds stays in the history; a commit on top removes it, so that every clone that syncs is rid of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from gitticks.git.objects.trees import is_possible, walk_differences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitticks.git.objects import Objects
    from gitticks.store.branch import Store

_MOST_WALKED = 10_000
_LOGGED = "gitticks: remove paths that cannot be checked out"


@dataclass(frozen=True, slots=True)
class ImpossiblePath:
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


def impossible_paths(objects: Objects, old: str | None, new: str) -> Iterator[str]:
    """Yields the outermost paths that `new` has, that differ from the commit `old`, and that no checkout can hold."""
    trees = None if old is None else objects.tree_of(old), objects.tree_of(new)
    inside: str | None = None
    for path, _, entry in walk_differences(objects.changed_entries, trees, ""):
        if entry is None or (inside is not None and path.startswith(inside)):
            continue
        name = path.rpartition("/")[2]
        if not is_possible(name, is_link=not entry.is_file and not entry.is_tree):
            inside = f"{path}/"
            yield path


def without_impossible(
    objects: Objects, ours: str | None, commit: str
) -> tuple[str, tuple[ImpossiblePath, ...]]:
    """Returns a commit on top of `commit` that lacks what no checkout can hold, and what that was; itself if nothing.

    `ours` is a commit that is known to be free of such paths, so that less is looked at.
    """
    paths = list(impossible_paths(objects, ours, commit))
    if not paths:
        return commit, ()
    from gitticks.git.identity import ENGINE_IDENTITY
    from gitticks.git.objects.trees import commit_without

    found = tuple(ImpossiblePath(path, _origin(objects, commit, path)) for path in paths)
    lines = "".join(f"{one.words}\n" for one in found)
    message = f"remove paths that cannot be checked out\n\n{lines}"
    return commit_without(objects, commit, paths, author=ENGINE_IDENTITY, message=message), found


def remove_impossible(store: Store) -> tuple[ImpossiblePath, ...]:
    """Removes from the branch what no checkout can hold, and returns it."""
    from gitticks.git.identity import ENGINE_IDENTITY

    return store.take_in(
        lambda tip: without_impossible(store.objects, None, tip), _LOGGED, author=ENGINE_IDENTITY
    )


def find_impossible(objects: Objects, old: str | None, new: str) -> tuple[ImpossiblePath, ...]:
    """Returns what no checkout can hold of what `new` has and the commit `old` has not."""
    return tuple(
        ImpossiblePath(path, _origin(objects, new, path)) for path in impossible_paths(objects, old, new)
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
