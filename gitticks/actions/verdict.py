"""A person's verdict on what a task is waiting for, and the proof that an approval is as strong as policy requires."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from gitticks.actions.changes import left_epic_in
from gitticks.actions.changing import (
    Moved,
    add_entry,
    is_in_base,
    require_words,
    warn_of_leaving,
    work_head,
)
from gitticks.actions.context import Context
from gitticks.actions.stop_reasons import said_of
from gitticks.document.taskfile import TaskFile
from gitticks.errors import GitticksError, RefusedError
from gitticks.git.config import read_config
from gitticks.git.log import names_of
from gitticks.model.approval import HARDWARE, NAME, NAMESPACE, SIGNATURE, SIGNED, TERMINAL, WORDS, is_enough
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry, Section, open_questions
from gitticks.model.queries import by_urgency
from gitticks.model.status import ANSWERED, Awaiting, Status, Verdict
from gitticks.model.task import Task
from gitticks.processes import ancestors
from gitticks.runner.liveness import is_run_alive_at, takes_work_at
from gitticks.runner.needed_code import require_code, require_head
from gitticks.runner.records import Sessions
from gitticks.runner.workspace_plan import base_of
from gitticks.store.decisions import Circumstances, carry_out, rework_title, told_by
from gitticks.store.index import open_index
from gitticks.store.layout import state_tip
from gitticks.store.transaction import Transaction
from gitticks.workflow.artifacts import Artifacts
from gitticks.workflow.decide import policy_for
from gitticks.workflow.decision import Decision
from gitticks.workflow.gates import check_code
from gitticks.workflow.transitions import VERDICTS, Outcome
from gitticks.workflow.triggers import NO_PROOF, Proof, Seen, VerdictGiven

_SESSION_VARIABLES = (b"GITTICKS_AGENT=1", b"GITTICKS_SUPERVISION=")
_SHORT = 10

Confirm = Callable[[str, str], bool]
"""Shows what is approved, and returns whether the person typed the word that is given second."""


class Waiting(NamedTuple):
    """A task that waits for an answer, with the questions that nobody has answered.

    `said` is why it is stuck, or else what its agent said when it stopped; empty where questions say it.
    """

    task: Task
    questions: tuple[Entry, ...]
    seen: Seen
    said: str = ""


def look_at(context: Context, task_id: TaskId) -> Seen:
    """Returns what the giver of a verdict looks at now; a verdict holds for nothing else."""
    return seen_of(context.store.task_file(task_id))


def look_at_turn(context: Context, task_id: TaskId) -> Seen:
    """Returns what a verdict without a page before it is about: whose turn it is now, and on which commit."""
    return look_at(context, task_id)._replace(told=None)


def seen_of(file: TaskFile) -> Seen:
    """Returns what there is to see of a task for the giver of a verdict."""
    return Seen(file.task.awaiting, file.task.asked_at, file.task.end_sha, told_by(file))


def approve_task(
    context: Context, task_id: TaskId, note: str | None, seen: Seen, proof: Proof = NO_PROOF
) -> Moved:
    """Approves what the task awaits; code is not merged by this, see `merge_approved`.

    An approval that is being or was carried out may be repeated, and moves nothing; a note that comes with it is kept.
    """
    context.require_person("give a verdict")

    def write(transaction: Transaction) -> Moved:
        before = transaction.task_file(task_id).task
        if before.is_merging or before.status is Status.DONE:
            if note and note.strip():
                add_entry(context, transaction, task_id, Section.NOTES, note.strip())
            return Moved(before, before)
        if seen.head == before.end_sha:
            _require_head(context, before)
        given = VerdictGiven(context.actor, Verdict.APPROVED, note, seen=seen, proof=proof)
        judged = _give(context, transaction, task_id, given)
        if judged.after.is_merging:
            require_code(context.repository, judged.after)
        return judged

    return context.store.transact(write, author=context.author)


def check_approvable(context: Context, task_id: TaskId) -> None:
    """Refuses an approval that would be refused for its code, before a person is asked for it."""
    task = context.store.task_file(task_id).task
    _require_head(context, task)
    if _is_closing(task, task.awaiting):
        artifacts = Artifacts(head=work_head(context, task), left_epic=left_epic_in(context.index, task))
        check_code(task, artifacts, policy_for(task, context.settings))


def _require_head(context: Context, task: Task) -> None:
    if _is_closing(task, task.awaiting) and task.awaiting is not Awaiting.WORK:
        require_head(context.repository, task)


def wants_feedback(task: Task) -> bool:
    """True if a rejection returns the task to an agent, which needs to know what to change."""
    if task.is_merging:
        return True
    return task.awaiting is not None and VERDICTS[task.awaiting, Verdict.REJECTED] is Outcome.RETURN


def reject_task(context: Context, task_id: TaskId, feedback: str | None, seen: Seen) -> Moved:
    """Rejects what the task awaits, or sends approved work back that is not merged yet."""
    context.require_person("give a verdict")
    given = VerdictGiven(context.actor, Verdict.REJECTED, feedback, seen=seen)
    moved = context.store.transact(
        lambda transaction: _give(context, transaction, task_id, given), author=context.author
    )
    warn_of_leaving(context, moved.before, moved.after)
    return moved


def rework_of(context: Context, rejected: Task) -> TaskId | None:
    """Returns the child that was made for the feedback of an epic that was sent back; None of others."""
    if not rejected.is_epic:
        return None
    with open_index(context.repository) as index:
        open_ones = (one for one in index.children(rejected.id) if one.is_open)
        return next((one.id for one in open_ones if one.title == rework_title(rejected)), None)


def respond_to(context: Context, task_id: TaskId, text: str, seen: Seen) -> Moved:
    """Answers a task's question and gives it back to the agent, in one commit."""
    context.require_person("answer for a person")
    answer = require_words(text, "answer", f'gt respond {task_id} "…"')
    given = VerdictGiven(context.actor, Verdict.APPROVED, answer, is_response=True, seen=seen)
    return context.store.transact(
        lambda transaction: _give(context, transaction, task_id, given), author=context.author
    )


