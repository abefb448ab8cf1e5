"""Finds secrets in agents' commits: a merge brings every commit to the base, so all are scanned."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from gitticks.git.merges.history import merge_base
from gitticks.git.process import printable, run_git
from gitticks.model.event import EventType
from gitticks.redaction import digest_of_secret, find_secrets, secret_values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitticks.git.repository import Repository
    from gitticks.model.event import Event
    from gitticks.model.ids import TaskId
    from gitticks.store.branch import Store

ALLOWED = "secrets"
"""In an event: the digests of what a person allowed."""
_MOST_SHOWN = 5
_SHORT = 7
_DIFF = ("-p", "-U0", "--text", "--no-textconv", "--no-ext-diff", "--no-renames", "--no-prefix", "--no-color")
_REMOVED = re.compile(r"^-.*\n?", re.MULTILINE)
_ADDED = re.compile(r"^\+", re.MULTILINE)
_HUNK = re.compile(r"@@ -\S+ \+(\d+)")


@dataclass(frozen=True, slots=True)
class CommittedSecret:
    """A secret that a commit brings, and where; `digest` names it without saying it."""

    kind: str
    digest: str
    path: str
    line: int
    commit: str

    @property
    def words(self) -> str:
        """Returns where it stands and what it is."""
        where = f"`{printable(self.path)}` line {self.line}" if self.path else "the message"
        return f"{where} in {self.commit[:_SHORT]}: {self.kind}, {self.digest}"


class _Commit(NamedTuple):
    """A commit with its message and what it adds; git shows no diff of a merge."""

    id: str
    text: str
    is_merge: bool = False


def committed_secrets(
    repository: Repository, base: str, head: str, values: Mapping[str, str] | None = None
) -> tuple[CommittedSecret, ...]:
    """Returns the secrets that the commits of `head` bring which `base` lacks, each once, the oldest commit first.

    Args:
        repository: whose commits they are.
        base: the id of the commit that the work is to be merged into, or where it began.
        head: the id of the work.
        values: literal values that are secret, with their names.
    """
    return _found_between(repository, base, head, tuple((values or {}).items()))


@lru_cache(maxsize=64)
def _found_between(
    repository: Repository, base: str, head: str, values: tuple[tuple[str, str], ...]
) -> tuple[CommittedSecret, ...]:
    """Commits never change, and those that were looked at when the work was handed off are merged a moment later."""
    each = [
        "log",
        "--reverse",
        "--format=%x00%H %P%n%B",
        *_DIFF,
        "--end-of-options",
        f"{base}..{head}",
    ]
    commits = [*_commits(_asked(repository, each))]
    if len(commits) > 1 or any(one.is_merge for one in commits):
        # What several bring together, or a merge that neither side had, shows in the whole.
        whole = ["diff-tree", *_DIFF, "--end-of-options", merge_base(repository, base, head) or base, head]
        commits.append(_Commit(head, "\n" + _asked(repository, whole)))
    found: dict[str, CommittedSecret] = {}
    for commit, text, _ in commits:
        for one in _look(commit, text, dict(values)):
            found.setdefault(one.digest, one)
    return tuple(found.values())


def _asked(repository: Repository, arguments: list[str]) -> str:
    done = run_git(["-c", "core.quotePath=false", *arguments], repository_dir=repository.common_dir)
    return done.stdout.decode("utf-8", "surrogateescape")


def _commits(log: str) -> Iterator[_Commit]:
    for entry in re.split(r"\0(?=[0-9a-f]{40})", log):
        if entry.strip("\0\n"):
            ids, _, text = entry.lstrip("\0").partition("\n")
            commit, *parents = ids.split()
            yield _Commit(commit, "\n" + text, len(parents) > 1)


def _look(commit: str, text: str, values: Mapping[str, str]) -> Iterator[CommittedSecret]:
    added = _ADDED.sub("", _REMOVED.sub("", text))
    for found in find_secrets(added, values):
        secret = added[found.start : found.end]
        path_at = added.rfind("\n++ ", 0, found.start)
        hunk_at = added.rfind("\n@@ ", path_at + 1, found.start) if path_at >= 0 else -1
        hunk = _HUNK.match(added, hunk_at + 1) if hunk_at >= 0 else None
        path = "" if path_at < 0 else added[path_at + 4 : added.find("\n", path_at + 1)].removesuffix("\t")
        offset = added.count("\n", hunk_at + 1, found.start) - 1
        line = int(hunk[1]) + offset if hunk is not None else 0
        yield CommittedSecret(found.kind, digest_of_secret(secret), path, line, commit)


def allowed_secrets(history: Iterable[Event]) -> frozenset[str]:
    """Returns the digests of the secrets that people have allowed in a task's commits."""
    digests: set[str] = set()
    for event in history:
        named = event.data.get(ALLOWED)
        if event.type is EventType.SECRETS_ALLOWED and event.actor.is_human and isinstance(named, list):
            digests.update(named)
    return frozenset(digests)


def judge_commits(
    store: Store, task_id: TaskId, base: str, head: str, environment: Mapping[str, str]
) -> str | None:
    """Returns why commits cannot be merged as they hold secrets, for their agent to read; None if they hold none.

    What a person has allowed, as the task's history on the branch says, is none.
    """
    project = store.repository.project_dir
    values = secret_values(environment, () if project is None else (str(project),))
    found = committed_secrets(store.repository, base, head, values)
    if found:
        allowed = allowed_secrets(store.history(task_id))
        found = tuple(one for one in found if one.digest not in allowed)
    if not found:
        return None
    shown = "; ".join(one.words for one in found[:_MOST_SHOWN])
    more = f" and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
    return (
        f"the commits contain what looks like a secret: {shown}{more}. Remove it from the commits themselves "
        "(`git commit --amend`, `git rebase`), since each of them is merged, and read it from the environment instead. "
        f"If it is not a secret, a person can allow it: `gt trust --secret {task_id}`"
    )
