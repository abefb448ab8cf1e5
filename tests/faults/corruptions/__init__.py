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


def dosed() -> list[Corruption]:
    """Returns every corruption, or in a small dose one of each family."""
    if IS_FULL:
        return list(CORRUPTIONS)
    return list({one.family: one for one in reversed(CORRUPTIONS)}.values())[::-1]
