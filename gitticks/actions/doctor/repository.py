"""Checks the repository and the state branch for lost objects and commits, with the command that recovers them.

Where the branch was at the last call is remembered in `<common git dir>/gitticks/doctor.json`, a cache.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from shlex import quote
from typing import Any, NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.doctor import Finding, Repair, fault, note, warning
from gitticks.board.journal import load_journal
from gitticks.board.place import board_path
from gitticks.errors import GitticksError
from gitticks.git.checkouts import checkout_at, refuse_filters
from gitticks.git.files import CheckoutFiles, write_synced
from gitticks.git.maintenance import find_damage, has_many_loose_objects
from gitticks.git.merges.history import count_commits
from gitticks.git.objects import Objects, alternates
from gitticks.git.objects.libgit2 import read_loose
from gitticks.git.refs import is_object_id, logged, read_ref
from gitticks.git.repository import Repository
from gitticks.git.sharing import remote_of_branch, tracking_ref
from gitticks.model.ids import BOARD_FOLDER
from gitticks.runner.workspace_plan import why_no_base
from gitticks.safe_read import read_json
from gitticks.store import layout
from gitticks.store.dropped import (
    Fallen,
    How,
    bring_back_fallen,
    dropped_commits,
    fallen_commits,
    holds_tasks,
    seen_before,
    was_published,
)
from gitticks.store.index_database import connect, index_path, indexed_commit
from gitticks.store.layout import state_tip
from gitticks.store.left_behind import left_behind
from gitticks.store.sharing import RESTORE, find_impossible, last_shared, words_of_rewritten

_MOST_SHOWN = 20
_REMEMBERED = "doctor.json"
RULES = 3
"""Raised with every change of what is legal, so that what was found by older rules is looked at again."""


def check_base(context: Context) -> Iterator[Finding]:
    """Yields why work on the open tasks cannot begin from the base branch."""
    if context.repository.project_dir is None:
        return  # no run works there
    missing = None
    with contextlib.suppress(GitticksError):  # what cannot be read in the settings is said beside this
        missing = why_no_base(context.settings, context.repository)
    if missing is not None and context.index.listed(open_only=True):
        yield warning(missing.message, missing.hint)


def check_kind(context: Context) -> Iterator[Finding]:
    """Yields what is unusual about the repository."""
    repository = context.repository
    if repository.project_dir is None:
        yield note("the repository is bare: tasks can be read and changed, but there is no board")
    elif repository.is_linked:
        yield note(f"this is a linked worktree of `{repository.project_dir}`")
    if repository.is_shallow:
        yield note(
            "the clone is shallow: work merged before its oldest commit looks like new work",
            "`git fetch --unshallow` fetches the rest",
        )
    # A bare repository may have linked worktrees; of those this one is looked at.
    checkout = repository.main_worktree or repository.here_worktree
    if checkout is not None:
        try:
            refuse_filters(checkout_at(repository, checkout))
        except GitticksError as error:
            yield warning(f"{error.message}: agents cannot work here", error.hint)
    for folder in alternates(repository):
        if folder.is_dir():
            what = f"objects are borrowed from `{folder}`: if it is deleted, they are lost"
            yield note(what, "`git repack -a -d` makes them this repository's own")
        else:
            yield fault(
                f"objects are borrowed from `{folder}`, which does not exist",
                f"restore that folder, or remove its line from `{repository.common_dir}/objects/info/alternates`",
            )


def check_paths(context: Context) -> Iterator[Finding]:
    """Yields an error for each path on the state branch that no checkout can hold, so that git fills no board."""
    for one in find_impossible(context.store.objects, None, state_tip(context.repository)):
        fix = f"`gt doctor --fix` removes it; `{one.look}` shows it"
        yield fault(one.words, fix, Repair.PATHS, commit=one.commit)


def check_loose_objects(context: Context) -> Iterator[Finding]:
    """Yields a warning if so many objects lie about singly that git gets slow."""
    if has_many_loose_objects(context.repository):
        yield warning("many loose objects slow git down", "`git maintenance run` packs them")


def check_left_behind(context: Context) -> Iterator[Finding]:
    """Yields what of hooks, settings and attributes changed during agents' sessions, and nobody agreed to."""
    for one in left_behind(context.repository):
        yield warning(f"{one.words}, and nothing is run or merged meanwhile", "`gt trust` shows it, and asks")


class Damaged(NamedTuple):
    """A file or folder of the state branch whose object is missing or damaged; `path` is empty for the top."""

    path: str
    object_id: str
    reason: str


