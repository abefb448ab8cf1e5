"""Strong approvals: what is signed, which keys may sign it, and whether it still applies.

The allowed signers come from the base as it stood when the approval was given, or from a file of the user's own where
the team names none: never from what an agent works on.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from shlex import quote

from gitticks.document.settings_layers import ResolvedSettings
from gitticks.document.values import format_time
from gitticks.errors import RefusedError
from gitticks.git.config import read_own_setting
from gitticks.git.merges.history import is_ancestor
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.repository import Repository
from gitticks.git.sharing import remote_of_branch, tracking_ref
from gitticks.git.signatures import read_signature, verify
from gitticks.model.approval import HARDWARE, NAMESPACE, SIGNED, Statement, is_enough
from gitticks.model.event import Event
from gitticks.model.task import Task
from gitticks.safe_read import read_plain_file, reason_of
from gitticks.store.layout import CONFIG_PATH
from gitticks.store.runnable_files import team_runnables_of
from gitticks.store.settings import team_settings
from gitticks.store.trust import require_trusted
from gitticks.workflow.approvals import (
    approval_of,
    claimed,
    gates_digest,
    policy_digest,
    valid_approvals,
    why_void,
)
from gitticks.workflow.decide import policy_for
from gitticks.workflow.decision import waived_person

SETTING = "approvals.allowed_signers"
_LARGEST = 1_000_000
_HINT = f"`gt config {SETTING} allowed_signers` names a file on the base branch; `gt help sign-approvals`"


def state_approval(repository: Repository, task: Task, base: str, by: str, at: datetime) -> Statement:
    """Returns the statement that approves a task's work as it stands now."""
    settings = team_settings(repository)
    head = task.end_sha or ""
    return Statement(
        task=str(task.id),
        head=head,
        tree=repository.objects.tree_of(head) if head else "",
        base=base,
        base_commit=read_ref(repository.common_dir, BRANCHES + base) or "",
        gates=gates_digest(settings),
        policy=policy_digest(settings),
        by=by,
        at=format_time(at),
    )


def allowed_signers(repository: Repository, resolved: ResolvedSettings, base_commit: str) -> bytes:
    """Returns the file of allowed signers that counts for an approval given when the base stood at `base_commit`.

    Raises:
        RefusedError: there is none, or it stands where an agent writes.
    """
    named = resolved.settings.approvals.allowed_signers
    if named is None:
        named = read_own_setting("gpg.ssh.allowedSignersFile")
        if not named:
            raise RefusedError("the list of allowed signers is not configured", hint=_HINT)
    elif resolved.origin(SETTING) == CONFIG_PATH:
        require_trusted(repository, team_runnables_of(repository, SETTING))
    if not named.startswith(("/", "~")):
        return _in_base(repository, named, base_commit)
    if resolved.origin(SETTING) == CONFIG_PATH:
        raise RefusedError(
            f"`{SETTING}: {named}` in the team's settings is a file on one machine",
            hint=f"`gt config {SETTING} allowed_signers` names a file on the base branch",
        )
    # What begins with the name of no user is still no path in the folder where this runs.
    return _own_file(repository, Path("/", os.path.expanduser(named)))


def _in_base(repository: Repository, path: str, commit: str) -> bytes:
    objects = repository.objects
    blob = objects.find_file(objects.tree_of(commit), path) if commit else None
    if blob is None:
        raise RefusedError(
            f"the base has no `{path}` at {commit[:7] or 'any commit'}, which should list the allowed signers",
            hint="commit it to the base branch: `you@example.org ssh-ed25519 AAAA…`, one line per person",
        )
    return objects.read_blob(blob)


def _own_file(repository: Repository, path: Path) -> bytes:
    project = repository.project_dir
    if project is not None and path.resolve().is_relative_to(project.resolve()):
        raise RefusedError(
            f"the allowed signers `{path}` are in the repository's folder, where agents can write",
            hint=f"name it relative to the repository, so that it is read from the base branch: `gt config {SETTING} …`",
        )
    try:
        return read_plain_file(path, _LARGEST)
    except OSError as error:
        raise RefusedError(
            f"the allowed signers `{path}` cannot be read: {reason_of(error)}", hint=_HINT
        ) from error