def check_answerable(task: Task) -> None:
    """Refuses to answer where no answer is awaited."""
    if task.awaiting is Awaiting.WORK:
        raise RefusedError(f"`{task.id}` awaits work, not an answer", hint=f"`gt close {task.id}` closes it")
    if task.awaiting is None:
        hint = f'`gt note {task.id} "…"` adds a note' if task.is_open else f"`gt reopen {task.id}`"
        raise RefusedError(f"`{task.id}` is not waiting for an answer: it is {task.status}", hint=hint)
    if task.awaiting not in ANSWERED:
        raise RefusedError(
            f"`{task.id}` awaits {task.awaiting}, not an answer",
            hint=f'`gt approve {task.id} "…"` or `gt reject {task.id} "…"`',
        )


def waiting_for_answers(context: Context) -> tuple[Waiting, ...]:
    """Returns every task that waits for an answer, most urgent and oldest question first."""
    with open_index(context.repository) as index:
        tasks = sorted((one for one in index.awaiting() if one.awaiting in ANSWERED), key=by_urgency)
    return tuple(waiting_for_answer(context, task.id) for task in tasks)


def waiting_for_answer(context: Context, task_id: TaskId) -> Waiting:
    """Returns one task with its open questions, whatever it awaits."""
    file = context.store.task_file(task_id)
    questions = open_questions(file.entries(Section.QUESTIONS))
    if questions:
        return Waiting(file.task, questions, seen_of(file))
    with open_index(context.repository) as index:
        return Waiting(file.task, questions, seen_of(file), said_of(index, index.find(task_id)))


def _give(context: Context, transaction: Transaction, task_id: TaskId, given: VerdictGiven) -> Moved:
    before = transaction.task_file(task_id).task
    if given.is_response:
        check_answerable(before)
    # No agent reviews what a person has judged, so nobody asks which agents there are.
    head = work_head(context, before)
    circumstances = Circumstances(
        context.now,
        context.settings,
        context.world.random_number,
        head,
        in_base=is_in_base(context, before),
    )
    carry_out(transaction, task_id, given, circumstances)
    return Moved(before, transaction.task_file(task_id).task)


class MergedNow(NamedTuple):
    """The result of a merge in the foreground: done, waiting with nothing changed, or sent back; `lines` describe it."""

    lines: tuple[str, ...]
    is_done: bool
    is_waiting: bool = False


def merge_approved(context: Context, task_id: TaskId) -> MergedNow | None:
    """Merges an approved task in the foreground; None where a run is active, which merges it."""
    from gitticks.actions.run import merge_task, merged_words

    if takes_work_at(context.repository.own_place):
        return None
    try:
        result = merge_task(context, task_id)
    except GitticksError as error:
        if context.store.task_file(
            task_id
        ).task.is_merging:  # the approval holds, whatever keeps the merge back
            return _waiting(error.in_one_line)
        raise
    task = context.store.task_file(task_id).task
    if result.waits is not None:
        return _waiting(result.waits)
    if result.offered is not None:
        return MergedNow((f"approved; its pull request: {result.offered}",), is_done=True)
    if task.status is Status.DONE:
        merged = (merged_words(task.base, result.sha, result.tested),) if result.sha else ()
        return MergedNow((*merged, "done"), is_done=True)
    turn = ", awaits work" if task.awaiting is Awaiting.WORK else ""
    now = f"{task.status} again" if task.status is Status.WORKING else str(task.status)
    return MergedNow((f"not merged, {now}{turn}: {_reason(result.decision)}",), is_done=False)


def _waiting(reason: str) -> MergedNow:
    return MergedNow((f"approved; the merge waits: {reason}",), is_done=False, is_waiting=True)


