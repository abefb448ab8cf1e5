"""Finds the repository around a directory; the usual layouts by reading three small files, the rest by asking git.

Every reading command begins here, and a process of its own for this would cost it more than its whole answer. So the
fast way knows a checkout, a linked worktree and a submodule with plain configuration. Whatever it does not know for
certain (bare repositories, includes, foreign owners) is git's to say.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gitticks.errors import GitticksError, NotFoundError
from gitticks.plainfile import read_plain_text

_SECTION = re.compile(r'\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)')
_ENTRY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?")
_KNOWN_EXTENSIONS = frozenset(
    f"extensions.{name}"
    for name in (
        "noop",
        "noop-v1",
        "objectformat",
        "partialclone",
        "preciousobjects",
        "refstorage",
        "relativeworktrees",
        "worktreeconfig",
    )
)
_TRUE_WORDS = frozenset({"true", "yes", "on", "1"})
_FALSE_WORDS = frozenset({"false", "no", "off", "0", ""})


@dataclass(frozen=True, slots=True)
class Repository:
    """Where a repository's parts lie; all paths are absolute and free of symbolic links.

    Attributes:
        git_dir: the git directory of the worktree that the search began in.
        common_dir: the git directory that all worktrees share; the same as `git_dir` outside linked worktrees.
        main_worktree: the checkout that belongs to `common_dir`; None if there is none.
        here_worktree: the checkout that the search began in; None in a bare repository or inside a git directory.
        is_bare: the common directory says that it has no checkout; linked worktrees may stand beside it all the same.
    """

    git_dir: Path
    common_dir: Path
    main_worktree: Path | None
    here_worktree: Path | None
    is_bare: bool

    @property
    def is_linked(self) -> bool:
        """True in a linked worktree."""
        return self.git_dir != self.common_dir

    @property
    def own_dir(self) -> Path:
        """Returns the folder in the common directory that holds what is this clone's own and can be rebuilt."""
        return self.common_dir / "gitticks"

    def require_main_worktree(self, purpose: str) -> Path:
        """Returns the main worktree.

        Raises:
            GitticksError: the repository is bare; the message names `purpose`, such as "the board".
        """
        if self.main_worktree is None:
            raise GitticksError(
                f"`{self.common_dir}` is a bare repository: {purpose} needs a checkout",
                hint=f"clone it and work there: `git clone {self.common_dir}`",
            )
        return self.main_worktree


def discover(start: Path) -> Repository:
    """Returns the repository that `start` lies in; `GIT_DIR` of the environment is not asked.

    Raises:
        NotFoundError: there is none.
        GitticksError: it is of a kind that gitticks cannot work with, or it belongs to somebody else.
    """
    place = Path(os.path.realpath(start))
    for folder in (place, *place.parents):
        entry = folder / ".git"
        if entry.is_dir():
            found = _checkout(folder, entry)
        elif entry.is_file():
            found = _linked_or_submodule(folder, entry)
        elif _looks_like_git_dir(folder):
            _refuse_unsupported(_read_settings(folder) or {}, folder)
            found = None
        else:
            continue
        return found or _ask_git(place, {})
    raise _no_repository(place)


def _no_repository(place: Path) -> NotFoundError:
    return NotFoundError(f"`{place}` is not in a git repository", hint="`git init` makes one here")


def discover_in_hook(start: Path, environment: Mapping[str, str]) -> Repository:
    """Returns the repository that git runs a hook for: what `GIT_DIR` names, else the one around `start`.

    Raises:
        GitticksError: as `discover`.
    """
    git_dir = environment.get("GIT_DIR")
    if git_dir is None:
        return discover(start)
    named = {"GIT_DIR": str(start / git_dir)}
    if "GIT_WORK_TREE" in environment:
        named["GIT_WORK_TREE"] = str(start / environment["GIT_WORK_TREE"])
    return _ask_git(start, named)


def _somebody_elses(place: Path) -> GitticksError:
    return GitticksError(
        f"the repository around `{place}` belongs to another user, so git does not trust it",
        hint=f"if you do: `git config --global --add safe.directory {place}`",
    )


def _looks_like_git_dir(folder: Path) -> bool:
    return (folder / "HEAD").exists() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _checkout(folder: Path, git_dir: Path) -> Repository | None:
    """Returns the plain case: a checkout with its git directory inside."""
    git_dir = Path(os.path.realpath(git_dir))
    if not _looks_like_git_dir(git_dir) or (git_dir / "commondir").exists():
        return None
    settings = _read_settings(git_dir)
    _refuse_unsupported(settings or {}, git_dir)
    if settings is None or "core.worktree" in settings or _is_bare(settings) or not _is_ours(folder, git_dir):
        return None
    return Repository(git_dir, git_dir, folder, folder, is_bare=False)


def _linked_or_submodule(folder: Path, entry: Path) -> Repository | None:
    """Returns the case of a `.git` file: a linked worktree, a submodule, or a git directory kept elsewhere."""
    match = re.fullmatch(r"gitdir: (.+?)\s*", read_plain_text(entry))
    if match is None:
        return None
    git_dir = Path(os.path.realpath(folder / match[1]))
    common_dir = _common_dir(git_dir)
    if common_dir is None or not (git_dir / "HEAD").exists() or not _is_ours(folder, entry, git_dir):
        return None
    settings = _read_settings(common_dir)
    _refuse_unsupported(settings or {}, common_dir)
    if settings is None:
        return None
    if git_dir == common_dir:
        top = _configured_worktree(common_dir, settings) if "core.worktree" in settings else folder
        plain = top == folder and not _is_bare(settings)
        return Repository(git_dir, common_dir, folder, folder, is_bare=False) if plain else None
    if _moves_its_worktree(git_dir / "config.worktree"):
        return None
    return Repository(
        git_dir, common_dir, _main_worktree(common_dir, settings), folder, is_bare=_is_bare(settings)
    )


