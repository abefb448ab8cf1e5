"""Reads the few settings that say what a repository is, where they are written plainly; all else is git's to say.

Every command begins with these files, so they are read without a process, and without `re` as long as a line has one
of the two forms that git itself writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.safe_read import read_plain_text

if TYPE_CHECKING:
    from pathlib import Path

TRUE_WORDS = frozenset({"true", "yes", "on", "1"})
FALSE_WORDS = frozenset({"false", "no", "off", "0", ""})
"""What git takes for yes and no, in lower case; a key without a value is a yes."""

_READ_SECTIONS = frozenset({"core", "extensions"})
_INCLUDES = frozenset({"include", "includeif"})
_ODD_SIGNS = frozenset('"\\#;')
_SECTION = r'\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)'


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
        if line.startswith("[") and (parts := _section(line)) is not None:
            section, line = parts
            if section in _INCLUDES:
                raise ValueError(section)
        if section in _READ_SECTIONS and line and line[0] not in "#;":
            key, value = _entry(line)
            settings[f"{section}.{key}"] = value
    return settings


def _section(line: str) -> tuple[str, str] | None:
    """Returns a section's name in lower case and what follows it on its line; None where the line is no heading."""
    if '"' not in line:
        name, closed, rest = line[1:].partition("]")
        name = name.strip()
        return (name.lower(), rest.strip()) if closed and _is_name(name, "-._") else None
    if line.endswith('"]') and line.count('"') == len('""') and "\\" not in line:
        name = line[1 : line.index('"')].strip()
        return (name.lower(), "") if _is_name(name, "-._") else None
    import re  # for what git does not write by itself

    match = re.fullmatch(_SECTION, line)
    return None if match is None else (match[1].lower(), match[3])


def _entry(line: str) -> tuple[str, str]:
    name, equals, value = line.partition("=")
    name = name.rstrip()
    if not name[:1].isalpha() or not _is_name(name, "-") or not _ODD_SIGNS.isdisjoint(line):
        raise ValueError(line)
    return name.lower(), value.lstrip() if equals else "true"


def _is_name(text: str, signs: str) -> bool:
    """True for ASCII letters, digits and some signs; at least one of them."""
    return text.isascii() and bool(text) and all(char.isalnum() or char in signs for char in text)
