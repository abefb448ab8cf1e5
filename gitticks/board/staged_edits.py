"""Updates what is staged on the board to the state branch, in the index alone; files stay as they are.

Git may hold the index's lock while it asks us, and a command of ours that holds the store's lock may be waiting for
git. So nothing here waits for a lock while git has one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from gitticks.board.journal import Journal, load_journal, note_staged
from gitticks.board.judge_edit import is_of_people
from gitticks.board.older import Versions
from gitticks.board.place import board_path
from gitticks.board.skip_reasons import BACK, Problem, merging, on_board
from gitticks.errors import GitticksError
from gitticks.git.files import CheckoutFiles
from gitticks.git.follow import QUIET_SECONDS
from gitticks.git.indexfile import (
    INDEX,
    INDEX_LOCK,
    IndexEntry,
    hold_index_lock,
    read_entries,
    write_entries,
)
from gitticks.git.locks import hold_lock
from gitticks.git.refs import read_symbolic_ref
from gitticks.git.repository import Repository
from gitticks.git.staged import PLAIN_MODES, StagedChange, is_sequencing, read_from_files, staged_changes
from gitticks.model.ids import BOARD_FOLDER
from gitticks.store.dropped import reset_from
from gitticks.store.layout import STATE_REF, state_tip
from gitticks.store.merging.checkout import merge_resolution, merge_waiting

_AGAIN = "`git commit` again"


class Staged(NamedTuple):
    """What is staged on the board, joined with what the branch has written since; what excludes it, and warnings."""

    changes: tuple[StagedChange, ...]
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()


def bring_staged_in_step(repository: Repository, environment: Mapping[str, str]) -> Staged:
    """Joins what is staged with what the branch has written since, and says what excludes it.

    Files that only lag behind the branch are none of the commit's.
    """
    changes = staged_changes(repository, environment)
    if read_symbolic_ref(repository.git_dir, "HEAD") != STATE_REF:
        return Staged(changes)  # as during a bisect: there is nothing to be up to date with
    try:
        step = _bring(repository, environment, changes)
    except (GitticksError, OSError) as error:  # what could not be joined would take back what the branch has
        return Staged(changes, (Problem(".", f"the commit cannot be updated: {error}", _AGAIN),))
    if not step.problems and state_tip(repository) != step.tip:  # git will not take the commit either
        step.problems.append(Problem(".", "the state branch has moved on in the meantime", _AGAIN))
    if step.entries and not step.problems:
        changes = staged_changes(repository, environment)
    return Staged(changes, tuple(step.problems), tuple(step.warnings))


def _bring(
    repository: Repository, environment: Mapping[str, str], changes: tuple[StagedChange, ...]
) -> _Step:
    index = Path(environment.get("GIT_INDEX_FILE", INDEX)).name
    step = _Step.find(repository, environment, changes)
    if step.problems or not step.entries or index != INDEX:
        if not step.problems:
            # A commit of some files has an index of its own, and git's lock becomes the index of all others.
            step.write(*dict.fromkeys((index, INDEX_LOCK) if index != INDEX else ()))
        return step
    lock = repository.own_file("lock")
    with hold_lock(lock), hold_index_lock(repository.git_dir) as is_held:
        step = _Step.find(repository, environment, staged_changes(repository, environment))
        if not is_held:
            step.problems.append(Problem(".", "the board's index is locked", _AGAIN))
        elif not step.problems:
            step.write(INDEX)
    return step


@dataclass(slots=True)
class _Step:
    """What has to become of the staged files; `own` and `joins` as the journal has them."""

    repository: Repository
    journal: Journal
    tip: str
    is_merging: bool
    entries: dict[str, tuple[IndexEntry, ...]] = field(default_factory=dict)
    own: dict[str, str] = field(default_factory=dict)
    joins: dict[str, tuple[str, str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @classmethod
    def find(
        cls, repository: Repository, environment: Mapping[str, str], changes: tuple[StagedChange, ...]
    ) -> _Step:
        """Returns what has to become of these changes; nothing is written."""
        is_merging = is_sequencing(repository.git_dir)
        step = cls(repository, load_journal(repository), state_tip(repository), is_merging)
        plain = [change for change in changes if change.is_plain and not change.is_unmerged]
        whole = step.whole(plain, environment) if plain else {}
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

    def whole(
        self, changes: Sequence[StagedChange], environment: Mapping[str, str]
    ) -> Mapping[str, str | None]:
        """Returns what git has only just read from files, by path, as it is once nobody writes it; None if they continue.

        Git may have read half of what an editor was writing in place.
        """
        repository = self.repository
        board = board_path(repository)
        if board is None or Path(environment.get("GIT_INDEX_FILE", INDEX)).name == INDEX:
            return {}
        files = CheckoutFiles.at(board, repository.own_dir, "board")
        asked = [change.path for change in changes if change.new is not None]
        found: dict[str, str | None] = {}
        for path in read_from_files(repository, environment, asked) if asked else ():
            content = files.read_at_rest(path, QUIET_SECONDS)
            found[path] = None if content is None else self.repository.objects.write_blob(content)
            if content is None:
                self.warnings.append(
                    f"{BOARD_FOLDER}/{path}: somebody keeps saving it, so it is left for the next commit"
                )
        return found

    def bring(self, change: StagedChange) -> None:
        """Finds out about one file."""
        path, objects = change.path, self.repository.objects
        base, shown, against = self._began(change)
        if change.new != change.old and change.new in (base, shown):
            self.entries[path] = _entry(change, change.old, change.old_mode)
            return
        if change.new is None or change.old is None or change.old_mode not in PLAIN_MODES:
            if (base if against is None else shown) != change.old:
                self.problems.append(_conflict(change, None))
            elif change.new is not None:
                self.own[path] = change.new
            return
        content, current = objects.read_blob(change.new), objects.read_blob(change.old)
        began = b"" if base is None else objects.read_blob(base)
        merged = self._joined(path, began, content, current, against)
        if merged is None:
            self.problems.append(_conflict(change, content))
        elif merged == content:
            self.own[path] = change.new
        else:
            blob = objects.write_blob(merged)
            self.joins[path] = change.new, blob
            self.entries[path] = _entry(change, blob, change.mode)

    def _joined(
        self, path: str, began: bytes, content: bytes, current: bytes, against: bytes | None
    ) -> bytes | None:
        versions = Versions(self.repository.objects, self.journal, self.tip)
        merge = merge_waiting if self.is_merging else versions.joined
        if against is not None:
            return merge_resolution(path, began, content, current, against=against, merge=merge)
        if not self.is_merging:
            began = versions.begun_from(path, began, content)
        return content if began == current else merge(path, began, content, current)

    def write(self, *indexes: str) -> None:
        """Notes in the journal what is committed, and changes these indexes."""
        own = {} if self.is_merging else self.own  # what a merge made is nobody's own
        if own or self.joins:
            note_staged(self.repository, own, self.joins)
        for index in indexes:
            write_entries(self.repository.git_dir, self.entries, self.tip, name=index)

    def _began(self, change: StagedChange) -> tuple[str | None, str | None, bytes | None]:
        """Returns the blob that what is staged began from, and one more that the index may have without an edit.

        Where a person resolved a conflict by `git add`, the content that their edit was in conflict with comes with it.
        """
        pending = self.journal.pending.get(change.path)
        if pending is not None:
            stages = read_entries(self.repository.git_dir, [change.path]).get(change.path, {})
            if pending.is_resolved(stages):
                read = self.repository.objects.read_blob
                against = b"" if pending.against is None else read(pending.against)
                return pending.base, pending.against, against
            return pending.base, pending.against, None
        base = self.journal.base or self.tip
        if base != self.tip and is_of_people(change.path):
            base = reset_from(self.repository, base) or base
        if base == self.tip:
            return change.old, change.old, None
        objects = self.repository.objects
        try:
            blob = objects.find_file(objects.tree_of(base), change.path)
        except GitticksError:  # the commit is gone, as after the branch was replaced
            return change.old, change.old, None
        return blob, blob, None


def _entry(change: StagedChange, blob: str | None, mode: str) -> tuple[IndexEntry, ...]:
    return () if blob is None else (IndexEntry(change.path, blob, mode=mode),)


def _conflict(change: StagedChange, content: bytes | None) -> Problem:
    if change.new is None:
        back = on_board(BACK, change.path)
        return Problem(change.path, "was deleted here and changed on the branch", f"`{back}` restores it")
    return Problem(
        change.path,
        "your edit conflicts with the state branch",
        f"{merging(change.path, content)} and {_AGAIN}",
    )
