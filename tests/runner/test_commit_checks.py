"""Secrets in commits of any size: where they stand is said, and little of the commits is in memory."""

from __future__ import annotations

import random
import string
import tracemalloc
from pathlib import Path

from gitticks.git.repository import discover
from gitticks.runner.commit_checks import CommittedSecret, committed_secrets
from tests.support.repositories import commit_file, git, make_repository

LETTERS = string.ascii_letters + string.digits


def token(number: int) -> str:
    return "gh" + "p_" + "".join(random.Random(number).choices(LETTERS, k=36))


def found(path: Path, base: str) -> list[CommittedSecret]:
    return list(committed_secrets(discover(path), base, git("rev-parse", "HEAD", at=path)))


def test_they_are_found_wherever_they_stand_in_large_files(tmp_path: Path) -> None:
    path = make_repository(tmp_path / "r")
    base = commit_file(path, "a.txt", "".join(f"old {number}\n" for number in range(20_000)))
    lines = [f"some text {number}" for number in range(150_000)]
    places = range(0, len(lines), 997)
    for place in places:
        lines[place] = f"key = {token(place)}"
    first = commit_file(path, "a.txt", "\n".join(lines))
    long = "x = " + ",".join(token(-1 - number) + "," * 99_000 for number in range(30))
    second = commit_file(
        path, "b.txt", f"\x01{base}\n{long}\nthree\n", f"all in one\n\n++ b\n\n{token(-100)}"
    )
    secrets = found(path, base)
    assert {one.kind for one in secrets} == {"GitHub token"}
    in_lines = [(one.path, one.line) for one in secrets if one.commit == first]
    assert in_lines == [("a.txt", place + 1) for place in places]
    in_second = [(one.path, one.line) for one in secrets if one.commit == second]
    assert in_second == [("", 0)] + 30 * [("b.txt", 2)]


def test_what_is_removed_is_none_however_long_the_line(tmp_path: Path) -> None:
    path = make_repository(tmp_path / "r")
    base = commit_file(path, "a.txt", f"{',' * 3_000_000}{token(1)}\n" * 3)
    commit_file(path, "a.txt", "new\n")
    assert found(path, base) == []


def test_little_of_a_large_file_is_in_memory(tmp_path: Path) -> None:
    path = make_repository(tmp_path / "r")
    base = commit_file(path, "a.txt", "a\n")
    commit_file(path, "a.txt", f"{'x' * 9_999}\n" * 2_500)
    tracemalloc.start()
    try:
        assert found(path, base) == []
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
