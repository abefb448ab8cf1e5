"""Maintenance of objects: damage, loose objects to pack, objects that a partial clone left at its remote."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from gitticks.errors import GitticksError
from gitticks.git.process import printable, run_git
from gitticks.git.refs import OBJECT_ID
from gitticks.git.untrusted_config import fence_programs, read_all

if TYPE_CHECKING:
    from gitticks.git.repository import Repository

_OBJECT_ID = re.compile(rf"\b{OBJECT_ID}\b")
_LOOSE = re.compile(r"^(?:count|size): (\d+)$", re.MULTILINE)
_LONGEST_REASON = 200
_COMPLAINT = "error: "

LONGEST_SECONDS = 300.0
_SAMPLE = "17"
_FOLDERS = 256
_DEFAULT_AUTO = 6700
_NAME = re.compile(r"[0-9a-f]{38}(?:[0-9a-f]{24})?")


class Damage(NamedTuple):
    """What git says of the first damage that it met; `object_id` is None where it names none."""

    reason: str
    object_id: str | None


@dataclass(frozen=True, slots=True)
class LooseObjects:
    """How many objects are in files of their own, and the room that they take."""

    count: int
    kibibytes: int


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


def count_loose_objects(repository: Repository) -> LooseObjects:
    """Returns what `git maintenance run` would put into packs."""
    done = run_git(["count-objects", "-v"], repository_dir=repository.common_dir)
    count, size = (int(number) for number in _LOOSE.findall(done.text))
    return LooseObjects(count, size)


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


def fetch_missing(common_dir: Path, object_id: str) -> None:
    """Fetches an object that is not stored here."""
    fence = fence_programs(common_dir)
    if fence.remotes:
        raise GitticksError(
            f"the object `{object_id}` is missing, and `{fence.remotes[0]}` of this repository names a program "
            "that gitticks does not run to fetch it",
            hint=f"`git -C {quote(str(common_dir))} cat-file -e {object_id}` fetches it, if you trust that program",
        )
    asked, variables = ["cat-file", "-e", object_id], fence.variables
    done = run_git(asked, repository_dir=common_dir, check=False, trusted=True, extra_environment=variables)
    if done.code != 0:
        raise GitticksError(
            f"the object `{object_id}` is missing from `{common_dir}`",
            hint="`git fsck` shows what is damaged; `git fetch` may restore it",
        )
