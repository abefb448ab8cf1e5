"""The parts of a repository's own folder that run programs or configure git: hooks, settings, attributes, alternates.

Read before and after an agent's session, which may write there as the person whose repository it is. Hooks that are
tracked and stand as they were committed are left out: those came by a merge that somebody judged.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from gitticks.errors import GitticksError
from gitticks.git.config import (
    CHECKOUT_FOLDER,
    HOOKS_PATH,
    OWN_EXCLUSIONS,
    find_own_hooks,
    is_of_ours,
)
from gitticks.git.process import GitError
from gitticks.git.repository import Repository
from gitticks.git.snapshots import blobs_at
from gitticks.git.untrusted_config import CONFIG_FILE, MOST_BYTES, list_file, pairs_of
from gitticks.safe_read import read_plain_file

SETTING, FILE = "setting ", "file "
"""How the names of the two kinds begin."""

_FILES = ("info/attributes", "info/exclude", "info/grafts", "info/sparse-checkout", "objects/info/alternates")
_OF_GIT_ITSELF = re.compile(r"branch\..+\.(merge|rebase|description)|lfs\..+\.access", re.DOTALL)
_REMOTE_OF_BRANCH = re.compile(r"branch\..+\.remote", re.DOTALL)
_OF_WORKTREE = re.compile(rf"{SETTING}worktrees/(\S+) ")
_PLAIN_REMOTE = re.compile(r"\.|[\w-]+")
_OF_WORKSPACES = frozenset({"user.name", "user.email", "gitticks.task", "gitticks.checkout"})
_OWN_LINES = frozenset(map(str.encode, OWN_EXCLUSIONS))
_MOST_FILES = 2000


def read_own_state(repository: Repository) -> dict[str, str]:
    """Returns what each setting and file says, by name: a setting's values, a file's digest."""
    found = dict(_settings(repository))
    tops = [one for one in (repository.main_place, os.path.dirname(repository.common_place)) if one]
    files = [f"{repository.common_place}/{name}" for name in _FILES]
    for path in (*files, *_hook_files(repository)):
        value = _file_value(path)
        if value is not None:
            found[FILE + _name(tops, path)] = value
    for name in _as_committed(repository, found):
        del found[name]
    return found


def differing(before: dict[str, str], after: dict[str, str]) -> tuple[str, ...]:
    """Returns the names of what was added, changed or removed, sorted; worktrees that came or went do not count."""
    there = _worktrees(before) & _worktrees(after)
    names = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    return tuple(sorted(name for name in names if _worktree_of(name) in (None, *there)))


def file_of(repository: Repository, name: str) -> Path:
    """Returns where a file is that has this name."""
    path = Path(name.removeprefix(FILE))
    top = repository.common_dir.parent if path.parts[0] == repository.common_dir.name else None
    return (top or repository.main_worktree or repository.common_dir) / path


def _settings(repository: Repository) -> Iterator[tuple[str, str]]:
    common = repository.common_place
    yield from _listed(repository, f"{common}/config", "")
    yield from _listed(repository, f"{common}/{CONFIG_FILE}", "config.worktree ")
    folder = f"{common}/worktrees"
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        lead = f"worktrees/{name} "
        yield SETTING + lead, ""
        yield from _listed(repository, f"{folder}/{name}/{CONFIG_FILE}", lead)


def _listed(repository: Repository, file: str, lead: str) -> Iterator[tuple[str, str]]:
    if not os.path.lexists(file):
        return
    listed = list_file(repository.common_dir, file)
    if listed is None:
        yield SETTING + lead + "(unreadable)", _file_value(file) or ""
        return
    values: dict[str, list[str]] = {}
    for key, value in pairs_of(listed):
        if not _is_harmless(repository, key, value, in_workspace=lead.startswith("worktrees/")):
            values.setdefault(key, []).append(value)
    yield from ((SETTING + lead + key, "\n".join(given)) for key, given in values.items())


def _is_harmless(repository: Repository, key: str, value: str, *, in_workspace: bool) -> bool:
    """True for what git writes by itself for every branch, and what gitticks writes into its workspaces."""
    if key == HOOKS_PATH.lower():
        if in_workspace and Path(value).parts[-2:] == (repository.own_dir.name, "workspace-hooks"):
            return True
        top = repository.main_worktree or repository.common_dir
        return is_of_ours(repository, Path(os.path.normpath(top / value)))
    if _REMOTE_OF_BRANCH.fullmatch(key):
        return _PLAIN_REMOTE.fullmatch(value) is not None
    return _OF_GIT_ITSELF.fullmatch(key) is not None or (in_workspace and key in _OF_WORKSPACES)


def _hook_files(repository: Repository) -> Iterator[str]:
    """Yields the files of hooks that are in the repository: git's folder, the one in effect, and gitticks' own."""
    folders = [f"{repository.common_place}/hooks"]
    with contextlib.suppress(GitticksError):  # where the configuration is unreadable, that is told
        folders.append(str(find_own_hooks(repository).folder))
    tops = [place for place in (repository.common_place, repository.main_place) if place]
    folders = [one for one in folders if any(_inside(os.path.realpath(one), top) is not None for top in tops)]
    folders += [f"{repository.own_place}/hooks", f"{repository.own_place}/{CHECKOUT_FOLDER}"]
    count = 0
    for folder in dict.fromkeys(map(os.path.normpath, folders)):
        for place, inner, names in os.walk(folder):
            inner.sort()
            for name in sorted(names):
                count += 1
                if count > _MOST_FILES:
                    return
                if not name.endswith(".sample"):
                    yield f"{place}/{name}"


def _file_value(path: str) -> str | None:
    """Returns mode and digests of a file, or where a link leads as well; None if nothing is there."""
    try:
        target = os.readlink(path) if os.path.islink(path) else ""
        mode = "executable" if os.access(path, os.X_OK) else "plain"
    except OSError:
        return None
    try:
        content = read_plain_file(path, MOST_BYTES)
    except FileNotFoundError:
        return f"link to {target}" if target else None
    except OSError as error:
        return f"{error.strerror}"
    if path.endswith("/info/exclude"):
        content = b"".join(
            line for line in content.splitlines(keepends=True) if line.strip() not in _OWN_LINES
        )
    blob = b"blob %d\0" % len(content) + content
    # As git names it in either format of objects.
    names = f"{hashlib.sha1(blob, usedforsecurity=False).hexdigest()} {hashlib.sha256(blob).hexdigest()}"
    return f"{mode} {names}" + (f" link to {target}" if target else "")


def _as_committed(repository: Repository, found: dict[str, str]) -> list[str]:
    files = [name for name in found if name.startswith(FILE)]
    not_tracked = FILE + os.path.basename(repository.common_place) + "/"
    inside = [name for name in files if not name.startswith((not_tracked, f"{FILE}/"))]
    if not inside or repository.main_place is None:
        return []
    paths = [name.removeprefix(FILE) for name in inside]
    committed: dict[str, str] = {}
    with contextlib.suppress(GitError):  # before the first commit
        committed = blobs_at(repository.common_dir, "HEAD", paths)
    return [
        name
        for name, path in zip(inside, paths, strict=True)
        if committed.get(path, "-") in found[name].split(" ")
    ]


def _name(tops: Sequence[str], path: str) -> str:
    found = (_inside(path, top) for top in tops)
    return next((name for name in found if name is not None), path)


def _inside(path: str, top: str) -> str | None:
    """Returns the path from a folder on; None if it does not lead into the folder."""
    lead = top if top.endswith("/") else f"{top}/"
    return path.removeprefix(lead) if f"{path}/".startswith(lead) else None


def _worktree_of(name: str) -> str | None:
    match = _OF_WORKTREE.match(name)
    return match[1] if match else None


def _worktrees(state: dict[str, str]) -> set[str]:
    return {found for name in state if (found := _worktree_of(name)) is not None}
