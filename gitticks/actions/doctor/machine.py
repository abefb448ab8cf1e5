"""What gitticks finds around it: git, the person's identity, and which `gt` the shell would start."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Severity
from gitticks.errors import GitticksError

_LOOKED_AT_BYTES = 4096


def check_git() -> Iterator[Finding]:
    """Yields what is wrong with the git binary."""
    from gitticks.git.versions import OLDEST_GIT, is_git_new_enough, versions_of_git

    try:
        if not is_git_new_enough():
            oldest = ".".join(map(str, OLDEST_GIT))
            yield Finding(
                Severity.ERROR,
                f"git {versions_of_git()['git']} is too old: gitticks needs {oldest}",
                "install a newer git",
            )
    except GitticksError as error:
        yield Finding(Severity.ERROR, error.message, error.hint)


def check_program(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Yields a warning if the shell's `gt` is another tool's."""
    found = shutil.which("gt", path=environment.get("PATH", os.defpath))
    if found is None:
        yield Finding(Severity.NOTE, "`gt` is not on PATH, so hooks and agents may not find it")
    elif not _is_ours(Path(found)):
        yield Finding(
            Severity.WARNING,
            f"another tool's `gt` comes first on PATH: {found}",
            "`gitticks` is the same command as `gt`",
        )


def _is_ours(program: Path) -> bool:
    """True if a program mentions gitticks at its beginning, as the installed start script does."""
    try:
        with program.open("rb") as file:
            return b"gitticks" in file.read(_LOOKED_AT_BYTES)
    except OSError:
        return False


def check_identity(context: Context) -> Iterator[Finding]:
    """Yields an error if nobody could commit here."""
    try:
        _ = context.author
    except GitticksError as error:
        yield Finding(Severity.ERROR, error.message, error.hint)


def check_repository(context: Context) -> Iterator[Finding]:
    """Yields what is unusual about the repository."""
    repository = context.repository
    if repository.main_worktree is None:
        yield Finding(
            Severity.NOTE, "the repository is bare: tasks can be read and changed, but there is no board"
        )


def check_settings(context: Context) -> Iterator[Finding]:
    """Yields what is wrong with the settings."""
    from gitticks.store.settings import load_settings

    try:
        found = load_settings(context.repository, context.world.environment, context.overrides)
    except GitticksError as error:
        yield Finding(Severity.ERROR, error.message, error.hint)
        return
    for warning in found.warnings:
        yield Finding(Severity.WARNING, warning)
