"""What a merge could not join stays in a file of its own, and the doctor says how it goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.store.merging.files import merge_file, standing_beside
from tests.support.clones import Clone, make_two_clones
from tests.support.doctor import found_in, our_gt_on_path, type_fixes
from tests.support.repositories import commit_file, git

__all__ = ["our_gt_on_path"]


@pytest.fixture
def clones(tmp_path: Path) -> list[Clone]:
    return make_two_clones(tmp_path)


def kept_in(clone: Clone) -> list[str]:
    listed = git("ls-tree", "-r", "--name-only", "gitticks/state", at=clone.path).splitlines()
    return [path for path in listed if standing_beside(path) is not None]


def test_a_setting_that_both_set_is_settled_once_for_all(clones: list[Clone]) -> None:
    one, other = clones
    one.ok("config", "parallel", "2")
    other.ok("config", "parallel", "5")
    one.ok("sync")
    ran = other.gt("sync")
    (kept,) = kept_in(other)
    assert f"the other version is in .gitticks/{kept} until you resolve it: `gt doctor` says how" in ran.err
    one.ok("sync")
    told = f".gitticks/{kept}: a merge could not combine this with `config.yaml` and kept both; "
    compare = f"`diff .gitticks/config.yaml .gitticks/{kept}` compares them"
    for clone in clones:
        assert found_in(clone.path) == {told + compare: "warning"}
    text = (other.board / kept).read_text()
    type_fixes(other.path)
    assert found_in(other.path) == {}
    assert other.board_status() == ""
    other.ok("sync")
    one.ok("sync")
    assert kept_in(one) == kept_in(other) == []
    assert one.tip() == other.tip()
    assert git("show", f"gitticks/state^:{kept}", at=one.path) == text.removesuffix("\n")
    assert found_in(one.path) == {}


def test_names_with_blanks_can_be_typed_and_foreign_ones_stay(clones: list[Clone]) -> None:
    one = clones[0]
    task_id = one.create()
    folder = f"tasks/{task_id[-2:]}/{task_id}"
    commit_file(one.board, f"{folder}/my plan.other-0123abcd.txt", "b\n")
    commit_file(one.board, "prompts/worker.other-0123abcd.md", "b\n")
    commit_file(one.board, "README.other.md", "b\n")
    assert len(kept_in(one)) == 2
    assert set(found_in(one.path).values()) == {"warning"}
    type_fixes(one.path)
    assert found_in(one.path) == {}
    assert (one.board / "README.other.md").exists()


@pytest.mark.parametrize(
    "path", ["config.yaml", "prompts/worker.md", "tasks/f2/k7f2/a b", "x.y/z", "a.tar.gz"]
)
def test_what_a_merge_keeps_is_known_by_its_name(path: str) -> None:
    merged = merge_file(path, None, b"\xff1", b"\xff2")
    assert [standing_beside(name) for name, _ in merged.beside] == [path]
    assert standing_beside(path) is None


@pytest.mark.parametrize("path", ["x.other-0123.md", "x.other-0123abcX.md", "/.other-0123abcd.md", "x.other"])
def test_other_names_are_peoples_own(path: str) -> None:
    assert standing_beside(path) is None
