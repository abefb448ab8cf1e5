"""Earlier versions of one file."""

from __future__ import annotations

from pathlib import Path

from gitticks.store.board.older import MOST_VERSIONS, older_versions
from gitticks.store.layout import STATE_REF
from tests.support.boards import write_to_branch
from tests.support.repositories import git
from tests.support.stores import make_store


def test_are_distinct_and_the_newest_first(tmp_path: Path) -> None:
    store = make_store(tmp_path / "project")
    for text in ("1", "2", None, "1", "3"):
        write_to_branch(store, {"a": text, "b": text})
    write_to_branch(store, {"c": "other"})
    assert list(older_versions(store.objects, store.tip(), "a")) == [b"3", b"1", b"2"]
    assert list(older_versions(store.objects, store.tip(), "missing/a")) == []


def test_what_a_rebase_left_behind_was_shown_too(tmp_path: Path) -> None:
    store = make_store(tmp_path / "project")
    write_to_branch(store, {"a": "1"})
    base = store.tip()
    write_to_branch(store, {"a": "shown"})
    other = git("commit-tree", f"{base}^{{tree}}", "-p", base, "-m", "rebased", at=tmp_path / "project")
    git("update-ref", STATE_REF, other, at=tmp_path / "project")
    assert list(older_versions(store.objects, store.tip(), "a")) == [b"1", b"shown"]


def test_are_no_more_than_a_few(tmp_path: Path) -> None:
    store = make_store(tmp_path / "project")
    for number in range(MOST_VERSIONS + 3):
        write_to_branch(store, {"a": str(number)})
    assert len(list(older_versions(store.objects, store.tip(), "a"))) == MOST_VERSIONS
