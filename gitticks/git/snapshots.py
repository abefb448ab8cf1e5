"""Keeps a checkout's uncommitted changes as a commit, byte for byte, and restores them.

No filter and no conversion of line ends touches the bytes: what is kept here is what somebody had not committed yet,
and it may be all that there is of it. Ignored files are left alone, in both directions.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout, changed_paths, head
from gitticks.git.files import remove_empty_folders
from gitticks.git.identity import ENGINE_IDENTITY
from gitticks.git.merges.following import steps_of_trees
from gitticks.git.objects import Objects, open_objects
from gitticks.git.process import run_git
from gitticks.git.refs import nothing_like
from gitticks.safe_read import open_plain_file

_MOST_ARGUMENTS = 500
_LARGEST_IN_MEMORY = 16 * 1024 * 1024
_LINK, _PLAIN, _EXECUTABLE = "120000", "100644", "100755"


class KeptFile(NamedTuple):
    """The mode and the blob of a file; `blob` is None where the file is gone."""

    mode: str
    blob: str | None


class Snapshot(NamedTuple):
    """What a checkout held beyond its HEAD.

    Attributes:
        head: the commit that was checked out; None on an unborn branch.
        files: every changed and untracked file by path.
        untracked: which of them git did not know.
        left_out: paths that cannot be kept: other repositories, submodules, pipes, unreadable files.
    """

    head: str | None
    files: Mapping[str, KeptFile]
    untracked: frozenset[str]
    left_out: tuple[str, ...]


def take_snapshot(checkout: Checkout, ignored: Iterable[str] = ()) -> Snapshot:
    """Stores the bytes of all that is uncommitted, but for `ignored` folders at the top, and returns it."""
    changes = changed_paths(checkout)
    untracked = frozenset(changes.untracked)
    folders = tuple(f"{folder.rstrip('/')}/" for folder in ignored)
    files: dict[str, KeptFile] = {}
    left_out: list[str] = []
    objects = open_objects(checkout.common_dir, does_much=True)
    for path in (*changes.changed, *changes.untracked):
        if f"{path.rstrip('/')}/".startswith(folders or ("\0",)):
            continue
        kept = _keep(checkout, objects, path)
        if kept is None:
            left_out.append(path)
        elif kept.blob is not None or path not in untracked:
            files[path] = kept
    objects.sync(kept.blob for kept in files.values() if kept.blob is not None)  # there may be thousands
    return Snapshot(head(checkout), files, untracked & files.keys(), tuple(left_out))


def store_snapshot(
    checkout: Checkout, snapshot: Snapshot, message: str, extra_parents: Iterable[str] = ()
) -> str:
    """Stores a commit with the snapshot's files on top of its HEAD and returns its id; no ref names it yet."""
    scratch = checkout.git_dir / f"gitticks-snapshot-{os.getpid()}"
    environment = {"GIT_INDEX_FILE": str(scratch)}
    nothing = nothing_like(snapshot.head or "")  # only what HEAD has can be gone
    lines = [
        f"{kept.mode if kept.blob else 0} {kept.blob or nothing}\t{path}"
        for path, kept in snapshot.files.items()
        if kept.blob or nothing
    ]
    try:
        start = ["read-tree", snapshot.head] if snapshot.head else ["read-tree", "--empty"]
        run_git(start, repository_dir=checkout.git_dir, extra_environment=environment)
        run_git(
            ["update-index", "-z", "--index-info"],
            repository_dir=checkout.git_dir,
            work_tree=checkout.git_dir,
            directory=checkout.git_dir,
            input=b"".join(os.fsencode(line) + b"\0" for line in lines),
            extra_environment=environment,
        )
        tree = run_git(["write-tree"], repository_dir=checkout.git_dir, extra_environment=environment).text
    finally:
        scratch.unlink(missing_ok=True)
    parents = [parent for parent in (snapshot.head, *extra_parents) if parent]
    words = [word for parent in parents for word in ("-p", parent)]
    return run_git(
        ["-c", "core.fsync=all", "commit-tree", *words, tree],
        repository_dir=checkout.git_dir,
        input=message.encode(),
        extra_environment=ENGINE_IDENTITY.variables(),
    ).text


def kept_files(checkout: Checkout, commit: str) -> dict[str, KeptFile]:
    """Returns what a stored snapshot changed on its first parent; submodules are not among it."""
    return {
        step.path: KeptFile(_PLAIN if step.new is None else step.new_mode, step.new)
        for step in steps_of_trees(checkout.common_dir, first_parent(checkout, commit), commit)
        if step.new is None or step.new_mode in (_LINK, _PLAIN, _EXECUTABLE)
    }


def first_parent(checkout: Checkout, commit: str) -> str:
    """Returns the commit that a snapshot was stored on; the empty tree for one of an unborn branch."""
    objects = open_objects(checkout.common_dir, does_much=True)
    return next(iter(objects.parents_of(commit)), objects.blob_id(b"", "tree"))


