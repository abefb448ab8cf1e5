"""Who counts as the user in this clone: names that commits were made under here, and trusted ones.

The memory is a file beside the locks, a name a line; whoever deletes it is a stranger only until they write again.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError
from gitticks.safe_read import read_plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gitticks.git.repository import Repository

_FILE = "authors"
_NOBODYS = frozenset({"gitticks", "agent"})
"""Whom the engine and agents name as the author of what they create."""


def own_names(own_place: str) -> frozenset[str]:
    """Returns the names that are known in a clone; `own_place` is `<common git dir>/gitticks`."""
    try:
        return (frozenset(read_plain_text(f"{own_place}/{_FILE}").split("\n")) - {""}) | _NOBODYS
    except OSError:
        return frozenset()


def familiar_names(repository: Repository, environment: Mapping[str, str] | None = None) -> frozenset[str]:
    """Returns the names that are known in the clone, with that of the person who asks."""
    from gitticks.git.identity import identity  # asks git, which no listing does

    names = own_names(repository.own_place) | _NOBODYS
    with contextlib.suppress(GitticksError):
        names |= {identity(repository, os.environ if environment is None else environment).name}
    return names


def remember_names(repository: Repository, names: Iterable[str]) -> None:
    """Makes names known in the clone; where that cannot be written down they stay strange."""
    known = own_names(repository.own_place)
    new = sorted({name for name in names if "\n" not in name} - known - {""})
    if new:
        with contextlib.suppress(OSError):
            repository.own_dir.mkdir(parents=True, exist_ok=True)
            with open(f"{repository.own_place}/{_FILE}", "a", encoding="utf-8") as file:  # noqa: PTH123
                file.write("".join(f"{name}\n" for name in new))
