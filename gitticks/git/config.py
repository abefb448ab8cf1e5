"""Git's configuration of a repository or worktree, and where its hooks are."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from gitticks.git.locks import clear_shared_locks
from gitticks.git.process import GitError, git_version, run_git
from gitticks.git.repository import Repository
from gitticks.git.untrusted_config import CONFIG_FILE, read_all

if TYPE_CHECKING:
    import pygit2

_ONLY_FOR_THE_MAIN_WORKTREE = ("core.worktree", "core.bare")
"""Once worktrees have settings of their own, these two in the common file would hold for all of them."""

_HEADING = "# folders of gitticks"
OWN_EXCLUSIONS = (
    _HEADING,
    "/.gitticks/",
    "/.gitticks-work/",
    "/.gt/",
    "/.gitticks-tmp/",
    "/tasks/*/*/TASK.md.refused",
    "/config.yaml.refused",
    "/prompts/**/*.md.refused",
)
"""The lines that gitticks itself adds to `info/exclude`, some only when they are needed."""

HOOKS_PATH = "core.hooksPath"
HIDDEN_HOOKS_PATH = "gitticks.hiddenHooksPath"
"""Where a worktree's own `core.hooksPath` is kept while ours is in its place."""
CHECKOUT_FOLDER = "checkout-hooks"
"""Our folder of hooks that the main worktree names; git copies that word into each worktree that it adds."""


def read_config(repository: Repository, pattern: str, *, of_all: bool = False) -> dict[str, str]:
    """Returns the settings whose full names match a regular expression, the last value of each.

    Sections and keys are in lower case; a key without a value has an empty one. A configuration that git cannot read
    has none. `of_all` leaves out what only the linked worktree that we are in has set.
    """
    try:
        entries = read_all(repository.common_dir if of_all else repository.git_dir)
    except GitError:
        git_version()  # without git there is no answer at all
        return {}
    is_wanted = re.compile(pattern).search
    return {key: value for _, key, value in entries if is_wanted(key)}


def read_own_setting(key: str) -> str | None:
    """Returns a setting of the person's own configuration, which may be empty; None where it is not set.

    The repository's does not count: an agent may have written it.
    """
    for scope in ("--global", "--system"):
        found = run_git(["config", scope, "--includes", "--get", key], check=False)
        if found.code == 0:
            return found.text
    return None


def read_setting_here(key: str) -> str | None:
    """Returns a setting as git reads it in the current folder, whoever wrote it."""
    return run_git(["config", "--get", key], check=False).text or None


def enable_worktree_config(repository: Repository) -> None:
    """Turns `extensions.worktreeConfig` on; a submodule's `core.worktree` moves to the main worktree's own file first.

    Killed at any point, it continues from there when it is called again.
    """
    common_dir = repository.common_dir
    misplaced = {
        key: value for key in _ONLY_FOR_THE_MAIN_WORKTREE if (value := read_common_setting(common_dir, key))
    }
    if misplaced.get("core.bare") == "false":
        del misplaced["core.bare"]
    for key, value in misplaced.items():
        _change(common_dir / CONFIG_FILE, key, value)
    if read_common_setting(common_dir, "extensions.worktreeConfig") != "true":
        write_common_setting(common_dir, "extensions.worktreeConfig", "true")
    for key in misplaced:
        _change(common_dir / "config", "--unset-all", key)


def read_common_setting(common_dir: Path, key: str) -> str | None:
    """Returns a setting of the repository itself; None if it has none."""
    return _read(common_dir / "config", key)


def write_common_setting(common_dir: Path, key: str, value: str) -> None:
    """Sets a setting of the repository itself."""
    _change(common_dir / "config", key, value)


def read_worktree_setting(git_dir: Path, key: str) -> str | None:
    """Returns a setting that the worktree of `git_dir` has for itself; None if it has none."""
    return _read(git_dir / CONFIG_FILE, key)


