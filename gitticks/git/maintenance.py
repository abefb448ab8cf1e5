"""What the doctor looks after: locks left behind, damage, and loose objects to pack."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gitticks.flocks import is_lock_held
from gitticks.git.indexfile import OWN_MARK
from gitticks.git.locks import AGE_SECONDS, LOCK_SIZES, clear_stale_ref_lock, hold_lock
from gitticks.git.process import printable, run_git
from gitticks.git.refs import OBJECT_ID
from gitticks.git.untrusted_config import read_all
from gitticks.processes import parse_identity
from gitticks.safe_read import read_plain_file

if TYPE_CHECKING:
    from gitticks.git.repository import Repository

_OWN_REFS = ("refs/heads/gitticks", "refs/gitticks")
_LONGEST_NOTE = 4096
_MOST_BYTES = 1024**3

_OBJECT_ID = re.compile(rf"\b{OBJECT_ID}\b")
_LONGEST_REASON = 200
_COMPLAINT = "error: "

LONGEST_SECONDS = 300.0
_SAMPLE = "17"
_FOLDERS = 256
_DEFAULT_AUTO = 6700
_NAME = re.compile(r"[0-9a-f]{38}(?:[0-9a-f]{24})?")


class LockFile(NamedTuple):
    """A `.lock` of git's: of a ref, or None for an index, and by which process, where it says so."""

    path: Path
    ref: str | None
    age_seconds: float
    taker: int | None
    size_bytes: int

    @property
    def is_of_git(self) -> bool:
        """True if it has a size that git gives the locks of its refs; only such are cleared."""
        return self.size_bytes in LOCK_SIZES

    @property
    def is_old(self) -> bool:
        """True if it is older than any command of git keeps one, short of an open editor."""
        return self.age_seconds > AGE_SECONDS


class Holder(NamedTuple):
    """Who holds a lock of ours: the process, None if it does not say, and since when."""

    pid: int | None
    seconds: float


def ref_locks(repository: Repository) -> tuple[LockFile, ...]:
    """Returns the locks of refs that are gitticks' own, branches first."""
    common_dir = repository.common_dir
    paths = [path for folder in _OWN_REFS for path in sorted(_below(common_dir / folder))]
    found = [_look(path, str(path.relative_to(common_dir).with_suffix(""))) for path in paths]
    return tuple(lock for lock in found if lock is not None)


def _below(folder: Path) -> Iterator[Path]:
    """Yields the lock files; a folder that goes away meanwhile, as with the last branch in it, holds none."""
    for parent, _, names in os.walk(folder):
        yield from (Path(parent, name) for name in names if name.endswith(".lock"))


def index_lock(git_dir: Path) -> LockFile | None:
    """Returns the lock of a checkout's index; None if it is free."""
    return _look(git_dir / "index.lock", None)


def holder_of(lock: Path) -> Holder | None:
    """Returns who holds a lock of ours; None if nobody does."""
    if not is_lock_held(lock):
        return None
    try:
        identity = parse_identity(lock.read_text(encoding="utf-8", errors="replace").partition("\n")[0])
        age = time.time() - lock.stat().st_mtime
    except OSError:
        return None
    return Holder(None if identity is None else identity.pid, max(0.0, age))


def clear_ref_locks(repository: Repository) -> None:
    """Removes the locks of our refs whose takers are dead.

    Raises:
        LostRaceError: a writer of ours is at work and does not end.
    """
    with hold_lock(repository.own_file("lock")) as held:
        for lock in ref_locks(repository):
            clear_stale_ref_lock(repository.common_dir, lock.ref or "", held)


def _look(path: Path, ref: str | None) -> LockFile | None:
    try:
        status = path.lstat()
        words = read_plain_file(path, _MOST_BYTES)[:_LONGEST_NOTE]
    except OSError:
        return None
    number = os.fsdecode(words.removeprefix(OWN_MARK)).strip()
    is_named = words.startswith(OWN_MARK) and number.isdecimal()  # git's own name nobody
    taker = int(number) if is_named else None
    return LockFile(path, ref, max(0.0, time.time() - status.st_mtime), taker, status.st_size)


class Damage(NamedTuple):
    """What git says of the first damage that it met; `object_id` is None where it names none."""

    reason: str
    object_id: str | None


def find_damage(repository: Repository, commit: str, *, thorough: bool = False) -> Damage | None:
    """Returns the first damage in what `commit` reaches; None if there is none.

    What a partial clone left with its remote is no damage. With `thorough` every object is read whole and compared
    with its id; else commits and trees are read, and blobs are only to be there.
    """
    walk = ["rev-list", "--objects", "--quiet", "--missing=allow-promisor"]
    walk += ["--verify-objects"] if thorough else []
    done = run_git([*walk, "--end-of-options", commit], repository_dir=repository.common_dir, check=False)
    # Of an object that holds something else git only complains.
    if done.code == 0 and _COMPLAINT not in done.stderr:
        return None
    named = _OBJECT_ID.search(done.stderr)
    first = printable(done.stderr, _LONGEST_REASON).partition(" / ")[0]
    return Damage(
        first.removeprefix("fatal: ").removeprefix("error: ") or f"git exited with {done.code}",
        named.group() if named else None,
    )


def has_many_loose_objects(repository: Repository) -> bool:
    """True if there are more than git's `gc.auto` allows, judged as git does by one folder of 256.

    False where the person switched that off, by `gc.auto` 0 or by `maintenance.auto`.
    """
    sample = sum(1 for _ in _names(repository, _SAMPLE))
    if sample == 0 or _setting(repository, "maintenance.auto", "bool") == "false":
        return False
    allowed = int(_setting(repository, "gc.auto", "int") or _DEFAULT_AUTO)
    return allowed > 0 and sample > -(-allowed // _FOLDERS)


def pack_loose_objects(repository: Repository) -> int:
    """Moves all loose objects into one pack, and the refs into one file, and returns how many objects there were.

    To be called with the store's lock held: a writer who has just found an object loose relies on its file.
    """
    folders = [f"{number:02x}" for number in range(_FOLDERS)]
    ids = [folder + name for folder in folders for name in _names(repository, folder)]
    if not ids:
        return 0
    pack = repository.common_dir / "objects" / "pack" / "pack"
    run_git(
        ["pack-objects", "--quiet", str(pack)],
        repository_dir=repository.common_dir,
        input="".join(f"{one}\n" for one in ids).encode(),
        timeout_seconds=LONGEST_SECONDS,
    )
    run_git(["prune-packed", "--quiet"], repository_dir=repository.common_dir)
    # Git does this only where it packs by itself, and every call that lists refs opens each that is a file.
    run_git(["pack-refs", "--all"], repository_dir=repository.common_dir, check=False)
    return len(ids)


def _names(repository: Repository, folder: str) -> Iterator[str]:
    try:
        entries = os.listdir(repository.common_dir / "objects" / folder)  # noqa: PTH208 - names are enough
    except FileNotFoundError:
        return
    yield from (name for name in entries if _NAME.fullmatch(name))


def _setting(repository: Repository, name: str, kind: str) -> str:
    """Returns a setting of git, empty if it is not set or makes no sense; as the person has it, unfenced."""
    if all(key != name.lower() or scope == "command" for scope, key, _ in read_all(repository.common_dir)):
        return ""
    asked = ["config", f"--type={kind}", "--get", name]
    return run_git(asked, repository_dir=repository.common_dir, check=False, trusted=True).text
