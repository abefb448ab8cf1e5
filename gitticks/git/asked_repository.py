"""Asks git itself which repository a folder lies in: slower than reading its files, and right for every kind."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote

from gitticks.errors import GitticksError
from gitticks.git.process import GitError, run_git
from gitticks.git.repository import Repository, is_bare, main_worktree_of, no_repository, refuse_unsupported
from gitticks.git.shared_files import share_new_files


def ask_git(start: str) -> Repository:
    """Returns what git itself says of the repository around the folder `start`.

    Raises:
        GitticksError: as `discover`.
    """

    def ask(*arguments: str) -> str:
        try:
            return run_git(arguments, directory=Path(start)).text
        except GitError as error:
            if "not a git repository" in error.message:
                raise no_repository(start) from error
            if "dubious ownership" in error.message:
                raise _somebody_elses(start) from error
            raise

    def setting(name: str, kind: str, git_dir: str) -> str:
        return run_git(["config", f"--type={kind}", name], repository_dir=Path(git_dir), check=False).text

    def place(name: str) -> str:
        return os.path.realpath(ask("rev-parse", "--path-format=absolute", name))

    git_dir, common_dir = place("--git-dir"), place("--git-common-dir")
    refuse_unsupported(
        {
            "extensions.objectformat": setting("extensions.objectFormat", "path", common_dir) or "sha1",
            "extensions.refstorage": setting("extensions.refStorage", "path", common_dir) or "files",
        },
        common_dir,
    )
    share_new_files(setting("core.sharedRepository", "path", common_dir))
    here = place("--show-toplevel") if ask("rev-parse", "--is-inside-work-tree") == "true" else None
    settings = {"core.bare": setting("core.bare", "bool", common_dir)}
    if worktree := setting("core.worktree", "path", common_dir):
        settings["core.worktree"] = worktree
    main = here if git_dir == common_dir and here is not None else main_worktree_of(common_dir, settings)
    return Repository(git_dir, common_dir, main, here, is_bare=is_bare(settings) and main is None)


def _somebody_elses(place: str) -> GitticksError:
    return GitticksError(
        f"the repository around `{place}` belongs to another user, so git does not trust it",
        hint=f"if you do: `git config --global --add safe.directory {quote(place)}`",
    )
