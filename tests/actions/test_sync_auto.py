from __future__ import annotations

import errno
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import NoReturn

import pytest

from gitticks.actions import sync_auto
from gitticks.actions.context import Context
from gitticks.actions.sync_auto import keeping, share, sync_after
from gitticks.errors import MachineError
from gitticks.git.locks import hold_lock
from gitticks.runner.claiming import RunClaims
from tests.support.clones import make_two_clones
from tests.support.repositories import git, make_repository
from tests.support.tasks import make_store
from tests.support.waiting import LONGEST_SECONDS, until


def test_a_look_that_fails_is_warned_of_once_and_ends_no_later_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync_auto, "LOOK_SECONDS", 0.01)
    claims, warned, looks = RunClaims.none(), list[str](), list[int]()

    def look() -> None:
        looks.append(len(looks))
        if len(looks) < 4:
            raise MachineError("no space left")

    monkeypatch.setattr(claims, "look", look)
    with keeping(claims, warned.append):
        until(lambda: len(looks) > 5, "the looks after those that failed")
    assert warned == ["keeping claims failed and will be tried again: no space left"]


def test_a_bug_in_a_look_ends_no_later_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync_auto, "LOOK_SECONDS", 0.01)
    claims, warned, looks = RunClaims.none(), list[str](), list[int]()

    def look() -> None:
        looks.append(len(looks))
        if len(looks) < 3:
            raise ZeroDivisionError

    monkeypatch.setattr(claims, "look", look)
    with keeping(claims, warned.append):
        until(lambda: len(looks) > 4, "the looks after the bug")
    (said,) = warned
    assert "keeping claims failed and will be tried again: " in said
    assert "ZeroDivisionError" in said


def full(*_: object, **__: object) -> NoReturn:
    raise OSError(errno.ENOSPC, "no space left")


def test_claims_that_cannot_be_given_back_at_the_end_are_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    claims, warned = RunClaims.none(), list[str]()
    monkeypatch.setattr(claims, "end", full)
    with keeping(claims, warned.append):
        pass
    assert warned == ["keeping claims failed at the end: [Errno 28] no space left"]


def test_a_machine_that_refuses_while_tasks_are_shared_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_store(tmp_path / "r", [])
    context = Context(directory=tmp_path / "r")
    monkeypatch.setattr(sync_auto, "sync", full)
    assert share(context) is None
    assert context.warnings == ["not shared: [Errno 28] no space left"]


def test_a_sync_that_runs_already_is_waited_for_no_longer_than_a_remote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path / "r", [])
    make_repository(tmp_path / "remote.git", bare=True)
    git("remote", "add", "origin", str(tmp_path / "remote.git"), at=tmp_path / "r")
    context = Context(directory=tmp_path / "r")
    monkeypatch.setattr(sync_auto, "LONGEST_SECONDS", 0.05)
    with ThreadPoolExecutor(1) as pool, hold_lock(store.repository.own_file("sync.lock")):
        assert wait([pool.submit(share, context)], LONGEST_SECONDS / 6).done
    assert context.warnings[0].startswith("not shared: ")


def test_where_nothing_asks_for_it_the_settings_are_not_even_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise AssertionError("the settings were read")

    make_store(tmp_path / "r", [])
    context = Context(directory=tmp_path / "r")
    monkeypatch.setattr("gitticks.store.settings.load_settings", fail)
    assert sync_after(context) is None
    git_config = tmp_path / "r/.git/config"
    git_config.write_text(git_config.read_text() + '[gitticks "sync"]\n\tauto = push\n')
    with pytest.raises(AssertionError, match="were read"):
        sync_after(context)


def test_what_a_merge_did_is_said_as_by_gt_sync(tmp_path: Path) -> None:
    one, other = make_two_clones(tmp_path)
    one.make("k7f2", title="First")
    one.ok("sync")
    other.ok("sync")
    one.ok("update", "k7f2", "--priority", "0")
    one.ok("sync")
    other.ok("update", "k7f2", "--priority", "4")
    context = Context(directory=other.path)
    share(context)
    assert context.warnings == ["k7f2: both sides set priority; the later value wins"]
