"""Verifies every approval in the history: signatures, and whether each was as strong as policy required."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.document.settings import file_layer
from gitticks.document.settings_layers import merge_layers
from gitticks.document.values import format_time
from gitticks.errors import GitticksError
from gitticks.git.merges.history import merge_of
from gitticks.git.process import printable, run_git
from gitticks.model.approval import NAME, SIGNED, WORDS, is_enough
from gitticks.model.event import Event, EventType
from gitticks.model.ids import BOARD_FOLDER, TaskId
from gitticks.model.status import Status
from gitticks.store.approvals import why_not_proven
from gitticks.store.layout import CONFIG_PATH, STATE_REF, events_of, history_path
from gitticks.workflow.approvals import NOT_GIVEN, gives_approval, is_approval, valid_approvals

_UNKNOWN_COMMIT = "the commit that brought it was not found"
MERGE = "merge"
"""In place of a strength: that of a merge without any approval before it."""


class Verified(NamedTuple):
    """An approval of the history; `problem` says why it does not hold, with the place and the commit that brought it.

    Without `can_verify` this clone lacks what is needed to tell, and `problem` says what.
    """

    task: TaskId
    by: str
    at: str
    strength: str
    path: str
    line: int
    problem: str | None = None
    commit: str | None = None
    can_verify: bool = True


def verify_approvals(context: Context, task: str | None = None) -> tuple[Verified, ...]:
    """Returns every approval on the state branch, or of one task, in the order of the histories."""
    ids = sorted(context.store.snapshot().task_ids()) if task is None else [context.resolve(task)]
    return tuple(one for task_id in ids for one in _verify_task(context, task_id))


def _verify_task(context: Context, task_id: TaskId) -> list[Verified]:
    path = history_path(task_id)
    content = context.store.read(path) or b""
    found = []
    lines = enumerate(content.split(b"\n"), 1)
    events = [(number, event) for number, line in lines for event in events_of(line + b"\n")]
    for place, (number, event) in enumerate(events):
        strength = str(event.data.get("strength", NAME))
        at, shown = format_time(event.at), f"{BOARD_FOLDER}/{path}"
        read = Verified(task_id, event.actor.name, at, strength, shown, number)
        is_merge = event.to_status is Status.DONE and not event.actor.is_human
        if is_merge and not _is_approved(context, [earlier for _, earlier in events[:place]]):
            commit, _ = _commit_of(context, path, number)
            found.append(read._replace(strength=MERGE, problem=NOT_GIVEN, commit=commit))
        if is_approval(event):
            can_verify = True
            try:
                problem = _problem(context, task_id, event, [later for _, later in events[place + 1 :]])
            except GitticksError as error:
                problem, can_verify = error.in_one_line, False
            is_blamed = problem or context.settings.approvals.minimum != NAME
            commit, unknown = _commit_of(context, path, number) if is_blamed else (None, "")
            if is_blamed and problem is None:
                problem = _too_weak(context, strength, commit) if commit else unknown
                can_verify = commit is not None
            commit = commit if problem else None
            found.append(read._replace(problem=problem, commit=commit, can_verify=can_verify))
    return found


def _is_approved(context: Context, history: Sequence[Event]) -> bool:
    """True if the merge at the end of a history was approved before.

    Where two clones worked on the task, the hand-off of the other may stand after the approval; then its head counts.
    """
    if valid_approvals(history):
        return True
    sha = next((one.data.get("sha") for one in reversed(history) if one.type is EventType.MERGED), None)
    merged = merge_of(context.repository, sha) if isinstance(sha, str) else None
    return merged is not None and any(
        gives_approval(one) and one.data.get("head") == merged[1] for one in history
    )


def _problem(context: Context, task_id: TaskId, event: Event, later: list[Event]) -> str | None:
    why = why_not_proven(context.repository, context.resolved_settings, str(task_id), event)
    if why is not None or not is_enough(str(event.data.get("strength")), SIGNED):
        return why
    ends = (EventType.MERGED, EventType.VERDICT)
    merged = next((one.data.get("sha") for one in later if one.type in ends), None)
    named, head = (merge_of(context.repository, merged) if isinstance(merged, str) else None) or (None, "")
    if named == task_id and head != event.data.get("head"):
        return f"it is for {str(event.data.get('head'))[:7]}, and {head[:7]} was merged"
    return None


def _too_weak(context: Context, strength: str, commit: str) -> str | None:
    """Returns why an approval was too weak for the team's policy as it stood when it was given."""
    content = context.store.read(CONFIG_PATH, commit)
    try:
        layer = file_layer(content.decode("utf-8", "replace")) if content else None
        minimum = NAME if layer is None else merge_layers((layer,)).settings.approvals.minimum
    except GitticksError:
        return None
    if is_enough(strength, minimum):
        return None
    return f"it is {WORDS.get(strength, strength)}, but policy required {WORDS[minimum]}"


def _commit_of(context: Context, path: str, line: int) -> tuple[str | None, str]:
    """Returns the commit that brought a line of a file on the state branch; None with the reason if it is not found."""
    repository = context.repository
    # Neither programs nor lists of commits that a configuration names may have a say in it.
    asked = [
        "-c",
        "blame.showRoot=false",
        "blame",
        "--no-textconv",
        "--ignore-revs-file=",
        "--porcelain",
        f"-L{line},{line}",
        STATE_REF,
    ]
    words = ""
    # A list that is not there is an error, whatever is laid over it, and many people have one for their code.
    for environment in (None, {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}):
        done = run_git(
            [*asked, "--", path],
            repository_dir=repository.common_dir,
            directory=repository.main_worktree or repository.common_dir,
            extra_environment=environment,
            check=False,
        )
        if done.code == 0 and "\nboundary\n" in done.text and repository.is_shallow:
            return None, f"{_UNKNOWN_COMMIT}: `git fetch --unshallow` brings it"
        if done.code == 0:
            return done.text.split(" ", 1)[0].strip(), ""
        words = words or printable(done.stderr)
    return None, f"{_UNKNOWN_COMMIT}: {words}"
