"""Earlier versions of one file."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.board import older
from gitticks.board.journal import Journal
from gitticks.board.older import MOST_VERSIONS, Versions, older_versions
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


def test_what_was_committed_since_the_tip_was_read_is_no_older_version(tmp_path: Path) -> None:
    store = make_store(tmp_path / "project")
    for text in ("1", "2"):
        write_to_branch(store, {"a": text})
    tip = store.tip()
    write_to_branch(store, {"a": "3"})
    assert list(older_versions(store.objects, tip, "a")) == [b"2", b"1"]


def test_are_no_more_than_a_few(tmp_path: Path) -> None:
    store = make_store(tmp_path / "project")
    for number in range(MOST_VERSIONS + 3):
        write_to_branch(store, {"a": str(number)})
    assert len(list(older_versions(store.objects, store.tip(), "a"))) == MOST_VERSIONS


def test_the_versions_are_those_of_each_commit_however_many_are_looked_at_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path / "project")
    for text in ("1", "2", None, "1", "3"):
        write_to_branch(store, {"a ü:1": text, "b": text})
        write_to_branch(store, {"c": f"beside {text}"})
    link = git("hash-object", "-w", "--stdin", at=tmp_path / "project", input="elsewhere")
    tree = git("mktree", at=tmp_path / "project", input=f"120000 blob {link}\ta ü:1\n")
    linked = git("commit-tree", tree, "-p", store.tip(), "-m", "a link", at=tmp_path / "project")
    git("update-ref", STATE_REF, linked, at=tmp_path / "project")
    write_to_branch(store, {"a ü:1": "4"})
    for few in (0, 1, 5, 100):
        monkeypatch.setattr(older, "_FEW", few)
        assert list(older_versions(store.objects, store.tip(), "a ü:1")) == [b"4", b"3", b"1", b"2"]
        assert list(older_versions(store.objects, store.tip(), "missing/a")) == []


def test_an_edit_began_from_what_the_editor_saved_last_though_an_earlier_save_is_as_near(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path / "project")
    head, tail = "".join(f"line {one}\n" for one in range(9)), "".join(f"last {one}\n" for one in range(9))
    first, typed = head + "a\n" + tail, head + "a\nb\n" + tail
    joined, now = typed + "note\n", head + "a\nb\nc\n" + tail
    write_to_branch(store, {"a": head + tail})
    write_to_branch(store, {"a": first})  # saved and committed on this board, which stands there
    write_to_branch(store, {"a": joined})  # a commit's hook joined what was saved with a note
    blob = store.objects.write_blob
    pair = (blob(typed.encode()), blob(joined.encode()))
    journal = Journal(typed={"a": (pair,)}, own={"a": (blob(first.encode()),)})
    versions = Versions(store.objects, journal, store.tip())
    assert versions.begun_from("a", first.encode(), now.encode()) == typed.encode()
    assert versions.joined("a", typed.encode(), now.encode(), joined.encode()) == f"{now}note\n".encode()
    # Where the branch has nothing newer, what was saved and is saved otherwise now is one change.
    alone = Versions(store.objects, journal._replace(typed={}), store.tip())
    assert alone.begun_from("a", joined.encode(), (typed + "mine\n").encode()) != first.encode()
