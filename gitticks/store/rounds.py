"""Reads archived hand-offs and reviews of earlier rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gitticks.model.ids import TaskId
from gitticks.store import layout

if TYPE_CHECKING:
    from gitticks.git.repository import Repository

_ENDING = ".md"
HANDOFF, REVIEW = "handoff", "review"


class Round(NamedTuple):
    """One earlier round: its number, and its texts by kind: `handoff`, `review`, `review-<councillor>`."""

    number: int
    texts: dict[str, str]

    @property
    def handoff(self) -> str | None:
        """Returns what was handed off."""
        return self.texts.get(HANDOFF)

    @property
    def review(self) -> str | None:
        """Returns what the review said."""
        return self.texts.get(REVIEW)

    @property
    def councillors(self) -> dict[str, str]:
        """Returns what the members of a council answered, by their names."""
        begin = f"{REVIEW}-"
        return {kind.removeprefix(begin): text for kind, text in self.texts.items() if kind.startswith(begin)}


def read_rounds(repository: Repository, commit: str, task_id: TaskId) -> tuple[Round, ...]:
    """Returns the earlier rounds of a task at a commit, by their numbers; foreign files are left out."""
    objects = repository.objects
    folder = objects.find(objects.tree_of(commit), layout.rounds_folder(task_id))
    if folder is None or not folder.is_tree:
        return ()
    found: dict[int, dict[str, str]] = {}
    for name, entry in objects.folder(folder.object_id).items():
        number, dash, rest = name.partition("-")
        if entry.is_file and dash and rest.endswith(_ENDING) and number.isascii() and number.isdecimal():
            text = objects.read_blob(entry.object_id).decode("utf-8", "replace")
            found.setdefault(int(number), {})[rest.removesuffix(_ENDING)] = text.strip("\n")
    return tuple(Round(number, found[number]) for number in sorted(found))
