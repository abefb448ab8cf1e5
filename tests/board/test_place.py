"""Where the board is, and how it comes back after moves, copies and deletions."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from gitticks.board.place import board_path, create_board
from gitticks.board.step import WORKTREE_BOARD
from gitticks.errors import GitticksError, NotFoundError
from gitticks.git.repository import discover
from gitticks.store.branch import Store
from tests.support.boards import ENGINE, LINES, PATH, BoardOfTest, make_board, write_to_branch
from tests.support.hints import follow_hint
from tests.support.repositories import add_linked_worktree, git, make_repository


@pytest.fixture
def board(tmp_path: Path) -> BoardOfTest:
    return make_board(tmp_path / "project")


def test_is_made_once_and_hidden_from_the_users_git(board: BoardOfTest) -> None:
    root = board.folder.parent
    assert create_board(board.repository) == board.folder == root / ".gitticks"
    assert board.git("branch", "--show-current") == "gitticks/state"
    assert git("status", "--porcelain", "--ignored", at=root) == "!! .gitticks/"
    git("add", "-A", at=root)
    assert git("diff", "--cached", "--name-only", at=root) == ""
    assert not (root / ".gitignore").exists()


def test_files_are_as_stored_whatever_the_person_converts(tmp_path: Path) -> None:
    git("config", "--global", "core.autocrlf", "true", at=tmp_path)
    board = make_board(tmp_path / "project")
    board.write("one\ntwo\n", "other.md")
    assert (board.folder / "config.yaml").read_bytes() == b"version: 1\n"
    board.git("checkout", "-q", "--detach", "HEAD~1")
    board.git("checkout", "-q", "gitticks/state")
    assert (board.folder / "other.md").read_bytes() == b"one\ntwo\n"
    assert board.status() == ""


def test_attributes_that_a_person_has_everywhere_convert_nothing(tmp_path: Path) -> None:
    everywhere = tmp_path / "attributes"
    everywhere.write_text("* text eol=crlf\n")
    git("config", "--global", "core.attributesFile", str(everywhere), at=tmp_path)
    board = make_board(tmp_path / "project")
    board.write("one\ntwo\n", "other.md")
    assert (board.folder / "config.yaml").read_bytes() == b"version: 1\n"
    board.git("checkout", "-q", "--detach", "HEAD~1")
    board.git("checkout", "-q", "gitticks/state")
    assert (board.folder / "other.md").read_bytes() == b"one\ntwo\n"
    assert board.status() == ""


@pytest.mark.parametrize("options", [[], ["--sparse-index"]])
def test_is_whole_beside_a_checkout_that_is_not(tmp_path: Path, options: list[str]) -> None:
    board = make_board(tmp_path / "project")
    board.write("one\n", "tasks/f2/k7f2/other.md")
    root = board.folder.parent
    git("worktree", "remove", "--force", ".gitticks", at=root)
    git("sparse-checkout", "set", *options, "src", at=root)
    create_board(board.repository)
    assert (board.folder / "tasks/f2/k7f2/other.md").read_text() == "one\n"
    board.git("checkout", "-q", "--detach", "HEAD~1")
    board.git("checkout", "-q", "gitticks/state")
    assert (board.folder / "tasks/f2/k7f2/other.md").read_text() == "one\n"
    assert board.status() == ""
    assert git("sparse-checkout", "list", at=root) == "src"


@pytest.mark.parametrize("is_killed", [False, True])
def test_what_a_person_has_for_their_checkout_alone_converts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_killed: bool
) -> None:
    board = make_board(tmp_path / "project")
    board.write("one\ntwo\n", "other.md")
    root = board.folder.parent
    git("config", "--worktree", "core.autocrlf", "true", at=root)
    git("worktree", "remove", "--force", ".gitticks", at=root)

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        if is_killed:
            killed.setattr("gitticks.board.place._set_up", die)
            with pytest.raises(KeyboardInterrupt):
                create_board(board.repository)
    create_board(board.repository)
    board.git("checkout", "-q", "--detach", "HEAD~1")
    board.git("checkout", "-q", "gitticks/state")
    assert (board.folder / "other.md").read_bytes() == b"one\ntwo\n"
    assert board.status() == ""


def test_a_line_break_may_stand_in_the_way_to_it(tmp_path: Path) -> None:
    board = make_board(tmp_path / "two\nlines")
    assert board_path(discover(tmp_path / "two\nlines")) == board.folder


def test_is_found_from_other_worktrees_and_from_the_board_itself(board: BoardOfTest, tmp_path: Path) -> None:
    linked = add_linked_worktree(board.folder.parent, tmp_path / "linked", "topic")
    for place in (linked, board.folder, board.folder.parent):
        assert board_path(discover(place)) == board.folder


def test_needs_a_state_branch_a_checkout_and_room(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "it's ours")
    with pytest.raises(NotFoundError, match="no tasks yet"):
        create_board(discover(root))
    Store(discover(root)).initialise(ENGINE, "version: 1\n")
    (root / ".gitticks").mkdir()
    (root / ".gitticks" / "mine").write_text("mine\n")
    with pytest.raises(GitticksError, match="in the way of the board") as caught:
        create_board(discover(root))
    follow_hint(caught.value, at=tmp_path)
    assert create_board(discover(root)) == root / ".gitticks"
    assert (root / ".gitticks.old" / "mine").read_text() == "mine\n"
    bare = make_repository(tmp_path / "it's bare", bare=True)
    with pytest.raises(GitticksError, match="bare repository") as caught:
        create_board(discover(bare))
    follow_hint(caught.value, at=root)
    assert (root / "it's bare").is_dir()


def test_a_moved_repository_keeps_its_board(board: BoardOfTest, tmp_path: Path) -> None:
    board.save("mine\n", "mine.md")
    moved = board.folder.parent.rename(tmp_path / "moved here")
    repository = discover(moved)
    assert board_path(repository) == moved / ".gitticks"
    write_to_branch(Store(repository, WORKTREE_BOARD), {"other.md": "other\n"})
    assert git("status", "--porcelain", at=moved / ".gitticks") == "?? mine.md"
    assert (moved / ".gitticks" / "other.md").read_text() == "other\n"


def test_a_copied_repository_has_a_board_of_its_own(board: BoardOfTest, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(board.folder.parent, copy, symlinks=True)
    write_to_branch(Store(discover(copy), WORKTREE_BOARD), {"other.md": "copy\n"})
    assert (copy / ".gitticks" / "other.md").read_text() == "copy\n"
    assert not (board.folder / "other.md").exists()
    assert board_path(board.repository) == board.folder
    assert board.status() == ""
    assert git("status", "--porcelain", at=copy / ".gitticks") == ""


def test_repair_makes_a_deleted_board_again(board: BoardOfTest) -> None:
    shutil.rmtree(board.folder)
    assert board_path(board.repository) is None
    assert create_board(board.repository) == board.folder
    assert board.read() == LINES
    assert create_board(board.repository) == board.folder


def test_a_board_whose_making_was_killed_is_made_again(board: BoardOfTest) -> None:
    admin = Path(board.git("rev-parse", "--absolute-git-dir"))
    (admin / "locked").write_text("initializing")
    (board.folder / PATH).unlink()
    for name in ("index", "config.worktree"):
        (admin / name).unlink()
    assert create_board(board.repository) == board.folder
    assert (board.read(), board.status()) == (LINES, "")
    assert board.git("config", "core.autocrlf") == "false"


def test_what_git_had_begun_of_a_board_is_no_obstacle(board: BoardOfTest) -> None:
    admin = Path(board.git("rev-parse", "--absolute-git-dir"))
    (admin / "locked").write_text("initializing")
    (admin / "HEAD").unlink()
    assert create_board(board.repository) == board.folder
    assert (board.read(), board.status()) == (LINES, "")


def test_a_board_gets_the_settings_that_it_lacks_and_keeps_those_of_a_person(board: BoardOfTest) -> None:
    board.git("config", "--worktree", "core.eol", "crlf")
    board.git("config", "--worktree", "--unset", "core.autocrlf")
    create_board(board.repository)
    assert board.git("config", "core.eol") == "crlf"
    assert board.git("config", "core.autocrlf") == "false"


def test_a_board_pruned_by_git_is_made_again_around_nothing(board: BoardOfTest) -> None:
    shutil.rmtree(board.folder)
    git("worktree", "prune", at=board.folder.parent)
    assert create_board(board.repository) == board.folder
    assert board.status() == ""


def test_a_folder_that_is_no_worktree_is_no_board(board: BoardOfTest, tmp_path: Path) -> None:
    for number, pointer in enumerate(("nonsense", "gitdir: /nowhere/worktrees/x\n")):
        root = make_repository(tmp_path / f"other-{number}")
        (root / ".gitticks").mkdir()
        (root / ".gitticks" / ".git").write_text(pointer)
        assert board_path(discover(root)) is None


def test_works_in_a_submodule(tmp_path: Path) -> None:
    library = make_repository(tmp_path / "library")
    outer = make_repository(tmp_path / "outer")
    git("submodule", "--quiet", "add", str(library), "lib", at=outer)
    repository = discover(outer / "lib")
    store = Store(repository, WORKTREE_BOARD)
    store.initialise(ENGINE, "version: 1\n")
    folder = create_board(repository)
    write_to_branch(store, {"a.md": "a\n"})
    assert folder == outer / "lib" / ".gitticks"
    assert git("status", "--porcelain", at=folder) == ""
    assert git("rev-parse", "--show-toplevel", at=folder) == str(folder)
    assert git("rev-parse", "--show-toplevel", at=outer / "lib") == str(outer / "lib")
    assert git("status", "--porcelain", at=outer / "lib") == ""
    assert board_path(discover(outer / "lib")) == folder


@pytest.mark.parametrize("name", ["HEAD", "gitdir", "commondir", "index", "config.worktree"])
@pytest.mark.damages
def test_what_git_would_wait_for_is_no_board(board: BoardOfTest, name: str) -> None:
    file = board.repository.common_dir / "worktrees/-gitticks" / name
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    assert board_path(board.repository) is None


@pytest.mark.parametrize(
    ("name", "content"), [("commondir", "x\n"), ("commondir", ""), ("gitdir", "x\n"), ("gitdir", "\0")]
)
def test_damaged_links_are_written_again(board: BoardOfTest, name: str, content: str) -> None:
    (board.repository.common_dir / "worktrees/-gitticks" / name).write_text(content)
    assert board_path(board.repository) == board.folder
    assert board.status() == ""


def test_a_link_that_no_path_can_be_is_no_board(board: BoardOfTest) -> None:
    (board.folder / ".git").write_bytes(b"gitdir: \0\n")
    assert board_path(board.repository) is None


def test_a_board_whose_link_no_path_can_be_is_found_by_its_name(board: BoardOfTest) -> None:
    (board.folder / ".git").write_bytes(b"gitdir: /a\0b/worktrees/-gitticks\n")
    assert board_path(board.repository) == board.folder
