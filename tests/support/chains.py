"""What a command does to the state branch, commit by commit, in a form in which two runs of it can be compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pygit2

STATE = "refs/heads/gitticks/state"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?")
_OBJECT = re.compile(r"\b[0-9a-f]{7,40}\b")
_NUMBER = re.compile(r"\b\d+\.\d+\b")
_TASK_PATH = re.compile(r"tasks/[0-9a-z]+/([0-9a-z-]+)/(.+)")


@dataclass(frozen=True, slots=True)
class Step:
    """One commit: its message, and the whole content of each file that it changed, None for a removed one.

    Ids of its tasks, times, object ids and fractions are replaced by words, since they differ from run to run.
    """

    message: str
    files: tuple[tuple[str, str | None], ...]


def state_tip(repository: Path) -> str | None:
    """Returns the commit that the state branch is at; None if there is no branch."""
    found = pygit2.Repository(str(repository)).references.get(STATE)
    return None if found is None else str(found.target)


def steps_since(repository: Path, base: str, *, but: str = "") -> tuple[Step, ...]:
    """Returns what was committed on top of `base`, oldest first; fails if the branch does not come from there.

    Commits about the task `but` are left out.
    """
    handle = pygit2.Repository(str(repository))
    commit = handle.references[STATE].peel(pygit2.Commit)
    steps: list[Step] = []
    while str(commit.id) != base:
        assert commit.parents, f"the state branch does not hold {base} any more"
        if not (but and commit.message.startswith(f"{but}:")):
            steps.append(_step(handle, commit))
        commit = commit.parents[0]
    return tuple(reversed(steps))


def _step(handle: pygit2.Repository, commit: pygit2.Commit) -> Step:
    contents: dict[str, bytes | None] = {}
    for delta in handle.diff(commit.parents[0], commit).deltas:
        if delta.status_char() == "D":
            contents[delta.old_file.path] = None
        else:
            contents[delta.new_file.path] = handle[delta.new_file.id].read_raw()
    words: dict[str, str] = {}
    for path in sorted(contents):
        found = _TASK_PATH.fullmatch(path)
        if found is not None:
            words.setdefault(found[1], f"TASK{len(words) + 1}")
    files = tuple(
        (_named(path, words), None if content is None else _plain(content.decode("utf-8", "replace"), words))
        for path, content in sorted(contents.items())
    )
    return Step(_plain(commit.message, words), files)


def _named(path: str, words: dict[str, str]) -> str:
    found = _TASK_PATH.fullmatch(path)
    return path if found is None else f"{words[found[1]]}/{found[2]}"


def _plain(text: str, words: dict[str, str]) -> str:
    for name, word in words.items():
        text = re.sub(rf"(?<![0-9a-z]){name}(?![0-9a-z])", word, text)
    for pattern, word in ((_TIME, "TIME"), (_OBJECT, "OBJECT"), (_NUMBER, "NUMBER")):
        text = pattern.sub(word, text)
    return text
