"""What a person has chosen for the interface, kept in `git config gitticks.ui.*` of the repository."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError

if TYPE_CHECKING:
    from gitticks.actions.context import Context

_SECTION = "gitticks.ui."
_LARGEST = 500


class Preferences:
    """Read once, written at each change; a repository that cannot be written keeps them for this call."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._values: dict[str, str] = {}
        from gitticks.git.config import read_config

        with contextlib.suppress(GitticksError, OSError):
            self._values = read_config(context.repository, r"^gitticks\.ui\.")

    def get(self, name: str) -> str:
        """Returns a value; empty if nothing was chosen."""
        return self._values.get(_SECTION + name.lower(), "")

    def remember(self, name: str, value: str) -> None:
        """Keeps a value."""
        from gitticks.git.config import set_config

        self._values[_SECTION + name.lower()] = value
        with contextlib.suppress(GitticksError, OSError):
            set_config(self._context.renewed().repository, _SECTION + name, value)

    def sizes(self, place: str) -> dict[str, int]:
        """Returns the widths of a place's panes that were changed, by id."""
        prefix = f"{_SECTION}{place}-"
        return {
            name[len(prefix) :]: int(value)
            for name, value in self._values.items()
            if name.startswith(prefix) and value.isdecimal() and 0 < int(value) < _LARGEST
        }

    def remember_size(self, place: str, pane: str, size: int) -> None:
        """Keeps a pane's width."""
        self.remember(f"{place}-{pane}", str(size))
