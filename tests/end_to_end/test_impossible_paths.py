"""A path that no checkout can hold costs nobody the board: the rest is there, the path is named, and it goes away."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.doctor import found_in, our_gt_on_path
from tests.support.projects import Project, make_project
from tests.support.repositories import git, run_git_command

__all__ = ["our_gt_on_path"]

pytestmark = pytest.mark.damages  # `git fsck` has no liking for such trees

STATE = "refs/heads/gitticks/state"
IMPOSSIBLE = (
    "..",
    ".",
    ".git",
    ".GIT",
    "git~1",
    ".git\\x",
    "a\\.git",
    ".git::$DATA",
    ".git ",
    ".g\u200cit",
    "n" * 300,
)
ODD_BUT_POSSIBLE = ("a\\b", "tab\there", "line\nbreak", "\x1b[31m", "-rf", "CON")


def tree_with(entries: list[tuple[bytes, bytes, str]], at: Path) -> str:
    """Stores a tree of modes, names and ids, whatever git thinks of it."""
    body = b"".join(
        b"%s %s\0%s" % (mode, name, bytes.fromhex(one))
        for mode, name, one in sorted(entries, key=lambda e: e[1])
    )
    asked = ["git", "hash-object", "-t", "tree", "--literally", "-w", "--stdin"]
    return subprocess.run(asked, cwd=at, input=body, capture_output=True, check=True).stdout.decode().strip()


def entries_of(tree: str, at: Path) -> list[tuple[bytes, bytes, str]]:
    listed = [line.partition("\t") for line in git("ls-tree", tree, at=at).splitlines()]
    parted = [(what.split(), name) for what, _, name in listed]
    return [(mode.lstrip("0").encode(), name.encode(), one) for (mode, _, one), name in parted]


def commit_entry(name: str, at: Path, *, outside: str = "") -> str:
    """Commits `tasks/d1/<name>/TASK.md` on the state branch, by Eve, and returns the commit; no ref is moved."""
    blob = (
        subprocess.run(
            ["git", "hash-object", "-w", "--stdin"], cwd=at, input=b"evil", capture_output=True, check=True
        )
        .stdout.decode()
        .strip()
    )
    inner = tree_with([(b"100644", outside.encode() or b"TASK.md", blob)], at)
    top = entries_of(STATE, at)
    tasks = entries_of(f"{STATE}:tasks", at) if any(one[1] == b"tasks" for one in top) else []
    # One id in a thousand ends with these letters.
    beside = entries_of(f"{STATE}:tasks/d1", at) if any(one[1] == b"d1" for one in tasks) else []
    folder = tree_with([*beside, (b"40000", name.encode(), inner)], at)
    whole = tree_with([*(one for one in tasks if one[1] != b"d1"), (b"40000", b"d1", folder)], at)
    root = tree_with([*(one for one in top if one[1] != b"tasks"), (b"40000", b"tasks", whole)], at)
    made = run_git_command(
        "-c", "user.name=Eve", "-c", "user.email=eve@x", "commit-tree", root, "-p", STATE, "-m", "evil", at=at
    )
    return made.stdout.strip()


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    git("init", "--quiet", "--bare", "hub.git", at=tmp_path)
    return tmp_path / "hub.git"


@pytest.fixture
def project(tmp_path: Path, hub: Path) -> Project:
    project = make_project(tmp_path / "first")
    git("remote", "add", "origin", str(hub), at=project.path)
    project.create("What was there")
    git("push", "--quiet", "origin", "main", at=project.path)
    project.ok("sync")
    return project


def clone_of(hub: Path, at: Path, *options: str) -> Project:
    git("clone", "--quiet", "--branch", "main", *options, str(hub), str(at), at=hub.parent)
    return Project(at)


def push_entry(name: str, hub: Path) -> str:
    """Pushes such a commit from a clone of Eve's own, so that nobody else has its objects, and returns it."""
    eve = hub.parent / "eve.git"
    git("clone", "--quiet", "--bare", str(hub), str(eve), at=hub.parent)
    evil = commit_entry(name, eve)
    git("push", "--quiet", "origin", f"{evil}:{STATE}", at=eve)
    return evil


@pytest.mark.parametrize("options", [(), ("--single-branch", "--no-local")], ids=["whole", "single"])
@pytest.mark.parametrize("name", IMPOSSIBLE, ids=lambda name: ascii(name)[:12])
def test_a_new_clone_has_the_rest_and_is_told(
    project: Project, hub: Path, tmp_path: Path, name: str, options: tuple[str, ...]
) -> None:
    evil = push_entry(name, hub)
    clone = clone_of(hub, tmp_path / "second", *options)
    told = clone.gt("init")
    assert told.code == 0, told.seen
    assert f"cannot be checked out; it came with {evil[:10]}, and was removed" in told.err
    assert "What was there" in clone.ok("list")
    assert clone.board_status() == ""
    assert found_in(clone.path) == {}
    made = clone.create("Made here")
    clone.ok("sync")
    assert f"came with {evil[:10]}" not in project.gt("sync").err, "it is gone from there already"
    assert "Made here" in project.ok("show", made)
    assert found_in(project.path) == {}


@pytest.mark.parametrize("has_work", [False, True], ids=["behind", "both changed"])
@pytest.mark.parametrize("name", IMPOSSIBLE, ids=lambda name: ascii(name)[:12])
def test_a_sync_goes_on_around_it(project: Project, hub: Path, name: str, has_work: bool) -> None:
    evil = push_entry(name, hub)
    if has_work:
        project.create("Made meanwhile")
    told = project.gt("sync")
    assert told.code == 0, told.seen
    assert f"came with {evil[:10]}, and was removed; `git show --format=full --stat {evil}`" in told.err
    assert git("rev-parse", STATE, at=hub) == project.tip()
    git("merge-base", "--is-ancestor", evil, STATE, at=hub)
    assert "evil" not in git("ls-tree", "-r", STATE, at=hub)
    assert project.board_status() == ""
    assert found_in(project.path) == {}
    assert "came with" not in project.gt("sync").err


def test_the_doctor_removes_one_that_plain_git_brought(project: Project) -> None:
    evil = commit_entry("..", project.path, outside="escaped")
    git("update-ref", STATE, evil, at=project.path)
    project.gt("status")
    assert not (project.board / "tasks/escaped").exists()
    what = f"`tasks/d1/..` cannot be checked out; it came with {evil[:10]}"
    assert found_in(project.path)[what] == "error"
    assert "remove paths that cannot be checked out" in project.ok("doctor", "--fix")
    assert found_in(project.path) == {}
    assert project.board_status() == ""


@pytest.mark.parametrize("name", ODD_BUT_POSSIBLE, ids=ascii)
def test_names_that_are_only_odd_stay(project: Project, hub: Path, tmp_path: Path, name: str) -> None:
    push_entry(name, hub)
    clone = clone_of(hub, tmp_path / "second")
    clone.ok("init")
    assert (clone.board / "tasks/d1" / name / "TASK.md").read_text() == "evil"
    project.ok("sync")
    assert (project.board / "tasks/d1" / name / "TASK.md").read_text() == "evil"


def test_a_server_refuses_it(project: Project, hub: Path) -> None:
    project.ok("hooks", "install", "--server", at=hub)
    evil = commit_entry(".git", project.path)
    pushed = run_git_command("push", "origin", f"{evil}:{STATE}", at=project.path)
    assert pushed.returncode != 0
    assert f"`tasks/d1/.git` cannot be checked out; it came with {evil[:10]}" in pushed.stderr
