"""The journal of the board."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitticks.board.journal import Journal, Pending, PendingKind, load_journal, mark_of, save_journal
from gitticks.git.repository import Repository, discover
from tests.support.repositories import make_repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return discover(make_repository(tmp_path / "project"))


def test_comes_back_as_it_was_saved(repository: Repository) -> None:
    pending = {
        "ü.md": Pending(PendingKind.CONFLICT, "a" * 40, None),
        "b": Pending(PendingKind.DEFERRED, None, "b" * 40),
    }
    for journal in (Journal("c" * 40, pending, "1-2-3", is_index_stale=True), Journal(None, {}, "1")):
        save_journal(repository, journal)
        assert load_journal(repository) == journal


@pytest.mark.parametrize("content", [None, "", "[]", "{}", '{"pending": {"a": ["odd", null, null]}}'])
def test_a_missing_or_damaged_one_knows_nothing(repository: Repository, content: str | None) -> None:
    if content is not None:
        repository.own_dir.mkdir()
        (repository.own_dir / "board.json").write_text(content)
    assert load_journal(repository) == Journal()


def test_a_mark_changes_with_the_file(tmp_path: Path) -> None:
    file = tmp_path / "index"
    assert mark_of(file) == ""
    file.write_text("1")
    first = mark_of(file)
    (tmp_path / "aside").write_text("2")
    (tmp_path / "aside").replace(file)
    assert "" != mark_of(file) != first


@pytest.mark.parametrize(
    "values",
    [
        {"base": "no id"},
        {"base": 5},
        {"pending": {"../../x": ["deferred", None, None]}},
        {"pending": {"/etc/passwd": ["deferred", None, None]}},
        {"pending": {"a\0b": ["deferred", None, None]}},
        {"pending": {"a": ["deferred", "no id", None]}},
    ],
)
def test_a_journal_that_leads_elsewhere_is_as_none(repository: Repository, values: dict[str, object]) -> None:
    save_journal(repository, Journal(base="a" * 40))
    file = repository.own_dir / "board.json"
    file.write_text(json.dumps({**json.loads(file.read_bytes()), **values}))
    assert load_journal(repository) == Journal()


def test_a_journal_that_no_parser_can_follow_is_as_none(repository: Repository) -> None:
    save_journal(repository, Journal(base="a" * 40))
    (repository.own_dir / "board.json").write_text("[" * 100_000)
    assert load_journal(repository) == Journal()


def test_what_editors_saved_is_remembered(repository: Repository) -> None:
    blob, joined = "0123456789" * 4, "9876543210" * 4
    journal = Journal(
        base=blob, typed={"a.md": ((blob, joined),)}, seen={"b": (blob,)}, own={"c": (joined, blob)}
    )
    save_journal(repository, journal)
    assert load_journal(repository) == journal
