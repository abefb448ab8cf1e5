"""A path that a commit changes, with what the rules about hostile trees need; git reads it, workflow judges it.

What file systems take a name for stands here too: a checkout asks as well as the rule.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LINK, SUBMODULE, EXECUTABLE = "120000", "160000", "100755"
"""The modes by which git marks what is no ordinary file."""

_NOT_SEEN_BY_HFS = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_SHORT_NAMES_OF_NTFS = {
    "git~1": ".git",
    "gitmod~1": ".gitmodules",
    "gitatt~1": ".gitattributes",
    "gitign~1": ".gitignore",
    "mailma~1": ".mailmap",
}


def taken_for(name: str) -> str:
    """Returns a name as file systems may take it that ignore case, ends, some letters or streams, or know short names."""
    plain = _NOT_SEEN_BY_HFS.sub("", name).partition(":")[0].rstrip(". ").lower()
    return _SHORT_NAMES_OF_NTFS.get(plain, plain)


def is_taken_for_git(name: str) -> bool:
    r"""True for what some system takes for git's own folder, or for something below one: `\\` separates on Windows."""
    return any(taken_for(part) == ".git" for part in name.split("\\"))


class TreeChange(NamedTuple):
    """What becomes of one path.

    Modes are git's, `000000` where nothing stands. `target` is where a symbolic link leads, None for anything else.
    `settings` are the names and values of a `.gitmodules`; None for another file, or for one that git cannot read.
    """

    path: str
    old_mode: str
    new_mode: str
    target: str | None = None
    settings: tuple[tuple[str, str], ...] | None = None

    @property
    def is_removed(self) -> bool:
        """True if nothing is there afterwards."""
        return self.new_mode == "000000"
