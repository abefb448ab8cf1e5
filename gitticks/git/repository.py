"""Finds the repository around a directory: usual layouts by reading three small files, others by asking git.

Every reading command begins here, and a process of its own for this would cost it more than its whole answer. So the
fast way knows a checkout, a linked worktree and a submodule with plain configuration. Whatever it does not know for
certain (bare repositories, includes, foreign owners) is git's to say.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from gitticks.errors import GitticksError, NotFoundError
from gitticks.git.repository_settings import (
    FALSE_WORDS,
    TRUE_WORDS,
    read_settings,
    refuse_extensions,
    share_new_files,
)
from gitticks.safe_read import read_plain_text

if TYPE_CHECKING:
    from pathlib import Path

    from gitticks.git.objects import Objects


class _Places(NamedTuple):
    git_place: str
    common_place: str
    main_place: str | None
    here_place: str | None
    is_bare: bool


class Repository(_Places):
    """Where a repository's parts lie; all paths are absolute and free of symbolic links.

    They are kept as text, which is all that a reading command needs; `pathlib` is loaded where somebody asks for a
    `Path`.

    Attributes:
        git_place: the git directory of the worktree that the search began in; `git_dir` as a path.
        common_place: the git directory that all worktrees share; the same as `git_place` outside linked worktrees.
        main_place: the checkout that belongs to `common_dir`; None if there is none.
        here_place: the checkout that the search began in; None in a bare repository or inside a git directory.
        is_bare: the common directory says that it has no checkout; linked worktrees may stand beside it all the same.
        does_much: this process lives long or looks at many objects, so libgit2 is worth its loading.
    """

    does_much: bool = False

    @cached_property
    def objects(self) -> Objects:
        """Returns the object database, opened when it is first asked for."""
        from gitticks.git.objects import open_objects

        return open_objects(self.common_dir, does_much=self.does_much)

    @cached_property
    def git_dir(self) -> Path:
        """Returns the git directory of the worktree that the search began in."""
        return _path(self.git_place)

    @cached_property
    def common_dir(self) -> Path:
        """Returns the git directory that all worktrees share."""
        return _path(self.common_place)

    @cached_property
    def main_worktree(self) -> Path | None:
        """Returns the checkout that belongs to the common directory; None if there is none."""
        return None if self.main_place is None else _path(self.main_place)

    @property
    def project_place(self) -> str | None:
        """Returns the folder that board and workspaces stand in; None in a bare repository that no folder is around.

        That is the main worktree. A bare repository that is a folder's `.git`, or that a `.git` file there leads to,
        has its linked worktrees in that folder.
        """
        if self.main_place is not None:
            return self.main_place
        above, name = os.path.split(self.common_place)
        is_around = name == ".git" or _named_git_dir(_below(above, ".git")) == self.common_place
        return above if is_around else None

    @property
    def project_dir(self) -> Path | None:
        """Returns that folder as a path."""
        place = self.project_place
        return None if place is None else _path(place)

    @cached_property
    def here_worktree(self) -> Path | None:
        """Returns the checkout that the search began in; None in a bare repository or inside a git directory."""
        return None if self.here_place is None else _path(self.here_place)

    @property
    def is_linked(self) -> bool:
        """True in a linked worktree."""
        return self.git_place != self.common_place

    @property
    def own_place(self) -> str:
        """Returns the folder in the common directory that holds what is this clone's own and can be rebuilt."""
        return f"{self.common_place}/gitticks"

    @cached_property
    def own_dir(self) -> Path:
        """Returns that folder as a path."""
        return self.common_dir / "gitticks"

    @property
    def is_shallow(self) -> bool:
        """True for a clone that lacks the history before some commits."""
        return (self.common_dir / "shallow").exists()

    def own_file(self, name: str) -> Path:
        """Returns what has this name in that folder."""
        return self.own_dir / name

    def require_project_dir(self, purpose: str) -> Path:
        """Returns the folder that board and workspaces stand in.

        Raises:
            GitticksError: there is none; the message names `purpose`, such as "the board".
        """
        project_dir = self.project_dir
        if project_dir is None:
            from shlex import quote

            words = f"`{self.common_place}` is a bare repository: {purpose} needs "
            folder, _, name = self.common_place.rpartition("/")
            file = f"{folder}/.git"
            if not self.is_linked or os.path.lexists(file):
                raise GitticksError(
                    f"{words}a checkout",
                    hint=f"clone it and work there: `git clone {quote(self.common_place)}`",
                )
            raise GitticksError(
                f"{words}a folder beside its worktrees",
                hint=f"`echo {quote(f'gitdir: ./{name}')} > {quote(file)}` makes `{folder}` that folder",
            )
        return project_dir


