"""What is kept in the clone for a person: what they have chosen for the interface, and comments and texts that were not sent yet."""

from __future__ import annotations

import json
from contextlib import suppress

from gitticks.actions.context import Context
from gitticks.errors import GitticksError
from gitticks.git.config import read_config, write_common_setting
from gitticks.git.files import write_synced
from gitticks.git.locks import hold_lock
from gitticks.safe_read import read_plain_file

_SECTION = "gitticks.ui."
_LARGEST_PANE = 500
FILE = "unsent-comments.json"
IN_DIALOGS = ""
"""Where among the unsent comments the texts are that were left in dialogs; no task's id."""


class Preferences:
    """What a person has chosen for the interface, in `git config gitticks.ui.*`: read once, written at each change.

    A repository that cannot be written keeps them for this call.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._values: dict[str, str] = {}
        with suppress(GitticksError, OSError):
            self._values = read_config(context.repository, r"^gitticks\.ui\.")

    def get(self, name: str) -> str:
        """Returns a value; empty if nothing was chosen."""
        return self._values.get(_SECTION + name.lower(), "")

    def remember(self, name: str, value: str) -> None:
        """Keeps a value."""
        self._values[_SECTION + name.lower()] = value
        with suppress(GitticksError, OSError):
            write_common_setting(self._context.renewed().repository.common_dir, _SECTION + name, value)

    def sizes(self, place: str) -> dict[str, int]:
        """Returns the widths of a place's panes that were changed, by id."""
        prefix = f"{_SECTION}{place}-"
        return {
            name[len(prefix) :]: int(value)
            for name, value in self._values.items()
            if name.startswith(prefix) and value.isdecimal() and 0 < int(value) < _LARGEST_PANE
        }


class UnsentComments:
    """The comments by task and line, and texts by the dialog that asks for them, read when they are first asked for; where nothing can be written, they last as long as we."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._known: dict[str, dict[str, str]] | None = None

    def on(self, task_id: str) -> dict[str, str]:
        """Returns a task's comments by the key of their line."""
        if self._known is None:
            self._known = self._read()
        return dict(self._known.get(task_id, {}))

    def change(self, task_id: str, lines: dict[str, str]) -> None:
        """Sets comments of a task; an empty text removes one."""
        mine = _changed(self.on(task_id), lines)
        self._known = {**(self._known or {}), task_id: mine}
        with suppress(GitticksError, OSError):
            own_dir = self._context.renewed().repository.own_dir
            with hold_lock(own_dir / f"{FILE}.lock"):
                stored = self._read()  # another interface may have written it
                stored[task_id] = _changed(stored.get(task_id, {}), lines)
                kept = {task: comments for task, comments in stored.items() if comments}
                write_synced(own_dir / FILE, json.dumps(kept).encode())

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            tasks = json.loads(read_plain_file(self._context.repository.own_file(FILE)))
            return {task: {key: str(text) for key, text in lines.items()} for task, lines in tasks.items()}
        except (
            GitticksError,
            OSError,
            ValueError,
            AttributeError,
        ):  # the last where it is not as we wrote it
            return {}


def _changed(before: dict[str, str], lines: dict[str, str]) -> dict[str, str]:
    return {key: text for key, text in (before | lines).items() if text}
