"""Worktrees of every kind, made by git itself."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitticks.errors import GitticksError, NotFoundError
from gitticks.git import worktrees
from gitticks.git.checkouts import changed_paths, current_branch, head, list_worktrees, refuse_filters
from gitticks.git.identity import agent_identity
from gitticks.git.process import GitError, GitResult, run_git
from gitticks.git.repository import Repository, discover
from gitticks.git.sharing import reach
from gitticks.git.worktrees import (
    add_worktree,
    is_half_made,
    past_half_made,
    prune_worktrees,
    remove_tree,
    remove_worktree,
    submodules_of,
    worktrees_lock,
)
from gitticks.model.ids import TaskId
from gitticks.processes import identity_of
from gitticks.runner.commit_checks import find_made_elsewhere
from tests.cli.support import gt
from tests.support.hints import follow_hint
from tests.support.repositories import commit_file, git, make_repository
from tests.support.waiting import LONGEST_SECONDS


def test_every_worktree_is_listed_the_main_one_first(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    git("worktree", "add", "--quiet", "--detach", "../detached", at=top)
    git("worktree", "add", "--quiet", "-b", "gone", "../gone", at=top)
    shutil.rmtree(tmp_path / "gone")
    listed = [(one.path.name, current_branch(one)) for one in list_worktrees(discover(top))]
    assert listed == [("r", "main"), ("detached", None), ("gone", "gone")]


def test_a_bare_repository_has_no_main_worktree(tmp_path: Path) -> None:
    assert list_worktrees(discover(make_repository(tmp_path / "bare", bare=True))) == ()


@pytest.mark.parametrize("name", ["HEAD", "gitdir", "commondir", "locked"])
def test_an_entry_that_git_would_wait_for_is_not_waited_for(tmp_path: Path, name: str) -> None:
    top = make_repository(tmp_path / "r")
    git("worktree", "add", "--quiet", "-b", "other", "../other", at=top)
    file = top / ".git/worktrees/other" / name
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    main, *linked = list_worktrees(discover(top))
    assert current_branch(main) == "main"
    assert {current_branch(one) for one in linked} <= {None, "other"}


def test_others_may_add_and_remove_worktrees_at_the_same_time(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")

    def come_and_go() -> None:
        for _ in range(40):
            git("worktree", "add", "--quiet", "--detach", "../guest", at=top)
            git("worktree", "remove", "--force", "../guest", at=top)

    with ThreadPoolExecutor(1) as pool:
        others = pool.submit(come_and_go)
        while not others.done():
            assert list_worktrees(discover(top))[0].path == top
    others.result()


def test_where_git_names_the_git_directory_the_main_worktree_is_named(tmp_path: Path) -> None:
    make_repository(tmp_path / "origin")
    outer = make_repository(tmp_path / "outer")
    git("submodule", "--quiet", "add", str(tmp_path / "origin"), "lib", at=outer)
    apart = tmp_path / "apart"
    git("clone", "--quiet", f"--separate-git-dir={tmp_path / 'there'}", "origin", str(apart), at=tmp_path)
    for path in (outer / "lib", apart):
        (found,) = list_worktrees(discover(path))
        assert (found.path, current_branch(found)) == (path, "main")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return discover(make_repository(tmp_path / "project"))


def main_of(repository: Repository) -> Path:
    assert repository.main_worktree is not None
    return repository.main_worktree


def test_adds_a_new_branch_at_a_commit(repository: Repository, tmp_path: Path) -> None:
    tip = git("rev-parse", "HEAD", at=main_of(repository))
    added = add_worktree(repository, tmp_path / "work", branch="gitticks/work/k7f2", commit=tip)
    assert submodules_of(added) == ()
    assert current_branch(added) == "gitticks/work/k7f2"
    assert head(added) == tip
    assert (tmp_path / "work" / "README.md").read_text() == "version 1\n"


def test_adds_an_existing_branch(repository: Repository, tmp_path: Path) -> None:
    git("branch", "topic", at=main_of(repository))
    assert current_branch(add_worktree(repository, tmp_path / "work", branch="topic")) == "topic"


def test_adds_a_detached_worktree_at_a_path_with_spaces_and_umlauts(
    repository: Repository, tmp_path: Path
) -> None:
    tip = git("rev-parse", "HEAD", at=main_of(repository))
    path = tmp_path / "a b" / "früh ☕"
    checkout = add_worktree(repository, path, commit=tip)
    assert (current_branch(checkout), head(checkout)) == (None, tip)
    assert [worktree.path for worktree in list_worktrees(repository)] == [main_of(repository), path]


def test_a_lock_that_a_killed_git_left_on_the_branch_is_no_hindrance(
    repository: Repository, tmp_path: Path
) -> None:
    lock = repository.common_dir / "refs/heads/work.lock"
    lock.touch()
    os.utime(lock, (1_000_000_000, 1_000_000_000))
    add_worktree(repository, tmp_path / "w", branch="work", commit="main")
    assert (tmp_path / "w" / ".git").is_file()
    assert not lock.exists()


def test_a_branch_left_by_a_killed_call_is_used_again(repository: Repository, tmp_path: Path) -> None:
    tip = git("rev-parse", "HEAD", at=main_of(repository))
    git("branch", "topic", tip, at=main_of(repository))
    assert current_branch(add_worktree(repository, tmp_path / "work", branch="topic", commit=tip)) == "topic"


def test_refuses_a_missing_branch_a_taken_one_and_a_path_in_use(
    repository: Repository, tmp_path: Path
) -> None:
    with pytest.raises(NotFoundError, match="there is no branch `nowhere`"):
        add_worktree(repository, tmp_path / "work", branch="nowhere")
    with pytest.raises(GitticksError, match="is checked out at"):
        add_worktree(repository, tmp_path / "work", branch="main")
    with pytest.raises(GitticksError, match="not the name"):
        add_worktree(repository, tmp_path / "work", branch="--orphan", commit="HEAD")
    full = tmp_path / "it's full"
    full.mkdir()
    (full / "letter.txt").write_text("dear")
    with pytest.raises(GitticksError, match="in the way") as caught:
        add_worktree(repository, full, commit="HEAD")
    assert (full / "letter.txt").read_text() == "dear"
    follow_hint(caught.value, at=tmp_path)
    add_worktree(repository, full, commit="HEAD")
    assert (tmp_path / "it's full.old" / "letter.txt").read_text() == "dear"


def test_refusing_leaves_no_entry_behind(repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(GitticksError):
        add_worktree(repository, tmp_path / "work", commit="0" * 40)
    assert len(list_worktrees(repository)) == 1
    assert not (tmp_path / "work").exists()


def test_a_directory_that_vanished_is_added_again(repository: Repository, tmp_path: Path) -> None:
    add_worktree(repository, tmp_path / "work", branch="topic", commit="HEAD")
    shutil.rmtree(tmp_path / "work")
    add_worktree(repository, tmp_path / "work", branch="topic")
    assert (tmp_path / "work" / "README.md").exists()


def test_what_a_move_left_on_the_branch_is_no_hindrance(repository: Repository, tmp_path: Path) -> None:
    add_worktree(repository, tmp_path / "here", branch="topic", commit="HEAD")
    (tmp_path / "here").rename(tmp_path / "gone")
    (repository.common_dir / "worktrees/here/locked").write_text("on a disk that is away\n")
    with pytest.raises(GitticksError, match=r"already (checked out|used by)"):
        add_worktree(repository, tmp_path / "there", branch="topic")
    (repository.common_dir / "worktrees/here/locked").unlink()
    add_worktree(repository, tmp_path / "there", branch="topic")
    assert [one.path for one in list_worktrees(repository)[1:]] == [tmp_path / "there"]
    assert (tmp_path / "gone" / "README.md").exists()


def test_what_a_killed_git_left_half_made_is_cleared(repository: Repository, tmp_path: Path) -> None:
    checkout = add_worktree(repository, tmp_path / "work", branch="topic", commit="HEAD")
    (checkout.git_dir / "locked").write_text("initializing\n")
    (checkout.path / "README.md").unlink()
    add_worktree(repository, tmp_path / "work", branch="topic")
    assert (tmp_path / "work" / "README.md").exists()
    assert not (checkout.git_dir / "locked").exists()


def test_a_git_that_a_killed_call_left_at_work_is_waited_for(repository: Repository, tmp_path: Path) -> None:
    checkout = add_worktree(repository, tmp_path / "w", branch="side", commit="main")
    (checkout.git_dir / "locked").write_text("initializing")
    with subprocess.Popen(
        ["sh", "-c", 'read go; sleep 0.3; rm "$1"', "sh", str(checkout.git_dir / "locked")],
        stdin=subprocess.PIPE,
    ) as git_at_work:
        identity = identity_of(git_at_work.pid)
        assert identity is not None
        with worktrees_lock(repository) as held:
            held.write_note(f"{identity.to_json()}\n")
        assert git_at_work.stdin is not None
        git_at_work.stdin.close()
        assert not is_half_made(repository, checkout)
        assert git_at_work.wait() == 0


def test_while_git_adds_a_worktree_the_lock_names_it(repository: Repository, tmp_path: Path) -> None:
    noted, lock = tmp_path / "noted", repository.own_dir / "worktrees.lock"
    waits = f"for _ in $(seq 3000); do [ $(grep -c pid '{lock}') = 2 ] && break; sleep 0.02; done"
    smudge = f"{waits}; cp '{lock}' '{noted}'; cat"
    git("config", "--global", "filter.note.smudge", smudge, at=tmp_path)
    commit_file(main_of(repository), ".gitattributes", "README.md filter=note\n")
    add_worktree(repository, tmp_path / "w", branch="side", commit="main")
    assert noted.read_text().count('"pid"') == 2
    with worktrees_lock(repository) as held:
        assert held.read_note().strip() == ""


def test_a_locked_entry_without_directory_is_not_replaced(repository: Repository, tmp_path: Path) -> None:
    add_worktree(repository, tmp_path / "work", branch="topic", commit="HEAD")
    git("worktree", "lock", "--reason=on a stick", str(tmp_path / "work"), at=main_of(repository))
    shutil.rmtree(tmp_path / "work")
    with pytest.raises(GitticksError, match="locked"):
        add_worktree(repository, tmp_path / "work", branch="topic")


def test_names_submodules_that_stay_empty(repository: Repository, tmp_path: Path) -> None:
    library = make_repository(tmp_path / "library")
    git("submodule", "--quiet", "add", str(library), "lib/päck", at=main_of(repository))
    git("commit", "-qm", "add a submodule", at=main_of(repository))
    added = add_worktree(repository, tmp_path / "work", branch="topic", commit="HEAD")
    assert submodules_of(added) == ("lib/päck",)
    assert not changed_paths(added)


def test_removes_a_clean_worktree_and_keeps_its_branch(repository: Repository, tmp_path: Path) -> None:
    add_worktree(repository, tmp_path / "work", branch="topic", commit="HEAD")
    remove_worktree(repository, tmp_path / "work")
    assert not (tmp_path / "work").exists()
    assert git("branch", "--list", "topic", at=main_of(repository)).strip() == "topic"


def test_removes_a_worktree_whose_git_file_was_replaced(repository: Repository, tmp_path: Path) -> None:
    add_worktree(repository, tmp_path / "work", branch="topic", commit="HEAD")
    (tmp_path / "work" / ".git").unlink()
    git("init", "--quiet", str(tmp_path / "work"), at=tmp_path)
    remove_worktree(repository, tmp_path / "work")
    assert not (tmp_path / "work").exists()
    assert len(list_worktrees(repository)) == 1


def test_removing_what_is_no_worktree_says_so(repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        remove_worktree(repository, tmp_path / "elsewhere")


@pytest.mark.parametrize("name", ["plain", "main", "other"])
def test_removing_what_became_a_link_leaves_what_it_leads_to(
    repository: Repository, tmp_path: Path, name: str
) -> None:
    add_worktree(repository, tmp_path / "work", branch="topic", commit="HEAD")
    add_worktree(repository, tmp_path / "other", branch="other", commit="HEAD")
    (tmp_path / "plain").mkdir()
    target = main_of(repository) if name == "main" else tmp_path / name
    (target / "mine.txt").write_text("mine\n")
    shutil.rmtree(tmp_path / "work")
    (tmp_path / "work").symlink_to(target)
    before = sorted(target.iterdir())
    remove_worktree(repository, tmp_path / "work")
    assert not (tmp_path / "work").is_symlink()
    assert sorted(target.iterdir()) == before
    assert {one.path.name for one in list_worktrees(repository)} == {main_of(repository).name, "other"}


def test_removing_a_directory_that_vanished_drops_its_entry(repository: Repository, tmp_path: Path) -> None:
    add_worktree(repository, tmp_path / "work", branch="topic", commit="HEAD")
    shutil.rmtree(tmp_path / "work")
    remove_worktree(repository, tmp_path / "work")
    assert len(list_worktrees(repository)) == 1


def test_prune_spares_locked_entries(repository: Repository, tmp_path: Path) -> None:
    for name in ("kept", "dropped"):
        add_worktree(repository, tmp_path / name, branch=name, commit="HEAD")
    git("worktree", "lock", str(tmp_path / "kept"), at=main_of(repository))
    for name in ("kept", "dropped"):
        shutil.rmtree(tmp_path / name)
    prune_worktrees(repository)
    assert [current_branch(worktree) for worktree in list_worktrees(repository)] == ["main", "kept"]


def test_no_program_of_the_repository_runs(repository: Repository, tmp_path: Path) -> None:
    trap = tmp_path / "sprung"
    main = main_of(repository)
    commit_file(main, ".gitattributes", "* filter=evil\n")
    for name in ("clean", "smudge", "process"):
        git("config", f"filter.evil.{name}", f"touch {trap}; cat", at=main)
    git("config", "core.fsmonitor", f"touch {trap}", at=main)
    hooks = repository.common_dir / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "post-index-change", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {trap}\n")
        (hooks / name).chmod(0o755)
    added = add_worktree(repository, tmp_path / "work", branch="topic", commit="HEAD")
    (tmp_path / "work" / "README.md").write_text("version 2\n")
    assert changed_paths(added).changed == ("README.md",)
    with pytest.raises(GitticksError, match=r"`.gitattributes` needs the filter `evil`"):
        refuse_filters(added)
    remove_worktree(repository, tmp_path / "work")
    assert not trap.exists()


def test_the_filters_of_the_person_fill_a_worktree(repository: Repository, tmp_path: Path) -> None:
    commit_file(main_of(repository), ".gitattributes", "*.md filter=shout\n")
    git("config", "--global", "filter.shout.smudge", "tr a-z A-Z", at=tmp_path)
    added = add_worktree(repository, tmp_path / "work", branch="topic", commit="HEAD")
    assert (tmp_path / "work" / "README.md").read_text() == "VERSION 1\n"
    refuse_filters(added)


def test_a_filter_of_the_person_stands_for_the_repositorys_own_of_that_name(
    repository: Repository, tmp_path: Path
) -> None:
    main = main_of(repository)
    commit_file(main, ".gitattributes", "*.md filter=lfs\n")
    for name in ("smudge", "required"):
        git("config", f"filter.lfs.{name}", "true", at=main)
    git("config", "--global", "filter.lfs.smudge", "tr a-z A-Z", at=tmp_path)
    added = add_worktree(repository, tmp_path / "work", branch="topic", commit="HEAD")
    assert (tmp_path / "work" / "README.md").read_text() == "VERSION 1\n"
    refuse_filters(added)


def test_what_a_failed_git_could_not_clear_is_cleared(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = tmp_path / "fresh", shutil.which("git")
    tip = git("rev-parse", "HEAD", at=main_of(repository))
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(
        f"#!/bin/sh\n'{real}' \"$@\" || exit\n"
        f"case \"$*\" in *'worktree add'*) rm '{repository.common_dir}/worktrees/fresh/gitdir'; exit 128;; esac\n"
    )
    program.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
        with pytest.raises(GitError):
            add_worktree(repository, path, branch="fresh", commit=tip)
    assert not path.exists()
    assert list((repository.common_dir / "worktrees").iterdir()) == []
    assert current_branch(add_worktree(repository, path, branch="fresh", commit=tip)) == "fresh"


def test_folders_that_their_owner_may_not_write_are_removed_and_links_not_followed() -> None:
    kept = Path(tempfile.mkdtemp())
    child = os.fork()
    if child == 0:  # root may write everywhere
        code = 1
        try:
            if os.geteuid() == 0:
                os.setuid(65534)
            top = Path(tempfile.mkdtemp())
            (top / "a/b").mkdir(parents=True)
            (top / "a/b/file").touch()
            (top / "a/link").symlink_to(kept)
            (top / "a/b").chmod(0o500)
            (top / "a").chmod(0o500)
            remove_tree(top)
            code = int(top.exists())
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    kept.rmdir()


def test_a_fetch_waits_for_the_head_of_a_worktree_that_is_being_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worktrees, "_HALF_MADE_SECONDS", LONGEST_SECONDS)
    top, other = make_repository(tmp_path / "r"), make_repository(tmp_path / "other")
    commit_file(other, "new", "new")
    git("worktree", "add", "--quiet", "--detach", "../w", at=top)
    head_file = top / ".git" / "worktrees" / "w" / "HEAD"
    made = head_file.read_bytes()
    head_file.write_bytes(b"0" * (len(made) - 1) + b"\n")  # as `git worktree add` begins it
    codes = []

    def ask() -> GitResult:
        ran = run_git(
            ["fetch", "--quiet", str(other), "+main:came"], repository_dir=top / ".git", check=False
        )
        codes.append(ran.code)
        head_file.write_bytes(made)
        return ran

    repository = discover(top)
    assert past_half_made(repository, ask).code == 0
    assert len(codes) == 2
    assert codes[0] != 0


def test_a_worktree_that_was_never_finished_is_named_with_its_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top, other = make_repository(tmp_path / "r"), make_repository(tmp_path / "other")
    git("worktree", "add", "--quiet", "--detach", "../w", at=top)
    assert gt("init", at=top).code == 0
    (top / ".git/worktrees/w/HEAD").write_text(f"{'0' * 40}\n")
    monkeypatch.setattr(worktrees, "_HALF_MADE_SECONDS", 0.0)
    agent, since = agent_identity("mine"), datetime.now(UTC)
    assert find_made_elsewhere(discover(top), TaskId("k7f2"), branch="main", agent=agent, since=since) is None
    words = reach(discover(top), ["fetch", "--quiet", str(other)], 60)
    assert isinstance(words, str)
    cure = f"git worktree remove -f -f {tmp_path / 'w'}"
    assert words.endswith(f"save what is yours in it, then `{cure}`")
    assert words.partition(",")[0] in gt("doctor", at=top).seen
    subprocess.run(shlex.split(cure), cwd=top, check=True)
    assert not isinstance(reach(discover(top), ["fetch", "--quiet", str(other)], 60), str)
    assert "is at no commit" not in gt("doctor", at=top).seen
