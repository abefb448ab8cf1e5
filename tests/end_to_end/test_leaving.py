"""Hooks leave a repository as they found it, and the page about taking gitticks out leaves it as before `gt init`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.support import command
from tests.support.hooks import logging_hook, write_hook
from tests.support.projects import Project
from tests.support.repositories import git, make_repository
from tools.blocks import examples_of

PAGE = Path(__file__).parents[2] / "docs/how-to/remove.md"
CHANGED_BY_ANY_GIT = (
    "objects",
    "logs",
    "refs",
    "packed-refs",
    "index",
    "reftable",
    "COMMIT_EDITMSG",
    "ORIG_HEAD",
)
CASES = (
    "plain",
    "relative",
    "absolute",
    "global",
    "husky",
    "own",
    pytest.param("pre-commit", marks=pytest.mark.debian("pre-commit", program="pre-commit")),
    "worktree-config",
    "odd-config",
    "workspace-dir",
)


def prepare(root: Path, case: str) -> None:
    """Sets up hooks and configuration as people and their tools do."""
    match case:
        case "relative" | "absolute" | "global":
            folder = root / "own-hooks" if case == "relative" else root.parent / "own-hooks"
            logging_hook(folder, "pre-push", root.parent / "log")
            scope = "--global" if case == "global" else "--local"
            git(
                "config", scope, "core.hooksPath", folder.name if case == "relative" else str(folder), at=root
            )
        case "husky":
            write_hook(root / ".husky/_", "pre-push", '. "$(dirname "$0")/h"')
            git("config", "core.hooksPath", ".husky/_", at=root)
        case "own":
            for name in ("pre-push", "post-merge", "pre-commit"):
                logging_hook(root / ".git/hooks", name, root.parent / "log")
        case "pre-commit":
            (root / ".pre-commit-config.yaml").write_text("repos: []\n")
            words = ["pre-commit", "install", "--hook-type", "pre-push", "--hook-type", "pre-commit"]
            subprocess.run(words, cwd=root, check=True, capture_output=True)
        case "worktree-config":
            git("config", "extensions.worktreeConfig", "true", at=root)
            git("config", "--worktree", "core.hooksPath", "mine", at=root)
        case "odd-config":
            with (root / ".git/config").open("a") as config:
                config.write("[user]\n\temail = ada@example.org\n# mine\n[alias]\n\tst = status\n")
            (root / ".git/info/exclude").write_text("*.swp\n")


def everything(root: Path) -> dict[str, tuple[int, bytes]]:
    """Returns mode and bytes of all in `.git` that is nobody's but the person's, and the names at the top."""
    files = [file for file in (root / ".git").rglob("*") if not _is_gits_own(file, root)]
    found = {str(file.relative_to(root)): (file.lstat().st_mode, _content(file)) for file in files}
    return {**found, **{file.name: (0, b"") for file in root.iterdir()}}


def _is_gits_own(file: Path, root: Path) -> bool:
    return file.relative_to(root / ".git").parts[0] in CHANGED_BY_ANY_GIT


def _content(file: Path) -> bytes:
    if file.is_symlink():
        return bytes(file.readlink())
    return b"" if file.is_dir() else file.read_bytes()


def settings(root: Path) -> tuple[bytes, bytes]:
    """Returns the configuration of the repository and of the person."""
    home = git("config", "--global", "--list", at=root).encode()
    return (root / ".git/config").read_bytes(), home


def type_page(root: Path, workspaces: str = ".gitticks-work") -> list[str]:
    """Types all commands of the page's section about removing, and returns those that failed."""
    text = PAGE.read_text().replace(" .gitticks-work", f" {workspaces}")
    section = text[text.index("## Remove it") : text.index("## Restore it")]
    programs = root.parent / "bin"
    start = " ".join(f"'{word}'" for word in command())
    write_hook(programs, "gt", f'exec {start} "$@"')
    failed = []
    for example in examples_of(section):
        done = subprocess.run(
            ["bash", "-c", f'PATH="{programs}:$PATH"\n{example.command}'],
            cwd=root,
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode or done.stderr:
            failed.append(example.command)
    return failed


@pytest.mark.parametrize("case", CASES)
def test_hooks_and_then_gitticks_leave_without_a_trace(tmp_path: Path, case: str) -> None:
    project = Project(make_repository(tmp_path / "project"))
    prepare(project.path, case)
    before, own_settings = everything(project.path), settings(project.path)
    project.ok("init")
    begun = settings(project.path)
    for _ in range(2):
        project.ok("hooks", "install", "--checkout")
    project.ok("hooks", "uninstall")
    assert settings(project.path) == begun
    assert hooks_of(everything(project.path)) == hooks_of(before)
    task_id = project.create()
    project.ok("hooks", "install", "--checkout")
    workspaces = ".ws" if case == "workspace-dir" else ".gitticks-work"
    project.ok("config", "workspace.dir", workspaces)
    project.ok("start", task_id)
    project.save(task_id, "status: working", "status: done")
    project.gt("watch", "--once")
    assert "/config.yaml.refused\n" in (project.path / ".git/info/exclude").read_text()
    git("checkout", "-q", ".", at=project.path / ".gitticks")
    project.ok("watch", "--once")
    git("update-ref", f"refs/gitticks/rescued/{task_id}", "HEAD", at=project.path)
    git("update-ref", "refs/remotes/origin/gitticks/state", "gitticks/state", at=project.path)
    assert type_page(project.path, workspaces) == []
    if case == "workspace-dir":
        file = project.path / ".git/info/exclude"
        file.write_text(file.read_text().replace("/.ws/\n", ""))
    assert settings(project.path) == own_settings
    assert everything(project.path) == before
    assert git("for-each-ref", "--format=%(refname)", at=project.path) == "refs/heads/main"


def test_no_command_of_the_page_deletes_uncommitted_work_even_if_all_are_typed(tmp_path: Path) -> None:
    project = Project(make_repository(tmp_path / "project"))
    project.ok("init")
    in_work, edited = project.create(), project.create()
    project.ok("start", in_work)
    work = project.path / ".gitticks-work" / in_work / "wip"
    work.write_text("hours\n")
    board = next((project.path / ".gitticks/tasks").glob(f"*/{edited}/TASK.md"))
    board.write_text(board.read_text() + "hours\n")
    saved = board.read_text()
    failed = type_page(project.path)
    assert [command for command in failed if "git worktree remove" in command]
    assert work.read_text() == "hours\n"
    assert board.read_text() == saved


def hooks_of(found: dict[str, tuple[int, bytes]]) -> dict[str, tuple[int, bytes]]:
    """Returns what stands where git looks for hooks and settings of the main worktree."""
    places = (".git/hooks", ".git/config.worktree", ".husky", "own-hooks")
    return {path: one for path, one in found.items() if path.startswith(places)}
