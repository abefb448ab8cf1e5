"""What the repository is, whether the state branch is whole, and whether it is still the one that was here before."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from shlex import quote

from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Repair, Severity
from gitticks.errors import GitticksError
from gitticks.git.repository import Repository
from gitticks.model.ids import BOARD_FOLDER
from gitticks.store import layout
from gitticks.store.tip import state_tip

_MANY_LOOSE_OBJECTS = 7000
"""About where git itself would begin to pack, were it asked after each commit."""


def check_kind(context: Context) -> Iterator[Finding]:
    """Yields what is unusual about the repository."""
    from gitticks.git.kinds import kinds_of

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
    """Yields a warning if the state branch does not contain a commit that it was seen at in this clone."""
    from gitticks.actions.doctor.trail.remembered import load_remembered, remember
    from gitticks.git.merges.history import count_commits, is_ancestor

    repository = context.repository
    if not _has_state(context):
        return
    tip = state_tip(repository)
    known = load_remembered(repository)
    if tip == known.seen:  # where a person went back to, whatever the index and the board followed meanwhile
        return
    from gitticks.store.dropped import dropped_commits

    told = [one for one in dropped_commits(repository) if _can_be_read(context, one)]
    left = None
    for seen in dict.fromkeys((known.seen, _indexed(context), _board_base(context))):
        if seen is None or not _can_be_read(context, seen) or is_ancestor(repository, seen, tip):
            continue
        if not any(is_ancestor(repository, seen, one) for one in told):
            left = seen
            break
    if left is None:
        if known.seen != tip:
            remember(repository, replace(known, seen=tip))
        return
    remember(repository, replace(known, seen=left))
    count = count_commits(repository, tip, left)
    some = f"{count} commits" if count > 1 else "one commit"
    gone = f"{some} up to {left[:10]} {'are' if count > 1 else 'is'} not on it"
    holds_tasks = _holds_tasks(context, tip)
    yield Finding(
        Severity.WARNING,
        f"the state branch was rewound: {gone}"
        if holds_tasks
        else f"`{layout.STATE_REF}` leads to {tip[:10]}, where no tasks are: {gone}",
        f"{_way_back(repository, tip, left, joins=holds_tasks)} (`git reflog {layout.STATE_BRANCH}` lists more); "
        f"`rm {quote(str(repository.own_dir / 'doctor.json'))}` lets it be",
        commit=left,
    )


def _holds_tasks(context: Context, commit: str) -> bool:
    """True for a commit of a state branch, which code that was put in its place is not."""
    objects = context.store.objects
    tree = objects.tree_of(commit)
    tasks = objects.find(tree, layout.TASKS_FOLDER)
    return (tasks is not None and tasks.is_tree) or objects.find(tree, layout.CONFIG_PATH) is not None


def _way_back(repository: Repository, tip: str, left: str, *, joins: bool) -> str:
    """Returns what brings back commits that the branch was rewound from; what came since is joined, if it `joins`."""
    from gitticks.git.merges.history import is_ancestor, merge_base
    from gitticks.store.board import board_path

    if not joins or is_ancestor(repository, tip, left):
        # Were the ref a symbolic one, another branch would be moved without the option.
        return f"`git update-ref --no-deref {layout.STATE_REF} {left} {tip}` goes back there"
    if repository.main_worktree is None:
        return f"`git branch rewound-state {left}` keeps them, to be merged on the board of a clone"
    board = "" if board_path(repository) else "gt init && "
    unrelated = "" if merge_base(repository, tip, left) else " --allow-unrelated-histories"
    return f"`{board}git -C {BOARD_FOLDER} merge --no-edit{unrelated} {left}` joins them with what came since"


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


def check_loose_objects(context: Context) -> Iterator[Finding]:
    """Yields a warning if so many objects lie about singly that git gets slow."""
    from gitticks.git.fsck import count_loose_objects

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
    from gitticks.git.refs import read_ref

    return read_ref(context.repository.common_dir, layout.STATE_REF) is not None


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
