"""Decides where an agent will work, before its session is recorded and anything is created."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from gitticks.errors import GitticksError, NotFoundError, first_of
from gitticks.git.checkouts import (
    Checkout,
    changed_paths,
    checkout_at,
    current_branch,
    head,
    lost_head,
)
from gitticks.git.refs import BRANCHES, default_base, likely_base, read_ref
from gitticks.git.repository import Repository
from gitticks.model.graph import code_of_blockers
from gitticks.model.ids import BOARD_FOLDER, WORK_BRANCH, TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.settings import Settings
from gitticks.model.status import Isolation
from gitticks.model.task import Task
from gitticks.runner.needed_code import (
    CodeMissingError,
    can_be_had,
    how_to_fetch,
    lacking_on,
    require_blockers,
    require_code,
)
from gitticks.store.layout import OCCUPANT_FILE
from gitticks.workflow.merging import as_begun

MAILBOX_FOLDER = ".gt"
OWN_FOLDERS = (MAILBOX_FOLDER, BOARD_FOLDER)
"""The folders at the top of a checkout that are gitticks' own and nobody's uncommitted work."""
_SHOWN_PATHS = 5


class Workspace(NamedTuple):
    """A checkout for one session on one task, as it is planned and then as it is made ready.

    Attributes:
        task_id: the task.
        path: the top of the checkout, where the agent's process starts; planned, it need not exist yet.
        branch: the work branch; in the user's own checkout what is checked out there, and None once it is ready.
        base: the branch that the work is for; None in the user's own checkout.
        start_sha: the commit at which work on the task began or begins.
        commit: where the branch begins if it has to be made.
        isolation: how it is shared.
        warnings: what the agent and a person should know about it, once it is ready.
        lacks_base: whether the base has the code of blockers that the branch lacks.
    """

    task_id: TaskId
    path: Path
    branch: str | None
    base: str | None
    start_sha: str
    commit: str
    isolation: Isolation
    warnings: tuple[str, ...] = ()
    lacks_base: bool = False

    @property
    def work_branch(self) -> str | None:
        """Returns the branch that is the work's own; None in the user's own checkout, whose branch is a person's."""
        return None if self.isolation is Isolation.NONE else self.branch

    @property
    def mailbox(self) -> Path:
        """Returns the folder `.gt/` in the workspace."""
        return self.path / MAILBOX_FOLDER


def plan(task: Task, graph: TaskGraph, settings: Settings, repository: Repository) -> Workspace:
    """Returns where an agent is to work on a task; nothing is made or changed."""
    left, task = task, as_begun(task, graph.ancestors(task))
    if _isolation(task, graph, settings) is Isolation.NONE:
        here = _plan_here(task, settings, repository)
        if task.start_sha is None:
            require_blockers(repository, task, graph, here.branch or "HEAD", (here.commit,))
        return here
    owner = workspace_name(task, graph, settings)
    branch = WORK_BRANCH + owner
    folder = repository.require_project_dir("a workspace") / settings.workspace.dir
    base = base_of(task, settings, repository)
    base_tip = _tip(repository, base)
    tip = read_ref(repository.common_dir, BRANCHES + branch)
    require_code(repository, task)
    commit = tip or _last_known(task, repository, folder / owner, branch) or base_tip
    start_sha = task.start_sha if task.branch else None
    if task.is_open and not task.is_handed_off:
        require_blockers(repository, task, graph, base, (base_tip, commit))
    lacks_base = any(not can_be_had(repository, one, (commit,)) for one in code_of_blockers(graph, task))
    if owner != task.id:
        for one in lacking_on(repository, graph.tasks.values(), owner, commit):
            if tip is not None and repository.objects.has(one.commit):
                continue  # whoever works there can join both
            raise CodeMissingError(
                f"`{branch}` here lacks the code of `{one.task.id}`", hint=how_to_fetch(repository, branch)
            )
    if start_sha is None:
        begins_there = owner != task.id or commit == base_tip
        start_sha = commit if begins_there else repository.objects.merge_base(commit, base_tip) or commit
    shared = Isolation.TASK if owner == task.id else Isolation.EPIC
    planned = Workspace(
        task.id, folder / owner, branch, base, start_sha, commit, shared, lacks_base=lacks_base
    )
    if task is left or read_ref(repository.common_dir, f"{BRANCHES}{left.branch}") is None:
        return planned
    begun = f"work on it began on `{left.branch}`, the branch of an epic that it is no longer part of"
    there = f"{begun}: `git log {base}..{left.branch}` shows what is there"
    place = folder / str(left.branch).removeprefix(WORK_BRANCH)
    with suppress(NotFoundError):
        checkout = checkout_at(repository, place)
        if read_occupant(repository, checkout) == task.id and uncommitted_paths(checkout, OWN_FOLDERS):
            there += f"; what was not committed is in `{place}`"
    return planned._replace(warnings=(there,))


