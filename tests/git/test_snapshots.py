from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git import snapshots
from gitticks.git.checkouts import Checkout, checkout_at
from gitticks.git.objects import Objects
from gitticks.git.repository import discover
from gitticks.git.snapshots import (
    blobs_at,
    discard,
    kept_files,
    put_file,
    read_kept,
    restore_tracked,
    store_snapshot,
    take_snapshot,
)
from tests.support.repositories import blob_id, commit_file, fsck_problems, git, make_repository


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    path = make_repository(tmp_path / "repo")
    for name in ("changed.txt", "removed.txt", "mode.sh", "odd\tname\n.txt"):
        commit_file(path, name, f"{name}\n")
    return checkout_at(discover(path), path)


def disturb(path: Path) -> None:
    (path / "changed.txt").write_bytes(b"\xff\r\n\0")
    (path / "removed.txt").unlink()
    (path / "mode.sh").chmod(0o755)
    (path / "odd\tname\n.txt").write_text("odd\n")
    (path / "new folder").mkdir()
    (path / "new folder" / "ü").write_text("new\n")
    (path / "link").symlink_to("/etc/passwd")
    (path / "staged.txt").write_text("staged\n")
    git("add", "staged.txt", at=path)


def test_a_clean_checkout_has_nothing_to_keep(checkout: Checkout) -> None:
    snapshot = take_snapshot(checkout)
    assert (snapshot.files, snapshot.left_out) == ({}, ())


def test_everything_uncommitted_is_kept_byte_for_byte(checkout: Checkout) -> None:
    (checkout.path / ".gitattributes").write_text("* text=auto eol=lf\n")
    disturb(checkout.path)
    snapshot = take_snapshot(checkout)
    commit = store_snapshot(checkout, snapshot, "kept")
    files = kept_files(checkout, commit)
    assert files == dict(snapshot.files)
    assert read_kept(checkout, files["changed.txt"].blob or "") == b"\xff\r\n\0"
    assert read_kept(checkout, files["link"].blob or "") == b"/etc/passwd"
    assert files["mode.sh"].mode == "100755"
    assert files["removed.txt"].blob is None
    assert git("rev-parse", f"{commit}^", at=checkout.path) == git("rev-parse", "HEAD", at=checkout.path)
    assert fsck_problems(checkout.path) == ""


def test_keeping_changes_nothing_in_the_checkout(checkout: Checkout) -> None:
    disturb(checkout.path)
    before = git("status", "--porcelain", at=checkout.path)
    store_snapshot(checkout, take_snapshot(checkout), "kept")
    assert git("status", "--porcelain", at=checkout.path) == before


def test_discarding_leaves_the_checkout_at_its_head(checkout: Checkout) -> None:
    disturb(checkout.path)
    discard(checkout, take_snapshot(checkout))
    assert git("status", "--porcelain", at=checkout.path) == ""
    assert not (checkout.path / "new folder").exists()
    assert (checkout.path / "removed.txt").read_text() == "removed.txt\n"


def test_what_was_saved_after_the_snapshot_is_not_discarded(checkout: Checkout) -> None:
    disturb(checkout.path)
    snapshot = take_snapshot(checkout)
    (checkout.path / "changed.txt").write_text("saved since\n")
    (checkout.path / "new folder" / "ü").write_text("saved since\n")
    discard(checkout, snapshot)
    assert (checkout.path / "changed.txt").read_text() == "saved since\n"
    assert (checkout.path / "new folder" / "ü").read_text() == "saved since\n"


def test_ignored_folders_and_what_cannot_be_kept_are_left_out(checkout: Checkout) -> None:
    for name in (".gt", "own"):
        (checkout.path / name).mkdir()
        (checkout.path / name / "file").write_text("x")
    make_repository(checkout.path / "nested")
    snapshot = take_snapshot(checkout, (".gt", "own/"))
    assert snapshot.files == {}
    assert snapshot.left_out == ("nested/",)


