"""Says what this gitticks is and what it stands on."""

from __future__ import annotations

import platform

from gitticks import __version__
from gitticks.errors import GitticksError
from gitticks.git.process import versions_of_git


def versions() -> dict[str, str]:
    """Returns the versions by name, gitticks first; git's is `missing` where there is none."""
    found = {"gitticks": __version__, "python": platform.python_version()}
    try:
        return found | versions_of_git()
    except GitticksError:
        return found | {"git": "missing"}
