"""Our merge driver, by which git merges tasks.

Only the state branch names it in its attributes, so no other branch is merged by it. A clone whose gitticks is gone
still merges by text: `git merge-file` stands behind it.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Final

from gitticks.git.config import read_common_setting, write_common_setting
from gitticks.git.repository import Repository

_DRIVER: Final = "merge.gitticks.driver"
_NAME: Final = "merge.gitticks.name"
_WORDS: Final = "tasks of gitticks, merged by meaning"
_BY_TEXT: Final = "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"


def install_merge_driver(repository: Repository) -> None:
    """Sets what is not set like that already; the name comes last, as git dies of a named driver without a command."""
    for key, value in ((_DRIVER, driver_command()), (_NAME, _WORDS)):
        if read_common_setting(repository.common_dir, key) != value:
            write_common_setting(repository.common_dir, key, value)


def has_merge_driver(repository: Repository) -> bool:
    """True if git calls a driver for tasks, of whichever installation."""
    return read_common_setting(repository.common_dir, _DRIVER) is not None


def driver_command() -> str:
    """Returns the command line: `gt` of this installation, as other programs are called `gt` too."""
    own = Path(sys.executable).parent / "gt"
    gt = shlex.quote(str(own)) if own.is_file() else "gt"
    return f"{gt} merge-driver %O %A %B %L %P || {_BY_TEXT}"
