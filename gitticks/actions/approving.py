"""Proves that an approval is as strong as policy requires, before the verdict is recorded."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from gitticks.actions.changing import work_head
from gitticks.errors import RefusedError
from gitticks.model.approval import HARDWARE, NAME, NAMESPACE, SIGNATURE, SIGNED, TERMINAL, WORDS, is_enough
from gitticks.model.status import Awaiting, Verdict
from gitticks.processes import ancestors
from gitticks.workflow.triggers import NO_PROOF, Proof
from gitticks.workflow.verdicts import VERDICTS, Outcome

if TYPE_CHECKING:
    from gitticks.actions.context import Context
    from gitticks.model.ids import TaskId
    from gitticks.model.task import Task

_SESSION_VARIABLES = (b"GITTICKS_AGENT=1", b"GITTICKS_SUPERVISION=")
_SHORT = 10

Confirm = Callable[[str, str], bool]
"""Shows what is approved, and returns whether the person typed the word that is given second."""


def prove_approval(
    context: Context,
    task_id: TaskId,
    confirm: Confirm,
    *,
    signs: bool = False,
    key: str | None = None,
    closes: bool = False,
) -> Proof:
    """Returns the proof of an approval that is about to be given, as strong as policy asks for.

    It is signed with `key`, else the one that git signs with; `signs` asks for it whatever policy wants.

    Raises:
        RefusedError: it cannot be that strong here; the hint says how it can.
    """
    context.require_person("give a verdict")
    task, minimum = context.store.task_file(task_id).task, context.settings.approvals.minimum
    awaiting = Awaiting.WORK if closes else task.awaiting
    if not _is_closing(task, awaiting):
        return NO_PROOF
    if awaiting is Awaiting.WORK:
        task = replace(task, end_sha=work_head(context, task) or task.end_sha)
    if signs or key is not None or minimum >= SIGNED:
        return _sign(context, task, key, minimum)
    return NO_PROOF if minimum == NAME else _confirm(context, task, confirm)


def needed_strength(context: Context, task: Task) -> str:
    """Returns how strong an approval of what a task awaits has to be."""
    return context.settings.approvals.minimum if _is_closing(task, task.awaiting) else NAME


def _is_closing(task: Task, awaiting: Awaiting | None) -> bool:
    closes = awaiting is not None and VERDICTS[awaiting, Verdict.APPROVED] is Outcome.CLOSE
    return closes and task.is_open and not task.is_merging


def _confirm(context: Context, task: Task, confirm: Confirm) -> Proof:
    asks = f"approvals have to be {WORDS[TERMINAL]}"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise RefusedError(
            f"{asks}, and this is not a terminal", hint=f"`gt approve {task.id}` in your own terminal"
        )
    if is_inside_session(context):
        raise RefusedError(
            f"{asks} that no run has started, and this one belongs to a session",
            hint=f"`gt approve {task.id}` in your own terminal",
        )
    head = (task.end_sha or "")[:_SHORT]
    shown = f"{task.title}\n{f'commit {head} of {task.branch}' if head else 'there is no code'}"
    if not confirm(shown, str(task.id)):
        raise RefusedError(f"`{task.id}` was not approved", hint=f"`gt review {task.id}` shows its work")
    return Proof(TERMINAL)


def is_inside_session(context: Context) -> bool:
    """True if this process descends from an agent's session or from a run, whatever its own environment says."""
    from gitticks.runner.records import Sessions

    runners = {record.pid for record in Sessions(context.repository.own_dir).live().values()}
    for pid in ancestors(os.getpid()):
        if pid in runners or any(one.startswith(_SESSION_VARIABLES) for one in _environment(pid)):
            return True
    return context.world.in_session


def _environment(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123 - no path is needed
            return file.read().split(b"\0")
    except OSError:
        return []


def _sign(context: Context, task: Task, key: str | None, minimum: str) -> Proof:
    from gitticks.git.signatures import read_signature, sign
    from gitticks.runner.workspace_plan import base_of
    from gitticks.store.approvals import state_approval, why_not_signed

    base = base_of(task, context.settings, context.repository)
    by = f"{context.author.name} <{context.author.email}>"
    statement = state_approval(context.repository, task, base, by, context.now)
    signature = sign(statement.payload(), key or _usual_key(context), NAMESPACE)
    why = why_not_signed(context.repository, context.resolved_settings, statement, signature, context.now)
    if why is not None:
        raise RefusedError(
            f"`{task.id}` was not approved, because the signature would not count: {why}",
            hint="docs/how-to/sign-approvals.md; `gt config --explain approvals.allowed_signers`",
        )
    read = read_signature(signature)
    strength = HARDWARE if read is not None and read.is_hardware else SIGNED
    if not is_enough(strength, minimum):
        raise RefusedError(
            f"`{task.id}` needs {WORDS[minimum]}, and that key is in a file",
            hint="`ssh-keygen -t ed25519-sk` creates a key in a hardware token, `--key FILE` uses it",
        )
    return Proof(strength, {**statement.to_data(), SIGNATURE: signature})


def _usual_key(context: Context) -> str:
    """Returns the key that git signs the person's commits with, if it is one of SSH."""
    from gitticks.git.config import read_config

    found = read_config(context.repository, r"^(user\.signingkey|gpg\.format)$")
    key = found.get("user.signingkey")
    if not key or (found.get("gpg.format") != "ssh" and not key.startswith(("ssh-", "key::", "/", "~"))):
        raise RefusedError(
            "no key is configured to sign your approvals",
            hint="`--key ~/.ssh/id_ed25519`, or `git config --global gpg.format ssh` and "
            "`git config --global user.signingKey ~/.ssh/id_ed25519.pub`",
        )
    return key
