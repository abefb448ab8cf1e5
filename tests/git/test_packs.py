"""Packed objects read by hand are those that git reads; where a pack is odd nothing is said."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.git import packs as module
from gitticks.git.packs import Packs, apply_difference
from tests.support.repositories import git, make_repository


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Makes a repository whose objects are packed, most of them as differences."""
    top = make_repository(tmp_path / "r")
    chance = random.Random(5)
    lines = [f"line {number} {chance.random()}" for number in range(400)]
    for number in range(12):
        lines[chance.randrange(400)] = f"changed {number}"
        lines.insert(chance.randrange(400), "x" * chance.randrange(300))
        (top / "long").write_text("\n".join(lines))
        (top / f"small{number}").write_bytes(chance.randbytes(number * 50))
        (top / "large").write_bytes(b"a" * 70_000 + chance.randbytes(9) + b"b" * 70_000)
        git("add", "-A", at=top)
        git("commit", "--quiet", "-m", f"change {number}", at=top)
    return top


def ids_of(top: Path) -> list[str]:
    return git("rev-list", "--objects", "--all", "--no-object-names", at=top).split()


def packed(top: Path, *options: str) -> Packs:
    git("repack", "-adfq", *options, at=top)
    return Packs(top / ".git" / "objects")


@pytest.mark.parametrize("by", ["true", "false"])
def test_every_object_is_read_as_git_reads_it(top: Path, tmp_path: Path, by: str) -> None:
    git("config", "repack.useDeltaBaseOffset", by, at=top)
    packs = packed(top, "--depth=50", "--window=50")
    git("tag", "-m", "a tag", "one", at=top)
    verified = git("verify-pack", "-v", *map(str, (top / ".git/objects/pack").glob("*.idx")), at=top)
    assert "chain length = 5" in verified
    for object_id in ids_of(top)[1:]:
        found = packs.read(object_id)
        if found is None:
            assert git("cat-file", "-t", object_id, at=top) == "tag"
            continue
        kind, content = found
        assert git("cat-file", "-t", object_id, at=top) == kind
        (tmp_path / "content").write_bytes(content)
        assert git("hash-object", "-t", kind, str(tmp_path / "content"), at=top) == object_id


def test_what_is_nowhere_is_none(top: Path, tmp_path: Path) -> None:
    assert packed(top).read("0" * 40) is None
    assert Packs(tmp_path / "nothing").read("0" * 40) is None


@pytest.mark.parametrize("suffix", [".pack", ".idx"])
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "zeros", "flipped"])
def test_a_damaged_pack_never_gives_anything_wrong(top: Path, suffix: str, damage: str) -> None:
    git("repack", "-adfq", at=top)
    whole = {one: git("cat-file", "-s", one, at=top) for one in ids_of(top)}
    (file,) = (top / ".git/objects/pack").glob(f"*{suffix}")
    content = bytearray(file.read_bytes())
    chance = random.Random(3)
    file.chmod(0o644)
    match damage:
        case "missing":
            file.unlink()
        case "empty":
            file.write_bytes(b"")
        case "cut":
            file.write_bytes(content[: len(content) // 2])
        case "zeros":
            file.write_bytes(bytes(len(content)))
        case _:
            for _ in range(300):
                content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
            file.write_bytes(content)
    packs = Packs(top / ".git" / "objects")
    for object_id, size in whole.items():
        found = packs.read(object_id)
        assert found is None or str(len(found[1])) == size


@given(base=st.binary(max_size=60), difference=st.binary(max_size=30))
def test_nonsense_ends(base: bytes, difference: bytes) -> None:
    try:
        apply_difference(base, difference)
    except (ValueError, IndexError):
        return


def test_a_difference_that_makes_something_too_large_is_not_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = bytes([6, 12, 0x90, 6, 0x90, 6])
    assert apply_difference(b"abcdef", twice) == b"abcdef" * 2
    monkeypatch.setattr(module, "MOST_BYTES", 11)
    with pytest.raises(ValueError, match="too large"):
        apply_difference(b"abcdef", twice)