def check_damage(context: Context, *, full: bool) -> Iterator[Finding]:
    """Yields an error for each object of the state branch that is missing or damaged."""
    tip, objects = state_tip(context.repository), context.store.objects
    try:
        tree = objects.tree_of(tip)
    except GitticksError as error:
        yield _no_commit(context.repository, objects, tip, error)
        return
    found = find_damage(context.repository, tip, thorough=full)
    if found is None:
        return
    damaged = list(damaged_entries(objects, tree))
    for one in damaged[:_MOST_SHOWN]:
        yield fault(
            f"{BOARD_FOLDER}/{one.path} is damaged on the state branch: {one.reason}",
            _way_back(context, one),
            task=layout.task_around(f"{one.path}/"),
        )
    if len(damaged) > _MOST_SHOWN:
        yield fault(f"{len(damaged) - _MOST_SHOWN} more files of the state branch are damaged")
    if not damaged:
        what = f"the older history of the state branch is damaged: {found.reason}"
        yield warning(what, _fetching(context.repository, found.object_id))


def damaged_entries(objects: Objects, tree: str, path: str = "") -> Iterator[Damaged]:
    """Yields what cannot be read below a tree; nothing below a folder that cannot be read itself."""
    try:
        entries = objects.folder(tree).values()
    except GitticksError as error:
        yield Damaged(path, tree, error.message)
        return
    for entry in entries:
        inner = f"{path}/{entry.name}" if path else entry.name
        if entry.is_tree:
            yield from damaged_entries(objects, entry.object_id, inner)
        elif entry.is_file:
            try:
                objects.read_blob(entry.object_id)
            except GitticksError as error:
                yield Damaged(inner, entry.object_id, error.message)


def _way_back(context: Context, one: Damaged) -> str:
    """Returns how an object comes back: from the board's file if that is still the same, else from another clone."""
    if not _is_on_board(context, one):
        return _fetching(context.repository, one.object_id)
    store = f"git -C {BOARD_FOLDER} hash-object -w --no-filters {quote(one.path)}"
    return f"`{_aside(context.repository, one.object_id)}{store}` stores it again"


def _is_on_board(context: Context, one: Damaged) -> bool:
    board = board_path(context.repository)
    if board is None:
        return False
    with contextlib.suppress(GitticksError, OSError):
        content = CheckoutFiles.at(board, context.repository.own_dir, "board").read(one.path)
        return content is not None and context.store.objects.blob_id(content) == one.object_id
    return False


def _no_commit(repository: Repository, objects: Objects, tip: str, error: GitticksError) -> Finding:
    what = f"`{layout.STATE_REF}` points to no commit that can be read: {error.message}"
    for older in logged(repository.common_dir, layout.STATE_REF):
        if older != tip and _is_whole(objects, older):
            back = f"{_aside(repository, tip)}git update-ref {layout.STATE_REF} {older}"
            return fault(what, f"`{back}` goes back to the newest complete commit", commit=tip)
    return fault(what, _fetching(repository, tip), commit=tip)


def _is_whole(objects: Objects, commit: str) -> bool:
    try:
        return next(damaged_entries(objects, objects.tree_of(commit)), None) is None
    except GitticksError:
        return False


def _fetching(repository: Repository, object_id: str | None) -> str:
    aside = "" if object_id is None else _aside(repository, object_id)
    fetch = f"{aside}git fetch --refetch <remote> {layout.STATE_BRANCH}"
    return f"`{fetch}` restores it from a clone that has it"


def _aside(repository: Repository, object_id: str) -> str:
    """Returns the beginning of a command that moves a damaged file away; empty where the object in it is sound, or none."""
    try:
        read_loose(repository.common_dir / "objects", object_id)
    except (ValueError, OSError):
        file = repository.common_dir / "objects" / object_id[:2] / object_id[2:]
        return f"mv {quote(str(file))} {quote(f'{file}.damaged')} && "
    return ""


class Remembered(NamedTuple):
    """The last commit found `legal` with all its ancestors, and the branch's at the last call; None if not known."""

    legal: str | None = None
    seen: str | None = None


def load_remembered(repository: Repository) -> Remembered:
    """Returns what is remembered; nothing if the file is missing or damaged."""

    def make(values: Any) -> Remembered:
        legal = values["legal"] if values["rules"] == RULES else None
        return Remembered(_commit(legal), _commit(values["seen"]))

    return read_json(repository.own_file(_REMEMBERED), make, Remembered())


def remember(repository: Repository, found: Remembered) -> None:
    """Keeps it, where that can be written."""
    body = {"rules": RULES, "legal": found.legal, "seen": found.seen}
    file = repository.own_file(_REMEMBERED)
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_synced(file, json.dumps(body).encode())


def _commit(value: object) -> str | None:
    return value if isinstance(value, str) and is_object_id(value) else None


