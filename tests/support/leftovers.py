"""What a killed command must not leave for good: locks, and files that were being prepared."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.repositories import git

_OWN_FLOCKS = "gitticks"
"""Lock files of our own stay: who holds them is known to the kernel, and a dead process holds none."""
_TEMPORARY = re.compile(r"(^tmp|^\.?tmp[-_]|\.tmp$|^gitticks-index|\.new$|[.-]\d{2,}$|-\d+-\d+$)")
_GARBAGE = re.compile(r"objects/(?:[0-9a-f]{2}/|pack/)?\.?tmp_[^/]+")


def git_locks(repository: Path) -> list[str]:
    """Returns the lock files in the git directory, those of worktrees included, sorted."""
    git_dir = repository / ".git"
    found = [path.relative_to(git_dir) for path in git_dir.rglob("*.lock")]
    return sorted(str(path) for path in found if path.parts[0] != _OWN_FLOCKS)


def temporary_files(repository: Path) -> list[str]:
    """Returns the files that somebody was preparing, sorted.

    Objects that were never finished are not among them, nor drafts, which may hold what a person wrote.
    """
    git_dir = repository / ".git"
    found = [path.relative_to(git_dir) for path in git_dir.rglob("*") if path.is_file()]
    named = [
        path
        for path in found
        if path.parts[0] not in ("objects", "refs", "logs") and "drafts" not in path.parts
    ]
    inside = [path for path in named if "tmp" in path.parts[:-1]]
    outside = list((repository / ".gitticks-tmp").rglob("*"))
    return sorted({str(path) for path in [*inside, *filter(_is_temporary, named), *outside]})


def unfinished_objects(repository: Path) -> list[str]:
    """Returns objects that were never finished; git's own `git gc` and `git prune` remove them."""
    git_dir = repository / ".git"
    names = [str(path.relative_to(git_dir)) for path in (git_dir / "objects").rglob("*tmp*")]
    return sorted(name for name in names if _GARBAGE.fullmatch(name))


def prune(repository: Path) -> None:
    """Lets git remove what was never finished; fails if it does not know it for that."""
    git("prune", "--expire=now", at=repository)
    assert unfinished_objects(repository) == []


def _is_temporary(path: Path) -> bool:
    return _TEMPORARY.search(path.name) is not None
