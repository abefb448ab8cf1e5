"""What a checkout holds beyond its HEAD."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.errors import NotFoundError
from gitticks.git.checkouts import (
    Changes,
    changed_paths,
    checkout_at,
    commit_folders,
    current_branch,
    head,
    is_in_place,
)
from gitticks.git.repository import discover
from tests.support.repositories import add_linked_worktree, commit_file, git, make_repository, run_git_command


def test_names_changed_staged_deleted_and_untracked_paths(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    for name in ("a b.txt", "gone.txt", "staged.txt", "same.txt"):
        commit_file(root, name, "one\n")
    commit_file(root, ".gitignore", "*.log\n")
    (root / "a b.txt").write_text("two\n")
    (root / "gone.txt").unlink()
    (root / "staged.txt").write_text("two\n")
    git("add", "staged.txt", at=root)
    (root / "nëw").mkdir()
    (root / "nëw" / "x\ny").write_text("")
    (root / "noise.log").write_text("")
    assert changed_paths(checkout_at(discover(root), root)) == Changes(
        ("a b.txt", "gone.txt", "staged.txt"), ("nëw/x\ny",)
    )


def test_conflicted_paths_are_changed(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    git("checkout", "-qb", "other", at=root)
    commit_file(root, "README.md", "theirs\n")
    git("checkout", "-q", "main", at=root)
    commit_file(root, "README.md", "ours\n")
    run_git_command("merge", "other", at=root)
    assert changed_paths(checkout_at(discover(root), root)).changed == ("README.md",)


def test_a_clean_checkout_has_no_changes(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    assert not changed_paths(checkout_at(discover(root), root))


def test_more_paths_are_looked_at_than_a_command_may_name(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    (root / "README.md").write_text("edited\n")
    (root / "new").touch()
    checkout = checkout_at(discover(root), root)
    assert changed_paths(checkout, ["new"]) == Changes((), ("new",))
    paths = ["README.md", *(f"{'folder/' * 30}{number}" for number in range(20_000))]
    assert changed_paths(checkout, paths).changed == ("README.md",)


def test_an_unborn_branch_has_no_head(tmp_path: Path) -> None:
    checkout = checkout_at(discover(make_repository(tmp_path / "project", commits=0)), tmp_path / "project")
    assert (head(checkout), current_branch(checkout)) == (None, "main")


def test_an_unknown_path_is_no_checkout(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="not a worktree"):
        checkout_at(discover(make_repository(tmp_path / "project")), tmp_path)


def test_a_commit_in_a_worktree_writes_to_these_folders_only(tmp_path: Path) -> None:
    main = make_repository(tmp_path / "main")
    linked = add_linked_worktree(main, tmp_path / "linked", "gitticks/work/k7f2")
    folders = commit_folders(checkout_at(discover(main), linked))
    assert [folder.relative_to(main / ".git").as_posix() for folder in folders] == [
        "worktrees/linked",
        "objects",
        "refs/heads/gitticks/work",
        "logs/refs/heads/gitticks/work",
    ]

    def seen() -> dict[Path, int]:
        """Returns when each file below `.git` was changed."""
        return {path: path.stat().st_mtime_ns for path in (main / ".git").rglob("*") if path.is_file()}

    before = seen()
    commit_file(linked, "a.txt", "hello\n")
    changed = {path for path, when in seen().items() if before.get(path) != when}
    assert changed
    assert all(any(path.is_relative_to(folder) for folder in folders) for path in changed)


def test_a_worktree_is_in_place_where_it_and_its_entry_lead_to_one_another(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    for name in ("here", "other"):
        add_linked_worktree(root, tmp_path / name, name)
    checkout = checkout_at(discover(root), tmp_path / "here")
    pointer = tmp_path / "here" / ".git"
    assert is_in_place(checkout)
    pointer.write_text("gitdir: ../project/.git/worktrees/here\n")
    assert is_in_place(checkout)
    pointer.write_bytes((tmp_path / "other" / ".git").read_bytes())
    assert not is_in_place(checkout)
    pointer.unlink()
    assert not is_in_place(checkout)
    pointer.mkdir()
    assert is_in_place(checkout)  # nobody can tell
    (tmp_path / "here").rename(tmp_path / "away")
    assert not is_in_place(checkout)
