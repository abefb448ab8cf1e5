"""Every way in which the state is broken, by what is broken."""

from tests.faults.corruptions import board, branch, files, index_file, objects, own_folder, state_ref

CORRUPTIONS = (
    *index_file.CORRUPTIONS,
    *state_ref.CORRUPTIONS,
    *objects.CORRUPTIONS,
    *board.CORRUPTIONS,
    *own_folder.CORRUPTIONS,
    *files.CORRUPTIONS,
    *branch.CORRUPTIONS,
)
