"""Checkouts aside: gone when they are done with, swept after a kill, and used again as if they were fresh."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gitticks.git.checkouts import Checkout, current_branch, head
from gitticks.git.merges.asides import PooledAside, checkout_aside, left_asides, sweep_asides
from gitticks.git.repository import Repository, discover
from tests.support.repositories import commit_file, git, make_repository

HOLD = """
import sys
from pathlib import Path
from gitticks.git.merges.asides import PooledAside
from gitticks.git.repository import discover
with PooledAside(discover(Path(sys.argv[1]))) as pool, pool.at("HEAD") as checkout:
    print(checkout.path, flush=True)
    sys.stdin.read()
"""
LEFT = {
    "nothing": "",
    "new files": "echo x > new; mkdir -p build/deep; echo x > build/deep/out; touch ignored.log; mkdir empty",
    "files changed, removed, moved": "echo y > a.txt; rm src/b.txt; mv src/c.txt src/d.txt; chmod 600 README.md",
    "a change that hides": "touch -r a.txt $KEPT; echo A > a.txt; touch -r $KEPT a.txt",
    "a change that git is told to overlook": "git update-index --assume-unchanged a.txt; echo y > a.txt",
    "a change that is staged": "echo y > a.txt; echo x > new; git add -A",
    "a commit": "echo y > a.txt; git add -A; git -c user.name=x -c user.email=x@y commit -qm x",
    "a branch": "git checkout -qb other-$$",
    "files left out": "git sparse-checkout set src",
    "settings": "git config extensions.worktreeConfig true; git config --worktree core.autocrlf true",
    "a merge under way": 'touch "$(git rev-parse --git-dir)/MERGE_HEAD" "$(git rev-parse --git-dir)/index.lock"',
    "another repository": "git init -q inner; touch inner/x",
    "a repository in a folder of ours": "git init -q src; touch src/x",
    "a socket": "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"src/s\")'; mkfifo src/pipe",
    "a folder nobody may write to": "mkdir kept; touch kept/x; chmod 500 kept src",
    "a folder that everybody may write to": "chmod 777 src",
    "attributes": "echo '* text eol=crlf' > .gitattributes; echo '*.txt text eol=crlf' > src/.gitattributes; rm src/b.txt",
    "a link for a folder": 'mv src elsewhere; ln -s "$VICTIM" src',
    "a link for a file": 'ln -sf "$VICTIM/a.txt" a.txt',
    "a folder for a file": "rm a.txt; mkdir a.txt; touch a.txt/x",
    "a link for the checkout": 'd="$PWD"; cd ..; rm -rf "$d"; ln -s "$VICTIM" "$d"',
    "no checkout": 'rm -rf "$PWD"',
    "another link to git": 'echo "gitdir: $VICTIM/.git" > .git',
    "a repository of its own": "rm .git; git init -q",
    "no git directory": 'rm -rf "$(git rev-parse --git-dir)"',
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_repository(tmp_path / "project")
    for name in ("a.txt", "src/b.txt", "src/c.txt", ".gitignore"):
        commit_file(root, name, "*.log\nbuild/\n" if name == ".gitignore" else "a\n")
    return root


def seen(checkout: Checkout) -> dict[str, tuple[int, str]]:
    """Returns kind, rights and content of everything there, and what git says of it."""
    found = {}
    for path in sorted(checkout.path.rglob("*")):
        mode = path.lstat().st_mode
        content = path.read_text() if stat.S_ISREG(mode) and path.name != ".git" else ""
        found[str(path.relative_to(checkout.path))] = (mode, content)
    for asked in ("rev-parse HEAD", "status --porcelain --ignored", "ls-files -v"):
        found[asked] = (0, git(*asked.split(), at=checkout.path))
    return found


def fresh(repository: Repository, commit: str) -> dict[str, tuple[int, str]]:
    with checkout_aside(repository, commit) as checkout:
        return seen(checkout)


@pytest.mark.parametrize("left", LEFT.values(), ids=LEFT)
def test_whatever_was_left_there_the_next_finds_what_a_fresh_one_has(
    root: Path, tmp_path: Path, left: str
) -> None:
    victim = make_repository(tmp_path / "victim")
    commit_file(victim, "a.txt", "mine\n")
    first = git("rev-parse", "HEAD", at=root)
    commit_file(root, "src/later.txt", "later\n")
    second = commit_file(root, "a.txt", "b\n")
    repository = discover(root)
    wanted = [fresh(repository, commit) for commit in (first, second, first)]
    found = []
    with PooledAside(repository) as pool:
        for commit in (first, second, first):
            with pool.at(commit) as checkout:
                found.append(seen(checkout))
                environment = {**os.environ, "VICTIM": str(victim), "KEPT": str(tmp_path / "kept")}
                subprocess.run(["sh", "-ec", left], cwd=checkout.path, env=environment, check=True)
    assert found == wanted
    assert (victim / "a.txt").read_text() == "mine\n"
    assert git("status", "--porcelain", "a.txt", at=victim) == ""
    assert git("worktree", "list", at=root).count("\n") == 0


def test_what_nobody_changed_is_not_written_again(root: Path) -> None:
    first = git("rev-parse", "HEAD", at=root)
    second = commit_file(root, "a.txt", "b\n")
    with PooledAside(discover(root)) as pool:
        with pool.at(first) as checkout:
            before = [(checkout.path / name).stat() for name in ("src/b.txt", "a.txt")]
            (checkout.path / "out").write_text("x")
        with pool.at(second) as again:
            after = [(again.path / name).stat() for name in ("src/b.txt", "a.txt")]
    assert again.path == checkout.path
    assert [one.st_ctime_ns == other.st_ctime_ns for one, other in zip(before, after, strict=True)] == [
        True,
        False,
    ]


def test_attributes_that_changed_count_for_every_file(root: Path) -> None:
    first = git("rev-parse", "HEAD", at=root)
    second = commit_file(root, "src/.gitattributes", "*.txt text eol=crlf\n")
    with PooledAside(discover(root)) as pool:
        with pool.at(first) as checkout:
            assert (checkout.path / "src/b.txt").read_bytes() == b"a\n"
        with pool.at(second) as checkout:
            assert (checkout.path / "src/b.txt").read_bytes() == b"a\r\n"


def test_what_a_check_fetched_into_a_submodule_is_gone(root: Path, tmp_path: Path) -> None:
    library = make_repository(tmp_path / "library")
    git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "lib", at=root)
    git("commit", "-qm", "with a submodule", at=root)
    with PooledAside(discover(root)) as pool:
        for _ in range(2):
            with pool.at("HEAD") as checkout:
                assert list((checkout.path / "lib").iterdir()) == []
                git(
                    "-c",
                    "protocol.file.allow=always",
                    "submodule",
                    "update",
                    "-q",
                    "--init",
                    at=checkout.path,
                )


def test_is_removed_with_all_that_was_made_in_it(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    tip = git("rev-parse", "HEAD", at=root)
    with pytest.raises(ZeroDivisionError), checkout_aside(discover(root), tip) as checkout:  # noqa: PT012
        assert (head(checkout), current_branch(checkout)) == (tip, None)
        (checkout.path / "built").write_text("")
        (checkout.path / "README.md").write_text("changed")
        raise ZeroDivisionError
    assert len(git("worktree", "list", at=root).splitlines()) == 1
    assert list((root / ".git" / "gitticks" / "merge").iterdir()) == []


def test_what_a_killed_process_left_is_swept_and_the_living_are_spared(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    holders = [
        subprocess.Popen(
            [sys.executable, "-c", HOLD, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    paths = [Path(holder.stdout.readline().strip()) for holder in holders if holder.stdout is not None]
    os.kill(holders[0].pid, signal.SIGKILL)
    holders[0].communicate()
    assert left_asides(discover(root)) == (paths[0],)
    sweep_asides(discover(root))
    assert [path.exists() for path in paths] == [False, True]
    holders[1].communicate("")
    assert holders[1].returncode == 0
    assert list((root / ".git" / "gitticks" / "merge").iterdir()) == []
