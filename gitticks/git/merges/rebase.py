"""Makes a line of commits anew on top of another commit, without a checkout."""

from __future__ import annotations

import os
from dataclasses import dataclass

from gitticks.git.identity import ENGINE_IDENTITY, Identity
from gitticks.git.merges.commits import add_trailers, store_commit
from gitticks.git.merges.memory import Conflict, merge_by, merge_rules
from gitticks.git.process import run_git
from gitticks.git.repository import Repository


@dataclass(frozen=True, slots=True)
class CleanRebase:
    """Every commit could be made anew; `commit` is the last of them, or where they were to go if none was left."""

    commit: str


def rebase_in_memory(
    repository: Repository, onto: str, head: str, *, committer: Identity, trailers: str = ""
) -> CleanRebase | Conflict:
    """Makes the commits of `head` that `onto` lacks anew on top of it, oldest first.

    Authors, their dates and messages stay. Merges among them are left out, as `git rebase` does, and so is a commit
    whose change is there already.

    Args:
        repository: where both are.
        onto: the commit to build on.
        head: the last commit to take along.
        committer: who makes the new commits.
        trailers: lines for every new message, such as `merge_trailers` returns.
    """
    listed = ["rev-list", "--reverse", "--topo-order", "--no-merges", "--end-of-options", f"{onto}..{head}"]
    commits = run_git(listed, repository_dir=repository.common_dir).text.split()
    tip, tip_tree = onto, _tree(repository, onto)
    with merge_rules(repository, onto) as rules:
        for commit in commits:
            merged = merge_by(rules, repository, *_beside(repository, commit, tip_tree))
            if isinstance(merged, Conflict):
                return merged
            if merged.tree != tip_tree:
                tip_tree = merged.tree
                tip = _commit_again(repository, commit, (tip_tree, tip), committer, trailers)
    return CleanRebase(tip)


def _beside(repository: Repository, commit: str, tree: str) -> tuple[str, str]:
    """Returns two commits whose merge is `commit`'s change made to `tree`.

    Git 2.39 takes the merge base from the history only, so the tree is given the same parent as the commit.
    """
    asked = ["rev-list", "--parents", "-n1", "--end-of-options", commit]
    parents = run_git(asked, repository_dir=repository.common_dir).text.split()[1:]
    if parents:
        return _throwaway(repository, tree, parents[0]), commit
    empty_tree = run_git(["mktree"], repository_dir=repository.common_dir).text
    nothing = _throwaway(repository, empty_tree)
    return _throwaway(repository, tree, nothing), _throwaway(repository, _tree(repository, commit), nothing)


def _commit_again(
    repository: Repository, commit: str, place: tuple[str, str], committer: Identity, trailers: str
) -> str:
    """Stores the commit with another tree and parent, which `place` names."""
    tree, parent = place
    shown = run_git(
        ["show", "--no-patch", "--date=raw", "--encoding=UTF-8", "--format=%an%x00%ae%x00%ad%x00%B", commit],
        repository_dir=repository.common_dir,
    ).stdout
    name, email, date, message = os.fsdecode(shown).split("\0", 3)
    author = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email, "GIT_AUTHOR_DATE": f"@{date}"}
    text = add_trailers(message.removesuffix("\n"), trailers)
    return store_commit(repository, tree, [parent], text, {**committer.variables(), **author})


def _throwaway(repository: Repository, tree: str, *parents: str) -> str:
    """Stores a commit that only serves as a side of a merge."""
    words = [word for parent in parents for word in ("-p", parent)]
    return run_git(
        ["commit-tree", tree, *words],
        repository_dir=repository.common_dir,
        extra_environment=ENGINE_IDENTITY.variables(),
    ).text


def _tree(repository: Repository, commit: str) -> str:
    asked = ["rev-parse", "--verify", "--end-of-options", f"{commit}^{{tree}}"]
    return run_git(asked, repository_dir=repository.common_dir).text
