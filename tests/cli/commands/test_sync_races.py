"""What others push while a sync is under way: it is taken in and kept, and never pushed over."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.support.clones import Clone, make_two_clones
from tests.support.projects import SESSION
from tests.support.repositories import fsck_problems, git

STATE = "gitticks/state"


@pytest.fixture
def clones(tmp_path: Path) -> list[Clone]:
    return make_two_clones(tmp_path)


def pushes_first(other: Clone, monkeypatch: pytest.MonkeyPatch, *, times: int) -> None:
    """Lets the next pushes find that `other` was quicker: it writes and pushes after our fetch, before our push."""
    real, folder = shutil.which("git"), other.path.parent / "quicker"
    folder.mkdir()
    clean = f'env -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE "{real}" -C "{other.board}"'
    (folder / "git").write_text(
        f"""#!/bin/sh
case " $* " in
*" push "*)
    if [ "$(ls "{folder}" | wc -l)" -le {times} ]; then
        : > "{folder}/$$"
        echo "quicker" >> "{other.board}/quicker.txt"
        {clean} add quicker.txt && {clean} commit -qm quicker && {clean} push -q origin {STATE}
    fi >&2
    ;;
esac
exec "{real}" "$@"
"""
    )
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize("times", [1, 2])
def test_what_was_pushed_between_our_fetch_and_our_push_is_kept(
    clones: list[Clone], monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    one, other = clones
    task = one.create("Ours")
    with monkeypatch.context() as patched:
        pushes_first(other, patched, times=times)
        ran = one.gt("sync")
    assert ran.code == 0, ran.seen
    bare = one.path.parent / "remote.git"
    assert git("rev-parse", STATE, at=bare) == one.tip()
    assert git("merge-base", other.tip(), STATE, at=bare) == other.tip(), "nothing was pushed over"
    assert git("show", f"{STATE}:quicker.txt", at=bare) == "\n".join(["quicker"] * times)
    other.ok("sync")
    assert other.task(task).title == "Ours"
    assert fsck_problems(bare) == ""


def test_an_agents_sync_takes_up_nothing_that_is_saved(clones: list[Clone]) -> None:
    one = clones[0]
    task = one.create("Ours")
    before = one.tip()
    file = one.board_file(task)
    file.write_text(file.read_text().replace("title: Ours", "title: Mine"))
    for words in ("sync", "status"):
        one.gt(words, environment=SESSION)
        assert one.tip() == before
    assert "title: Mine" in file.read_text()
