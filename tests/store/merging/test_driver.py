"""The driver in a repository's configuration: set once, brought up to date, never named without its command."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.document.taskfile import TaskFile
from gitticks.git.repository import discover
from gitticks.model.notes import Section
from gitticks.store.merging.checkout import (
    driver_command,
    has_merge_driver,
    install_merge_driver,
    join_marked,
)
from tests.support.repositories import git, make_repository, run_git_command

PATH = "tasks/f2/k7f2/TASK.md"
BASE = "---\nid: k7f2\ntitle: The title\nstatus: pending\n{times}---\n\nThe summary.\n"
TIMES = "created: 2026-11-22T10:00:00Z\nupdated: 2026-11-22T10:00:0{second}Z\n"


def test_it_is_set_once_and_brought_up_to_date(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    repository = discover(top)
    assert not has_merge_driver(repository)
    install_merge_driver(repository)
    assert has_merge_driver(repository)
    assert git("config", "merge.gitticks.driver", at=top) == driver_command()
    once = (top / ".git/config").read_bytes()
    install_merge_driver(repository)
    assert (top / ".git/config").read_bytes() == once
    git("config", "merge.gitticks.driver", "/gone/gt merge-driver", at=top)
    install_merge_driver(repository)
    assert git("config", "merge.gitticks.driver", at=top) == driver_command()


def test_other_branches_never_ask_for_it(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    install_merge_driver(discover(top))
    asked = git("check-attr", "merge", "--", "TASK.md", at=top)
    assert asked == "TASK.md: merge: unspecified"


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
