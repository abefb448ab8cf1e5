"""The forecast of conflicts: what merging every pair in earnest would say, for less."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import pytest

from gitticks.git.merges import forecast as module
from gitticks.git.merges.commits import Conflict, MergeRules, merge_by, merge_in_memory
from gitticks.git.merges.forecast import Overlap, forecast
from gitticks.git.repository import Repository, discover
from tests.support.repositories import git, make_repository

LINES = "".join(f"line {number}\n" for number in range(20))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_repository(tmp_path / "project")
    write(root, {"src/a.txt": LINES, "src/b.txt": LINES, "src/c.txt": LINES, "one": "one\n"})
    commit(root)
    return root


def write(root: Path, files: Mapping[str, str | None]) -> None:
    for name, text in files.items():
        file = root / name
        if text is None:
            git("rm", "-rq", name, at=root)
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def commit(root: Path) -> str:
    git("add", "-A", at=root)
    git("commit", "-qm", "change", at=root)
    return git("rev-parse", "HEAD", at=root)


def branch(root: Path, name: str, files: Mapping[str, str | None]) -> str:
    git("checkout", "-q", "-B", name, "main", at=root)
    write(root, files)
    tip = commit(root)
    git("checkout", "-q", "main", at=root)
    return tip


def in_earnest(repository: Repository, base: str, heads: Mapping[str, str]) -> set[Overlap]:
    found = set()
    for name, head in heads.items():
        merged = merge_in_memory(repository, base, head)
        if isinstance(merged, Conflict):
            found.add(Overlap(name, None, merged.paths))
    for one, other in combinations(heads, 2):
        merged = merge_in_memory(repository, heads[one], heads[other])
        if isinstance(merged, Conflict):
            found.add(Overlap(one, other, merged.paths))
    return found


SIDES: dict[str, Mapping[str, str | None]] = {
    "first line": {"src/a.txt": LINES.replace("line 0\n", "first\n")},
    "first line too": {"src/a.txt": LINES.replace("line 0\n", "erste\n")},
    "last line": {"src/a.txt": LINES.replace("line 19\n", "last\n")},
    "another file": {"src/b.txt": "b\n"},
    "removed": {"src/a.txt": None},
    "a folder for a file": {"one": None, "one/more": "more\n"},
    "the file": {"one": "two\n"},
    "folder moved": {
        "src/a.txt": None, "src/b.txt": None, "src/c.txt": None,
        "lib/a.txt": LINES, "lib/b.txt": LINES, "lib/c.txt": LINES,
    },
    "new in the folder": {"src/new.txt": "new\n"},
    "new": {"new": "new\n"},
    "new too": {"new": "neu\n"},
}  # fmt: skip


def test_it_says_what_merging_each_pair_says(root: Path) -> None:
    heads = {name: branch(root, f"b{number}", files) for number, (name, files) in enumerate(SIDES.items())}
    write(root, {"src/a.txt": LINES.replace("line 19\n", "base\n"), "src/b.txt": LINES + "base\n"})
    base, repository = commit(root), discover(root)
    wanted = in_earnest(repository, base, heads)
    assert {"last line", "another file", "removed"} <= {one.name for one in wanted if one.other is None}
    assert {("first line", "first line too"), ("new", "new too"), ("folder moved", "new in the folder")} <= {
        (one.name, one.other) for one in wanted
    }
    assert set(forecast(repository, base, heads)) == wanted
    of_one = {one for one in wanted if "new" in (one.name, one.other)}
    assert set(forecast(repository, base, heads, among=["new"])) == of_one


def test_what_touches_no_common_file_is_not_merged(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    merged = []

    def counted(rules: MergeRules, repository: Repository, ours: str, theirs: str) -> object:
        merged.append((ours, theirs))
        return merge_by(rules, repository, ours, theirs)

    monkeypatch.setattr(module, "merge_by", counted)
    heads = {str(number): branch(root, f"b{number}", {f"n{number}": "x\n"}) for number in range(6)}
    heads["a"], heads["b"] = (branch(root, name, {"src/a.txt": f"{name}\n"}) for name in "ab")
    base = git("rev-parse", "main", at=root)
    assert forecast(discover(root), base, heads) == (Overlap("a", "b", ("src/a.txt",)),)
    assert merged == [(heads["a"], heads["b"])]


def test_a_branch_without_common_history_is_left_to_the_merge(root: Path) -> None:
    stray = git("commit-tree", "-m", "stray", "main^{tree}", at=root)
    other = branch(root, "other", {"src/a.txt": "x\n"})
    base = git("rev-parse", "main", at=root)
    assert forecast(discover(root), base, {"stray": stray, "other": other}) == ()