def workspace_name(task: Task, graph: TaskGraph, settings: Settings) -> str:
    """Returns a name that two tasks share if they share a workspace; empty for the user's own checkout."""
    task = as_begun(task, graph.ancestors(task))
    isolation = _isolation(task, graph, settings)
    if isolation is Isolation.NONE:
        return ""
    if task.branch and task.branch.startswith(WORK_BRANCH):
        return task.branch.removeprefix(WORK_BRANCH)
    if isolation is Isolation.TASK or task.is_epic:
        return task.id
    epic = _epic_of(task, graph)
    return task.id if epic is None else epic.id


def sharing_workspace(task: Task, graph: TaskGraph, settings: Settings) -> list[Task]:
    """Returns the other tasks of an epic that share the workspace of one."""
    name = workspace_name(task, graph, settings)
    if name in ("", task.id):
        return []
    others = (graph.tasks[one] for one in sorted(graph.below(TaskId(name))) if one != task.id)
    return [one for one in others if workspace_name(one, graph, settings) == name]


def is_by_hand_here(task: Task, now: datetime) -> bool:
    """True while a person works on a task on this machine."""
    claim = task.claim
    is_here = claim is not None and claim.expires > now and claim.host == socket.gethostname()
    return task.is_begun_by_hand and is_here


def by_hand_beside(task: Task, graph: TaskGraph, settings: Settings, now: datetime) -> Task | None:
    """Returns the other task on which a person works by hand in the workspace that `task` shares; None if none is."""
    name = workspace_name(task, graph, settings)
    if name in ("", task.id):
        return None
    begun = (graph.tasks[one] for one in graph.below(TaskId(name)) if is_by_hand_here(graph.tasks[one], now))
    there = (one for one in begun if one.id != task.id and workspace_name(one, graph, settings) == name)
    return min(there, key=lambda one: one.id, default=None)


def _isolation(task: Task, graph: TaskGraph, settings: Settings) -> Isolation:
    """Returns how work on a task is isolated; what was not begun and says nothing itself goes by its epic."""
    epic = _epic_of(task, graph)
    is_epics = epic is not None and task.start_sha is None and task.isolation is None
    return (epic if epic is not None and is_epics else task).isolation_in(settings.isolation)


def _epic_of(task: Task, graph: TaskGraph) -> Task | None:
    """Returns the epic that a task's code is merged with; below one that is closed it is merged by itself."""
    epic = graph.epic_of(task)
    return None if epic is None else graph.tasks[epic]


def base_of(task: Task, settings: Settings, repository: Repository) -> str:
    """Returns the branch that work on the task is merged into."""
    return task.base or _team_base(settings, repository)


def _team_base(settings: Settings, repository: Repository) -> str:
    base = settings.base or default_base(repository)
    if base is None:
        raise GitticksError(
            "HEAD is detached, and `base` is not set: there is no branch to merge into",
            hint=f"`gt config base {likely_base(repository.common_dir)}`",
        )
    return base


def why_no_base(settings: Settings, repository: Repository) -> GitticksError | None:
    """Returns why no work can begin from the base branch; None if it can."""
    try:
        _tip(repository, _team_base(settings, repository))
    except GitticksError as error:
        return error
    return None


def how_to_move(tasks: Iterable[Task], base: str, settings: Settings, repository: Repository) -> str:
    """Returns how the open work of tasks gets from a base branch that is gone to the one that it is now."""
    now, ids = settings.base or default_base(repository), " ".join(task.id for task in tasks)
    is_set = now is not None and now != base and _tip_of(repository, now) is not None
    renamed = f"if it is `{now}` now, " if is_set else "if it was renamed, `gt config base NAME`, then "
    return f"{renamed}`gt cancel {ids}` and `gt reopen {ids}` move the work there"


def base_tip(task: Task, base: str, settings: Settings, repository: Repository) -> str:
    """Returns where the base branch of a task's work stands.

    Raises:
        GitticksError: it is gone; the hint says how to get it back.
    """
    tip = read_ref(repository.common_dir, f"{BRANCHES}{base}")
    if tip is None:
        hint = (
            f"`git branch {quote(base)} {(task.start_sha or '<commit>')[:10]}` recreates it where this work began; "
            "`gt doctor` lists what was merged into it since; "
            + how_to_move((task,), base, settings, repository)
        )
        raise GitticksError(f"the base branch `{base}` does not exist here", hint=hint)
    return tip


def has_base(task: Task, settings: Settings, repository: Repository) -> bool:
    """True if the branch that work on the task begins from has a commit, here or on `origin`."""
    base = task.base or settings.base or default_base(repository)
    return base is not None and _tip_of(repository, base) is not None


