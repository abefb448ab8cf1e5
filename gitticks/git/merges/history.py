"""Ancestry, and whether work has been merged already: as it is, squashed or rebased."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gitticks.git.process import TIME_LIMIT_SECONDS, run_git
from gitticks.git.repository import Repository

TASK_TRAILER = "Task"
HEAD_TRAILER = "Head"
_BOTH = f"%(trailers:key={TASK_TRAILER},valueonly)%x00%(trailers:key={HEAD_TRAILER},valueonly)"
_LONGEST_SHOWN = 2000

MOST_COMMITS = 500
"""So far back a branch is searched; each of its commits costs a diff."""
_DIFF = ("-r", "-p", "--no-ext-diff", "--no-textconv", "--no-renames", "--full-index", "--no-color")
"""Of a binary file the ids before and after are enough to tell a change, and take no room."""


class DiffSummary(NamedTuple):
    """How much differs between two commits; binary files count as files without lines, a renamed file as one.

    `paths` are sorted, with both names of a renamed file.
    """

    files: int
    added: int
    removed: int
    paths: tuple[str, ...]


def is_ancestor(repository: Repository, ancestor: str, descendant: str) -> bool:
    """True if `descendant` contains `ancestor`, which is given by its id; a commit contains itself."""
    return repository.objects.merge_base(ancestor, descendant) == ancestor


def count_commits(repository: Repository, base: str, head: str) -> int:
    """Returns how many commits `head` has that `base` does not contain."""
    return int(_ask(repository, "rev-list", "--count", "--end-of-options", f"{base}..{head}"))


def lost_commits(repository: Repository, kept: Iterable[str], heads: Iterable[str]) -> dict[str, str]:
    """Returns the subjects of the commits in `heads` that `kept` does not contain, by id, the newest first.

    A commit that is not stored any more counts for nothing.
    """
    listed = _ask(
        repository,
        "rev-list",
        "--topo-order",
        "--ignore-missing",
        "--no-commit-header",
        "--format=tformat:%H %s",
        "--end-of-options",
        *dict.fromkeys(heads),
        *(f"^{commit}" for commit in dict.fromkeys(kept)),
    )
    parted = (line.partition(" ") for line in listed.split("\n") if line)
    return {commit: subject for commit, _, subject in parted}


def diff_summary(
    repository: Repository, base: str, head: str, *, timeout_seconds: float = TIME_LIMIT_SECONDS
) -> DiffSummary:
    """Returns what differs from `base` to `head`, as stored: no filter or converter is asked."""
    lines = list(_numstat(repository, base, head, "-M", timeout_seconds))
    return DiffSummary(
        files=len(lines),
        added=sum(int(added) for added, _, _ in lines if added != "-"),
        removed=sum(int(removed) for _, removed, _ in lines if removed != "-"),
        paths=tuple(sorted(path for _, _, paths in lines for path in paths)),
    )


def _numstat(
    repository: Repository, base: str, head: str, renames: str, timeout_seconds: float
) -> Iterator[tuple[str, str, list[str]]]:
    """Yields the lines added and removed (`-` in a binary file) of each file, and its path; of a renamed one both."""
    options = ["-r", "-z", renames, "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"]
    asked = ["diff-tree", "--numstat", *options, "--end-of-options", base, head]
    parts = iter(_ask(repository, *asked, timeout_seconds=timeout_seconds).split("\0"))
    for part in parts:
        if part:
            added, removed, path = part.split("\t", 2)
            yield added, removed, [path] if path else [next(parts), next(parts)]


def long_changes(repository: Repository, base: str, head: str) -> dict[str, int | None]:
    """Returns the files whose changes nobody reads on a terminal, the long ones first, then binary ones, each by path.

    The values are how many lines changed, None in a binary file.
    """
    found = [
        (path, None if added == "-" else int(added) + int(removed))
        for added, removed, (path,) in _numstat(repository, base, head, "--no-renames", TIME_LIMIT_SECONDS)
    ]
    left_out = [one for one in found if one[1] is None or one[1] > _LONGEST_SHOWN]
    return dict(sorted(left_out, key=lambda one: (one[1] is None, one[0])))


def find_merge(
    repository: Repository, base: str, task_id: str, head: str, *, anywhere: bool = False
) -> str | None:
    """Returns the commit by which `base` got `head`; None if it has not got it.

    That is the merge that contains it, `head` itself after a fast-forward, or a commit whose trailers name the task
    and the head, as squash and rebase leave them. Trailers count on the base's own line alone: on a branch that was
    merged into it anybody can have written them. With `anywhere`, they show where code went, not who decided about it.
    """
    if is_ancestor(repository, head, base):
        return _on_own_line(repository, base, head)
    return next(_with_trailers(repository, base, task_id, head, anywhere=anywhere), None)


def merge_trailers(task_id: str, head: str) -> str:
    """Returns the trailers by which `find_merge` knows a merge again."""
    return f"{TASK_TRAILER}: {task_id}\n{HEAD_TRAILER}: {head}\n"


def merge_of(repository: Repository, commit: str) -> tuple[str, str] | None:
    """Returns the task and the head that a merge names in its trailers; None if it names none.

    The last ones are gitticks': a rebase keeps what an agent wrote above them, which may hide them from git.
    """
    asked = ["log", "-1", f"--format={_BOTH}%x00%B", "--end-of-options", commit]
    done = run_git(asked, repository_dir=repository.common_dir, check=False)
    if done.code != 0 or not all(value.strip() for value in done.text.split("\0")[:2]):
        return None
    task, head = (
        re.findall(rf"^{key}: *(\S+)", done.text, re.MULTILINE)[-1:] for key in (TASK_TRAILER, HEAD_TRAILER)
    )
    return (task[0], head[0]) if task and head else None


def _on_own_line(repository: Repository, base: str, head: str) -> str:
    """Returns the first commit of the base's own line that contains `head`."""
    later = ("--end-of-options", f"{head}..{base}")
    after = {*_ask(repository, "rev-list", "--ancestry-path", *later).splitlines()}
    line = _ask(repository, "rev-list", "--first-parent", "--parents", "--reverse", *later).splitlines()
    commit, *parents = next((words for one in line if (words := one.split())[0] in after), [head])
    return head if parents[:1] == [head] else commit


