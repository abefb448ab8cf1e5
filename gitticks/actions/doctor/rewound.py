"""Checks whether the state branch was reset: what was dropped, and where it was at the last call.

That is remembered in `<common git dir>/gitticks/doctor.json`, a cache. Without it everything is looked at again.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Repair, Severity
from gitticks.actions.doctor.repository import can_be_read, has_state
from gitticks.board import board_path
from gitticks.board.journal import load_journal
from gitticks.git.merges.history import count_commits, merge_base
from gitticks.git.refs import is_object_id
from gitticks.git.repository import Repository
from gitticks.model.ids import BOARD_FOLDER
from gitticks.store import layout
from gitticks.store.dropped import (
    Fallen,
    How,
    bring_back_fallen,
    dropped_commits,
    fallen_commits,
    holds_tasks,
    seen_before,
)
from gitticks.store.index_database import connect, index_path, indexed_commit
from gitticks.store.tip import state_tip

RULES = 2
"""Raised with every change of what is legal, so that what was found by older rules is looked at again."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """The last commit found `legal` with all its ancestors, and the branch's at the last call; None if not known."""

    legal: str | None = None
    seen: str | None = None


def remembered_file(repository: Repository) -> Path:
    """Returns where it is kept."""
    return repository.own_dir / "doctor.json"


def load_remembered(repository: Repository) -> Remembered:
    """Returns what is remembered; nothing if the file is missing or damaged."""
    try:
        values = json.loads(remembered_file(repository).read_bytes())
        legal, seen, rules = values["legal"], values["seen"], values["rules"]
    except (OSError, ValueError, KeyError, TypeError):
        return Remembered()
    return Remembered(_commit(legal) if rules == RULES else None, _commit(seen))


def remember(repository: Repository, found: Remembered) -> None:
    """Keeps it, where that can be written."""
    body = {"rules": RULES, "legal": found.legal, "seen": found.seen}
    file = remembered_file(repository)
    aside = file.with_name(f"{file.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        aside.write_text(json.dumps(body), encoding="utf-8")
        aside.replace(file)


def _commit(value: object) -> str | None:
    return value if isinstance(value, str) and is_object_id(value) else None


def check_rewound(context: Context) -> Iterator[Finding]:
    """Yields a warning for whatever is not on the state branch any more and was not dropped in passing.

    The branch's log tells; where it does not, what the doctor, the index or the board saw last does.
    """
    if not has_state(context):
        return
    tip = state_tip(context.repository)
    for fallen in fallen_commits(context.repository):
        commit = fallen.fall.old
        if fallen.fall.how is How.ON_PURPOSE:
            what = f"`git reset` removed {fallen.words} from the state branch"
            yield Finding(Severity.WARNING, what, _both_ways(context, tip, fallen), commit=commit)
        else:
            yield _rewound(context, tip, fallen)
    left = last_seen(context)
    if left is not None:
        yield _rewound(context, tip, seen_before(context.repository, left))


def last_seen(context: Context) -> str | None:
    """Returns a commit that the state branch was seen at and lacks now, though its log says nothing of it."""
    repository, objects = context.repository, context.store.objects
    tip = state_tip(repository)
    known = load_remembered(repository)
    reported = [*dropped_commits(repository), *(one.fall.old for one in fallen_commits(context.repository))]
    for seen in dict.fromkeys((known.seen, _indexed(context), load_journal(context.repository).base)):
        if seen is None or objects.is_ancestor(seen, tip) or not can_be_read(context, seen):
            continue
        if holds_tasks(context.repository, seen) and not any(
            objects.is_ancestor(seen, one) for one in reported
        ):
            remember(repository, replace(known, seen=seen))
            return seen
    if known.seen != tip:
        remember(repository, replace(known, seen=tip))
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
        return Finding(Severity.WARNING, what, fix, commit=left)
    what = f"the state branch was rewound: it lacks {fallen.words}"
    fix = f"`gt doctor --fix` restores {fallen.pronoun}{_way_off(context, tip, fallen)}"
    return Finding(Severity.WARNING, what, fix, Repair.FALLEN, commit=left)


def _both_ways(context: Context, tip: str, fallen: Fallen) -> str:
    """Returns what brings back what a user dropped, which nobody does unasked, and what settles that it stays away."""
    back = f"`{_merge(context, tip, fallen)}` brings {fallen.pronoun} back"
    if context.repository.project_dir is None:
        back = f"`git branch rewound-state {fallen.fall.old}` keeps {fallen.pronoun}"
    return back + _way_off(context, tip, fallen)


def _way_off(context: Context, tip: str, fallen: Fallen) -> str:
    if context.repository.project_dir is None:
        return ""
    return f"; `{_merge(context, tip, fallen, '-s ours')}` drops {fallen.pronoun} for good, and keeps {fallen.pronoun} only in the history"


def _merge(context: Context, tip: str, fallen: Fallen, how: str = "") -> str:
    """Returns a command that merges on the board what fell off."""
    left = fallen.fall.old
    board = "" if board_path(context.repository) else "gt init && "
    options = ["--no-edit", *how.split()]
    if merge_base(context.repository, tip, left) is None:
        options.append("--allow-unrelated-histories")
    return f"{board}git -C {BOARD_FOLDER} merge {' '.join(options)} {left}"


def check_dropped(context: Context) -> Iterator[Finding]:
    """Yields a warning if git dropped something from the state branch that nobody asked it to, and it is not back."""
    if not has_state(context):
        return
    tip = state_tip(context.repository)
    objects = context.store.objects
    for dropped in dropped_commits(context.repository):
        if not objects.has(dropped):
            what = f"git dropped commits up to {dropped[:10]} from the state branch, and they are lost"
            yield Finding(Severity.WARNING, what, "fetch them from a clone that has them", commit=dropped)
        elif not objects.is_ancestor(dropped, tip):
            count = count_commits(context.repository, tip, dropped)
            what = f"git dropped {count} commit{'s' if count > 1 else ''} from the state branch"
            yield Finding(Severity.WARNING, what, "`gt status` restores them", Repair.DROPPED, commit=dropped)


def _indexed(context: Context) -> str | None:
    path = index_path(context.repository)
    with contextlib.suppress(sqlite3.Error):
        if path.is_file():
            with contextlib.closing(connect(path)) as connection:
                return indexed_commit(connection)
    return None
