"""Reads the few settings that define a repository's format, refuses unknown formats, and heeds who shares its files."""

from __future__ import annotations

import os
import re
from _thread import allocate_lock  # of `threading`, which no listing loads
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError
from gitticks.safe_read import read_plain_text

if TYPE_CHECKING:
    from pathlib import Path


TRUE_WORDS = frozenset({"true", "yes", "on", "1"})
FALSE_WORDS = frozenset({"false", "no", "off", "0", ""})
"""What git takes for yes and no, in lower case; a key without a value is a yes."""

_READ_SECTIONS = frozenset({"core", "extensions"})
_INCLUDES = frozenset({"include", "includeif"})
_SECTION = re.compile(r'\[\s*([\w.-]+)\s*(?:"(?:[^"\\]|\\.)*")?\s*\]\s*(.*)')
_ENTRY = re.compile(r'([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=\s*([^"\\#;]*))?')
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
_GROUP, _EVERYBODY = 0o660, 0o664
_WORDS = {"group": _GROUP, "1": _GROUP, "2": _EVERYBODY}
_WORDS |= dict.fromkeys(("all", "world", "everybody"), _EVERYBODY)
_OWNER, _READ, _ANY = 0o600, 0o444, 0o777
_SETTING_MASK = allocate_lock()


def read_settings(file: str | Path) -> dict[str, str]:
    """Returns the plain settings of `core` and `extensions`, keys in lower case; none if there is no such file.

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
        if heading := _SECTION.fullmatch(line):
            section, line = heading[1].lower(), heading[2]
            if section in _INCLUDES:
                raise ValueError(section)
        if section in _READ_SECTIONS and line and line[0] not in "#;":
            entry = _ENTRY.fullmatch(line)
            if entry is None:
                raise ValueError(line)
            settings[f"{section}.{entry[1].lower()}"] = "true" if entry[2] is None else entry[2]
    return settings


def refuse_extensions(settings: Mapping[str, str], common_dir: str) -> None:
    """Refuses a repository whose settings name such a format."""
    for key, what, known in (
        ("extensions.objectformat", "objects", ("sha1", "sha256")),
        ("extensions.refstorage", "refs", ("files", "reftable")),
    ):
        found = settings.get(key, known[0]).lower()
        if found not in known:
            raise GitticksError(
                f"`{common_dir}` stores its {what} as `{found}`, which gitticks does not know",
                hint="`pipx upgrade gitticks`",
            )
    unknown = sorted(
        key for key in settings if key.startswith("extensions.") and key not in _KNOWN_EXTENSIONS
    )
    if unknown and settings.get("core.repositoryformatversion", "0") != "0":
        raise GitticksError(
            f"`{common_dir}` uses `{unknown[0]}`, which gitticks does not know, so it might damage something there",
            hint="`pipx upgrade gitticks`",
        )


def share_new_files(setting: str) -> None:
    """Sets the mask for new files to what `core.sharedRepository` says; a word that git refuses changes nothing.

    Git gives the rights to each file that it makes in its directory. Here files are made in many places, also by SQLite
    and on the board, so the mask of the process says it for all of them.
    """
    rights = _rights(setting)
    if rights is None:
        return
    rights |= (rights & _READ) >> 2  # who may read a folder must be able to enter it
    exact = _ANY & ~rights
    with _SETTING_MASK:  # two at once would take each other's mask for the person's
        before = os.umask(exact)  # asking means setting
        if not _is_number(setting):
            os.umask(before & ~rights)


def _rights(setting: str) -> int | None:
    """Returns the rights of a file; None where they are nobody's but the person's own to choose."""
    word = setting.lower()
    if word in _WORDS:
        return _WORDS[word]
    if _is_number(setting):
        return int(setting, 8) & 0o666
    return _GROUP if word in TRUE_WORDS else None


def _is_number(setting: str) -> bool:
    """True for rights in octal digits, which hold whatever the person's own mask says."""
    is_octal = setting.isascii() and setting.isdigit() and not set(setting) & set("89")
    return is_octal and int(setting, 8) & _OWNER == _OWNER
