"""Looks for damage among the objects of one commit's history, without a look at anything else in the repository."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gitticks.git.process import printable, run_git
from gitticks.git.refs import OBJECT_ID
from gitticks.git.repository import Repository

_OBJECT_ID = re.compile(rf"\b{OBJECT_ID}\b")
_LOOSE = re.compile(r"^(?:count|size): (\d+)$", re.MULTILINE)
_LONGEST_REASON = 200
_COMPLAINT = "error: "


@dataclass(frozen=True, slots=True)
class Damage:
    """What git says of the first damage that it met; `object_id` is None where it names none."""

    reason: str
    object_id: str | None


@dataclass(frozen=True, slots=True)
class LooseObjects:
    """How many objects lie in files of their own, and the room that they take."""

    count: int
    kibibytes: int


def find_damage(repository: Repository, commit: str, *, thorough: bool = False) -> Damage | None:
    """Returns the first damage in what `commit` reaches; None if there is none.

    What a partial clone left with its remote is no damage.

    Args:
        repository: where to look.
        commit: where to begin.
        thorough: read every object whole and compare it with its id; else commits and trees are read, and blobs are
            only to be there.
    """
    walk = [
        "rev-list",
        "--objects",
        "--quiet",
        "--missing=allow-promisor",
        *(["--verify-objects"] if thorough else []),
    ]
    done = run_git([*walk, "--end-of-options", commit], repository_dir=repository.common_dir, check=False)
    if (
        done.code == 0 and _COMPLAINT not in done.stderr
    ):  # of an object that holds something else git only complains
        return None
    named = _OBJECT_ID.search(done.stderr)
    first = printable(done.stderr, _LONGEST_REASON).partition(" / ")[0]
    return Damage(
        first.removeprefix("fatal: ").removeprefix("error: ") or f"git ended with {done.code}",
        named.group() if named else None,
    )


def count_loose_objects(repository: Repository) -> LooseObjects:
    """Returns what `git maintenance run` would put into packs."""
    done = run_git(["count-objects", "-v"], repository_dir=repository.common_dir)
    count, size = (int(number) for number in _LOOSE.findall(done.text))
    return LooseObjects(count, size)
