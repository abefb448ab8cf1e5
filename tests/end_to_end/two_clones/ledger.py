"""What people and commands were told is kept, while two clones work: every word of it has to be there at the end."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum

from gitticks.git.objects import Objects
from gitticks.store.branch import Store

_HISTORY = "/history.jsonl"


class Place(Enum):
    """Where a word has to stand."""

    ENTRY = "once among the entries of its section"
    KEY = "once in the frontmatter, as an unknown key"
    LABEL = "among the labels"
    FILE = "somewhere in the task's file"
    FOLDER = "somewhere in the task's folder"
    ANYWHERE = "somewhere on the branch"


@dataclass(frozen=True, slots=True)
class Kept:
    """A word that was written for a task; the word stands nowhere else."""

    word: str
    task: str
    place: Place


@dataclass(slots=True)
class Ledger:
    """All words that have to be there, and all lines of histories that were ever seen, with how many of each."""

    words: dict[str, Kept] = field(default_factory=dict)
    lines: dict[str, Counter[bytes]] = field(default_factory=dict)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _seen: set[str] = field(default_factory=set)

    def new_word(self) -> str:
        """Returns a word that no text holds yet."""
        return f"w{next(self._numbers):05}w"

    def keep(self, word: str, task: str, place: Place) -> None:
        """Remembers a word that was acknowledged."""
        self.words[word] = Kept(word, task, place)

    def release(self, word: str) -> None:
        """Forgets a word that somebody took away again."""
        self.words.pop(word, None)

    def look(self, store: Store) -> None:
        """Remembers the histories of a clone as they are now."""
        objects, tip = store.objects, store.tip()
        if tip in self._seen:
            return
        self._seen.add(tip)
        for path, lines in histories(objects, tip).items():
            self.lines[path] = self.lines.get(path, Counter()) | lines


def histories(objects: Objects, commit: str) -> dict[str, Counter[bytes]]:
    """Returns the lines of every task's history at a commit, by path."""
    return {
        path: Counter(content.splitlines())
        for path, content in files_of(objects, commit).items()
        if path.endswith(_HISTORY)
    }


def files_of(objects: Objects, commit: str) -> dict[str, bytes]:
    """Returns every file at a commit, by path."""
    changed = objects.changed_files(None, objects.tree_of(commit))
    return {one.path: objects.read_blob(one.new) for one in changed if one.new is not None}
