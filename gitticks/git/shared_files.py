"""File modes in repositories shared by several users, as `core.sharedRepository` says.

Git gives the rights to each file that it makes in its directory. Here files are made in many places, also by SQLite and
on the board, so the mask of the process says it for all of them.
"""

from __future__ import annotations

import os
import threading

from gitticks.git.repository_settings import TRUE_WORDS

_GROUP, _EVERYBODY = 0o660, 0o664
_WORDS = {"group": _GROUP, "1": _GROUP, "2": _EVERYBODY}
_WORDS |= dict.fromkeys(("all", "world", "everybody"), _EVERYBODY)
_OWNER, _READ, _ANY = 0o600, 0o444, 0o777
_SETTING = threading.Lock()


def share_new_files(setting: str) -> None:
    """Sets the mask for new files to what `core.sharedRepository` says; a word that git refuses changes nothing."""
    rights = _rights(setting)
    if rights is None:
        return
    rights |= (rights & _READ) >> 2  # who may read a folder must be able to enter it
    exact = _ANY & ~rights
    with _SETTING:  # two at once would take each other's mask for the person's
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