def check_rewound(context: Context) -> Iterator[Finding]:
    """Yields a warning for whatever is not on the state branch any more and was not dropped in passing.

    The branch's log tells; where it does not, what the doctor, the index or the board saw last does.
    """
    tip = state_tip(context.repository)
    for fallen in fallen_commits(context.repository):
        commit = fallen.fall.old
        if fallen.fall.how is How.ON_PURPOSE:
            what = f"`git reset` removed {fallen.words} from the state branch"
            back = f"`{_merge(context, fallen)}` brings {fallen.pronoun} back"
            if context.repository.project_dir is None:
                back = f"`git branch rewound-state {commit}` keeps {fallen.pronoun}"
            yield warning(what, back + _way_off(context, fallen), commit=commit)
        else:
            yield _rewound(context, tip, fallen)
    left = last_seen(context)
    if left is not None:
        yield _rewound(context, tip, seen_before(context.repository, left))


def check_remote(context: Context) -> Iterator[Finding]:
    """Yields a warning if the remote's tasks, where they were last seen, lack what was shared before."""
    repository = context.repository
    remote = remote_of_branch(repository, layout.STATE_BRANCH)
    if remote is None:
        return
    known = last_shared(context.store, remote)
    tracking = tracking_ref(remote, layout.STATE_BRANCH)
    theirs = read_ref(repository.common_dir, tracking)
    # Git does not move every remote-tracking branch with a push: one that never was there has lost nothing.
    if known is None or theirs is None or known not in logged(repository.common_dir, tracking):
        return
    words = words_of_rewritten(context.store, remote, known, theirs)
    if words is not None:
        yield warning(words, RESTORE, commit=theirs)


def last_seen(context: Context) -> str | None:
    """Returns a commit that the state branch was seen at and lacks now, though its log says nothing of it."""
    repository, objects = context.repository, context.store.objects
    tip = state_tip(repository)
    known = load_remembered(repository)
    reported = [*dropped_commits(repository), *(one.fall.old for one in fallen_commits(context.repository))]
    for seen in dict.fromkeys((known.seen, _indexed(context), load_journal(context.repository).base)):
        if seen is None or objects.is_ancestor(seen, tip) or not objects.has(seen):
            continue
        if was_published(repository, [seen]):
            continue  # the log tells what became of it: an amended or rebased commit was replaced, not lost
        if holds_tasks(context.repository, seen) and not any(
            objects.is_ancestor(seen, one) for one in reported
        ):
            remember(repository, known._replace(seen=seen))
            return seen
    if known.seen != tip:
        remember(repository, known._replace(seen=tip))
    return None


def bring_back(context: Context) -> None:
    """Lets the state branch contain what fell off it, but not what a user dropped by `git reset`."""
    left = last_seen(context)
    bring_back_fallen(context.store, () if left is None else (left,))


def _rewound(context: Context, tip: str, fallen: Fallen) -> Finding:
    left = fallen.fall.old
    if not holds_tasks(context.repository, tip):
        what = f"`{layout.STATE_REF}` points to {tip[:10]}, which has no tasks: it lacks {fallen.words}"
        # Were the ref a symbolic one, another branch would be moved without the option.
        back = f"`git update-ref --no-deref {layout.STATE_REF} {left} {tip}` goes back there"
        fix = f"{back} (`git reflog {layout.STATE_BRANCH}` lists more)"
        return warning(what, fix, commit=left)
    what = f"the state branch was rewound: it lacks {fallen.words}"
    fix = f"`gt doctor --fix` restores {fallen.pronoun}{_way_off(context, fallen)}"
    return warning(what, fix, Repair.FALLEN, commit=left)


def _way_off(context: Context, fallen: Fallen) -> str:
    if context.repository.project_dir is None:
        return ""
    return f"; `{_merge(context, fallen, '-s ours ')}` drops {fallen.pronoun} for good, and keeps {fallen.pronoun} only in the history"


def _merge(context: Context, fallen: Fallen, how: str = "") -> str:
    """Returns a command that merges on the board what fell off, which may be all that was there."""
    board = "" if board_path(context.repository) else "gt init && "
    return f"{board}git -C {BOARD_FOLDER} merge --no-edit {how}--allow-unrelated-histories {fallen.fall.old}"


def check_dropped(context: Context) -> Iterator[Finding]:
    """Yields a warning if git dropped something from the state branch that nobody asked it to, and it is not back."""
    tip = state_tip(context.repository)
    objects = context.store.objects
    for dropped in dropped_commits(context.repository):
        if not objects.has(dropped):
            what = f"git dropped commits up to {dropped[:10]} from the state branch, and they are lost"
            yield warning(what, "fetch them from a clone that has them", commit=dropped)
        elif not objects.is_ancestor(dropped, tip):
            count = count_commits(context.repository, tip, dropped)
            what = f"git dropped {count} commit{'s' if count > 1 else ''} from the state branch"
            yield warning(what, "`gt status` restores them", Repair.DROPPED, commit=dropped)


def _indexed(context: Context) -> str | None:
    path = index_path(context.repository)
    with contextlib.suppress(sqlite3.Error):
        if path.is_file():
            with contextlib.closing(connect(path)) as connection:
                return indexed_commit(connection)
    return None