def blobs_at(git_dir: Path, commit: str, paths: Iterable[str]) -> dict[str, str]:
    """Returns the blobs that a commit has at these paths; a path that it lacks is missing."""
    wanted = list(paths)
    found: dict[str, str] = {}
    options = ["--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit, "--"]
    for first in range(0, len(wanted), _MOST_ARGUMENTS):
        some = wanted[first : first + _MOST_ARGUMENTS]
        listed = run_git([*options, *some], repository_dir=git_dir).stdout
        entries = (line.partition("\t") for line in os.fsdecode(listed).split("\0") if line)
        found |= {path: header.split(" ")[2] for header, _, path in entries}
    return found


def read_kept(checkout: Checkout, blob: str) -> bytes:
    """Returns the bytes of a kept file."""
    return run_git(["cat-file", "blob", blob], repository_dir=checkout.git_dir).stdout


def put_file(checkout: Checkout, path: str, mode: str, content: bytes | None) -> None:
    """Makes the file at `path` these bytes, in one rename; None removes it, with folders that are empty then."""
    place = checkout.path / path
    _refuse_links(checkout.path, place)
    try:
        if content is None:
            place.unlink(missing_ok=True)
            remove_empty_folders(checkout.path, place)
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        temporary = place.with_name(f".gitticks-{os.getpid()}-{place.name[:100]}")
        temporary.unlink(missing_ok=True)
        if mode == _LINK:
            temporary.symlink_to(os.fsdecode(content))
        else:
            temporary.write_bytes(content)
            temporary.chmod(0o755 if mode == _EXECUTABLE else 0o644)
        temporary.replace(place)
    except OSError as error:
        raise GitticksError(
            f"`{place}` cannot be written: {error.strerror}",
            hint=f"`ls -ld {quote(str(place.parent))}` shows what is there",
        ) from error


def restore_tracked(checkout: Checkout, paths: Iterable[str]) -> None:
    """Makes tracked files again what the index says, by the person's own filters."""
    given = b"".join(os.fsencode(path) + b"\0" for path in paths)
    if given:
        checkout.git(["checkout-index", "--force", "-z", "--stdin"], input=given, fenced=True, trusted=True)


def discard(checkout: Checkout, snapshot: Snapshot) -> None:
    """Takes everything that a snapshot holds out of the checkout, which is then at its HEAD.

    To be called once the snapshot is stored under a ref. A file that was changed since the snapshot stays.
    """
    objects = open_objects(checkout.common_dir, does_much=True)
    for path, kept in snapshot.files.items():
        if path in snapshot.untracked and _keep(checkout, objects, path) == kept:
            put_file(checkout, path, kept.mode, None)
    unchanged_since = [
        path
        for path, kept in snapshot.files.items()
        if path not in snapshot.untracked and _keep(checkout, objects, path) == kept
    ]
    if not unchanged_since or snapshot.head is None:
        return
    options = ["--quiet", "--pathspec-from-file=-", "--pathspec-file-nul"]
    checkout.git(
        ["--literal-pathspecs", "reset", *options, snapshot.head],
        input=b"".join(os.fsencode(path) + b"\0" for path in unchanged_since),
        fenced=True,
    )
    in_head = blobs_at(checkout.git_dir, snapshot.head, unchanged_since)
    for path in unchanged_since:
        if path not in in_head:
            put_file(checkout, path, _PLAIN, None)
    restore_tracked(checkout, in_head)


def _keep(checkout: Checkout, objects: Objects, path: str) -> KeptFile | None:
    """Stores one file; None if it is nothing that can be kept."""
    place = checkout.path / path
    try:
        status = place.lstat()
        if stat.S_ISLNK(status.st_mode):
            return KeptFile(_LINK, objects.write_blob(os.fsencode(place.readlink()), synced=False))
        if not stat.S_ISREG(status.st_mode):
            return None
        descriptor, size = open_plain_file(place, follow=False)
    except (FileNotFoundError, NotADirectoryError):  # perhaps only since it was listed
        return KeptFile(_PLAIN, None)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        mode = _EXECUTABLE if status.st_mode & stat.S_IXUSR else _PLAIN
        if size <= _LARGEST_IN_MEMORY:
            return KeptFile(mode, objects.write_blob(file.read(), synced=False))
        asked = ["-c", "core.fsync=all", "hash-object", "-w", "--no-filters", "--stdin"]
        return KeptFile(mode, run_git(asked, repository_dir=checkout.git_dir, input=file).text)


def _refuse_links(top: Path, place: Path) -> None:
    folder = place.parent
    while folder != top:
        if folder.is_symlink():
            raise GitticksError(
                f"`{place}` leads through the link `{folder}`: nothing was written there",
                hint=f"`mv {quote(str(folder))} {quote(f'{folder}.link')}` moves it aside",
            )
        folder = folder.parent
