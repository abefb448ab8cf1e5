"""Finds work that an agent committed outside its work branch, which a merge would leave out."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from gitticks.git.checkouts import checkout_at, current_branch, head
from gitticks.git.merges.history import is_ancestor
from gitticks.git.process import run_git
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.repository import Repository
from gitticks.model.ids import WORK_BRANCH

if TYPE_CHECKING:
    from pathlib import Path

    from gitticks.git.identity import Identity
    from gitticks.model.ids import TaskId

_SHOWN_COMMITS = 3


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
    if now is None:
        return f"the workspace is on {where}, which has no commit: `git checkout {branch}`"
    if tip is None:
        what = f"the branch `{branch}` is missing, and the work was committed on {where}"
        return f"{what}: {_merge(branch, other or now[:12])}"
    if not _commits(repository, now, "--not", tip):
        return f"the workspace is on {where}, but only `{branch}` counts: `git checkout {branch}`"
    option = "" if _is_related(repository, now, tip) else "--allow-unrelated-histories "
    what = f"the work was committed on {where}, but only `{branch}` counts"
    return f"{what}: {_merge(branch, option + (other or now[:12]))}"


def _merge(branch: str, what: str) -> str:
    """Returns the command; where the branch is gone, the next session begins with it made again."""
    return f"`git checkout {branch} && git merge {what}`"


def _is_related(repository: Repository, one: str, other: str) -> bool:
    asked = ["merge-base", "--end-of-options", one, other]
    return bool(run_git(asked, repository_dir=repository.common_dir, check=False).text)


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
    if _is_related(repository, tip, base_tip or start_sha):
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
    own = ["--fixed-strings", f"--committer=<{agent.email}>", f"--since=@{int(since.timestamp())}"]
    if tip is None or _commits(repository, *own, tip):
        return None
    everything = ["--exclude=refs/gitticks/*", "--all", "--reflog", "--ignore-missing"]
    found = _commits(
        repository, *own, *everything, "--not", f"--glob={BRANCHES}{WORK_BRANCH}*", task_id=task_id
    )
    if not found:
        return None
    shown = ", ".join(f"`{commit[:12]}`" for commit in found[:_SHOWN_COMMITS])
    more = f" and {len(found) - _SHOWN_COMMITS} more" if len(found) > _SHOWN_COMMITS else ""
    return (
        f"nothing was committed on `{branch}`, but elsewhere {shown}{more}: "
        f"`git merge {found[0][:12]}` on `{branch}`, or hand off again without it"
    )


def _commits(repository: Repository, *asked: str, task_id: TaskId | None = None) -> list[str]:
    """Returns the newest commits of a range; with `task_id` those that no other task's trailer claims."""
    listed = run_git(
        ["log", "--max-count=100", "--format=%H %(trailers:key=Task,valueonly,separator=%x20)", *asked, "--"],
        repository_dir=repository.common_dir,
    )
    rows = (line.split() for line in listed.text.splitlines())
    return [row[0] for row in rows if row and (task_id is None or not row[1:] or str(task_id) in row[1:])]