def why_not_signed(
    repository: Repository, resolved: ResolvedSettings, statement: Statement, signature: str, at: datetime
) -> str | None:
    """Returns why a signature does not prove a statement, in words; None if it does.

    Raises:
        GitticksError: this clone lacks what is needed to tell.
    """
    if statement.base_commit and not _was_base(repository, statement):
        return f"`{statement.base}` never pointed to {statement.base_commit[:7]}, from which the allowed signers would be read"
    allowed = allowed_signers(repository, resolved, statement.base_commit)
    return verify(
        statement.payload(), signature, allowed, identity=statement.address, namespace=NAMESPACE, at=at
    )


def _was_base(repository: Repository, statement: Statement) -> bool:
    """True if the base, here or as its remote had it last, contains the commit of a statement.

    Raises:
        RefusedError: the base is missing here, or behind, so that only its remote can tell.
    """
    base, commit = statement.base, statement.base_commit
    remote = remote_of_branch(repository, base)
    refs = (BRANCHES + base, *([] if remote is None else [tracking_ref(remote, base)]))
    tips = [tip for ref in refs if (tip := read_ref(repository.common_dir, ref)) is not None]
    is_here = repository.objects.has(commit)
    if is_here and any(is_ancestor(repository, commit, tip) for tip in tips):
        return True
    has_parted = is_here and tips and not any(is_ancestor(repository, tip, commit) for tip in tips)
    if remote is None or has_parted:
        return False
    whole = "--unshallow " if repository.is_shallow else ""
    raise RefusedError(
        f"`{base}` in this clone does not contain {commit[:7]}, from which the allowed signers are read",
        hint=f"`git fetch {whole}{quote(remote)} {quote(f'{base}:{tracking_ref(remote, base)}')}` brings it",
    )


def why_not_proven(
    repository: Repository,
    resolved: ResolvedSettings,
    task_id: str,
    event: Event,
    now: datetime | None = None,
) -> str | None:
    """Returns why an approval of the history is not as strong as it says, in words; None if it is.

    The key of its signature has to be valid `now`, else when it was made.

    Raises:
        GitticksError: this clone lacks what is needed to tell.
    """
    said = claimed(task_id, event)
    if said is None or isinstance(said, str):
        return said
    read = read_signature(said.signature)
    if said.is_by_hardware and read is not None and not read.is_hardware:
        return f"it says {HARDWARE}, and its key ({read.key_type}) is no hardware key that was touched"
    return why_not_signed(repository, resolved, said.statement, said.signature, now or said.at)


def why_unproven(
    repository: Repository, resolved: ResolvedSettings, task: Task, history: Iterable[Event], now: datetime
) -> str | None:
    """Returns why the signature that policy requires does not prove what approved merged work, as a clause; None if it does.

    Raises:
        GitticksError: this clone lacks what is needed to tell.
    """
    given = valid_approvals(history)
    if not given or not is_enough(resolved.settings.approvals.minimum, SIGNED):
        return None
    why = why_not_proven(repository, resolved, str(task.id), given[-1], now)
    return why and f"though its approval is not valid: {why}"


def why_not_carrying(
    repository: Repository,
    resolved: ResolvedSettings,
    task: Task,
    history: Iterable[Event],
    *,
    base: str,
    now: datetime,
) -> str | None:
    """Returns why a task's approval does not carry a merge into `base` now, in words; None if it does.

    A key that has expired since does not carry it either: who has an old key could have dated it back.
    """
    events, team = tuple(history), team_settings(repository)
    asked = resolved.settings.approvals
    void = why_void(
        task,
        events,
        base=base,
        minimum=asked.minimum,
        four_eyes=asked.four_eyes,
        gates=gates_digest(team),
        policy=policy_digest(team),
        is_person_waived=waived_person(task, policy_for(task, resolved.settings)) is not None,
    )
    approval = approval_of(task, events)
    if void is not None or approval is None:
        return void
    return why_not_proven(repository, resolved, str(task.id), approval, now)
