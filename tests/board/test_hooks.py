"""Our hooks on the board: they run after the user's, and nowhere else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gitticks.board.hooks import (
    BOARD_HOOKS,
    PASSED_ON,
    board_hooks_state,
    install_board_hooks,
    uninstall_board_hooks,
)
from gitticks.board.place import create_board
from gitticks.errors import GitticksError
from gitticks.git.repository import discover
from gitticks.store.branch import Store
from gitticks.store.hook_files import HooksState, hook_sources
from tests.support.boards import ENGINE, BoardOfTest, make_board
from tests.support.hooks import write_hook
from tests.support.projects import make_project
from tests.support.repositories import commit_file, git, make_repository, run_git_command


@pytest.fixture
def board(tmp_path: Path) -> BoardOfTest:
    return make_board(tmp_path / "project")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def own_hook(folder: Path, name: str, log: Path, *, answer: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f'#!/bin/sh\necho own {name} "$@" >> {log}\nexit {answer}\n')
    (folder / name).chmod(0o755)


def record_ours(board: BoardOfTest, log: Path, *, answer: int = 0) -> None:
    """Puts a program that only writes down its call in the place of the Python that the hooks start."""
    program = log.with_name("python")
    program.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexit {answer}\n')
    program.chmod(0o755)
    (board.repository.own_dir / "hooks" / "interpreter").write_text(f"{program}\n")


def commit(board: BoardOfTest) -> bool:
    board.save("mine\n")
    return run_git_command("commit", "-qam", "mine", at=board.folder).returncode == 0


def test_every_source_is_an_executable_script() -> None:
    for name in (*BOARD_HOOKS, "own"):
        source = hook_sources() / name
        assert source.stat().st_mode & 0o111
        assert source.read_text().startswith("#!/bin/sh\n")


def test_every_hook_calls_its_own_name() -> None:
    for name in BOARD_HOOKS:
        called = re.findall(r"run_(own|gitticks) ([a-z-]+)", (hook_sources() / name).read_text())
        assert called == [("own", name), ("gitticks", name)]


def test_ours_run_in_the_board_after_the_persons(board: BoardOfTest, log: Path) -> None:
    install_board_hooks(board.repository)
    for name in ("pre-commit", "commit-msg", "post-commit"):
        own_hook(board.repository.common_dir / "hooks", name, log)
    record_ours(board, log)
    assert commit(board)
    lines = [re.sub(r" \S*COMMIT_EDITMSG", "", line) for line in log.read_text().splitlines()]
    assert lines == [
        "own pre-commit",
        "-P -m gitticks hook pre-commit",
        "own commit-msg",
        "own post-commit",
        "-P -m gitticks hook post-commit",
    ]


def test_none_of_ours_runs_in_the_main_checkout(board: BoardOfTest, log: Path) -> None:
    install_board_hooks(board.repository)
    record_ours(board, log)
    own_hook(board.repository.common_dir / "hooks", "pre-commit", log)
    commit_file(board.folder.parent, "code.txt", "x\n")
    assert log.read_text() == "own pre-commit\n"
    assert git("config", "--get-all", "core.hooksPath", at=board.folder) == "../.git/gitticks/hooks"
    assert run_git_command("config", "core.hooksPath", at=board.folder.parent).returncode == 1


@pytest.mark.parametrize("whose", ["own", "ours"])
def test_either_can_refuse_a_commit(board: BoardOfTest, log: Path, whose: str) -> None:
    install_board_hooks(board.repository)
    own_hook(board.repository.common_dir / "hooks", "pre-commit", log, answer=int(whose == "own"))
    record_ours(board, log, answer=3 if whose == "ours" else 0)
    assert not commit(board)
    assert ("hook pre-commit" in log.read_text()) == (whose == "ours")


def test_a_hooks_path_of_the_persons_is_followed(board: BoardOfTest, log: Path, tmp_path: Path) -> None:
    git("config", "--global", "core.hooksPath", str(tmp_path / "their hooks"), at=board.folder)
    own_hook(tmp_path / "their hooks", "post-commit", log)
    own_hook(board.repository.common_dir / "hooks", "post-commit", tmp_path / "never")
    install_board_hooks(board.repository)
    record_ours(board, log)
    assert commit(board)
    assert "own post-commit\n" in log.read_text()
    assert not (tmp_path / "never").exists()


def test_a_hooks_path_that_the_board_had_is_followed_and_restored(
    board: BoardOfTest, log: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    own_hook(mine, "pre-commit", log)
    git("config", "--worktree", "core.hooksPath", str(mine), at=board.folder)
    install_board_hooks(board.repository)
    install_board_hooks(board.repository)
    record_ours(board, log)
    assert commit(board)
    assert log.read_text().startswith("own pre-commit\n-P -m gitticks hook pre-commit\n")
    uninstall_board_hooks(board.repository)
    assert git("config", "--worktree", "core.hooksPath", at=board.folder) == str(mine)


@pytest.mark.parametrize(
    ("script", "shebang", "mode", "passes"),
    [
        ("false", "#!/bin/sh\n", 0o755, False),
        ("false", "#!/bin/sh\n", 0o644, True),
        ("true", "#!/bin/sh\r\n", 0o755, False),
        ("true", "#!/nowhere/sh\n", 0o755, False),
        ("true", "", 0o755, True),
        ("exec <&- >&- 2>&-", "#!/bin/sh\n", 0o755, True),
        ("kill -9 $$", "#!/bin/sh\n", 0o755, False),
    ],
)
def test_an_odd_hook_of_the_persons_counts_as_with_git_alone(
    board: BoardOfTest, script: str, shebang: str, mode: int, *, passes: bool
) -> None:
    write_hook(board.repository.common_dir / "hooks", "pre-commit", script, shebang=shebang, mode=mode)
    install_board_hooks(board.repository)
    assert commit(board) == passes


def test_a_hooks_path_to_nowhere_hides_the_persons_and_not_ours(board: BoardOfTest, log: Path) -> None:
    git("config", "core.hooksPath", "/nowhere/hooks", at=board.folder)
    own_hook(board.repository.common_dir / "hooks", "pre-commit", log)
    install_board_hooks(board.repository)
    record_ours(board, log)
    assert commit(board)
    assert "own pre-commit" not in log.read_text()
    assert "hook pre-commit" in log.read_text()


def test_a_link_in_the_place_of_the_persons_hook_is_followed(board: BoardOfTest, log: Path) -> None:
    own_hook(log.parent / "shared", "check", log)
    hooks = board.repository.common_dir / "hooks"
    (hooks / "pre-commit").symlink_to(log.parent / "shared/check")
    (hooks / "commit-msg").symlink_to("nothing")
    install_board_hooks(board.repository)
    assert commit(board)
    assert log.read_text() == "own check\n"


@pytest.mark.debian("pre-commit", program="pre-commit")
def test_pre_commit_has_nothing_to_say_about_a_board_without_code(board: BoardOfTest) -> None:
    top = board.folder.parent
    (top / ".pre-commit-config.yaml").write_text("repos: []\n")
    subprocess.run(["pre-commit", "install"], cwd=top, check=True, capture_output=True)
    install_board_hooks(board.repository)
    subprocess.run(["pre-commit", "install"], cwd=top, check=True, capture_output=True)
    assert commit(board)
    (top / ".pre-commit-config.yaml").unlink()
    (top / "code.txt").write_text("x\n")
    git("add", "code.txt", at=top)
    assert "No .pre-commit-config.yaml" in run_git_command("commit", "-qm", "x", at=top).stderr


def test_a_rewrite_tells_both_what_was_made_again(board: BoardOfTest, log: Path) -> None:
    install_board_hooks(board.repository)
    record_ours(board, log)
    own_hook(board.repository.common_dir / "hooks", "post-rewrite", log)
    (board.repository.common_dir / "hooks" / "post-rewrite").write_text(f"#!/bin/sh\nwc -w >> {log}\n")
    (log.with_name("python")).write_text(f'#!/bin/sh\n[ "$5" = post-rewrite ] && wc -w >> {log}\nexit 0\n')
    assert commit(board)
    board.git("commit", "-q", "--amend", "-m", "again")
    assert log.read_text().split() == ["2", "2"]


def test_without_its_python_a_hook_warns_and_lets_pass(board: BoardOfTest) -> None:
    install_board_hooks(board.repository)
    (board.repository.own_dir / "hooks" / "interpreter").write_text("/nowhere/python\n")
    assert board_hooks_state(board.repository) is HooksState.BROKEN
    board.save("mine\n")
    done = run_git_command("commit", "-qam", "mine", at=board.folder)
    assert done.returncode == 0
    assert (
        "gitticks: `pre-commit` did nothing: /nowhere/python is gone; `gt hooks install` fixes it"
        in done.stderr
    )
    install_board_hooks(board.repository)
    assert board_hooks_state(board.repository) is HooksState.INSTALLED


def test_a_python_that_lost_gitticks_warns_and_lets_pass(board: BoardOfTest, log: Path) -> None:
    install_board_hooks(board.repository)
    record_ours(board, log, answer=1)
    board.save("mine\n")
    done = run_git_command("commit", "-qam", "mine", at=board.folder)
    assert done.returncode == 0
    assert "gitticks: `pre-commit` could not run and checked nothing" in done.stderr


def test_install_and_uninstall_leave_no_trace(board: BoardOfTest) -> None:
    assert board_hooks_state(board.repository) is HooksState.ABSENT
    install_board_hooks(board.repository)
    folder = board.repository.own_file("hooks")
    assert (folder / "interpreter").read_text() == f"{sys.executable}\n"
    assert {path.name for path in folder.iterdir()} == {*BOARD_HOOKS, *PASSED_ON, "chain.sh", "interpreter"}
    assert board_hooks_state(board.repository) is HooksState.INSTALLED
    uninstall_board_hooks(board.repository)
    assert board_hooks_state(board.repository) is HooksState.ABSENT
    assert not folder.exists()
    assert run_git_command("config", "core.hooksPath", at=board.folder).returncode == 1
    uninstall_board_hooks(board.repository)


def test_a_moved_repository_keeps_its_hooks(board: BoardOfTest, log: Path, tmp_path: Path) -> None:
    install_board_hooks(board.repository)
    record_ours(board, log)
    repository = discover(board.folder.parent.rename(tmp_path / "moved"))
    assert board_hooks_state(repository) is HooksState.INSTALLED
    folder = create_board(repository)
    (folder / "new.md").write_text("x\n")
    git("add", "new.md", at=folder)
    git("commit", "-qm", "mine", at=folder)
    assert "hook post-commit" in log.read_text()


def test_a_submodule_stays_whole(tmp_path: Path, log: Path) -> None:
    library = make_repository(tmp_path / "library")
    outer = make_repository(tmp_path / "outer")
    git("submodule", "--quiet", "add", str(library), "lib", at=outer)
    repository = discover(outer / "lib")
    store = Store(repository)
    store.initialise(ENGINE, "version: 1\n")
    board = BoardOfTest(store, create_board(repository))
    install_board_hooks(repository)
    record_ours(board, log)
    (board.folder / "new.md").write_text("x\n")
    board.git("add", "new.md")
    board.git("commit", "-qm", "mine")
    assert "hook pre-commit" in log.read_text()
    log.unlink()
    commit_file(outer / "lib", "code.txt", "x\n")
    assert not log.exists()
    assert git("rev-parse", "--show-toplevel", at=board.folder) == str(board.folder)


def test_without_a_board_there_is_nothing_to_install_into(tmp_path: Path) -> None:
    repository = discover(make_repository(tmp_path / "project"))
    assert board_hooks_state(repository) is HooksState.NO_BOARD
    with pytest.raises(GitticksError, match="no board"):
        install_board_hooks(repository)
    uninstall_board_hooks(repository)


@pytest.mark.parametrize("name", ["pre-commit", "interpreter"])
def test_a_folder_in_the_place_of_a_hook_is_put_aside(tmp_path: Path, name: str) -> None:
    project = make_project(tmp_path)
    repository = project.store.repository
    file = repository.own_dir / "hooks" / name
    file.unlink()
    (file / "inside").mkdir(parents=True)
    assert board_hooks_state(repository) is HooksState.BROKEN
    install_board_hooks(repository)
    assert board_hooks_state(repository) is HooksState.INSTALLED
    assert [path.is_dir() for path in file.parent.glob(f"{name}.*.old")] == [True]


@pytest.mark.parametrize("named", ["", "/nothing/python\n", "\0", "/tmp\n"])
def test_a_python_that_is_none(tmp_path: Path, named: str) -> None:
    repository = make_project(tmp_path).store.repository
    (repository.own_dir / "hooks/interpreter").write_text(named)
    assert board_hooks_state(repository) is HooksState.BROKEN
