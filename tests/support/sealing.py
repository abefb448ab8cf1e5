"""What keeps libgit2, which reads the environment once and early, within a test's own home."""

from __future__ import annotations

from pathlib import Path

import pygit2
from pygit2.enums import ConfigLevel


def seal_libgit2(home: Path) -> None:
    """Points libgit2 at a test's home; it read the environment when it was imported and never looks again."""
    for level in (ConfigLevel.PROGRAMDATA, ConfigLevel.SYSTEM, ConfigLevel.XDG):
        pygit2.settings.search_path[level] = str(home / "nothing-here")
    pygit2.settings.search_path[ConfigLevel.GLOBAL] = str(home)