def _with_trailers(
    repository: Repository, base: str, task_id: str, head: str, *, anywhere: bool
) -> Iterator[str]:
    """Yields the commits on `base`, newest first, whose trailers name both; the text of a message does not count."""
    fork = repository.objects.merge_base(base, head)
    if fork == base:
        return
    search = ["--fixed-strings", f"--grep={HEAD_TRAILER}: {head}", "--format=%H"]
    search += [] if anywhere else ["--first-parent"]
    span = base if fork is None else f"{fork}..{base}"
    for commit in _ask(repository, "log", *search, "--end-of-options", span).splitlines():
        if merge_of(repository, commit) == (task_id, head):
            yield commit


def _ask(repository: Repository, *arguments: str, timeout_seconds: float = TIME_LIMIT_SECONDS) -> str:
    done = run_git(arguments, repository_dir=repository.common_dir, timeout_seconds=timeout_seconds)
    return os.fsdecode(done.stdout).removesuffix("\n")


def find_same_patch(repository: Repository, base: str, head: str) -> str | None:
    """Returns the newest commit by which `base` got the changes of `head` in other commits; None if it did not.

    They came in by one commit with all the changes together, or by the last of those that hold them one by one: that
    one, or the merge that brought it to the base's own line.
    """
    fork = repository.objects.merge_base(base, head)
    if fork is None or fork in (base, head):
        return None
    whole = _patch_ids(repository, ["--end-of-options", fork, head])
    if not whole:
        return None
    there = _patch_ids_between(repository, fork, base)
    for patch in whole:
        if patch in there:
            return _on_own_line(repository, base, there[patch])
    single = _patch_ids_between(repository, fork, head)
    if single and single.keys() <= there.keys():
        newest = next(iter(single))
        return _on_own_line(repository, base, there[newest])
    return None


def _patch_ids_between(repository: Repository, old: str, new: str) -> dict[str, str]:
    """Returns the last commits that `new` has and `old` has not, by their changes, newest first."""
    walk = ["rev-list", "--no-merges", f"--max-count={MOST_COMMITS}", "--end-of-options", f"{old}..{new}"]
    listed = run_git(walk, repository_dir=repository.common_dir).stdout
    return _patch_ids(repository, ["--stdin"], listed)


def _patch_ids(repository: Repository, asked: list[str], given: bytes = b"") -> dict[str, str]:
    """Returns commits by what git reckons for their changes, whatever lines they stand on.

    Not by `git log`: how that shows a change is a person's to configure.
    """
    shown = run_git(["diff-tree", *_DIFF, *asked], repository_dir=repository.common_dir, input=given).stdout
    if not shown:
        return {}
    patches = run_git(["patch-id", "--stable"], repository_dir=repository.common_dir, input=shown).text
    found: dict[str, str] = {}
    for line in patches.splitlines():
        patch, _, commit = line.partition(" ")
        found.setdefault(patch, commit)
    return found
