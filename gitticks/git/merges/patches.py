"""Recognises work that a branch got without its commits: squashed into one, or rebased, with the same changes."""

from __future__ import annotations

from gitticks.git.merges.history import merge_base
from gitticks.git.process import run_git
from gitticks.git.repository import Repository

MOST_COMMITS = 500
"""So far back a branch is searched; each of its commits costs a diff."""
_DIFF = ("-r", "-p", "--no-ext-diff", "--no-textconv", "--no-renames", "--full-index", "--no-color")
"""Of a binary file the ids before and after are enough to tell a change, and take no room."""


def find_same_patch(repository: Repository, base: str, head: str) -> str | None:
    """Returns the newest commit by which `base` got the changes of `head` in other commits; None if it did not.

    That is one commit with all the changes together, or the last of those that hold them one by one.
    """
    fork = merge_base(repository, base, head)
    if fork is None or fork in (base, head):
        return None
    whole = _patch_ids(repository, ["--end-of-options", fork, head])
    if not whole:
        return None
    there = _patch_ids_between(repository, fork, base)
    for patch in whole:
        if patch in there:
            return there[patch]
    single = _patch_ids_between(repository, fork, head)
    if single and single.keys() <= there.keys():
        newest = next(iter(single))
        return there[newest]
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
    told = run_git(["patch-id", "--stable"], repository_dir=repository.common_dir, input=shown).text
    found: dict[str, str] = {}
    for line in told.splitlines():
        patch, _, commit = line.partition(" ")
        found.setdefault(patch, commit)
    return found