def clear_unmerged(context: Context, task: Task) -> None:
    """Removes the workspace of a task that is done without a merge; where a run is alive, that does it."""
    if not task.is_landed or task.branch is None or task.merged_sha is not None:
        return
    from gitticks.actions.run import keeping_warnings, run_context
    from gitticks.runner.workspace_removal import remove_merged

    if not is_run_alive_at(context.repository.own_place):
        remove_merged(run_context(context, keeping_warnings(context)), task)


def _reason(decision: Decision | None) -> str:
    events = () if decision is None else decision.events
    reasons = [event.reason for event in events if event.reason and event.to_status is None]
    return reasons[0] if reasons else "its history says why"


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
    if awaiting is Awaiting.WORK or not task.is_handed_off:
        # Of work in the user's own checkout an approval records no head but the one that was handed off.
        head = None if task.branch is None else work_head(context, task)
        task = replace(task, end_sha=head or task.end_sha)
    verb = "close" if closes else "approve"
    if signs or key is not None or minimum >= SIGNED:
        return _sign(context, task, key, minimum, f"gt {verb} {task_id}")
    return NO_PROOF if minimum == NAME else _confirm(context, task, confirm, verb)


def needed_strength(context: Context, task: Task) -> str:
    """Returns how strong an approval of what a task awaits has to be."""
    return context.settings.approvals.minimum if _is_closing(task, task.awaiting) else NAME


def _is_closing(task: Task, awaiting: Awaiting | None) -> bool:
    closes = awaiting is not None and VERDICTS[awaiting, Verdict.APPROVED] is Outcome.CLOSE
    return closes and task.is_open and not task.is_merging


def _confirm(context: Context, task: Task, confirm: Confirm, verb: str) -> Proof:
    asks, hint = f"approvals have to be {WORDS[TERMINAL]}", f"`gt {verb} {task.id}` in your own terminal"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise RefusedError(f"{asks}, and this is not a terminal", hint=hint)
    if is_inside_session(context):
        raise RefusedError(f"{asks} that no run has started, and this one belongs to a session", hint=hint)
    head = (task.end_sha or "")[:_SHORT]
    shown = f"{task.title}\n{f'commit {head} of {task.branch}' if head else 'there is no code'}"
    if not confirm(shown, str(task.id)):
        raise RefusedError(f"`{task.id}` was not {verb}d", hint=f"`gt review {task.id}` shows its work")
    return Proof(TERMINAL, {"head": task.end_sha or ""})


def is_inside_session(context: Context) -> bool:
    """True if this process descends from an agent's session or from a run, whatever its own environment says."""
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


def _sign(context: Context, task: Task, key: str | None, minimum: str, command: str) -> Proof:
    from gitticks.git.signatures import principals_of, read_signature, sign
    from gitticks.store.approvals import allowed_signers, state_approval, why_not_signed

    require_code(context.repository, task)
    base = base_of(task, context.settings, context.repository)
    by = f"{context.author.name} <{context.author.email}>"
    statement = state_approval(context.repository, task, base, by, context.now)
    signature = sign(statement.payload(), key or _usual_key(context, command), NAMESPACE)
    why = why_not_signed(context.repository, context.resolved_settings, statement, signature, context.now)
    if why is not None:
        raise RefusedError(
            f"`{task.id}` was not approved, because the signature would not count: {why}",
            hint="`gt help sign-approvals`, `gt config --explain approvals.allowed_signers`",
        )
    read = read_signature(signature)
    strength = HARDWARE if read is not None and read.is_hardware else SIGNED
    if not is_enough(strength, minimum):
        raise RefusedError(
            f"`{task.id}` needs {WORDS[minimum]}, and that key is in a file",
            hint=f"`ssh-keygen -t ed25519-sk` creates a key in a hardware token, `{command} --key FILE` uses it",
        )
    names = frozenset[str]()
    if read is not None and context.settings.approvals.four_eyes:
        allowed = allowed_signers(context.repository, context.resolved_settings, statement.base_commit)
        addresses = {statement.address, *principals_of(allowed, read.key)}
        names = names_of(context.repository, state_tip(context.repository), addresses)
    return Proof(strength, {**statement.to_data(), SIGNATURE: signature}, names)


def _usual_key(context: Context, command: str) -> str:
    """Returns the key that git signs the person's commits with, if it is one of SSH; `command` takes another one."""
    found = read_config(context.repository, r"^(user\.signingkey|gpg\.format)$")
    key = found.get("user.signingkey")
    if not key or (found.get("gpg.format") != "ssh" and not key.startswith(("ssh-", "key::", "/", "~"))):
        raise RefusedError(
            "no key is configured to sign your approvals",
            hint=f"`{command} --key ~/.ssh/id_ed25519`, or `git config --global gpg.format ssh` and "
            "`git config --global user.signingKey ~/.ssh/id_ed25519.pub`",
        )
    return key
