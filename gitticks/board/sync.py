"""Updates the board's files and index to a commit of the state branch."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple, Self

from gitticks.board.journal import Journal, Pending, PendingKind, mark_of, with_typed
from gitticks.board.judge_edit import is_of_people
from gitticks.board.older import Versions, older_versions
from gitticks.board.place import BoardReport
from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout, changed_paths
from gitticks.git.files import CheckoutFiles, NotPlainError, set_mode
from gitticks.git.follow import (
    EXECUTABLE,
    PLAIN,
    Followed,
    Follower,
    Move,
    Outcome,
    Rehearsed,
    Settler,
    Version,
    changed_places,
)
from gitticks.git.indexfile import OURS, RESOLVED, IndexEntry, index_ready, read_entries, write_entries
from gitticks.git.objects import Objects
from gitticks.git.objects.trees import is_possible
from gitticks.git.repository import Repository
from gitticks.git.staged import has_staged_changes, is_sequencing, own_commits
from gitticks.store.dropped import reset_from
from gitticks.store.merging.checkout import merge_resolution, merge_saved, merge_waiting

_MANY_FILES = 200
"""So many are not brought to the disk one after the other."""


class _Way(NamedTuple):
    """How a file is brought in step, and its entry of the index."""

    follower: Follower
    settler: Settler


@dataclass(slots=True)
class Sync:
    """One go at bringing the board up to date with the commit `tip`; its index must be locked."""

    repository: Repository
    checkout: Checkout
    objects: Objects
    journal: Journal
    tip: str
    files: CheckoutFiles
    of_edits: _Way
    of_merges: _Way
    entries: Mapping[str, Mapping[int, IndexEntry]] = field(default_factory=dict)
    changed: dict[str, tuple[IndexEntry, ...]] = field(default_factory=dict)
    pending: dict[str, Pending] = field(default_factory=dict)
    rescued: list[Path] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    own_commits: tuple[str, ...] = ()
    joins: dict[str, tuple[str, str]] = field(default_factory=dict)
    rehearsed: tuple[str, tuple[Move, ...]] | None = None
    found: dict[Move, tuple[str | None, Rehearsed]] = field(default_factory=dict)
    is_merging: bool = False
    is_index_known: bool = False
    has_staged: bool = False
    ready: tuple[Path, str, dict[str, tuple[IndexEntry, ...]]] | None = None

    @classmethod
    def of(cls, repository: Repository, checkout: Checkout, journal: Journal, tip: str) -> Self:
        """Returns a sync with its tools laid out."""
        objects = repository.objects
        files = CheckoutFiles.at(checkout.path, repository.own_dir, "board")
        versions, read, write = Versions(objects, journal, tip), objects.read_blob, objects.write_blob
        saved, waiting = cache(merge_saved), cache(merge_waiting)
        of_edits = _Way(Follower(files, saved, versions.older, versions.typed), Settler(saved, read, write))
        of_merges = _Way(Follower(files, waiting), Settler(waiting, read, write))
        return cls(repository, checkout, objects, journal, tip, files, of_edits, of_merges)

    def rehearse(self) -> None:
        """Finds out what there is to do and brings new contents to the disk, so that `run` has little left.

        What it finds is remembered by what it was asked of, so that an edit in between is seen all the same.
        """
        mark = mark_of(self.checkout.git_dir / "index")
        moves = tuple(self._moves())
        self._look_at_index(moves)
        self._prepare(moves)
        self.rehearsed = mark, moves
        if len(moves) < _MANY_FILES:
            self.own_commits = own_commits(self.checkout.git_dir)
            for move in map(self._resolved_by_person, moves):
                began = self._began(move)
                version = self._version(move, began)
                found = self._way(move).follower.rehearse(version)
                if found is not None:
                    self.found[move] = began, found
            puts = [
                one.wanted for _, one in self.found.values() if one.outcome in (Outcome.TAKEN, Outcome.MERGED)
            ]
            self.files.ready.add(self.files.scratch, [one for one in puts if one is not None])

    def _moves_again(self) -> Iterable[Move]:
        """Returns what there is to do, without asking again what nobody can have changed since the rehearsal."""
        mark, moves = self.rehearsed or ("", ())
        is_same = self.rehearsed is not None and self.journal.base is not None
        moves = moves if is_same else tuple(self._moves())
        if mark == "" or mark != mark_of(self.checkout.git_dir / "index"):
            self._look_at_index(moves)
        if self.rehearsed is None:
            self._prepare(moves)
        return moves

    def run(self) -> tuple[Journal, BoardReport]:
        """Updates every path that can be, and returns what to record and what to report."""
        moves = {move.path: move for move in self._moves_again()}
        if len(moves) < _MANY_FILES:
            self.own_commits = own_commits(self.checkout.git_dir)
        try:
            # What is removed goes first, so that a folder can take a file's place, and a file a folder's.
            for move in sorted(moves.values(), key=lambda one: one.new is not None):
                self._bring(self._resolved_by_person(move))
        finally:
            self.files.ready.drop()
        self._write_entries()
        journal = self.journal._replace(
            base=self.tip,
            pending=self.pending,
            index_mark=self._mark_in_step(moves),
            is_index_stale=self.journal.is_index_stale or len(self.changed) >= _MANY_FILES,
            seen={
                path: blobs
                for path, blobs in self.journal.seen.items()
                if path not in moves or path in self.pending
            },
        )
        return with_typed(journal, self.joins), self._report()

    @contextlib.contextmanager
    def ready_index(self) -> Iterator[None]:
        """Lets git write, before the index is locked, what it is to be if nobody touches files or index meanwhile."""
        mark, moves = self.rehearsed or ("", ())
        likely = {move.path: _plain_entry(move) for move in moves}
        if not likely or not mark:
            yield
            return
        with index_ready(self.checkout.git_dir, likely, self.tip) as aside:
            self.ready = aside, mark, likely
            yield

    def _write_entries(self) -> None:
        aside, mark, likely = self.ready or (None, "", {})
        index = self.checkout.git_dir / "index"
        if aside is not None and likely == self.changed and mark == mark_of(index) and aside.exists():
            aside.replace(index)
        else:
            write_entries(self.checkout.git_dir, self.changed, self.tip)

    def _mark_in_step(self, moves: Mapping[str, Move]) -> str:
        """Returns the mark of the index if nothing in it differs from the tip; git is asked only where it may."""
        self.has_staged = any(entries != _plain_entry(moves[path]) for path, entries in self.changed.items())
        mark = mark_of(self.checkout.git_dir / "index")
        if self.is_index_known and not self.has_staged:
            return mark
        return "" if has_staged_changes(self.checkout.git_dir, self.checkout.path) else mark

    def _prepare(self, moves: Collection[Move]) -> None:
        """Brings the contents of many files to the disk at once; where that fails, each will say why."""
        if len(moves) < _MANY_FILES:
            return
        self.contents = {one: self.objects.read_blob(one) for move in moves if (one := move.new) is not None}
        with contextlib.suppress(OSError):
            contents = (self.contents[move.new] for move in moves if move.new is not None)
            self.files.ready.add(self.files.scratch, contents)

    def sweep(self) -> None:
        """Clears what killed processes left of their preparations."""
        self.rescued += self.files.sweep(lambda content: self.objects.has(self.objects.blob_id(content)))

    def _report(self) -> BoardReport:
        conflicts, deferred = (
            tuple(sorted(path for path, one in self.pending.items() if one.kind is kind))
            for kind in (PendingKind.CONFLICT, PendingKind.DEFERRED)
        )
        return BoardReport(conflicts, deferred, tuple(self.rescued))

    def _moves(self) -> Iterator[Move]:
        """Yields what the branch changed since, and what is pending from before."""
        tip_tree = self.objects.tree_of(self.tip)
        changes = {path: (old, new) for path, old, new in self._changes(tip_tree)}
        for path, pending in self.journal.pending.items():
            new = changes[path][1] if path in changes else self.objects.find_file(tip_tree, path)
            changes[path] = (pending.base, new)
        for path, (old, new) in changes.items():
            if not all(map(is_possible, path.split("/"))):
                continue  # it would lead out of the board, or into `.git`
            entry = self.objects.find(tip_tree, path) if new is None else None
            if entry is not None and not entry.is_file and not entry.is_tree:
                # A link or a submodule, which somebody put on the branch past all checks, is no file to follow.
                continue
            seen = self.journal.pending[path].against if path in self.journal.pending else None
            mode = EXECUTABLE if self.objects.is_executable(tip_tree, path) else PLAIN
            yield Move(path, old, new, mode, seen)

    def _changes(self, tip_tree: str) -> Iterable[tuple[str, str | None, str | None]]:
        base = self.journal.base
        try:
            if base is not None:
                changed = [*self.objects.changed_files(self.objects.tree_of(base), tip_tree)]
                reset = reset_from(self.repository, base)
                if reset is not None:
                    since = self.objects.changed_files(self.objects.tree_of(reset), tip_tree)
                    changed = [one for one in changed if not is_of_people(one.path)]
                    changed += [one for one in since if is_of_people(one.path)]
                return [(one.path, one.old, one.new) for one in changed]
        except GitticksError:
            # The commit can be gone after the state branch was replaced. Else the next call tries again: without the
            # base, a file that the board does not have yet would look as if a person had deleted it.
            if base is not None and self.objects.is_ancestor(base, self.tip):
                raise
        return self._changes_without_base(tip_tree)

    def _changes_without_base(self, tip_tree: str) -> Iterator[tuple[str, str | None, str | None]]:
        """Yields what differs from the tip: what lags behind from what it is, and what is edited from the tip's version.

        A file that is exactly an older version lags behind, and so does a missing one that the index does not know.
        """
        differing = changed_paths(self.checkout)
        paths = sorted({*differing.changed, *differing.untracked})
        known = read_entries(self.checkout.git_dir, paths)
        for path in paths:
            new = self.objects.find_file(tip_tree, path)
            with contextlib.suppress(NotPlainError):
                present = self.files.read(path)
                if present is None and path not in known:
                    yield path, None, new
                    continue
                is_old = present is not None and present in older_versions(self.objects, self.tip, path)
                yield path, (self.objects.blob_id(present) if is_old and present is not None else new), new

    def _look_at_index(self, moves: Iterable[Move]) -> None:
        """Finds out what the index says; where nobody wrote it since, the journal knows without asking git."""
        is_untouched = mark_of(self.checkout.git_dir / "index") == self.journal.index_mark != ""
        self.found.clear()
        self.is_merging = is_sequencing(self.checkout.git_dir)
        self.is_index_known = is_untouched and not self.journal.pending
        if self.is_index_known:
            bases = {move.path: move.base for move in moves if move.base is not None}
            self.entries = {path: {RESOLVED: IndexEntry(path, base)} for path, base in bases.items()}
        else:
            self.entries = read_entries(self.checkout.git_dir, [move.path for move in moves])

    def _resolved_by_person(self, move: Move) -> Move:
        """Takes a conflict that a person resolved by `git add` for an edit; the index was not taken anywhere since."""
        return move if self._resolved_against(move) is None else move._replace(seen=None)

    def _resolved_against(self, move: Move) -> bytes | None:
        """Returns what the branch had that a person joined with their edit by `git add`; None where there is no such."""
        pending = self.journal.pending.get(move.path)
        if pending is None or not pending.is_resolved(self.entries.get(move.path, ())):
            return None
        return self._content(pending.against) or b""

    def _is_merged(self, move: Move) -> bool:
        """True if git merges on the board, and a file is as it was merged, or waits to be."""
        entries = self.entries.get(move.path, {})
        staged = entries.get(RESOLVED)
        is_as_it_was = staged is not None and staged.object_id in (move.base, move.new, move.seen)
        return self.is_merging and bool(entries) and not is_as_it_was

    def _version(self, move: Move, began: str | None) -> Version:
        # What git merged, or we joined with it since, is staged as it is in the file.
        staged = self.entries.get(move.path, {}).get(RESOLVED) if self._is_merged(move) else None
        whole = None if staged is None else self._content(staged.object_id)
        return Version(move.path, self._content(began), self._content(move.new), whole)

    def _way(self, move: Move) -> _Way:
        way = self.of_merges if self._is_merged(move) else self.of_edits
        against = self._resolved_against(move)
        if against is None:
            return way
        merge = partial(merge_resolution, against=against, merge=way.settler.merge)
        return _Way(Follower(self.files, merge), way.settler._replace(merge=merge))

    def _bring(self, move: Move) -> None:
        began, found = self.found.get(move) or (self._began(move), None)
        version = self._version(move, began)
        follower, settler = self._way(move)
        followed = follower.follow(version, found)
        self.rescued += followed.rescued
        if followed.outcome is Outcome.TAKEN and move.base is None and move.mode == EXECUTABLE:
            set_mode(self.checkout.path / move.path, executable=True)
        if followed.saved is not None and followed.present is not None:
            write = self.objects.write_blob
            self.joins[move.path] = write(followed.saved), write(followed.present)
        before = self.journal.pending.get(move.path)
        is_conflict = before is not None and before.kind is PendingKind.CONFLICT
        settled = settler.settle(
            move,
            followed,
            self.entries.get(move.path, {}),
            conflict_is_ours=is_conflict and not self.is_merging,
        )
        if settled is not None:
            self.changed[move.path] = settled.entries
            # A staged edit that could not be joined is kept, unless it is only what a killed call had put there.
            unstaged = settled.unstaged
            if unstaged is not None and unstaged not in older_versions(self.objects, self.tip, move.path):
                self.rescued.append(self.files.keep_bytes(unstaged, move.path))
        self._note(move._replace(base=began), followed, before)

    def _began(self, move: Move) -> str | None:
        """Returns the blob that what is in the file began from.

        That is the last of what somebody saw there, or what the person committed themselves, that is on the branch
        since: who saves once more while that happens changed their own text, not the branch's older one.
        """
        is_certain = self._is_merged(move) or self._resolved_against(move) is not None
        known = set() if is_certain else self._known_to_person(move)
        if not known - {move.base}:
            return move.base
        base = self._content(move.base)
        versions = self.of_edits.follower.older_versions(move.path)
        since = takewhile(lambda content: content != base, versions)
        last = next((content for content in since if self.objects.blob_id(content) in known), None)
        return move.base if last is None or self._is_larger_step(move, last) else self.objects.blob_id(last)

    def _is_larger_step(self, move: Move, last: bytes) -> bool:
        """True if what is in the file shows less of a later version than of the one that it was at."""
        present = self.files.read(move.path)
        base = self._content(move.base)
        if present is None or base is None:
            return False
        return changed_places(last, present) > changed_places(base, present)

    def _known_to_person(self, move: Move) -> set[str]:
        known = set(self.journal.seen.get(move.path, ()))
        with contextlib.suppress(GitticksError, OSError):
            own = {blob for commit in self.own_commits if (blob := self._put_there(commit, move.path))}
            # What was joined as it was committed nobody has seen yet.
            own -= {joined for typed, joined in self.journal.typed.get(move.path, ()) if typed != joined}
            # A file that is still as it was at the base lags behind, whoever committed.
            if own - {move.base} and self.files.read(move.path) != self._content(move.base):
                known |= own
        return known

    def _put_there(self, commit: str, path: str) -> str | None:
        """Returns the blob of a file that a commit changed; what it only found there is nothing that its maker wrote."""
        blob = self.objects.find_file(self.objects.tree_of(commit), path)
        parents = self.objects.parents_of(commit)
        before = self.objects.find_file(self.objects.tree_of(parents[0]), path) if parents else None
        return None if blob == before else blob

    def _note(self, move: Move, followed: Followed, before: Pending | None) -> None:
        entries = self.entries.get(move.path, {})
        if followed.outcome is Outcome.CONFLICT:
            against = move.new
            if set(entries) - {RESOLVED}:  # these stay, and with them what git shows of the branch
                against = entries[OURS].object_id if OURS in entries else None
            self.pending[move.path] = Pending(PendingKind.CONFLICT, move.base, against)
        elif followed.outcome is Outcome.DEFERRED:
            kind = before.kind if before is not None else PendingKind.DEFERRED
            against = before.against if before is not None and kind is not PendingKind.DEFERRED else move.new
            self.pending[move.path] = Pending(kind, move.base, against)
        elif self._resolved_against(move) is not None and followed.present != self._content(move.new):
            self.pending[move.path] = Pending(PendingKind.RESOLVED, move.new, move.new)

    def _content(self, object_id: str | None) -> bytes | None:
        if object_id is None:
            return None
        if object_id not in self.contents:
            self.contents[object_id] = self.objects.read_blob(object_id)
        return self.contents[object_id]


def _plain_entry(move: Move) -> tuple[IndexEntry, ...]:
    """Returns what the index holds of a file that nobody has staged otherwise."""
    return () if move.new is None else (IndexEntry(move.path, move.new, RESOLVED, move.mode),)
