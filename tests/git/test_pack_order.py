"""Where packs hold objects, by what `git verify-pack` says."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.git.pack_order import pack_places
from tests.support.repositories import git, make_repository

MISSING = "0" * 39 + "1"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "r")


def blobs(top: Path, names: range) -> list[str]:
    return [git("hash-object", "-w", "--stdin", at=top, input=f"number {name}\n" * 20) for name in names]


def pack(top: Path, ids: list[str], *options: str) -> Path:
    base = top / ".git" / "objects" / "pack" / "pack"
    name = git("pack-objects", "--quiet", *options, str(base), at=top, input="\n".join(ids) + "\n")
    return base.with_name(f"pack-{name.strip()}.idx")


def test_places_grow_along_each_pack(top: Path) -> None:
    ids = blobs(top, range(300))
    for part in (ids[:100], ids[100:]):
        pack(top, part)
    loose = blobs(top, range(300, 302))
    places = dict(zip([*ids, *loose], pack_places(top / ".git/objects", [*ids, *loose]), strict=True))
    assert [places[name] for name in loose] == [0, 0]
    for index in (top / ".git/objects/pack").glob("*.idx"):
        expected = git("verify-pack", "-v", str(index), at=top).splitlines()
        inside = [line.split() for line in expected if " blob " in line]
        by_offset = [row[0] for row in sorted(inside, key=lambda row: int(row[4]))]
        assert sorted(by_offset, key=places.__getitem__) == by_offset
        numbers = {places[name] >> 48 for name in by_offset}
        assert len(numbers) == 1
    assert len({place >> 48 for place in places.values()}) == 3


def test_offsets_of_a_large_pack_stand_in_a_table_of_their_own(top: Path) -> None:
    ids = blobs(top, range(40))
    index = pack(top, ids, "--index-version=2,0x40")
    plain = pack_places(top / ".git/objects", ids)
    expected = [int(line.split()[4]) for line in _verified(top, index, ids)]
    assert [place % (1 << 48) for place in plain] == expected


def _verified(top: Path, index: Path, ids: list[str]) -> list[str]:
    lines = git("verify-pack", "-v", str(index), at=top).splitlines()
    return [next(line for line in lines if line.startswith(name)) for name in ids]


@pytest.mark.parametrize("damage", ["empty", "short", "version 1", "wrong counts", "folder"])
def test_a_pack_that_cannot_be_understood_is_passed_over(top: Path, damage: str) -> None:
    ids = blobs(top, range(10))
    index = pack(top, ids, *(["--index-version=1"] if damage == "version 1" else []))
    content = index.read_bytes()
    index.unlink()
    if damage == "folder":
        index.mkdir()
    else:
        kept = {
            "empty": b"",
            "short": content[:500],
            "wrong counts": content[:8] + b"\xff" * 1024 + content[1032:],
        }
        index.write_bytes(kept.get(damage, content))
    assert pack_places(top / ".git/objects", ids) == [0] * 10


def test_without_packs_there_are_no_places(top: Path) -> None:
    assert pack_places(top / ".git/objects", [MISSING]) == [0]
    assert pack_places(top / "none", [MISSING]) == [0]
