"""What git merged by lines is joined by meaning from its markers, and loses no text of either side."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.document.taskfile import TaskFile
from gitticks.model.notes import Section
from gitticks.store.merging.mending import join_marked
from tests.support.repositories import run_git_command

PATH = "tasks/f2/k7f2/TASK.md"
BASE = "---\nid: k7f2\ntitle: The title\nstatus: pending\n{times}---\n\nThe summary.\n"
TIMES = "created: 2026-11-22T10:00:00Z\nupdated: 2026-11-22T10:00:0{second}Z\n"


def merged_by_lines(folder: Path, ours: str, base: str, theirs: str) -> bytes:
    """Returns what git leaves of three versions that exclude each other."""
    for name, text in (("ours", ours), ("base", base), ("theirs", theirs)):
        (folder / name).write_text(text)
    done = run_git_command("merge-file", "--stdout", "ours", "base", "theirs", at=folder)
    assert done.returncode > 0
    return done.stdout.encode()


@pytest.mark.parametrize("times", [TIMES, ""], ids=["with times", "without times"])
def test_a_hand_off_that_does_not_stand_becomes_a_note(tmp_path: Path, times: str) -> None:
    base = BASE.format(times=times.format(second=0))
    one = (
        BASE.format(times=times.format(second=1)).replace("pending", "done") + "\n## Handoff\n\n- DONE: one\n"
    )
    other = (
        BASE.format(times=times.format(second=2)).replace("pending", "done")
        + "\n## Handoff\n\n- DONE: other\n"
    )
    data = merged_by_lines(tmp_path, one, base, other)
    for known in (base.encode(), None):
        joined = join_marked(data, PATH, known)
        assert joined is not None
        file = TaskFile.parse(joined.data, PATH)
        stands = file.section(Section.HANDOFF)
        assert stands in ("- DONE: one", "- DONE: other")
        loses = "- DONE: other" if stands == "- DONE: one" else "- DONE: one"
        [note] = file.entries(Section.NOTES)
        assert note.text == f"`## Handoff` of the other side:\n\n{loses}"
