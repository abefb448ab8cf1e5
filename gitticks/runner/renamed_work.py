"""The work of a task that a merge gave another id, as another one had it first: it is not to be taken for that one's."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from gitticks.document.taskfile import TaskFile
from gitticks.errors import GitticksError, RefusedError
from gitticks.git.checkouts import current_branch, list_worktrees
from gitticks.git.merges.history import is_ancestor
from gitticks.git.process import run_git
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.repository import Repository
from gitticks.git.sharing import local_refs
from gitticks.git.worktrees import worktrees_lock
from gitticks.model.ids import WORK_BRANCH, TaskId
from gitticks.model.task import Task
from gitticks.runner.partial_work import partial_ref
from gitticks.runner.records import Sessions
from gitticks.runner.workspace_plan import occupant_file, read_occupant
from gitticks.store.branch import Store
from gitticks.store.checkpoints import REFS
from gitticks.store.index import Index, open_index
from gitticks.store.layout import history_path
from gitticks.store.merging.commits import former_ids
from gitticks.store.merging.task import is_same_birth


def present_id(store: Store, file: TaskFile) -> TaskId:
    """Returns the id that a task has now whose file was read before: a merge may have given its id to another one."""
    snapshot, old = store.snapshot(), file.task
    if is_same_birth(snapshot.task_file(old.id).task, old):
        return old.id
    born = (one.id for one in snapshot.all_tasks().values() if is_same_birth(one, old))
    return next((one for one in born if old.id in former_ids(snapshot.read(history_path(one)))), old.id)


def follow_renamed(repository: Repository) -> Iterator[str]:
    """Renames branch and workspace of each such task whose work is in this clone, and yields why one could not be.

    It is tried again with every sync, so that no killed one leaves the work where the other task would go on with it.
    """
    with open_index(repository) as index:
        found = [*_renamed_here(repository, index)]
    for old, task, ids in found:
        try:
            _move(repository, old, task.id, {*ids, old})
        except GitticksError as error:
            yield (
                f"`{old}` is `{task.id}` now, as another task had that id, and its work is still on "
                f"`{WORK_BRANCH}{old}`, until a later sync renames that: {error.message}"
            )


def _renamed_here(repository: Repository, index: Index) -> Iterator[tuple[TaskId, Task, set[TaskId]]]:
    """Yields old ids with the tasks as they are now, and all that are worked on in the same workspace."""
    begun = [row.id for row in index.begun()]
    for task_id in begun:
        branch = WORK_BRANCH + task_id
        if read_ref(repository.common_dir, BRANCHES + branch) is not None:
            continue
        for old in former_ids(index.history(task_id)):
            task, tip = index.task(task_id), read_ref(repository.common_dir, BRANCHES + WORK_BRANCH + old)
            if task.branch != branch or tip is None:
                continue
            row = index.find(old)
            # Where work on both has begun, it is this one's branch if it has what this one handed off.
            is_certain = row is None or not row.is_begun
            if not is_certain and (task.end_sha is None or not is_ancestor(repository, task.end_sha, tip)):
                continue
            yield old, task, {one for one in begun if index.task(one).branch == branch}


def _move(repository: Repository, old: TaskId, new: TaskId, ids: set[TaskId]) -> None:
    sessions = Sessions(repository.own_dir)
    with sessions.reserve(ids):
        if any(record.task in ids for record in sessions.dead()):
            raise RefusedError("`gt run` has to finish its interrupted session first")
        before, after, common_dir = WORK_BRANCH + old, WORK_BRANCH + new, repository.common_dir
        with worktrees_lock(repository):
            for checkout in list_worktrees(repository):
                if current_branch(checkout) != before:
                    continue
                if read_occupant(repository, checkout) == old:
                    occupant_file(repository, checkout).write_text(f"{new}\n", encoding="utf-8")
                if checkout.path.name == old:
                    place = str(checkout.path.with_name(new))
                    run_git(["worktree", "move", str(checkout.path), place], repository_dir=common_dir)
        kept = local_refs(repository, partial_ref(old), f"{REFS}{old}/")
        names = {partial_ref(old): partial_ref(new)}
        moves = (
            (
                f"create {names.get(ref, ref.replace(f'{REFS}{old}/', f'{REFS}{new}/'))} {commit}\n",
                f"delete {ref} {commit}\n",
            )
            for ref, commit in kept.items()
        )
        asked = "".join(chain.from_iterable(moves)).encode()
        run_git(["update-ref", "--stdin"], repository_dir=common_dir, input=asked)
        # Last, since by the branch it is known whether something is left to be done.
        run_git(["branch", "-m", before, after], repository_dir=common_dir)
