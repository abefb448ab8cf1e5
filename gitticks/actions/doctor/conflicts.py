"""What both sides of a merge wrote: on the state branch, beside it, and in a merge that waits on the board."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from gitticks.actions.conflict_markers import join_all, marked_tasks, unmerged_on_board
from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Repair, Severity
from gitticks.model.ids import BOARD_FOLDER, task_path
from gitticks.store.index import open_index
from gitticks.store.layout import task_around
from gitticks.store.merging.files import standing_beside
from gitticks.store.tip import state_tip


def check_driver(context: Context) -> Iterator[Finding]:
    """Yields a note if git would merge tasks by lines here, as in a clone that an older gitticks began."""
    from gitticks.store.hook_files import HooksState
    from gitticks.store.hooks import board_hooks_state
    from gitticks.store.merging.driver import has_merge_driver

    repository = context.repository
    if has_merge_driver(repository) or board_hooks_state(repository) is not HooksState.INSTALLED:
        return
    what = "git merges tasks by lines in this clone, and may leave its markers in them"
    yield Finding(Severity.NOTE, what, "`gt doctor --fix` lets it merge them by meaning", Repair.DRIVER)


def set_driver(context: Context) -> None:
    """Lets git merge tasks by meaning."""
    from gitticks.store.merging.driver import install_merge_driver

    install_merge_driver(context.repository)


def check_conflicts(context: Context) -> Iterator[Finding]:
    """Yields each with the line where it begins; what git merged by lines the doctor can join by meaning."""
    marked = marked_tasks(context)
    with open_index(context.repository) as index:
        conflicts = index.conflicts()
    for task_id, line in sorted({**conflicts, **marked}.items()):
        by_git = task_id in marked
        yield Finding(
            Severity.WARNING,
            f"{BOARD_FOLDER}/{task_path(task_id)}:{line}: "
            + ("git merged this task by lines" if by_git else "both texts of a conflict stand here, marked"),
            "`gt doctor --fix` joins both sides by meaning" if by_git else f"`gt edit {task_id}`",
            Repair.MARKERS if by_git else None,
            task=task_id,
        )
    for found in unmerged_on_board(context):
        yield Finding(
            Severity.WARNING,
            f"{BOARD_FOLDER}/{found.path}: one side deleted what the other changed, and the merge waits"
            if found.line is None
            else f"{BOARD_FOLDER}/{found.path}:{found.line}: git merged this {'task' if found.joined is None else 'file'} by lines, and waits",
            f"`gt doctor --fix` joins both sides, then `git -C {BOARD_FOLDER} commit --no-edit`",
            Repair.MARKERS,
        )


def check_kept(context: Context) -> Iterator[Finding]:
    """Yields each text that a merge could not join and kept in a file of its own, until somebody takes that away."""
    from gitticks.git.process import run_git

    asked = ["ls-tree", "-r", "-z", "--name-only", state_tip(context.repository)]
    for path in run_git(asked, repository_dir=context.repository.common_dir).text.split("\0"):
        standing = standing_beside(path)
        if standing is not None:
            yield _kept(path, standing)


def _kept(path: str, standing: str) -> Finding:
    here, there = quote(f"{BOARD_FOLDER}/{standing}"), quote(f"{BOARD_FOLDER}/{path}")
    git, file = f"git -C {BOARD_FOLDER}", quote(path)
    return Finding(
        Severity.WARNING,
        f"{BOARD_FOLDER}/{path}: a merge could not join this with `{standing}` and kept both; "
        f"`diff {here} {there}` compares them",
        f"`{git} rm -q {file} && {git} commit -qm 'settle a conflict' {file}` takes it away, once what is right "
        f"stands in `{standing}`",
        task=task_around(path),
    )


def mend_markers(context: Context) -> None:
    """Joins what git merged by lines, wherever both sides can be read."""
    join_all(context)