def write_worktree_setting(git_dir: Path, key: str, value: str | None) -> None:
    """Sets or, with None, removes a setting of one worktree; a file that holds nothing any more goes with it.

    What is so already is not written again.
    """
    file = git_dir / CONFIG_FILE
    present = read_worktree_setting(git_dir, key)
    if present == value:
        return
    if value is not None:
        clear_shared_locks(git_dir, file.name)
        with _opened(file) as settings:
            settings[key] = os.fsencode(value)
    else:
        _change(file, "--unset-all", key)  # libgit2 would leave an empty section
        if file.stat().st_size == 0:
            file.unlink()


def _read(file: Path, key: str) -> str | None:
    if not file.exists():
        return None
    with _opened(file) as settings:
        values = [entry.raw_value for entry in settings if entry.name == key.lower()]
    return os.fsdecode(values[-1] or b"") or None if values else None


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[pygit2.Config]:
    """Opens one configuration file by libgit2: a new workspace asks and sets a dozen, and each git costs milliseconds."""
    import pygit2

    try:
        yield pygit2.Config(str(file))
    except (pygit2.GitError, OSError, ValueError) as error:
        raise GitError(f"git's configuration `{file}` cannot be used: {error}") from error


def _change(file: Path, *words: str) -> None:
    """Changes a configuration file, also one that a killed git left locked."""
    clear_shared_locks(file.parent, file.name)
    run_git(["config", f"--file={file}", *words])


def exclude_folders(repository: Repository, folders: Iterable[str]) -> None:
    """Adds each folder, named from the top of the checkout, to `info/exclude`; one that is there stays as it is.

    A folder outside of the checkout (absolute, or by `..`) needs no line and gets none.
    """
    paths = (PurePosixPath(folder) for folder in folders)
    inside = (path for path in paths if path.parts and not path.is_absolute() and ".." not in path.parts)
    # Signs that mean something in a pattern are escaped.
    exclude_patterns(
        repository, ["/" + re.sub(r"([*?\[\]\\ ])", r"\\\1", str(path)) + "/" for path in inside]
    )


def exclude_patterns(repository: Repository, patterns: Iterable[str]) -> None:
    """Adds patterns as git reads them to `info/exclude`; those that are there stay as they are."""
    file = repository.common_dir / "info" / "exclude"
    present = file.read_bytes() if file.exists() else b""
    lines = present.splitlines()
    wanted = dict.fromkeys(os.fsencode(pattern) for pattern in patterns)
    missing = [line for line in wanted if line not in lines]
    if not missing:
        return
    heading = [] if _HEADING.encode() in lines else [_HEADING.encode()]
    gap = b"" if not present or present.endswith(b"\n") else b"\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as end:  # appending loses nothing that somebody else writes at this moment
        end.write(gap + b"".join(line + b"\n" for line in [*heading, *missing]))


class OwnHooks(NamedTuple):
    """The folder of the person's hooks; `named` is what `core.hooksPath` says, None where that is not set."""

    folder: Path
    named: str | None

    @property
    def is_missing(self) -> bool:
        """True if a path is named and nothing is there, so that none of the person's hooks runs."""
        return self.named is not None and not self.folder.is_dir() and not self.are_off

    @property
    def are_off(self) -> bool:
        """True if the person has switched their hooks off, as people do by naming `/dev/null`."""
        return self.named == os.devnull


def find_own_hooks(repository: Repository) -> OwnHooks:
    """Returns where the main worktree's hooks are; a relative path counts from its top, as with git."""
    keys = (HIDDEN_HOOKS_PATH.lower(), HOOKS_PATH.lower())
    found = [
        (key, os.path.expanduser(value))
        for scope, key, value in read_all(repository.common_dir)
        if scope != "command" and key in keys
    ]
    hidden = [value for key, value in found if key == keys[0] and value]
    top = repository.main_worktree or repository.common_dir
    usual = [
        value for key, value in found if key == keys[1] and value and not is_of_ours(repository, top / value)
    ]
    named = next(reversed(hidden or usual), None)
    return OwnHooks(repository.common_dir / "hooks" if named is None else top / named, named)


def is_of_ours(repository: Repository, path: Path) -> bool:
    """True for a folder of hooks of ours, also where it was before the repository moved."""
    if path.parts[-2:] == (repository.own_dir.name, CHECKOUT_FOLDER):
        return True
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(repository.own_dir))