def test_no_filter_of_the_repository_runs(checkout: Checkout, tmp_path: Path) -> None:
    disturb(checkout.path)
    (checkout.path / ".gitattributes").write_text("* filter=evil\n")
    trap = tmp_path / "trap"
    git("config", "filter.evil.clean", f"touch {trap}; cat", at=checkout.path)
    git("config", "filter.evil.smudge", f"touch {trap}; cat", at=checkout.path)
    snapshot = take_snapshot(checkout)
    store_snapshot(checkout, snapshot, "kept")
    discard(checkout, snapshot)
    assert not trap.exists()


def test_nothing_is_written_through_a_link(checkout: Checkout, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (checkout.path / "folder").symlink_to(outside)
    with pytest.raises(GitticksError, match="leads through the link"):
        put_file(checkout, "folder/file", "100644", b"x")
    target = tmp_path / "target"
    target.write_text("mine")
    (checkout.path / "link").symlink_to(target)
    put_file(checkout, "link", "100755", b"x")
    assert target.read_text() == "mine"
    assert os.access(checkout.path / "link", os.X_OK)


def test_tracked_files_are_restored_from_the_index(checkout: Checkout) -> None:
    (checkout.path / "changed.txt").write_text("x")
    (checkout.path / "removed.txt").unlink()
    restore_tracked(checkout, ["changed.txt", "removed.txt"])
    restore_tracked(checkout, [])
    assert git("status", "--porcelain", at=checkout.path) == ""


def test_blobs_of_many_paths_are_found(checkout: Checkout) -> None:
    paths = ["changed.txt", "odd\tname\n.txt", *(f"missing-{number}" for number in range(1200))]
    assert blobs_at(checkout.git_dir, "HEAD", paths).keys() == {"changed.txt", "odd\tname\n.txt"}
    assert blobs_at(checkout.git_dir, "HEAD", []) == {}


def test_an_unborn_branch_has_files_to_keep_too(tmp_path: Path) -> None:
    path = make_repository(tmp_path / "empty", commits=0)
    (path / "new.txt").write_text("new\n")
    checkout = checkout_at(discover(path), path)
    commit = store_snapshot(checkout, take_snapshot(checkout), "kept")
    assert kept_files(checkout, commit).keys() == {"new.txt"}


def test_a_pipe_that_takes_the_place_of_a_file_is_left_out(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    disturb(checkout.path)
    changed, opened = checkout.path / "changed.txt", os.open

    def open_late(path: Path, flags: int, *more: int, **named: int) -> int:
        if path == changed:
            changed.unlink()
            os.mkfifo(changed)
        return opened(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", open_late)
    assert take_snapshot(checkout).left_out == ("changed.txt",)


def test_what_is_kept_is_on_disk(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    disturb(checkout.path)
    synced: set[str] = set()
    monkeypatch.setattr(Objects, "sync", lambda _objects, ids: synced.update(ids))
    snapshot = take_snapshot(checkout)
    assert synced == {kept.blob for kept in snapshot.files.values() if kept.blob is not None}


def test_a_large_file_is_kept_by_git_itself(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "_LARGEST_IN_MEMORY", 100)
    content = b"\xff\r\n\0" * 100
    (checkout.path / "large").write_bytes(content)
    (checkout.path / "small").write_bytes(b"\r\n")
    snapshot = take_snapshot(checkout)
    kept = {path: snapshot.files[path].blob for path in ("large", "small")}
    assert kept == {"large": blob_id(content), "small": blob_id(b"\r\n")}
    assert read_kept(checkout, blob_id(content)) == content
    discard(checkout, snapshot)
    assert not (checkout.path / "large").exists()


@pytest.mark.parametrize("is_link", [False, True])
def test_a_new_file_that_goes_away_while_it_is_looked_at_is_none(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, *, is_link: bool
) -> None:
    fleeting = checkout.path / "fleeting"
    fleeting.symlink_to("nowhere") if is_link else fleeting.touch()
    look = Path.lstat

    def look_last(path: Path) -> os.stat_result:
        status = look(path)
        if path == fleeting:
            fleeting.unlink()
        return status

    monkeypatch.setattr(Path, "lstat", look_last)
    snapshot = take_snapshot(checkout)
    assert (snapshot.files, snapshot.untracked, snapshot.left_out) == ({}, frozenset(), ())
