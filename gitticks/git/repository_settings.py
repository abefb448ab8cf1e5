"""Reads the few settings that define a repository's format, and refuses unknown formats."""

from __future__ import annotations

import re
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
