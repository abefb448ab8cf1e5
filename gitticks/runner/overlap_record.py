"""The conflicts that a run foresaw, kept in the clone for `gt status` and `gt inbox`, which have no time to look.

Each stands with the commits that it was found between, and counts only as long as both are where they were.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from gitticks.git.refs import read_ref
from gitticks.runner.liveness import OVERLAPS_FILE
from gitticks.safe_read import read_plain_file


class Foreseen(NamedTuple):
    """Work on a branch named `name`, what it conflicts with (other work, or the branch `base`), and where."""

    name: str
    other: str | None
    base: str
    paths: tuple[str, ...]


def write_foreseen(
    own_dir: Path, found: Iterable[tuple[Foreseen, tuple[tuple[str, str | None], ...]]]
) -> None:
    """Replaces what is foreseen, each with the refs that it holds for and where these stand."""
    body = [[*one, refs] for one, refs in found]
    with contextlib.suppress(OSError):  # only views tell it
        file = own_dir / OVERLAPS_FILE
        if not body:
            file.unlink(missing_ok=True)
            return
        own_dir.mkdir(parents=True, exist_ok=True)
        aside = file.with_suffix(".new")
        aside.write_text(json.dumps(body), encoding="utf-8")
        aside.replace(file)


def read_foreseen(common_dir: Path) -> tuple[Foreseen, ...]:
    """Returns what still holds; what cannot be read is nothing."""
    try:
        body = json.loads(read_plain_file(common_dir / "gitticks" / OVERLAPS_FILE))
        return tuple(
            Foreseen(str(name), other if other is None else str(other), str(base), tuple(map(str, paths)))
            for name, other, base, paths, refs in body
            if all(read_ref(common_dir, str(ref)) == commit for ref, commit in refs)
        )
    except (OSError, ValueError, TypeError, RecursionError):
        return ()
