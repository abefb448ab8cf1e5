"""Every way in which the state is broken, by what is broken."""

from __future__ import annotations

from tests.faults.corruptions import board, branch, files, index_file, objects, own_folder, state_ref
from tests.faults.corruptions.corruption import Corruption
from tests.support.doses import IS_FULL

CORRUPTIONS = (
    *index_file.CORRUPTIONS,
    *state_ref.CORRUPTIONS,
    *objects.CORRUPTIONS,
    *board.CORRUPTIONS,
    *own_folder.CORRUPTIONS,
    *files.CORRUPTIONS,
    *branch.CORRUPTIONS,
)


ALWAYS = frozenset(
    {
        "index bytes",
        "ref content",
        "task blob, cold",
        "rewound",
        "rewritten",
        "foreign file",
        "id twice",
    }
)
"""Families that every dose tries, since everybody meets them some day."""


def dosed(*, one_in: int, first: int = 0) -> list[Corruption]:
    """Returns every corruption; in a small dose one of each of some families: the `first`, and each `one_in` after it."""
    if IS_FULL:
        return list(CORRUPTIONS)
    families = list({one.family: one for one in reversed(CORRUPTIONS)}.values())[::-1]
    chosen = {one.family for one in families[first::one_in]} | ALWAYS
    return [one for one in families if one.family in chosen]
