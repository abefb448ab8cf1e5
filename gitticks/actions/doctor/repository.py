"""What the repository is, whether the state branch is whole, and whether it is still the one that was here before."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Repair, Severity
from gitticks.errors import GitticksError
from gitticks.model.ids import BOARD_FOLDER
from gitticks.store import layout
from gitticks.store.tip import state_tip

if TYPE_CHECKING:
    from gitticks.store.dropped import Fallen

_MANY_LOOSE_OBJECTS = 7000
"""About where git itself would begin to pack, were it asked after each commit."""


def check_kind(context: Context) -> Iterator[Finding]:
    """Yields what is unusual about the repository."""
    from gitticks.git.repository_kinds import kinds_of

    repository = context.repository
    kinds = kinds_of(repository)
    if repository.main_worktree is None:
        yield Finding(
            Severity.NOTE, "the repository is bare: tasks can be read and changed, but there is no board"
        )
    elif repository.is_linked:
        yield Finding(Severity.NOTE, f"this is a linked worktree of `{repository.main_worktree}`")
    if kinds.superproject is not None:
        yield Finding(
            Severity.NOTE,
            f"this is a submodule of `{kinds.superproject}`: its tasks are its own, not those of the whole",
        )
    if kinds.is_shallow:
        yield Finding(
            Severity.NOTE,
            "the clone is shallow: work that was merged below its edge cannot be told from new work",
            "`git fetch --unshallow` brings the rest",
        )
    if kinds.promisor is not None:
        yield Finding(
            Severity.NOTE,
            f"the clone is partial: what it lacks is fetched from `{kinds.promisor}` when it is asked for",
        )
    for folder in kinds.alternates:
        if folder.is_dir():
            what = f"objects are borrowed from `{folder}`: they are gone when that is"
            yield Finding(Severity.NOTE, what, "`git repack -a -d` makes them this repository's own")
        else:
            yield Finding(
                Severity.ERROR,
                f"objects are borrowed from `{folder}`, which is not there",
                f"bring that folder back, or take its line out of `{repository.common_dir}/objects/info/alternates`",
            )


def check_rewound(context: Context) -> Iterator[Finding]:
    """Yields a warning for whatever is not on the state branch any more and was not dropped in passing.

    The branch's log tells; where it does not, what the doctor, the index or the board saw last does.
    """
    from gitticks.store.dropped import How, fallen_commits, seen_before

    if not _has_state(context):
        return
    tip = state_tip(context.repository)
    for fallen in fallen_commits(context.store):
        commit = fallen.fall.old
        if fallen.fall.how is How.ON_PURPOSE:
            what = f"`git reset` took {fallen.words} off the state branch"
            yield Finding(Severity.WARNING, what, _both_ways(context, tip, fallen), commit=commit)
        else:
            yield _rewound(context, tip, fallen)
    left = last_seen(context)
    if left is not None:
        yield _rewound(context, tip, seen_before(context.repository, left))


def last_seen(context: Context) -> str | None:
    """Returns a commit that the state branch was seen at and lacks now, though its log says nothing of it."""
    from gitticks.actions.doctor.trail.remembered import load_remembered, remember
    from gitticks.store.dropped import dropped_commits, fallen_commits, holds_tasks

    repository, objects = context.repository, context.store.objects
    tip = state_tip(repository)
    known = load_remembered(repository)
    told = [*dropped_commits(repository), *(one.fall.old for one in fallen_commits(context.store))]
    for seen in dict.fromkeys((known.seen, _indexed(context), _board_base(context))):
        if seen is None or objects.is_ancestor(seen, tip) or not _can_be_read(context, seen):
            continue
        if holds_tasks(context.store, seen) and not any(objects.is_ancestor(seen, one) for one in told):
            remember(repository, replace(known, seen=seen))
            return seen
    if known.seen != tip:
        remember(repository, replace(known, seen=tip))
    return None


def bring_back(context: Context) -> None:
    """Lets the state branch contain what fell off it, but not what a user dropped by `git reset`."""
    from gitticks.store.dropped import bring_back_fallen

    left = last_seen(context)
    bring_back_fallen(context.store, () if left is None else (left,))


def _rewound(context: Context, tip: str, fallen: Fallen) -> Finding:
    from gitticks.store.dropped import holds_tasks

    left = fallen.fall.old
    if not holds_tasks(context.store, tip):
        what = f"`{layout.STATE_REF}` leads to {tip[:10]}, where no tasks are: it lacks {fallen.words}"
        # Were the ref a symbolic one, another branch would be moved without the option.
        back = f"`git update-ref --no-deref {layout.STATE_REF} {left} {tip}` goes back there"
        mend = f"{back} (`git reflog {layout.STATE_BRANCH}` lists more)"
        return Finding(Severity.WARNING, what, mend, commit=left)
    what = f"the state branch was rewound: it lacks {fallen.words}"
    mend = f"`gt doctor --fix` brings {fallen.pronoun} back{_way_off(context, tip, fallen)}"
    return Finding(Severity.WARNING, what, mend, Repair.FALLEN, commit=left)


def _both_ways(context: Context, tip: str, fallen: Fallen) -> str:
    """Returns what brings back what a user dropped, which nobody does unasked, and what settles that it stays away."""
    back = f"`{_merge(context, tip, fallen)}` brings {fallen.pronoun} back"
    if context.repository.main_worktree is None:
        back = f"`git branch rewound-state {fallen.fall.old}` keeps {fallen.pronoun}"
    return back + _way_off(context, tip, fallen)


def _way_off(context: Context, tip: str, fallen: Fallen) -> str:
    if context.repository.main_worktree is None:
        return ""
    return f"; `{_merge(context, tip, fallen, '-s ours')}` leaves {fallen.pronoun} off for good, in the history only"


def _merge(context: Context, tip: str, fallen: Fallen, how: str = "") -> str:
    """Returns a command that merges on the board what fell off."""
    from gitticks.git.merges.history import merge_base
    from gitticks.store.board import board_path

    left = fallen.fall.old
    board = "" if board_path(context.repository) else "gt init && "
    options = ["--no-edit", *how.split()]
    if merge_base(context.repository, tip, left) is None:
        options.append("--allow-unrelated-histories")
    return f"{board}git -C {BOARD_FOLDER} merge {' '.join(options)} {left}"


def check_dropped(context: Context) -> Iterator[Finding]:
    """Yields a warning if git dropped something from the state branch that nobody asked it to, and it is not back."""
    from gitticks.git.merges.history import count_commits
    from gitticks.store.dropped import dropped_commits

    if not _has_state(context):
        return
    tip = state_tip(context.repository)
    objects = context.store.objects
    for dropped in dropped_commits(context.repository):
        if not objects.has(dropped):
            what = f"git dropped commits up to {dropped[:10]} from the state branch, and they are gone"
            yield Finding(Severity.WARNING, what, "fetch them from a clone that has them", commit=dropped)
        elif not objects.is_ancestor(dropped, tip):
            count = count_commits(context.repository, tip, dropped)
            what = f"git dropped {count} commit{'s' if count > 1 else ''} from the state branch in passing"
            yield Finding(
                Severity.WARNING, what, "`gt status` brings them back", Repair.DROPPED, commit=dropped
            )


def check_paths(context: Context) -> Iterator[Finding]:
    """Yields an error for each path on the state branch that no checkout can hold, so that git fills no board."""
    from gitticks.store.impossible_paths import find_impossible

    if not _has_state(context):
        return
    for one in find_impossible(context.store.objects, None, state_tip(context.repository)):
        mend = f"`gt doctor --fix` removes it; `{one.look}` shows it"
        yield Finding(Severity.ERROR, one.words, mend, Repair.PATHS, commit=one.commit)


def check_loose_objects(context: Context) -> Iterator[Finding]:
    """Yields a warning if so many objects lie about singly that git gets slow."""
    from gitticks.git.maintenance import count_loose_objects

    loose = count_loose_objects(context.repository)
    if loose.count > _MANY_LOOSE_OBJECTS:
        yield Finding(
            Severity.WARNING,
            f"{loose.count} objects lie about singly, {loose.kibibytes // 1024} MB: git gets slower by them",
            "`git maintenance run` packs them",
        )


def _can_be_read(context: Context, commit: str) -> bool:
    try:
        context.store.objects.tree_of(commit)
    except GitticksError:
        return False
    return True


def _has_state(context: Context) -> bool:
    """True if the state branch stands at a commit; where that cannot be read, the check for damage says so."""
    from gitticks.git.refs import read_ref

    tip = read_ref(context.repository.common_dir, layout.STATE_REF)
    return tip is not None and _can_be_read(context, tip)


def _indexed(context: Context) -> str | None:
    from gitticks.store.index_database import connect, index_path, indexed_commit

    path = index_path(context.repository)
    with contextlib.suppress(sqlite3.Error):
        if path.is_file():
            with contextlib.closing(connect(path)) as connection:
                return indexed_commit(connection)
    return None


def _board_base(context: Context) -> str | None:
    from gitticks.store.board.journal import load_journal

    return load_journal(context.repository).base