def discover(start: str | Path) -> Repository:
    """Returns the repository that `start` is in; `GIT_DIR` of the environment is not asked.

    Raises:
        NotFoundError: there is none.
        GitticksError: it is of a kind that gitticks cannot work with, or it belongs to somebody else.
    """
    place = folder = os.path.realpath(start)
    found = bare = None
    while True:
        entry = _below(folder, ".git")
        if os.path.isdir(entry):
            found = _checkout(folder, entry)
            break
        if os.path.isfile(entry):
            found = _linked_or_submodule(folder, entry)
            break
        if _looks_like_git_dir(folder):
            settings = _read_settings(folder) or {}
            _heed(settings, folder)
            bare = folder if _is_bare(settings) and _is_ours(folder) else None
            break
        above = os.path.dirname(folder)
        if above == folder:
            raise _no_repository(place)
        folder = above
    return ask_git(place, bare) if found is None else found


def ask_git(start: str, bare: str | None = None) -> Repository:
    """Returns what git itself says of the repository around the folder `start`.

    That which is `bare` is named to git, which under `safe.bareRepository=explicit` finds none by itself.
    """
    from pathlib import Path
    from shlex import quote

    from gitticks.git.process import GitError, run_git

    def ask(*arguments: str) -> str:
        try:
            named = None if bare is None else Path(bare)
            return run_git(arguments, repository_dir=named, directory=Path(start)).text
        except GitError as error:
            if (missing := error.message.partition("not a git repository: ")[2]) != "":
                where = "" if missing == "(null)" else f": no `{missing}`"  # what git 2.55 prints
                raise NotFoundError(
                    f"`{start}` is a worktree of a repository that is gone or was moved{where}",
                    hint="`git worktree repair`, in the folder where that repository is now",
                ) from error
            if "not a git repository" in error.message:
                raise _no_repository(start) from error
            if "dubious ownership" in error.message:
                raise GitticksError(
                    f"the repository around `{start}` belongs to another user, so git does not trust it",
                    hint=f"if you do: `git config --global --add safe.directory {quote(start)}`",
                ) from error
            raise

    def setting(name: str, kind: str, git_dir: str) -> str:
        return run_git(["config", f"--type={kind}", name], repository_dir=Path(git_dir), check=False).text

    def place(name: str) -> str:
        return os.path.realpath(ask("rev-parse", "--path-format=absolute", name))

    git_dir, common_dir = place("--git-dir"), place("--git-common-dir")
    _refuse_unsupported(
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
    main = here if git_dir == common_dir and here is not None else _main_worktree_of(common_dir, settings)
    return Repository(git_dir, common_dir, main, here, is_bare=_is_bare(settings) and main is None)


def _path(place: str) -> Path:
    from pathlib import Path  # which no listing needs

    return Path(place)


def _below(folder: str, name: str) -> str:
    return os.path.join(folder, name)


def _no_repository(place: str) -> NotFoundError:
    return NotFoundError(f"`{place}` is not in a git repository", hint="`git init` creates one here")


def _looks_like_git_dir(folder: str) -> bool:
    return (
        os.path.exists(_below(folder, "HEAD"))
        and os.path.isdir(_below(folder, "objects"))
        and os.path.isdir(_below(folder, "refs"))
    )


def _checkout(folder: str, entry: str) -> Repository | None:
    """Returns the plain case: a checkout with its git directory inside."""
    git_dir = os.path.realpath(entry)
    if not _looks_like_git_dir(git_dir) or os.path.exists(_below(git_dir, "commondir")):
        return None
    settings = _read_settings(git_dir)
    _heed(settings or {}, git_dir)
    if settings is None or "core.worktree" in settings or _is_bare(settings) or not _is_ours(folder, git_dir):
        return None
    return Repository(git_dir, git_dir, folder, folder, is_bare=False)


def _linked_or_submodule(folder: str, entry: str) -> Repository | None:
    """Returns the case of a `.git` file: a linked worktree, a submodule, or a git directory kept elsewhere."""
    git_dir = _named_git_dir(entry)
    common_dir = None if git_dir is None else _common_dir(git_dir)
    if (
        git_dir is None
        or common_dir is None
        or not os.path.exists(_below(git_dir, "HEAD"))
        or not _is_ours(folder, entry, git_dir)
    ):
        return None
    settings = _read_settings(common_dir)
    _heed(settings or {}, common_dir)
    if settings is None:
        return None
    if git_dir == common_dir:
        top = _configured_worktree(common_dir, settings) if "core.worktree" in settings else folder
        plain = top == folder and not _is_bare(settings)
        return Repository(git_dir, common_dir, folder, folder, is_bare=False) if plain else None
    try:
        if "core.worktree" in read_settings(_below(git_dir, "config.worktree")):
            return None
    except ValueError:
        return None
    main = _main_worktree_of(common_dir, settings)
    return Repository(git_dir, common_dir, main, folder, is_bare=_is_bare(settings))


def _named_git_dir(entry: str) -> str | None:
    """Returns the git directory that a `.git` file names; None if it names none."""
    prefix = "gitdir: "
    try:
        named = read_plain_text(entry).rstrip()
    except OSError:
        return None
    if not named.startswith(prefix) or "\n" in named:
        return None
    return os.path.realpath(_below(os.path.dirname(entry), named.removeprefix(prefix)))


def _common_dir(git_dir: str) -> str | None:
    try:
        pointer = read_plain_text(_below(git_dir, "commondir")).removesuffix("\n")
    except FileNotFoundError:
        pointer = "."
    common_dir = os.path.realpath(_below(git_dir, pointer))
    return common_dir if _looks_like_git_dir(common_dir) else None


def _main_worktree_of(common_dir: str, settings: Mapping[str, str]) -> str | None:
    """Returns the main worktree of a git directory with these settings; None if it has none."""
    if _is_bare(settings):
        return None
    if "core.worktree" in settings:
        return _configured_worktree(common_dir, settings)
    above, name = os.path.split(common_dir)
    return above if name == ".git" else None


def _configured_worktree(common_dir: str, settings: Mapping[str, str]) -> str:
    return os.path.realpath(_below(common_dir, settings["core.worktree"]))


def _is_bare(settings: Mapping[str, str]) -> bool:
    return settings.get("core.bare", "false").lower() in TRUE_WORDS


def _is_ours(*places: str) -> bool:
    """True if this user owns all of `places`; otherwise git decides, by its `safe.directory`."""
    return all(os.lstat(place).st_uid == os.geteuid() for place in places)


def _read_settings(common_dir: str) -> dict[str, str] | None:
    """Returns the settings of the repository's own configuration; None if only git can tell what they are."""
    try:
        settings = read_settings(_below(common_dir, "config"))
        if settings.get("extensions.worktreeconfig", "false").lower() not in FALSE_WORDS:
            settings |= read_settings(_below(common_dir, "config.worktree"))
    except ValueError:
        return None
    return settings


def _heed(settings: Mapping[str, str], common_dir: str) -> None:
    """Refuses what nobody could work with, and lets others write to new files where the settings share them."""
    _refuse_unsupported(settings, common_dir)
    if "core.sharedrepository" in settings:
        share_new_files(settings["core.sharedrepository"])


def _refuse_unsupported(settings: Mapping[str, str], common_dir: str) -> None:
    """Refuses a repository that nobody could work with, by its settings and by what is in it."""
    for name in ("HEAD", "packed-refs"):  # which every command of git opens
        file = _below(common_dir, name)
        if os.path.exists(file) and not os.path.isfile(file):
            from shlex import quote

            raise GitticksError(
                f"`{file}` is not a regular file, and git would hang on it",
                hint=f"`mv {quote(file)} {quote(f'{file}.damaged')}` moves it aside; then `gt doctor` says more",
            )
    if any(key.startswith("extensions.") for key in settings):
        refuse_extensions(settings, common_dir)
