"""What is wrong with the commits of work, whatever its tests say.

They may be outside its work branch, where a merge would leave them out. They may hold secrets: a merge brings every
commit to the base, so all are scanned. They may change what a rule forbids agents to write: git makes a commit without
touching the file that a client or a sandbox guards.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from gitticks.errors import first_of
from gitticks.git.checkouts import checkout_at, current_branch, head
from gitticks.git.identity import AGENTS_HOST, Identity
from gitticks.git.merges.following import steps_between
from gitticks.git.merges.history import is_ancestor
from gitticks.git.process import pieces_of_git, printable, run_git
from gitticks.git.refs import BRANCHES, OBJECT_ID, end_of_log, is_nothing, read_ref
from gitticks.git.repository import Repository
from gitticks.model.event import Event, EventType
from gitticks.model.ids import WORK_BRANCH, TaskId
from gitticks.redaction import digest_of_secret, find_secrets, secret_values
from gitticks.store.branch import Store
from gitticks.workflow.permissions import PolicyLayer, denied_writes

ALLOWED = "secrets"
"""In an event: the digests of what a person allowed."""
_MOST_SHOWN = 5
_SHORT = 7
_DIFF = ("-p", "-U0", "--text", "--no-textconv", "--no-ext-diff", "--no-renames", "--no-prefix", "--no-color")
_REMOVED = re.compile(r"^-.*\n?", re.MULTILINE)
_ADDED = re.compile(r"^\+\x01*", re.MULTILINE)
_HUNK = re.compile(r"@@ -\S+ \+(\d+)")
_ID = re.compile(OBJECT_ID)
_NEXT = "\n\x01"
"""Begins a commit, and no line that one adds."""
# Indented, so that no line of a message is taken for one of the diff.
_FORMAT = "--format=%x01%H%n%w(0,1,1)%B"
_PIECE = 1024 * 1024
_OVERLAP = 32 * 1024
"""At least so much before and after a place is looked at with it; no key is longer."""
_SHOWN_COMMITS = 3
_LONGEST_LINE = 100
_LAST_LOGGED_BYTES = 65_536
_COMMITTER = re.compile(r"^committer .*<([^>\n]*)> (\d+)", re.MULTILINE)
_MOVE = re.compile(rf"({OBJECT_ID}) ({OBJECT_ID}) [^\t]*<([^>\t]*)> (?:\S*@\{{)?(\d+)")
"""A line of a log: from where to where, by whom, and when."""


class CommittedSecret(NamedTuple):
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


def committed_secrets(
    repository: Repository, base: str, head: str, values: tuple[tuple[str, str], ...] = ()
) -> tuple[CommittedSecret, ...]:
    """Returns the secrets that the commits of `head` bring which `base` lacks, each once, the oldest commit first.

    Both are ids. `values` are literal values that are secret, with their names before them.
    """
    fork = _end_of_line(repository, base, head)
    return _committed_secrets(repository, fork or base, head, values, is_line=fork is not None)


def _end_of_line(repository: Repository, base: str, head: str) -> str | None:
    """Returns the commit of `base` on which those of `head` were made one after the other; None if they were not.

    They are all that it lacks, also when it has moved on.
    """
    fork = repository.objects.merge_base(base, head)
    commit = head
    for _ in range(_LONGEST_LINE):
        if commit == fork:
            return fork
        if fork is None or not repository.objects.has(commit):  # where a shallow clone ends
            break
        parents = repository.objects.parents_of(commit)
        if len(parents) != 1:
            break
        commit = parents[0]
    return None


@lru_cache(maxsize=16)  # what was looked at when the work was handed off is merged a moment later
def _committed_secrets(
    repository: Repository, base: str, head: str, values: tuple[tuple[str, str], ...], *, is_line: bool
) -> tuple[CommittedSecret, ...]:
    span = ["--end-of-options", f"{base}..{head}"]
    looks = [("", ["log", "--reverse", _FORMAT, *_DIFF, *span])]
    if not is_line or base not in repository.objects.parents_of(head):
        # What several bring together, or a merge that neither side had, shows in the whole: git shows no diff of a merge.
        start = repository.objects.merge_base(base, head) or base
        looks.append((_NEXT + head, ["diff-tree", *_DIFF, "--end-of-options", start, head]))
    found: dict[str, CommittedSecret] = {}
    for begin, asked in looks:
        for one in _look(begin + "\n", _added(_pieces(repository, asked)), dict(values)):
            found.setdefault(one.digest, one)
    return tuple(found.values())


def _pieces(repository: Repository, arguments: list[str]) -> Iterator[str]:
    asked = ["-c", "core.quotePath=false", *arguments]
    printed = pieces_of_git(asked, repository_dir=repository.common_dir, size=_PIECE)
    return codecs.iterdecode(printed, "utf-8", "surrogateescape")


def _added(pieces: Iterable[str]) -> Iterator[str]:
    """Yields what lines add, without their `+`, and leaves out those that are removed."""
    mark = ""  # how the line begins that the piece before did not end
    for piece in pieces:
        text = mark + piece
        last = text[text.rfind("\n") + 1 :][:1]
        mark = last if last in ("", "-") else "+"
        yield _ADDED.sub("", _REMOVED.sub("", text))


def _look(text: str, pieces: Iterable[str], values: Mapping[str, str]) -> Iterator[CommittedSecret]:
    """Yields the secrets in what commits add, with no more of it in memory than the longest secret needs."""
    begin = 0  # what begins before was looked at
    for piece in pieces:
        text += piece
        while (end := text.find(_NEXT, 1)) >= 0:
            yield from _in_text(text, begin, end, values)
            text, begin = text[end:], 0
        end = len(text) - _OVERLAP
        if end - begin < 3 * _OVERLAP:
            continue
        yield from _in_text(text, begin, end, values, is_whole=False)
        kept = end - _OVERLAP
        line_end = text.rfind("\n", kept - _OVERLAP, kept)
        kept = line_end + 1 if line_end >= 0 else kept
        commit, path, line = _place(text, kept)
        where = f"{_NEXT}{commit}\n" + (f"++ {path}\n@@ -0 +{line} @@\n" if path else "")
        text, begin = where + text[kept:], len(where) + end - kept
    yield from _in_text(text, begin, len(text), values)


def _in_text(
    text: str, begin: int, end: int, values: Mapping[str, str], *, is_whole: bool = True
) -> Iterator[CommittedSecret]:
    for found in find_secrets(text[:end] if is_whole else text, values):
        if begin <= found.start < end:
            secret = text[found.start : found.end]
            commit, path, line = _place(text, found.start)
            yield CommittedSecret(found.kind, digest_of_secret(secret), path, line, commit)


def _place(text: str, at: int) -> tuple[str, str, int]:
    """Returns in which commit a place is, in which file and in which line of it; in a message it is in none."""
    commit_at = text.rfind(_NEXT, 0, at)
    commit = _ID.match(text, commit_at + len(_NEXT)) if commit_at >= 0 else None
    path_at = text.rfind("\n++ ", commit_at + 1, at)
    hunk_at = text.rfind("\n@@ ", path_at + 1, at) if path_at >= 0 else -1
    hunk = _HUNK.match(text, hunk_at + 1) if hunk_at >= 0 else None
    path = "" if path_at < 0 else text[path_at + 4 : text.find("\n", path_at + 1)].removesuffix("\t")
    line = int(hunk[1]) + text.count("\n", hunk_at + 1, at) - 1 if hunk is not None else 0
    return commit[0] if commit else "", path, line


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
    found = committed_secrets(store.repository, base, head, tuple(values.items()))
    if found:
        allowed = allowed_secrets(store.history(task_id))
        found = tuple(one for one in found if one.digest not in allowed)
    if not found:
        return None
    shown = first_of([one.words for one in found], _MOST_SHOWN, between="; ")
    return (
        f"the commits contain what looks like a secret: {shown}. Remove it from the commits themselves "
        "(`git commit --amend`, `git rebase`), since each of them is merged, and read it from the environment instead. "
        f"If it is not a secret, a person can allow it: `gt trust --secret {task_id}`"
    )


def judge_paths(repository: Repository, base: str, head: str, layers: Iterable[PolicyLayer]) -> str | None:
    """Returns why commits are refused as they change what no agent may write, for their agent to read; None if they do not."""
    steps = steps_between(repository, repository.objects.merge_base(base, head) or base, head)
    found = denied_writes((step.path for step in steps), layers)
    if not found:
        return None
    words = [f"`{printable(path)}` is {printable(why)}" for path, why in found.items()]
    shown = first_of(words, _MOST_SHOWN, between="; ")
    return (
        f"the commits change what agents may not write: {shown}. Take these changes out of the commits "
        f"(`git restore --source={base[:10]} --staged --worktree -- PATH`, then commit); a person can change the rule"
    )


def find_astray(
    repository: Repository,
    path: Path,
    *,
    branch: str,
    start_sha: str | None,
    base: str | None,
    is_tested_there: bool = True,
) -> str | None:
    """Returns why the workspace at `path` does not hold what `branch` would bring, and what to type; None if it does.

    A HEAD that stands elsewhere at the branch's own commit is harmless, and, if no checks are to run there, at any
    that the branch contains.
    """
    checkout = checkout_at(repository, path)
    tip = read_ref(repository.common_dir, BRANCHES + branch)
    now, other = head(checkout), current_branch(checkout)
    if other != branch and (now is None or now != tip):
        is_contained = now is not None and tip is not None and not _commits(repository, now, "--not", tip)
        if is_tested_there or not is_contained:
            return _off_branch(repository, branch, tip, other, now)
    if tip is None:
        return f"`{branch}` has no commit: `git reset --soft {start_sha or base}`"
    return None if start_sha is None else _without_start(repository, branch, tip, start_sha, base)


def _off_branch(
    repository: Repository, branch: str, tip: str | None, other: str | None, now: str | None
) -> str:
    where = f"branch `{other}`" if other else "a detached HEAD"
    if now is None or (tip is not None and not _commits(repository, now, "--not", tip)):
        return f"the workspace is on {where}, but only `{branch}` counts: `git checkout {branch}`"
    is_related = tip is None or repository.objects.merge_base(now, tip) is not None
    option = "" if is_related else "--allow-unrelated-histories "
    # Where the branch is gone, the next session begins with it made again.
    command = f"git checkout {branch} && git merge {option}{other or now[:12]}"
    return f"the work was committed on {where}, but only `{branch}` counts: `{command}`"


def _without_start(
    repository: Repository, branch: str, tip: str, start_sha: str, base: str | None
) -> str | None:
    """Returns what is wrong with a branch that lost the commit at which its work began, if anything is."""
    if is_ancestor(repository, start_sha, tip):
        return None
    base_tip = None if base is None else read_ref(repository.common_dir, BRANCHES + base)
    began = f"`{start_sha[:12]}`, where its work began"
    if not _commits(repository, tip, "--not", start_sha, *([base_tip] if base_tip else [])):
        return f"`{branch}` was moved back behind {began}: `git merge {start_sha[:12]}`"
    if repository.objects.merge_base(tip, base_tip or start_sha):
        return None
    return f"`{branch}` has no history in common with {began}: `git reset --soft {start_sha[:12]}` and commit again"


def find_made_elsewhere(
    repository: Repository, task_id: TaskId, *, branch: str, agent: Identity, since: datetime
) -> str | None:
    """Returns what an agent committed elsewhere since its session began, if its own branch got nothing meanwhile.

    Looked at is all that git knows, reflogs and other worktrees too, so that a branch that was moved back is seen;
    what other tasks' branches hold, or what was committed for other tasks, is theirs.
    """
    tip = read_ref(repository.common_dir, BRANCHES + branch)
    if tip is not None and _is_by(repository, tip, agent, since):  # as after nearly every session
        return None
    own = ["--fixed-strings", f"--committer=<{agent.email}>", f"--since=@{int(since.timestamp())}"]
    if tip is None or _commits(repository, *own, tip):
        return None
    # `--all` would fail over a worktree that is being added, and the reflogs have what is in the others.
    everything = ["--exclude=refs/gitticks/*", "--glob=refs/*", "--reflog", "--ignore-missing"]
    found = _commits(
        repository, *own, *everything, "--not", f"--glob={BRANCHES}{WORK_BRANCH}*", task_id=task_id
    )
    if not found:
        return None
    shown = first_of([f"`{commit[:12]}`" for commit in found], _SHOWN_COMMITS)
    return (
        f"nothing was committed on `{branch}`, but elsewhere {shown}: "
        f"`git merge {found[0][:12]}` on `{branch}`, or hand off again without it"
    )


def _is_by(repository: Repository, commit: str, who: Identity, since: datetime) -> bool:
    made = _COMMITTER.search(repository.objects.commit_text(commit).partition("\n\n")[0])
    return made is not None and made[1] == who.email and int(made[2]) >= int(since.timestamp())


def find_moved_base(
    repository: Repository, base: str, since: datetime, began_at: str | None = None
) -> str | None:
    """Returns a sentence that says how an agent made or moved a base since `since`, and how to undo it; None if none did.

    Git's log of the branch tells, in which people and gitticks itself have other addresses; it goes with the branch,
    which then stood where the session `began_at`.
    """
    if began_at is not None and read_ref(repository.common_dir, BRANCHES + base) is None:
        return f"`{base}` was deleted during the session: `git branch {base} {began_at}` makes it again where it stood before"
    end = end_of_log(repository.common_place, BRANCHES + base, _LAST_LOGGED_BYTES)
    lines = end.decode("utf-8", "surrogateescape").split("\n")
    moves = [move for line in lines if (move := _MOVE.match(line))]
    by_agents = [
        one for one in moves if one[3].endswith(AGENTS_HOST) and int(one[4]) >= int(since.timestamp())
    ]
    if not by_agents:
        return None
    first = by_agents[0][1]
    if is_nothing(first):
        return (
            f"an agent made the branch `{base}`: `git log {base}` shows it, "
            f"and if it was not there before, `git branch -D {base}` removes it"
        )
    if moves[-1][2] == first:
        return None
    before = first[:10]
    return (
        f"an agent moved `{base}`: `git log {before}..{base}` shows what came since, "
        f"`git reset --keep {before}` on `{base}` takes all of that back"
    )


def _commits(repository: Repository, *asked: str, task_id: TaskId | None = None) -> list[str]:
    """Returns the newest commits of a range; with `task_id` those that no other task's trailer claims."""
    listed = run_git(
        ["log", "--max-count=100", "--format=%H %(trailers:key=Task,valueonly,separator=%x20)", *asked, "--"],
        repository_dir=repository.common_dir,
    )
    rows = (line.split() for line in listed.text.splitlines())
    return [row[0] for row in rows if row and (task_id is None or not row[1:] or str(task_id) in row[1:])]
