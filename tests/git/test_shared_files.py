"""New files in a repository that several people share have the rights that git gives to its own."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import get_ident
from time import sleep

import pytest

from gitticks.git.repository import discover
from gitticks.git.repository_settings import share_new_files
from tests.support.repositories import git, make_repository

WRITE = """\
import os, sys
os.umask(int(sys.argv[2], 8))
from gitticks.git.locks import hold_lock
from gitticks.git.objects import Objects
from gitticks.git.repository import discover
repository = discover(sys.argv[1])
with hold_lock(repository.own_dir / "lock"):
    print(repository.objects.write_blob(b"ours"))
"""


@pytest.fixture(autouse=True)
def mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> str:
    return f"{stat.S_IMODE(path.stat().st_mode) & 0o777:03o}"


def folder_of(top: Path, object_id: str) -> Path:
    return top / ".git" / "objects" / object_id[:2]


@pytest.mark.parametrize("own", ["022", "077", "002"])
@pytest.mark.parametrize("setting", ["group", "true", "all", "2", "0640", "0666", "umask", "false"])
def test_files_are_as_git_makes_them(tmp_path: Path, setting: str, own: str) -> None:
    top = make_repository(tmp_path / "r")
    git("config", "core.sharedRepository", setting, at=top)
    made = subprocess.run(
        [sys.executable, "-c", WRITE, str(top), own], capture_output=True, text=True, check=True
    )
    ours = made.stdout.strip()
    os.umask(int(own, 8))
    theirs = git("hash-object", "-w", "--stdin", at=top, input="theirs")
    assert ours[:2] != theirs[:2]
    assert mode(folder_of(top, ours)) == mode(folder_of(top, theirs))
    assert mode(folder_of(top, ours) / ours[2:]) == mode(folder_of(top, theirs) / theirs[2:])
    git("update-ref", "refs/heads/theirs", "HEAD", at=top)
    assert mode(top / ".git/gitticks/lock") == mode(top / ".git/refs/heads/theirs")


def test_what_is_shared_is_found_where_git_must_be_asked(tmp_path: Path) -> None:
    bare = make_repository(tmp_path / "bare", bare=True)
    git("config", "include.path", "more", at=bare)
    discover(bare)
    (tmp_path / "before").touch()
    (bare / "more").write_text("[core]\n\tsharedRepository = group\n")
    discover(bare)
    (tmp_path / "after").touch()
    assert (mode(tmp_path / "before"), mode(tmp_path / "after")) == ("644", "664")


@pytest.mark.parametrize("odd", ["", "0", "off", "groups", "0400", "0888", "²"])
def test_a_word_that_shares_nothing_changes_nothing(odd: str) -> None:
    share_new_files(odd)
    assert os.umask(0) == 0o022


def test_threads_that_open_repositories_at_once_take_no_mask_of_one_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    masked, umask = [], os.umask

    def slowly(mask: int) -> int:
        masked.append(get_ident())
        sleep(0.001)  # so that the others run in between, if they may
        return umask(mask)

    with monkeypatch.context() as slow, ThreadPoolExecutor(3) as pool:
        slow.setattr(os, "umask", slowly)
        list(pool.map(share_new_files, ["group"] * 12))
    assert masked[::2] == masked[1::2]
    assert os.umask(0) == 0o002
