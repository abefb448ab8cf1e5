"""Sets up a new workspace: configuration, files that git does not track, the team's set-up command."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from shlex import quote

from gitticks.agents.base import Limits
from gitticks.agents.process import StopRequest, run_supervised
from gitticks.agents.stream import last_line
from gitticks.board.hooks import (
    BOARD_HOOKS,
    HOOKS_LOCK,
    PASSED_ON,
    are_hooks_off,
    forget_hooks,
    hooks_in,
    name_hooks,
    names_hooks,
)
from gitticks.errors import GitticksError, MachineError
from gitticks.git.checkouts import Checkout, checkout_at, linked_checkouts
from gitticks.git.config import (
    OwnHooks,
    enable_worktree_config,
    find_own_hooks,
    write_worktree_setting,
)
from gitticks.git.files import SCRATCH_IN_CHECKOUT
from gitticks.git.identity import Identity
from gitticks.git.locks import hold_lock
from gitticks.git.repository import Repository
from gitticks.git.worktrees import remove_tree
from gitticks.model.ids import TaskId
from gitticks.model.settings import Settings
from gitticks.runner.workspace_environment import WalledCommand, port_variables, walled_command
from gitticks.store.hook_files import (
    SHARED,
    HooksState,
    fill_folder,
    folder_state,
    has_content,
    read_source,
    remove_folder,
)

_SCRIPT = "workspace"
_TASK, _CHECKOUT = "gitticks.task", "gitticks.checkout"

_STAMP = "gitticks-setup"
_KEPT_BYTES = 16_000


def install_hooks(repository: Repository, checkout: Checkout, task_id: TaskId) -> tuple[str, ...]:
    """Points the workspace's own configuration at our hooks, and says there which task it works on.

    The hooks are those of a person's daily work, and every other one that the repository has: some of these cost each
    git command time, so they stand there only if somebody wants them. Nothing happens where a person has uninstalled
    the hooks. Returns what the agent and a person should know: hooks of their own that cannot run.
    """
    own = find_own_hooks(repository)
    if not are_hooks_off(repository):
        folder = _folder(repository)
        notes = {_TASK: str(task_id)}
        if repository.main_worktree is not None:
            notes[_CHECKOUT] = str(repository.main_worktree)
        with hold_lock(repository.own_file(HOOKS_LOCK)):
            _fill(folder, own)
            enable_worktree_config(repository)
            name_hooks(repository, checkout, folder, notes)
    if own.is_missing:
        return (f"none of your own hooks run: `{own.named}`, which `core.hooksPath` names, is missing",)
    return ()


def uninstall_hooks(repository: Repository) -> int:
    """Takes the hooks out of every workspace and returns how many had them."""
    folder = _folder(repository)
    with hold_lock(repository.own_file(HOOKS_LOCK)):
        found = workspaces_with_hooks(repository)
        for checkout in found:
            forget_hooks(checkout, folder, (_TASK, _CHECKOUT))
    remove_folder(folder)
    return len(found)


def workspaces_with_hooks(repository: Repository) -> tuple[Checkout, ...]:
    """Returns the workspaces whose own configuration names our hooks."""
    folder = _folder(repository)
    return tuple(one for one in linked_checkouts(repository) if names_hooks(one, folder))


def hooks_state(repository: Repository) -> HooksState:
    """Returns whether the hooks that workspaces name are there and work."""
    return folder_state(_folder(repository), {name: read_source(name) for name in (SHARED, _SCRIPT)})


def name_committer(repository: Repository, path: Path, committer: Identity | None) -> None:
    """Makes commits in the workspace at `path` be by `committer`; None leaves them to whoever is at work there.

    Said in its own configuration, since some agents hide the environment and the person's configuration from the
    commands that they run.
    """
    checkout = checkout_at(repository, path)
    named = {
        "user.name": committer.name if committer else None,
        "user.email": committer.email if committer else None,
    }
    for key, value in named.items():
        write_worktree_setting(checkout.git_dir, key, value)


def _fill(folder: Path, own: OwnHooks) -> None:
    """Puts the one script in place, and a link to it under the name of every hook."""
    files = {name: read_source(name) for name in (SHARED, _SCRIPT)}
    missing = {name: content for name, content in files.items() if not has_content(folder / name, content)}
    fill_folder(folder, missing)
    for name in {*BOARD_HOOKS, *PASSED_ON, *hooks_in(own.folder)} - files.keys():
        link = folder / name
        if not link.is_symlink():
            link.unlink(missing_ok=True)
            link.symlink_to(_SCRIPT)


def _folder(repository: Repository) -> Path:
    return repository.own_file("workspace-hooks")


def set_up(
    repository: Repository,
    checkout: Checkout,
    settings: Settings,
    environment: Mapping[str, str],
    stop: StopRequest | None = None,
) -> None:
    """Copies and runs what `setup` names, unless that was done already since the workspace was made."""
    stamp = (
        checkout.git_dir / _STAMP
    )  # it goes when the worktree goes, and an agent in a sandbox cannot write it
    if stamp.exists():
        return
    source = repository.main_worktree
    for name in settings.setup.copy if source is not None else ():
        _copy(source or Path(), checkout.path, name)
    if settings.setup.run is not None:
        variables = {**environment, **port_variables(repository, checkout)}
        with walled_command(repository, checkout, settings, variables) as walled:
            _run(settings.setup.run, walled, settings.limits.gate, stop)
    stamp.touch()


def _copy(source: Path, target: Path, name: str) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or path.parts[0] == ".git":
        raise GitticksError(
            f"`{name}` under `setup.copy` is not a path inside the checkout",
            hint="`gt config setup.copy` shows them",
        )
    here, there = source / path, target / path
    if not here.exists() or os.path.lexists(there):
        return
    # What is cut short is not taken for the whole, nor for a file of the work.
    part = target / SCRATCH_IN_CHECKOUT / "copy"
    for top, place in ((source, here), (target, there), (target, part)):
        if not Path(os.path.realpath(place)).is_relative_to(os.path.realpath(top)):
            raise GitticksError(
                f"`{name}` under `setup.copy` leads out of the checkout through a link",
                hint=f"`ls -l {place}` shows where to",
            )
    try:
        there.parent.mkdir(parents=True, exist_ok=True)
        part.parent.mkdir(exist_ok=True)
        _remove(part)
        if here.is_dir():
            shutil.copytree(here, part, symlinks=True)
        else:
            shutil.copy2(here, part)
        part.rename(there)
        with contextlib.suppress(OSError):
            part.parent.rmdir()
    except (OSError, shutil.Error) as error:
        with contextlib.suppress(OSError):
            _remove(part)
        raise MachineError(f"`{name}` could not be copied to `{target}`: {error}") from error


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)


def _run(command: str, walled: WalledCommand, limit_seconds: float, stop: StopRequest | None) -> None:
    ended = run_supervised(
        walled(command),
        Limits(total_seconds=limit_seconds, kept_bytes=_KEPT_BYTES, processes=walled.processes),
        stop=stop,
    )
    if ended.is_success:
        return
    last = last_line(ended.output)
    walls = "; it ran in the sandbox: `gt help run-agents-in-a-sandbox`" if walled.enclosure else ""
    raise MachineError(  # the network or a registry may be away
        f"the set-up command `{command}` failed ({ended.how}){f': {last}' if last else ''}",
        hint=f"try it there: `cd {quote(str(walled.checkout.path))} && {command}`{walls}",
    )
