"""Cleans up after a `git pull` on the board that lost a race to a writer, so that the next one works.

Git fast-forwards by writing files and index first and moving the branch last. Where a writer moves the branch in
between, git gives up, but leaves files and index as if it had succeeded: staged, so that no later pull can start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitticks.board.journal import Pending, PendingKind, load_journal, save_journal
from gitticks.board.place import board_checkout, errors_of_board
from gitticks.board.step import WORKTREE_BOARD
from gitticks.git.checkouts import Checkout
from gitticks.git.files import CheckoutFiles, NotPlainError
from gitticks.git.indexfile import RESOLVED, read_entries
from gitticks.git.locks import hold_lock
from gitticks.git.objects import Objects
from gitticks.git.refs import is_object_id, read_ref
from gitticks.git.repository import Repository
from gitticks.safe_read import read_plain_file
from gitticks.store.layout import STATE_BRANCH, STATE_REF


def left_by_pull(repository: Repository, checkout: Checkout) -> Mapping[str, str | None]:
    """Returns the files that a lost pull left on the board with the blob that each holds, None for one it removed.

    Empty unless all that the pull brought is there, staged and untouched, so that every byte is in a commit.
    """
    tip = read_ref(repository.common_dir, STATE_REF)
    if tip is None or (checkout.git_dir / "MERGE_HEAD").exists():
        return {}
    objects = repository.objects
    for pulled in _pulled(repository, checkout):
        old = repository.objects.merge_base(pulled, tip) if objects.has(pulled) else None
        if old is not None and old != pulled:
            left = _left(repository, checkout, objects, (old, pulled, tip))
            if left:
                return left
    return {}


def put_back(repository: Repository) -> None:
    """Brings what a lost pull left on the board to where the state branch is.

    Raises:
        LostRaceError: the lock was not free for long.
        BoardError: the board's own files are damaged.
    """
    checkout = board_checkout(repository)
    if checkout is None:
        return
    with hold_lock(repository.own_file("lock")), errors_of_board("the board cannot be updated"):
        journal = load_journal(repository)
        left = left_by_pull(repository, checkout)
        lagging = {path: Pending(PendingKind.DEFERRED, blob, blob) for path, blob in left.items()}
        save_journal(repository, journal._replace(pending={**journal.pending, **lagging}))
    WORKTREE_BOARD.bring_in_step(repository)


def _pulled(repository: Repository, checkout: Checkout) -> Iterator[str]:
    """Yields the commits that the pull may have been of: what was fetched last, and what the remotes are known to have."""
    try:
        fetched = read_plain_file(checkout.git_dir / "FETCH_HEAD")
    except OSError:
        fetched = b""
    for line in fetched.splitlines():
        name = line.split(b"\t")[0].decode("ascii", "replace")
        if is_object_id(name):
            yield name
    for remote in sorted((repository.common_dir / "refs" / "remotes").glob(f"*/{STATE_BRANCH}")):
        commit = read_ref(repository.common_dir, str(remote.relative_to(repository.common_dir)))
        if commit is not None:
            yield commit


def _left(
    repository: Repository, checkout: Checkout, objects: Objects, commits: tuple[str, str, str]
) -> Mapping[str, str | None]:
    old, pulled, tip = (objects.tree_of(commit) for commit in commits)
    brought = {one.path: one.new for one in objects.changed_files(old, pulled)}
    entries = read_entries(checkout.git_dir, list(brought))
    files = CheckoutFiles.at(checkout.path, repository.own_dir, "board")
    for path, new in brought.items():
        staged = entries.get(path, {}).get(RESOLVED)
        try:
            content = files.read(path)
        except NotPlainError:
            return {}
        present = None if content is None else objects.blob_id(content)
        if not (None if staged is None else staged.object_id) == present == new:
            return {}
    changed = {one.path for one in objects.changed_files(tip, pulled)}
    return {path: new for path, new in brought.items() if path in changed}