def own_folders(settings: Settings) -> tuple[str, ...]:
    """Returns the folders of gitticks' own at the top of a checkout, which are nobody's uncommitted work."""
    return *OWN_FOLDERS, settings.workspace.dir


def is_behind_link(repository: Repository, path: Path) -> bool:
    """True if a path in the repository leads elsewhere through a link, which may have come with a fetch."""
    top, plain = repository.project_dir, Path(os.path.normpath(path))
    if top is None or not plain.is_relative_to(top):
        return False
    return Path(os.path.realpath(plain)) != Path(os.path.realpath(top)) / plain.relative_to(top)


def refuse_link(repository: Repository, path: Path) -> None:
    """Refuses to work at a path that leads elsewhere through a link."""
    if path.is_symlink() or is_behind_link(repository, path):
        raise GitticksError(
            f"`{path}` leads elsewhere through a link, so no agent works there",
            hint="remove the link; `git config gitticks.workspace.dir PATH` names another place for workspaces",
        )


def uncommitted_paths(checkout: Checkout, folders: tuple[str, ...]) -> tuple[str, ...]:
    """Returns what is changed or untracked, sorted, outside of `folders`."""
    changes = changed_paths(checkout)
    own = tuple(f"{folder.rstrip('/')}/" for folder in folders)
    paths = {*changes.changed, *changes.untracked}
    return tuple(sorted(path for path in paths if not f"{path.rstrip('/')}/".startswith(own)))


def occupant_file(repository: Repository, checkout: Checkout) -> Path:
    """Returns the file that holds the id of the task which a shared workspace was last prepared for."""
    folder = repository.own_dir if checkout.git_dir == repository.common_dir else checkout.git_dir
    return folder / OCCUPANT_FILE


def read_occupant(repository: Repository, checkout: Checkout) -> str | None:
    """Returns the id in that file."""
    try:
        return occupant_file(repository, checkout).read_text(encoding="utf-8").strip() or None
    except FileNotFoundError:
        return None


def shown_paths(paths: tuple[str, ...]) -> str:
    """Returns the first of some paths for a message."""
    return first_of([f"`{path}`" for path in paths], _SHOWN_PATHS)


def _plan_here(task: Task, settings: Settings, repository: Repository) -> Workspace:
    """Plans work in the user's own checkout; what is uncommitted there must be this task's."""
    place = repository.main_worktree
    if place is None:
        raise GitticksError(
            f"`{repository.common_dir}` is a bare repository: work without a workspace needs a checkout",
            hint=f"`gt update {task.id} --isolation task` gives the agent a workspace",
        )
    checkout = checkout_at(repository, place)
    commit = head(checkout)
    if commit is None:
        raise GitticksError(f"`{place}` has no commit yet", hint="`git commit --allow-empty -m begin`")
    paths = uncommitted_paths(checkout, own_folders(settings))
    if paths and read_occupant(repository, checkout) != task.id:
        raise GitticksError(
            f"no agent can work in your checkout while it has uncommitted changes: {shown_paths(paths)}",
            hint="commit them, or `gt update "
            f"{task.id} --isolation task` to give the agent a workspace of its own",
        )
    return Workspace(
        task.id, place, current_branch(checkout), None, task.start_sha or commit, commit, Isolation.NONE
    )


def _tip(repository: Repository, base: str) -> str:
    tip = _tip_of(repository, base)
    if tip is None:
        is_unborn = base == current_branch(repository)
        raise GitticksError(
            f"the base branch `{base}` does not exist here or has no commits",
            hint="`git commit` creates the first one, from which work can start"
            if is_unborn
            else "`git branch -a` shows the branches, `gt config base <branch>` chooses one",
        )
    return tip


def _tip_of(repository: Repository, base: str) -> str | None:
    tip = read_ref(repository.common_dir, BRANCHES + base)
    return tip or read_ref(repository.common_dir, f"refs/remotes/origin/{base}")


def _last_known(task: Task, repository: Repository, workspace: Path, branch: str) -> str | None:
    """Returns where a branch that is gone stood, as far as its workspace or the task tells and the commit is here."""
    known = (left_in(repository, workspace, branch), task.end_sha, task.start_sha)
    return next((commit for commit in known if commit and repository.objects.has(commit)), None)


def left_in(repository: Repository, workspace: Path, branch: str) -> str | None:
    """Returns where the branch of a workspace last stood, by the log of its HEAD; None if that tells nothing.

    Where refs are in a reftable, git tells it only once there is such a branch again.
    """
    try:
        checkout = checkout_at(repository, workspace)
    except NotFoundError:
        return None
    return lost_head(checkout) if current_branch(checkout) == branch else None
