"""Reads from git's configuration files, where they are plain, what every change asks; starting git takes as long as it.

Git's own rules are kept, or the question is left to git: where a file includes others, where a value has quotes or
escapes, and where these files do not say both a name and an address.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from gitticks.git.plain_settings import TRUE_WORDS
from gitticks.git.repository import Repository
from gitticks.plainfile import read_plain_text

_SYSTEM_FILE = "/etc/gitconfig"
_FROM_OUTSIDE = frozenset({"GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG"})
"""Variables that put values over those of the files, or other files in their place."""
_SECTION = re.compile(r"\[([A-Za-z0-9.-]+)\]")
_SUBSECTION = re.compile(r'\[[A-Za-z0-9.-]+ "[^"\\]*"\]')
_ENTRY = re.compile(r"(name|email)[ \t]*=[ \t]*([^\"\\#;\t]*)", re.IGNORECASE)
_NAMES = re.compile(r"(name|email)\b", re.IGNORECASE)


def read_identity(repository: Repository, environment: Mapping[str, str]) -> dict[str, str] | None:
    """Returns `user.name`, `user.email`, `author.name` and `author.email` as far as they are set; None to ask git."""
    if sys.platform != "linux":
        return None
    found: dict[str, str] = {}
    try:
        for file in _files(repository, environment):
            found |= _entries(file)
        if _entries(repository.git_dir / "config.worktree"):
            return None  # it counts only under an extension
    except (OSError, ValueError):
        return None
    is_whole = all(f"user.{name}" in found or f"author.{name}" in found for name in ("name", "email"))
    return found if is_whole else None


def may_set(repository: Repository, environment: Mapping[str, str], *words: str) -> bool:
    """True unless no configuration file holds all of `words`, which are in lower case; nothing is parsed."""
    if sys.platform != "linux" or not _FROM_OUTSIDE.isdisjoint(environment):
        return True
    try:
        for file in (*_files(repository, environment), repository.git_dir / "config.worktree"):
            text = _text(file).lower()
            if "[include" in text or all(word in text for word in words):
                return True
    except (OSError, ValueError):
        return True
    return False


def _files(repository: Repository, environment: Mapping[str, str]) -> Iterator[Path]:
    """Yields the files in the order in which a later one wins.

    Raises:
        ValueError: where they are is not plain.
    """
    if environment.get("GIT_CONFIG_NOSYSTEM", "0").lower() not in TRUE_WORDS:
        yield Path(environment.get("GIT_CONFIG_SYSTEM", _SYSTEM_FILE))
    named = environment.get("GIT_CONFIG_GLOBAL")
    if named is not None:
        yield Path(named)
    else:
        home = environment.get("HOME")
        if not home:
            raise ValueError("no home")
        yield Path(environment.get("XDG_CONFIG_HOME") or f"{home}/.config") / "git" / "config"
        yield Path(home) / ".gitconfig"
    yield repository.common_dir / "config"


def _entries(file: Path) -> dict[str, str]:
    """Returns what one file sets.

    Raises:
        ValueError: it is not plain.
    """
    found: dict[str, str] = {}
    section = ""
    for raw in _text(file).removeprefix("\ufeff").split("\n"):
        line = raw.strip()
        if line.startswith("["):
            section = _section(line)
        elif line.endswith("\\"):
            raise ValueError(line)
        elif section in ("user", "author") and _NAMES.match(line):
            match = _ENTRY.fullmatch(line)
            if match is None:
                raise ValueError(line)
            found[f"{section}.{match[1].lower()}"] = match[2].strip()
    return found


def _text(file: Path) -> str:
    try:
        return read_plain_text(file)
    except FileNotFoundError:
        return ""


def _section(line: str) -> str:
    """Returns the section that a line begins, "" for one with a name of its own in quotes."""
    plain = _SECTION.fullmatch(line)
    if line.lower().startswith("[include") or (plain is None and not _SUBSECTION.fullmatch(line)):
        raise ValueError(line)
    return "" if plain is None else plain[1].lower()
