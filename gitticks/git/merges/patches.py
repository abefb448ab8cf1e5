"""Recognises work that a branch got without its commits: squashed into one, or rebased, with the same changes."""

from __future__ import annotations

from gitticks.git.merges.history import merge_base
from gitticks.git.process import run_git
from gitticks.git.repository import Repository

MOST_COMMITS = 500
"""So far back a branch is searched; each of its commits costs a diff."""
_DIFF = ("-p", "--no-ext-diff", "--no-textconv", "--no-renames", "--full-index", "--no-color", "--binary")


def find_same_patch(repository: Repository, base: str, head: str) -> str | None:
    """Returns the newest commit by which `base` got the changes of `head` in other commits; None if it did not.

    That is one commit with all the changes together, or the last of those that hold them one by one.
    """
    fork = merge_base(repository, base, head)
    if fork is None or fork in (base, head):
        return None
    whole = _patch_ids(repository, ["diff-tree", *_DIFF, "-r", "--end-of-options", fork, head])
    if not whole:
        return None
    log = ["log", *_DIFF, "--no-merges", f"--max-count={MOST_COMMITS}", "--end-of-options"]
    there = _patch_ids(repository, [*log, f"{fork}..{base}"])
    for patch in whole:
        if patch in there:
            return there[patch]
    single = _patch_ids(repository, [*log, f"{fork}..{head}"])
    if single and single.keys() <= there.keys():
        newest = next(iter(single))
        return there[newest]
    return None


def _patch_ids(repository: Repository, asked: list[str]) -> dict[str, str]:
    """Returns commits by what git reckons for their changes, whatever lines they stand on, newest first."""
    shown = run_git(asked, repository_dir=repository.common_dir).stdout
    if not shown:
        return {}
    told = run_git(["patch-id", "--stable"], repository_dir=repository.common_dir, input=shown).text
    found: dict[str, str] = {}
    for line in told.splitlines():
        patch, _, commit = line.partition(" ")
        found.setdefault(patch, commit)
    return found
