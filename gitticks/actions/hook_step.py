"""Brings what is staged on the board in step with the state branch, in the index alone: the files stay as they are.

Git may hold the index's lock while it asks us, and a command of ours that holds the store's lock may be waiting for
git. So nothing here waits for a lock while git has one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.board.skip_reasons import BACK, Problem, on_board
from gitticks.errors import GitticksError
from gitticks.git.files import CheckoutFiles
from gitticks.git.follow import QUIET_SECONDS
from gitticks.git.indexfile import INDEX, INDEX_LOCK, RESOLVED, IndexEntry, read_entries, write_entries
from gitticks.git.staged import PLAIN_MODES, StagedChange, checked_out_ref, read_from_files, staged_changes
from gitticks.model.ids import BOARD_FOLDER
from gitticks.store.layout import STATE_REF

if TYPE_CHECKING:
    from gitticks.board.journal import Journal

_AGAIN = "`git commit` again"


@dataclass(slots=True)
class _Step:
    """What has to become of the staged files; `own` and `joins` as the journal has them."""

    context: Context
    journal: Journal
    tip: str
    entries: dict[str, tuple[IndexEntry, ...]] = field(default_factory=dict)
    own: dict[str, str] = field(default_factory=dict)
    joins: dict[str, tuple[str, str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    @classmethod
    def find(cls, context: Context, changes: tuple[StagedChange, ...]) -> _Step:
        """Returns what has to become of these changes; nothing is written."""
        from gitticks.board.journal import load_journal

        step = cls(context, load_journal(context.repository), context.store.tip())
        plain = [change for change in changes if change.is_plain and not change.is_unmerged]
        whole = step.whole(plain) if plain else {}
        for change in plain:
            blob = whole.get(change.path, change.new)
            if blob is None and change.new is not None:
                step.entries[change.path] = _entry(change, change.old, change.old_mode)
                continue
            step.bring(change._replace(new=blob))
            if blob != change.new and not step.problems:
                step.entries.setdefault(change.path, _entry(change, blob, change.mode))
        if plain and all(whole.get(change.path, "") is None for change in plain):
            step.problems += (Problem(change.path, "somebody keeps saving it", _AGAIN) for change in plain)
        return step

    def whole(self, changes: Sequence[StagedChange]) -> Mapping[str, str | None]:
        """Returns what git has only just read from files, by path, as it is once nobody writes it; None if they go on.

        Git may have read half of what an editor was writing in place.
        """
        from gitticks.board import board_path

        environment, repository = self.context.world.environment, self.context.repository
        board = board_path(repository)
        if board is None or Path(environment.get("GIT_INDEX_FILE", INDEX)).name == INDEX:
            return {}
        files = CheckoutFiles.at(board, repository.own_dir, "board")
        asked = [change.path for change in changes if change.new is not None]
        found: dict[str, str | None] = {}
        for path in read_from_files(repository, environment, asked) if asked else ():
            content = files.read_at_rest(path, QUIET_SECONDS)
            found[path] = None if content is None else self.context.store.objects.write_blob(content)
            if content is None:
                self.context.warnings.append(
                    f"{BOARD_FOLDER}/{path}: somebody keeps saving it, so it is left for the next commit"
                )
        return found

    def bring(self, change: StagedChange) -> None:
        """Finds out about one file."""
        from gitticks.board.edits import joined_with, version_begun_from

        path, objects = change.path, self.context.store.objects
        base, shown = self._began(change)
        if change.new != change.old and change.new in (base, shown):
            self.entries[path] = _entry(change, change.old, change.old_mode)
            return
        if change.new is None or change.old is None or change.old_mode not in PLAIN_MODES:
            if base != change.old:
                self.problems.append(_conflict(change))
            elif change.new is not None:
                self.own[path] = change.new
            return
        content, current = objects.read_blob(change.new), objects.read_blob(change.old)
        began = b"" if base is None else objects.read_blob(base)
        began = version_begun_from(objects, self.journal, self.tip, path, (began, content))
        merged = content
        if began != current:
            joined = joined_with(objects, self.journal, path, (began, content), current)
            if joined is None:
                self.problems.append(_conflict(change))
                return
            merged = joined
        if merged == content:
            self.own[path] = change.new
        else:
            blob = objects.write_blob(merged)
            self.joins[path] = change.new, blob
            self.entries[path] = _entry(change, blob, change.mode)

    def write(self, *indexes: str) -> None:
        """Notes in the journal what is committed, and changes these indexes."""
        from gitticks.board.journal import note_staged

        repository = self.context.repository
        if self.own or self.joins:
            note_staged(repository, self.own, self.joins)
        for index in indexes:
            write_entries(repository.git_dir, self.entries, self.tip, name=index)

    def _began(self, change: StagedChange) -> tuple[str | None, str | None]:
        """Returns the blob that what is staged began from, and one more that the index may have without an edit.

        What a person resolved by `git add` began from what it was in conflict with.
        """
        from gitticks.board.journal import PendingKind

        pending = self.journal.pending.get(change.path)
        if pending is not None:
            if pending.kind is PendingKind.CONFLICT:
                stages = read_entries(self.context.repository.git_dir, [change.path]).get(change.path, {})
                if not set(stages) - {RESOLVED}:
                    return pending.against, pending.against
            return pending.base, pending.against
        if self.journal.base in (None, self.tip):
            return change.old, change.old
        objects = self.context.store.objects
        try:
            entry = objects.find(objects.tree_of(self.journal.base or self.tip), change.path)
        except GitticksError:  # the commit is gone, as after the branch was replaced
            return change.old, change.old
        blob = entry.object_id if entry is not None and entry.is_file else None
        return blob, blob


def bring_staged_in_step(context: Context) -> tuple[tuple[StagedChange, ...], tuple[Problem, ...]]:
    """Returns what is staged, joined with what the branch has written since, and what excludes it.

    Files that only lag behind the branch are none of the commit's.
    """
    changes = staged_changes(context.repository, context.world.environment)
    if checked_out_ref(context.repository.git_dir) != STATE_REF:
        return changes, ()  # as during a bisect: there is nothing to be in step with
    try:
        step = _bring(context, changes)
    except (GitticksError, OSError) as error:  # what could not be joined would take back what the branch has
        return changes, (Problem(".", f"the commit cannot be brought in step: {error}", _AGAIN),)
    if not step.problems and context.store.tip() != step.tip:  # git will not take the commit either
        step.problems.append(Problem(".", "the state branch has moved on meanwhile", _AGAIN))
    if step.entries and not step.problems:
        changes = staged_changes(context.repository, context.world.environment)
    return changes, tuple(step.problems)


def _bring(context: Context, changes: tuple[StagedChange, ...]) -> _Step:
    index = Path(context.world.environment.get("GIT_INDEX_FILE", INDEX)).name
    step = _Step.find(context, changes)
    if step.problems or not step.entries or index != INDEX:
        if not step.problems:
            # A commit of some files has an index of its own, and git's lock becomes the index of all others.
            step.write(*dict.fromkeys((index, INDEX_LOCK) if index != INDEX else ()))
        return step
    with _holding_index(context) as is_held:
        step = _Step.find(context, staged_changes(context.repository, context.world.environment))
        if not is_held:
            step.problems.append(Problem(".", "the board's index is locked", _AGAIN))
        elif not step.problems:
            step.write(INDEX)
    return step


@contextlib.contextmanager
def _holding_index(context: Context) -> Iterator[bool]:
    from gitticks.git.indexfile import hold_index_lock
    from gitticks.git.locks import hold_lock

    with hold_lock(context.repository.own_dir / "lock"), hold_index_lock(context.repository.git_dir) as held:
        yield held


def _entry(change: StagedChange, blob: str | None, mode: str) -> tuple[IndexEntry, ...]:
    return () if blob is None else (IndexEntry(change.path, blob, mode=mode),)


def _conflict(change: StagedChange) -> Problem:
    if change.new is None:
        back = on_board(BACK, change.path)
        return Problem(change.path, "is gone here and changed on the branch", f"`{back}` brings it back")
    return Problem(
        change.path,
        "your edit and the state branch exclude each other",
        f"join them, `{on_board('add', change.path)}`, then {_AGAIN}",
    )
