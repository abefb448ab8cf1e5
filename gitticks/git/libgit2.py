"""What every use of libgit2 needs: its failures in our words."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pygit2

from gitticks.errors import GitticksError
from gitticks.git.process import printable


@contextlib.contextmanager
def errors_of_writing(common_dir: Path) -> Iterator[None]:
    """Turns libgit2's failures into one that names the place; a failed write changed nothing that a ref names."""
    try:
        yield
    except (pygit2.GitError, OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else printable(str(error))
        raise GitticksError(
            f"git cannot write to `{common_dir}`: {reason[:1].lower()}{reason[1:]}",
            hint=f"`df -h {common_dir}` shows the room left",
        ) from error


@contextlib.contextmanager
def errors_of_reading(what: str) -> Iterator[None]:
    """Turns libgit2's failures into one that begins with `what`."""
    try:
        yield
    except (pygit2.GitError, KeyError, ValueError, OSError) as error:
        raise GitticksError(f"{what}: {printable(str(error))}", hint="`git fsck` looks for damage") from error
