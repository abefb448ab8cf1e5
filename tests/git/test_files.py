"""Replacing files that a person may be saving at the same moment."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitticks.git import files as module
from gitticks.git.disk import exchange
from gitticks.git.files import CheckoutFiles, NotPlainError, PreparedFiles, Replaced, write_synced


@pytest.fixture
def files(tmp_path: Path) -> CheckoutFiles:
    (tmp_path / "root").mkdir()
    return CheckoutFiles.at(tmp_path / "root", tmp_path / "own", "test")


@pytest.fixture(params=["exchange", "links"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "links":
        monkeypatch.setattr(module, "exchange", lambda *_: False)
    return str(request.param)


def save_between(monkeypatch: pytest.MonkeyPatch, saves: list[Callable[[], object]]) -> None:
    """Lets a person save in the moment before each swap."""

    def swap(first: Path, second: Path) -> bool:
        if saves:
            saves.pop(0)()
        return exchange(first, second)

    monkeypatch.setattr(module, "exchange", swap)


def kept(files: CheckoutFiles) -> list[bytes]:
    return [file.read_bytes() for file in sorted(files.rescue.iterdir())] if files.rescue.exists() else []


def test_replaces_what_was_expected_and_keeps_its_mode(files: CheckoutFiles, way: str) -> None:
    file = files.root / "a"
    file.write_bytes(b"old")
    file.chmod(0o640)
    assert files.replace("a", b"old", b"new") == Replaced(is_done=True)
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"new", 0o640)
    assert list(files.scratch.iterdir()) == []


def test_leaves_what_was_not_expected(files: CheckoutFiles, way: str) -> None:
    (files.root / "a").write_bytes(b"saved meanwhile")
    assert files.replace("a", b"old", b"new") == Replaced(is_done=False)
    assert (files.root / "a").read_bytes() == b"saved meanwhile"
    assert list(files.scratch.iterdir()) == []
    assert kept(files) == []


def test_makes_new_files_only_where_none_is(files: CheckoutFiles) -> None:
    assert files.replace("x/y/a", None, b"new") == Replaced(is_done=True)
    assert files.replace("x/y/a", None, b"newer") == Replaced(is_done=False)
    assert files.read("x/y/a") == b"new"


def test_removes_only_what_was_expected_and_then_empty_folders(files: CheckoutFiles) -> None:
    files.replace("x/y/a", None, b"old")
    files.replace("x/b", None, b"b")
    assert files.replace("x/y/a", b"other", None) == Replaced(is_done=False)
    assert files.read("x/y/a") == b"old"
    assert files.replace("x/y/a", b"old", None) == Replaced(is_done=True)
    assert not (files.root / "x" / "y").exists()
    assert files.read("x/b") == b"b"
    assert files.replace("x/missing", b"old", None) == Replaced(is_done=False)
    assert files.replace("x/missing", None, None) == Replaced(is_done=True)


def test_a_file_that_vanished_is_not_made_again(files: CheckoutFiles, way: str) -> None:
    assert files.replace("a", b"old", b"new") == Replaced(is_done=False)
    assert not (files.root / "a").exists()


def test_a_save_in_the_last_moment_stays(files: CheckoutFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    file = files.root / "a"
    file.write_bytes(b"old")
    save_between(monkeypatch, [lambda: file.write_bytes(b"mine")])
    assert files.replace("a", b"old", b"new") == Replaced(is_done=False)
    assert file.read_bytes() == b"mine"
    assert kept(files) == []


def test_a_second_save_while_swapping_back_keeps_both(
    files: CheckoutFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = files.root / "a"
    file.write_bytes(b"old")
    save_between(
        monkeypatch,
        [lambda: file.write_bytes(b"first"), lambda: file.write_bytes(b"second")],
    )
    replaced = files.replace("a", b"old", b"new")
    assert not replaced.is_done
    assert sorted([file.read_bytes(), *kept(files)]) == [b"first", b"second"]


def test_a_deletion_while_swapping_back_keeps_what_was_saved(
    files: CheckoutFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = files.root / "a"
    file.write_bytes(b"old")
    save_between(monkeypatch, [lambda: file.write_bytes(b"mine"), file.unlink])
    assert not files.replace("a", b"old", b"new").is_done
    assert kept(files) == [b"mine"]


def at_look(monkeypatch: pytest.MonkeyPatch, number: int, save: Callable[[Path], object]) -> None:
    """Lets a person save just before a file that was put aside is looked at for the `number`th time."""
    looks, look = iter(range(1, number + 2)), module._content

    def content(aside: Path) -> bytes | None:
        if next(looks) == number:
            save(aside)
        return look(aside)

    monkeypatch.setattr(module, "_content", content)


def test_a_save_into_the_file_that_is_being_removed_and_another_are_both_kept(
    files: CheckoutFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = files.root / "a"
    file.write_bytes(b"old")
    at_look(monkeypatch, 1, lambda aside: (aside.write_bytes(b"first"), file.write_bytes(b"second")))
    replaced = files.replace("a", b"old", None)
    assert [one.read_bytes() for one in replaced.rescued] == [b"first"]
    assert (file.read_bytes(), kept(files)) == (b"second", [b"first"])


def test_without_an_exchange_a_save_into_the_replaced_file_is_kept(
    files: CheckoutFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "exchange", lambda *_: False)
    file = files.root / "a"
    file.write_bytes(b"old")
    at_look(monkeypatch, 2, lambda aside: aside.write_bytes(b"mine"))
    replaced = files.replace("a", b"old", b"new")
    assert [one.read_bytes() for one in replaced.rescued] == [b"mine"]
    assert (file.read_bytes(), kept(files)) == (b"new", [b"mine"])


def test_links_folders_and_pipes_are_not_read(files: CheckoutFiles, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a").write_text("outside")
    (files.root / "link").symlink_to(tmp_path / "outside" / "a")
    (files.root / "linked").symlink_to(tmp_path / "outside")
    (files.root / "folder").mkdir()
    os.mkfifo(files.root / "pipe")
    for path in ("link", "linked/a", "folder", "pipe"):
        with pytest.raises(NotPlainError):
            files.read(path)
    with pytest.raises(NotPlainError):
        files.replace("linked/b", None, b"new")
    assert files.read("missing/a") is None
    assert files.age_seconds("missing/a") is None


def test_sweeping_deletes_only_what_is_stored_elsewhere(files: CheckoutFiles) -> None:
    assert files.sweep(lambda _: True) == ()
    files.scratch.mkdir(parents=True)
    (files.scratch / "1").write_bytes(b"stored")
    (files.scratch / "2").write_bytes(b"mine")
    (files.scratch / "3").write_bytes(b"")
    (path,) = files.sweep(lambda content: content == b"stored")
    assert path.read_bytes() == b"mine"
    assert list(files.scratch.iterdir()) == []


def test_synced_files_are_replaced_whole(tmp_path: Path) -> None:
    write_synced(tmp_path / "x" / "note", b"1")
    (tmp_path / "x" / "note.new").write_bytes(b"a killed writer left more than this")
    write_synced(tmp_path / "x" / "note", b"2")
    assert [file.name for file in (tmp_path / "x").iterdir()] == ["note"]
    assert (tmp_path / "x" / "note").read_bytes() == b"2"


def test_a_folder_that_goes_away_meanwhile_is_made_again(files: CheckoutFiles) -> None:
    files.replace("a/b/c", None, b"1")
    (files.root / "a" / "b" / "c").unlink()
    (files.root / "a" / "b").rmdir()
    assert files.replace("a/b/d", None, b"2").is_done
    assert (files.root / "a" / "b" / "d").read_bytes() == b"2"


def test_a_file_that_takes_a_folders_place_meanwhile_is_left_alone(files: CheckoutFiles) -> None:
    files.replace("a/b", None, b"1")
    (files.root / "a" / "b").unlink()
    (files.root / "a").rmdir()
    (files.root / "a").write_bytes(b"a person's")
    with pytest.raises(NotPlainError):
        files.read("a/b")
    with pytest.raises(NotPlainError):
        files.replace("a/c", None, b"2")
    assert (files.root / "a").read_bytes() == b"a person's"
    assert list(files.scratch.iterdir()) == []


@pytest.mark.parametrize("kind", ["file", "link", "pipe"])
def test_what_is_no_folder_is_refused(tmp_path: Path, kind: str) -> None:
    (tmp_path / "real").mkdir()
    place = tmp_path / "real" / "odd"
    if kind == "file":
        place.touch()
    elif kind == "link":
        place.symlink_to(tmp_path)
    else:
        os.mkfifo(place)
    files = CheckoutFiles.at(tmp_path, tmp_path / "own", "x")
    with pytest.raises(NotPlainError, match="`real/odd/x/y` is not a regular file"):
        files.read("real/odd/x/y")
    with pytest.raises(NotPlainError, match="`real/odd/x/y` is not a regular file"):
        files.replace("real/odd/x/y", None, b"new")


def test_folders_may_be_in_more_others_than_there_is_room_for_calls(tmp_path: Path) -> None:
    path = "a/" * 1200 + "file"
    files = CheckoutFiles.at(tmp_path, tmp_path / "own", "x")
    assert files.read(path) is None
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("a", dir_fd=folder)
        inner = os.open("a", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    try:
        assert files.read(path) is None
    finally:
        subprocess.run(["rm", "-r", str(tmp_path / "a")], check=True)  # Python has not the room either


def test_each_is_taken_once_and_the_rest_is_removed(tmp_path: Path) -> None:
    ready = PreparedFiles()
    ready.add(tmp_path / "aside", [b"one", b"two", b"one"])
    first, second = ready.take(b"one"), ready.take(b"one")
    assert first is not None
    assert second is not None
    assert first != second
    assert first.read_bytes() == second.read_bytes() == b"one"
    assert ready.take(b"one") is None
    assert ready.take(b"three") is None
    ready.drop()
    assert sorted((tmp_path / "aside").iterdir()) == sorted([first, second])


def test_nothing_is_left_where_they_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "aside").write_text("no folder")
    ready = PreparedFiles()
    with pytest.raises(OSError, match="aside"):
        ready.add(tmp_path / "aside", [b"one"])
    assert ready.take(b"one") is None


def test_a_checkout_puts_what_is_ready_in_place(tmp_path: Path) -> None:
    files = CheckoutFiles.at(tmp_path / "own", tmp_path / "own", "board")
    files.ready.add(files.scratch, [b"one", b"two"])
    assert files.replace("a/file", None, b"one").is_done
    assert files.replace("a/file", b"one", b"two").is_done
    assert (files.root / "a" / "file").read_bytes() == b"two"
    assert list(files.scratch.iterdir()) == []