def _moves_its_worktree(own_config: Path) -> bool:
    """True if a linked worktree's own configuration says that its files are elsewhere, or cannot be read plainly."""
    try:
        return "core.worktree" in _parse_settings(own_config)
    except ValueError:
        return True


def _common_dir(git_dir: Path) -> Path | None:
    try:
        pointer = read_plain_text(git_dir / "commondir").removesuffix("\n")
    except FileNotFoundError:
        pointer = "."
    common_dir = Path(os.path.realpath(git_dir / pointer))
    return common_dir if _looks_like_git_dir(common_dir) else None


def _main_worktree(common_dir: Path, settings: Mapping[str, str]) -> Path | None:
    if _is_bare(settings):
        return None
    if "core.worktree" in settings:
        return _configured_worktree(common_dir, settings)
    return common_dir.parent if common_dir.name == ".git" else None


def _configured_worktree(common_dir: Path, settings: Mapping[str, str]) -> Path:
    return Path(os.path.realpath(common_dir / settings["core.worktree"]))


def _is_bare(settings: Mapping[str, str]) -> bool:
    return settings.get("core.bare", "false").lower() in _TRUE_WORDS


def _is_ours(*places: Path) -> bool:
    """True if this user owns all of `places`; otherwise git decides, by its `safe.directory`."""
    return all(place.lstat().st_uid == os.geteuid() for place in places)


def _read_settings(common_dir: Path) -> dict[str, str] | None:
    """Returns the settings of the repository's own configuration; None if only git can tell what they are."""
    try:
        settings = _parse_settings(common_dir / "config")
        if settings.get("extensions.worktreeconfig", "false").lower() not in _FALSE_WORDS:
            settings |= _parse_settings(common_dir / "config.worktree")
    except ValueError:
        return None
    return settings


def _parse_settings(file: Path) -> dict[str, str]:
    """Returns the plain settings of `core` and `extensions`, keys in lower case.

    Raises:
        ValueError: the file includes others, or one of these settings is written in a way that is not plain.
    """
    try:
        text = read_plain_text(file)
    except FileNotFoundError:
        return {}
    settings: dict[str, str] = {}
    section = ""
    for raw in text.splitlines():
        line = raw.strip()
        if match := _SECTION.fullmatch(line):
            section = match[1].lower()
            line = match[3]
            if section in ("include", "includeif"):
                raise ValueError(section)
        if section in ("core", "extensions") and line and line[0] not in "#;":
            key, value = _parse_entry(line)
            settings[f"{section}.{key}"] = value
    return settings


def _parse_entry(line: str) -> tuple[str, str]:
    match = _ENTRY.fullmatch(line)
    if match is None or any(sign in line for sign in '"\\#;'):
        raise ValueError(line)
    return match[1].lower(), "true" if match[2] is None else match[2]


def _refuse_unsupported(settings: Mapping[str, str], common_dir: Path) -> None:
    object_format = settings.get("extensions.objectformat", "sha1").lower()
    if object_format != "sha1":
        raise GitticksError(
            f"`{common_dir}` stores its objects as {object_format}, and gitticks' git library reads SHA-1 alone",
            hint="bring the files into a repository made by `git init --object-format=sha1`",
        )
    storage = settings.get("extensions.refstorage", "files").lower()
    if storage != "files":
        raise GitticksError(
            f"`{common_dir}` stores its refs as {storage}, and gitticks' git library reads refs in files alone",
            hint="`git refs migrate --ref-format=files` converts it (git 2.46 or newer)",
        )
    unknown = sorted(
        key for key in settings if key.startswith("extensions.") and key not in _KNOWN_EXTENSIONS
    )
    if unknown and settings.get("core.repositoryformatversion", "0") != "0":
        raise GitticksError(
            f"`{common_dir}` uses `{unknown[0]}`, which gitticks does not know, so it might damage something there",
            hint="`pip install --upgrade gitticks`",
        )


def _ask_git(start: Path, named: Mapping[str, str]) -> Repository:
    """Returns what git itself says of the repository around `start`, for all that the fast way does not know."""
    from gitticks.git.process import GitError, run_git

    def ask(*arguments: str) -> str:
        try:
            return run_git(arguments, directory=start, extra_environment=named).text
        except GitError as error:
            if "not a git repository" in error.message:
                raise _no_repository(start) from error
            if "dubious ownership" in error.message:
                raise _somebody_elses(start) from error
            raise

    def setting(name: str, kind: str, git_dir: Path) -> str:
        return run_git(["config", f"--type={kind}", name], repository_dir=git_dir, check=False).text

    answers = ask(
        "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--is-inside-work-tree"
    )
    *paths, inside = answers.split("\n")
    git_dir, common_dir = (Path(os.path.realpath(path)) for path in paths)
    _refuse_unsupported(
        {
            "extensions.objectformat": setting("extensions.objectFormat", "path", common_dir) or "sha1",
            "extensions.refstorage": setting("extensions.refStorage", "path", common_dir) or "files",
        },
        common_dir,
    )
    here = Path(os.path.realpath(ask("rev-parse", "--show-toplevel"))) if inside == "true" else None
    settings = {"core.bare": setting("core.bare", "bool", common_dir)}
    if worktree := setting("core.worktree", "path", common_dir):
        settings["core.worktree"] = worktree
    main = here if git_dir == common_dir and here is not None else _main_worktree(common_dir, settings)
    return Repository(git_dir, common_dir, main, here, is_bare=_is_bare(settings) and main is None)
