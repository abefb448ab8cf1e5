"""Single entries of an index."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gitticks.git.indexfile import IndexEntry, index_aside, read_entries, write_entries
from tests.support.repositories import commit_file, git, make_repository

COMMIT = "0" * 40
NAME = "ü [x] *.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_repository(tmp_path / "project")
    commit_file(root, NAME, "one\n")
    return root


def test_reads_literal_paths_with_all_stages(root: Path) -> None:
    blob = git("hash-object", NAME, at=root)
    found = read_entries(root / ".git", [NAME, "missing", "*"])
    assert found == {NAME: {0: IndexEntry(NAME, blob)}}
    assert read_entries(root / ".git", []) == {}


def test_changes_adds_and_removes_entries(root: Path) -> None:
    blob = git("hash-object", "-w", "--stdin", at=root, input="new\n")
    (root / NAME).write_text("new\n")
    (root / "b").write_text("new\n")
    write_entries(
        root / ".git", {NAME: [IndexEntry(NAME, blob)], "b": [IndexEntry("b", blob)], "README.md": []}, COMMIT
    )
    assert git("status", "--porcelain", "-z", at=root).split("\0") == [
        "D  README.md",
        "A  b",
        f"M  {NAME}",
        "?? README.md",
        "",
    ]


def test_writes_conflicts(root: Path) -> None:
    blob = git("hash-object", NAME, at=root)
    write_entries(root / ".git", {NAME: [IndexEntry(NAME, blob, stage) for stage in (1, 2, 3)]}, COMMIT)
    assert set(read_entries(root / ".git", [NAME])[NAME]) == {1, 2, 3}
    write_entries(root / ".git", {NAME: [IndexEntry(NAME, blob)]}, COMMIT)
    assert set(read_entries(root / ".git", [NAME])[NAME]) == {0}


def test_an_index_in_another_form_is_gits(root: Path) -> None:
    git("update-index", "--index-version", "4", at=root)
    blob = git("hash-object", NAME, at=root)
    write_entries(root / ".git", {"b": [IndexEntry("b", blob)]}, COMMIT)
    assert read_entries(root / ".git", ["b", "missing"]) == {"b": {0: IndexEntry("b", blob)}}
    assert not list((root / ".git").glob("gitticks-index*"))


def test_more_paths_are_asked_for_than_a_command_may_name(root: Path) -> None:
    git("update-index", "--index-version", "4", at=root)
    paths = [f"{'folder/' * 30}{number}" for number in range(20_000)]
    assert read_entries(root / ".git", [*paths, NAME]).keys() == {NAME}


def test_a_failure_changes_nothing_and_leftovers_are_no_obstacle(root: Path) -> None:
    (root / ".git" / "gitticks-index.lock").write_bytes(b"")
    (root / ".git" / "gitticks-index").write_bytes(b"torn")
    before = (root / ".git" / "index").read_bytes()
    with pytest.raises(ZeroDivisionError), index_aside(root / ".git") as aside:  # noqa: PT012
        git("rm", "-q", "--cached", "README.md", at=root, environment={"GIT_INDEX_FILE": str(aside)})
        raise ZeroDivisionError
    assert (root / ".git" / "index").read_bytes() == before
    write_entries(root / ".git", {"README.md": []}, COMMIT)
    assert read_entries(root / ".git", ["README.md"]) == {}
    assert not list((root / ".git").glob("gitticks-index*"))


@pytest.mark.parametrize("version", ["2", "4"])
def test_an_equally_long_change_in_the_second_of_the_index_stays_to_be_seen(root: Path, version: str) -> None:
    file, index = root / NAME, root / ".git" / "index"
    git("update-index", "--index-version", version, at=root)
    while True:  # what git notes, and the change, have to fall into one second
        file.write_text("one\n")
        blob = git("hash-object", "-w", NAME, at=root)
        write_entries(root / ".git", {NAME: [IndexEntry(NAME, blob)]}, COMMIT)
        if version == "4":
            git("update-index", "-q", "--refresh", at=root)
        file.write_text("two\n")
        seconds = {path.stat().st_mtime_ns // 1_000_000_000 for path in (file, index)}
        if len(seconds) == 1:
            break
    second = seconds.pop()
    while time.time() < second + 1.05:
        time.sleep(0.05)
    write_entries(root / ".git", {"README.md": []}, COMMIT)
    assert git("diff-files", "--name-only", "-z", at=root) == f"{NAME}\0"
