"""A pack that is written at once: git takes it for one of its own, and nothing is left of one that failed."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git import pack_writing
from gitticks.git.identity import Identity
from gitticks.git.objects import Objects
from gitticks.git.repository import discover
from tests.support.repositories import fsck_problems, git, make_repository

ADA = Identity("Ada Lovelace", "ada@example.org")
CONTENTS = (b"", b"a\n", b"\0\xff" * 9, b"x" * 15, b"x" * 16, b"y" * 2047, b"y" * 2048, b"ab" * 200_000)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "r")


@pytest.fixture
def objects(top: Path) -> Objects:
    return Objects.open(discover(top))


def packs_of(top: Path) -> list[str]:
    return sorted(path.name for path in (top / ".git/objects/pack").iterdir())


def loose_of(top: Path) -> int:
    return int(git("count-objects", at=top).split()[0])


def write_many(objects: Objects) -> str:
    chance = random.Random(3)
    files = {f"a/{number % 40}/{number}": chance.randbytes(number) for number in range(400)}
    with objects.packed():
        tree = objects.update_tree(None, {**files, "same": b"1", "as/this": b"1"})
        assert tree is not None
        return objects.write_commit(tree, (), author=ADA, message="many")


def test_git_reads_every_object(top: Path, objects: Objects) -> None:
    before = loose_of(top)
    with objects.packed():
        stored = {objects.write_blob(content): content for content in CONTENTS}
    assert loose_of(top) == before
    for object_id, content in stored.items():
        assert git("cat-file", "-s", object_id, at=top) == str(len(content))
        assert objects.read_blob(object_id) == content
        assert objects.has(object_id)
    assert fsck_problems(top) == ""


def test_the_index_is_the_one_that_git_makes(top: Path, objects: Objects, tmp_path: Path) -> None:
    commit = write_many(objects)
    git("update-ref", "refs/heads/many", commit, at=top)
    assert fsck_problems(top) == ""
    index, pack = ((top / ".git/objects/pack") / name for name in packs_of(top))
    assert {oct(file.stat().st_mode & 0o777) for file in (index, pack)} == {"0o444"}
    shutil.copy(pack, tmp_path / "copy.pack")
    named = git("index-pack", "--strict", str(tmp_path / "copy.pack"), at=top)
    assert pack.name == f"pack-{named}.pack"
    assert (tmp_path / "copy.idx").read_bytes() == index.read_bytes()
    git("gc", "--quiet", "--prune=now", at=top)
    assert git("rev-parse", "many:a/7/47", at=top)


def test_offsets_beyond_two_gigabytes_have_a_table_of_their_own() -> None:
    small, large = pack_writing._offsets([12, 2**31, 7, 2**31 + 5])
    assert small.hex(" ", 4) == "0000000c 80000000 00000007 80000001"
    assert large.hex(" ", 8) == "0000000080000000 0000000080000005"


def test_an_object_that_lies_there_is_packed_all_the_same(top: Path, objects: Objects) -> None:
    before = objects.write_blob(b"a\n")
    with objects.packed():
        assert objects.write_blob(b"a\n") == before
    shutil.rmtree(top / ".git/objects" / before[:2])
    assert Objects.open(discover(top)).read_blob(before) == b"a\n"


def test_the_same_again_is_no_other_pack(top: Path, objects: Objects) -> None:
    for _ in range(2):
        with objects.packed():
            objects.write_blob(b"again")
    assert len(packs_of(top)) == 2


@pytest.mark.parametrize("failing", ["write", "sync", "first rename", "second rename"])
def test_nothing_is_left_of_a_pack_that_cannot_be_written(
    top: Path, objects: Objects, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = iter(range(9))
    rename = os.rename

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    def renamed(old: str, new: str) -> None:
        if next(calls) == ("first rename", "second rename").index(failing):
            full()
        rename(old, new)

    with monkeypatch.context() as patched:
        if failing.endswith("rename"):
            patched.setattr(os, "rename", renamed)
        else:
            patched.setattr(pack_writing, "_write" if failing == "write" else "sync_files", full)
        with pytest.raises(GitticksError, match="no space left"):
            write_many(objects)
    assert packs_of(top) == []
    commit = write_many(objects)
    assert objects.has(commit)


def test_whoever_fails_in_between_writes_nothing(top: Path, objects: Objects) -> None:
    before = loose_of(top)
    with pytest.raises(ZeroDivisionError), objects.packed():
        objects.write_blob(b"%d" % (1 // 0))
    assert packs_of(top) == []
    objects.write_blob(b"loose again")
    assert loose_of(top) == before + 1


WRITE = """\
import sys
from pathlib import Path
from gitticks.git.identity import ENGINE_IDENTITY
from gitticks.git.objects import Objects
from gitticks.git.ref_updates import compare_and_swap_ref
from gitticks.git.repository import discover
objects = Objects.open(discover(Path(sys.argv[1])))
with objects.packed():
    tree = objects.update_tree(None, {f"a/{number}": b"%d" % number for number in range(200)})
    commit = objects.write_commit(tree, (), author=ENGINE_IDENTITY, message="m")
compare_and_swap_ref(objects, "refs/heads/synced", None, commit, "m")
"""


@pytest.mark.debian("strace")
def test_a_pack_is_on_disk_before_git_can_see_it_and_before_the_ref_names_it(
    top: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    calls = "trace=fsync,syncfs,link,rename"
    program = [sys.executable, "-c", WRITE, str(top)]
    subprocess.run(["strace", "-f", "-y", "-o", str(trace), "-e", calls, *program], check=True)
    steps = [step for line in trace.read_text().splitlines() if (step := _step(line))]
    seen = [step for step, before in zip(steps, [None, *steps], strict=False) if step != before]
    assert seen[:6] == ["sync", "pack", "idx", "sync", "ref", "sync"]


_NAMES: dict[str, Callable[[str], bool]] = {
    "sync": lambda line: "sync(" in line or "syncfs(" in line,
    "pack": lambda line: "rename(" in line and '.pack"' in line,
    "idx": lambda line: "rename(" in line and '.idx"' in line,
    "ref": lambda line: "refs/heads/synced.lock" in line,
}


def _step(line: str) -> str | None:
    return None if "= -1" in line else next((name for name, is_it in _NAMES.items() if is_it(line)), None)
