from __future__ import annotations

from pathlib import Path

from gitticks.model.ids import TaskId
from gitticks.store.layout import Round, read_rounds, rounds_folder
from tests.support.stores import make_task
from tests.support.tasks import make_store, write_files

K7F2 = TaskId("k7f2")


def test_files_are_gathered_by_their_number(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, id=K7F2)
    assert read_rounds(store.repository, store.tip(), K7F2) == ()
    folder = rounds_folder(K7F2)
    write_files(
        store,
        {
            f"{folder}/02-handoff.md": b"second\n",
            f"{folder}/01-handoff.md": b"first",
            f"{folder}/01-review.md": b"FAIL\n\nno \xff tests",
            f"{folder}/01-review-tests.md": b"VERDICT: BLOCKING",
            f"{folder}/100-review.md": b"late",
            f"{folder}/notes.txt": b"foreign",
            f"{folder}/x1-review.md": b"foreign",
            f"{folder}/03/handoff.md": b"foreign",
        },
    )
    first, second, late = read_rounds(store.repository, store.tip(), K7F2)
    assert first == Round(
        1, {"handoff": "first", "review": "FAIL\n\nno \ufffd tests", "review-tests": "VERDICT: BLOCKING"}
    )
    assert (second.handoff, second.review) == ("second", None)
    assert (late.number, late.handoff, late.review) == (100, None, "late")
