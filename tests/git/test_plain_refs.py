"""Plain moves of refs: what git sees afterwards, and that anything else is left to libgit2."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gitticks.git.identity import Identity
from gitticks.git.plain_refs import LogEntry, RefLockedError, RefMovedError, move_plain_ref, zone_at
from tests.support.repositories import git, make_repository, run_git_command

REF = "refs/heads/side"
ENTRY = LogEntry(Identity("Ada Lovelace", "ada@example.org"), "gitticks: k7f2\ncreated")


@pytest.fixture
def top(tmp_path: Path) -> Path:
    top = make_repository(tmp_path / "r", commits=3)
    git("branch", "--create-reflog", "side", "HEAD~2", at=top)
    return top


def commits(top: Path) -> list[str]:
    return git("rev-list", "--reverse", "main", at=top).split()


def test_a_move_is_what_git_would_have_made(top: Path) -> None:
    first, second, third = commits(top)
    assert move_plain_ref(top / ".git", REF, first, second, ENTRY)
    assert move_plain_ref(top / ".git", REF, second, third, ENTRY)
    assert git("rev-parse", "side", at=top) == third
    shown = git("reflog", "--format=%H %gs|%gn <%ge>", "side", at=top).splitlines()
    assert shown[0] == f"{third} gitticks: k7f2 created|Ada Lovelace <ada@example.org>"
    assert git("rev-parse", "side@{1}", "side@{2}", at=top).split() == [second, first]
    assert git("fsck", "--strict", at=top) == ""
    git("update-ref", REF, first, third, at=top)


def test_nothing_moves_from_another_value(top: Path) -> None:
    first, second, third = commits(top)
    with pytest.raises(RefMovedError):
        move_plain_ref(top / ".git", REF, second, third, ENTRY)
    assert git("rev-parse", "side", at=top) == first
    assert not (top / ".git" / f"{REF}.lock").exists()


def test_a_lock_that_is_there_stays(top: Path) -> None:
    first, second, _ = commits(top)
    lock = top / ".git" / f"{REF}.lock"
    lock.touch()
    with pytest.raises(RefLockedError):
        move_plain_ref(top / ".git", REF, first, second, ENTRY)
    assert lock.exists()
    assert git("rev-parse", "side", at=top) == first


def test_what_is_not_plain_is_left_alone(top: Path) -> None:
    first, second, third = commits(top)
    assert not move_plain_ref(top / ".git", "refs/heads/none", first, second, ENTRY)
    assert not move_plain_ref(top / ".git", "refs/heads/main", third, second, ENTRY)
    (top / ".git" / "logs" / REF).unlink()
    assert not move_plain_ref(top / ".git", REF, first, second, ENTRY)
    git("pack-refs", "--all", at=top)
    assert not move_plain_ref(top / ".git", REF, first, second, ENTRY)
    git("symbolic-ref", "refs/heads/also", REF, at=top)
    assert not move_plain_ref(top / ".git", "refs/heads/also", first, second, ENTRY)
    assert git("rev-parse", "side", at=top) == first


@pytest.mark.parametrize("is_folder", [True, False])
def test_where_a_log_cannot_be_written_the_move_goes_on_without(top: Path, *, is_folder: bool) -> None:
    first, second, _ = commits(top)
    log = top / ".git" / "logs" / REF
    log.unlink()
    if is_folder:
        (log / "inner").mkdir(parents=True)
    else:
        log.symlink_to(log)
    assert move_plain_ref(top / ".git", REF, first, second, ENTRY)
    assert (top / ".git" / REF).read_text() == f"{second}\n"


@pytest.mark.parametrize("failing", ["fsync", "write", "rename"])
def test_a_disk_that_fails_leaves_the_ref_and_no_lock(
    top: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    first, second, _ = commits(top)

    def broken(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, failing, broken)
        with pytest.raises(OSError, match="Input/output"):
            move_plain_ref(top / ".git", REF, first, second, ENTRY)
    assert git("rev-parse", "side", at=top) == first
    assert not (top / ".git" / f"{REF}.lock").exists()


MOVE = """\
import sys
from pathlib import Path
from gitticks.git.identity import ENGINE_IDENTITY
from gitticks.git.plain_refs import LogEntry, RefLockedError, RefMovedError, move_plain_ref
from gitticks.git.refs import read_ref
git_dir, ref, commits, won = Path(sys.argv[1]), sys.argv[2], sys.argv[3:], 0
for number in range(300):
    old = read_ref(git_dir, ref)
    new = commits[(commits.index(old) + 1) % len(commits)]
    try:
        won += move_plain_ref(git_dir, ref, old, new, LogEntry(ENGINE_IDENTITY, "race"))
    except (RefMovedError, RefLockedError):
        pass
print(won)
"""


def test_of_many_movers_each_wins_alone(top: Path) -> None:
    ids = commits(top)
    movers = [
        subprocess.Popen(
            [sys.executable, "-c", MOVE, str(top / ".git"), REF, *ids], stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    won = sum(int(mover.communicate(timeout=120)[0]) for mover in movers)
    assert won > 0
    log = (top / ".git" / "logs" / REF).read_text().splitlines()[1:]
    assert len(log) == won
    assert all(line.split()[0] == before.split()[1] for before, line in itertools.pairwise(log))
    assert git("rev-parse", "side", at=top) == ids[won % 3]


def test_a_ref_that_is_packed_before_it_can_be_locked_is_no_plain_case(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, _ = commits(top)
    ref = "refs/heads/a/b/side"
    git("update-ref", "--create-reflog", ref, first, at=top)
    opened = os.open

    def open_after_packing(path: str, *more: int, **options: int) -> int:
        if str(path).endswith(f"{ref}.lock"):
            git("pack-refs", "--all", at=top)
        return opened(path, *more, **options)

    monkeypatch.setattr(os, "open", open_after_packing)
    assert not move_plain_ref(top / ".git", ref, first, second, ENTRY)
    assert git("rev-parse", ref, at=top) == first


def test_git_may_pack_refs_at_the_same_time(top: Path) -> None:
    first, second, _ = commits(top)
    ref = "refs/heads/a/b/side"
    git("update-ref", "--create-reflog", ref, first, at=top)

    def pack() -> None:
        for _ in range(60):
            git("pack-refs", "--all", at=top)

    with ThreadPoolExecutor(1) as pool:
        packing = pool.submit(pack)
        old, new = first, second
        while not packing.done():
            with contextlib.suppress(RefMovedError, RefLockedError):  # the packer has it, and takes it away
                if move_plain_ref(top / ".git", ref, old, new, ENTRY):
                    old, new = new, old
            run_git_command("update-ref", ref, old, at=top)  # a file again
    packing.result()
    assert git("rev-parse", ref, at=top) == old


def test_zones_are_written_as_git_writes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    for zone, written in (("UTC", "+0000"), ("XXX-5:30", "+0530"), ("XXX+3:30", "-0330"), ("XXX+9", "-0900")):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        assert zone_at(1_700_000_000) == written
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
