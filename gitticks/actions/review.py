"""Everything a person needs to judge a task's work, comments on its lines, and the verdict."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from io import BytesIO
from shlex import quote
from typing import NamedTuple

from gitticks.actions.changes import at_its_branch, conflicts_of, has_new_commits, left_epic_in, span_of
from gitticks.actions.changing import add_entry, require_words
from gitticks.actions.context import Context
from gitticks.actions.stop_reasons import said_of
from gitticks.actions.verdict import reject_task, seen_of
from gitticks.errors import RefusedError, UsageError
from gitticks.git.merges.following import tree_changes
from gitticks.git.merges.history import DiffSummary, diff_summary, long_changes, lost_commits
from gitticks.git.process import run_git
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.repository import Repository
from gitticks.model.event import Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry, QuestionPair, Section, pair_questions, with_unasked
from gitticks.model.status import ANSWERED, Awaiting, Status
from gitticks.model.task import Task
from gitticks.runner.needed_code import require_code
from gitticks.runner.worklog import LoggedIteration, read_entries
from gitticks.store.decisions import carry_out
from gitticks.store.layout import Round, read_rounds, worklog_path
from gitticks.store.transaction import Transaction
from gitticks.workflow.artifacts import checks_of
from gitticks.workflow.merging import LeftMerge, left_merge
from gitticks.workflow.trees import Remark, look_first
from gitticks.workflow.triggers import Requested, Seen

_PLACE = re.compile(r"(?P<path>[^\n]*?[^\s:]):(?P<line>[0-9]{1,9})(?::?\s+(?P<text>.*))?", re.DOTALL)
_FILE = re.compile(r"(?!.*://)\S*[./]\S*")
"""What is meant as a file before a number, unlike in `see 12:30` and `http://localhost:8080`."""
_LONGEST_LINE = 300


class ReviewView(NamedTuple):
    """A task's work as a person judges it.

    `changes` is None where there is no code. `conflicts` are the paths in which a merge into the base would conflict
    now, None if the branch has commits since the hand-off. `look_first` are the paths that act beyond their text, and those that no merge takes. `said` is what its agent said when it stopped, or why it is stuck. `reviews` are what the council's members
    answered in this round, by their names. `worklog` holds an entry for each iteration, oldest first. `seen` is what
    a verdict given on this view is for. `checks` is what the gates came to on the head in review, None if none ran on it. `earlier` are the rounds whose review sent the work back. `left_epic` is the one on whose branch the work is, if it is merged with that no more. `to_merge` is what a person is to merge of approved work.
    """

    task: Task
    summary: str
    criteria: str | None
    said: str
    handoff: str | None
    review: str | None
    reviews: dict[str, str]
    questions: tuple[QuestionPair, ...]
    notes: tuple[Entry, ...]
    worklog: tuple[LoggedIteration, ...]
    changes: DiffSummary | None
    conflicts: tuple[str, ...] | None
    look_first: tuple[Remark, ...]
    seen: Seen
    checks: str | None = None
    earlier: tuple[Round, ...] = ()
    left_epic: TaskId | None = None
    to_merge: LeftMerge | None = None


def view(context: Context, task_id: TaskId) -> ReviewView:
    """Returns what there is to judge."""
    context.warn_of_left_behind()
    tip = context.store.tip()
    file = context.store.task_file(task_id, tip)
    task = file.task
    span, questions = _span(context, task), file.entries(Section.QUESTIONS)
    rounds = [
        one
        for one in read_rounds(context.repository, tip, task_id)
        if one.councillors or one.review is not None
    ]
    worklog = context.store.read(worklog_path(task_id), tip) or b""
    return ReviewView(
        task=task,
        summary=file.summary,
        criteria=file.section(Section.ACCEPTANCE),
        said=said_of(context.index, context.index.find(task_id)),
        handoff=file.section(Section.HANDOFF),
        review=file.section(Section.REVIEW),
        # The review of an earlier round is next to its answers.
        reviews=rounds[-1].councillors if rounds and rounds[-1].review is None else {},
        questions=pair_questions(questions),
        notes=with_unasked(file.entries(Section.NOTES), questions),
        worklog=read_entries(worklog.decode("utf-8", "replace")),
        changes=diff_summary(context.repository, *span) if span else None,
        conflicts=_conflicts(context, task),
        look_first=_look_first(context, span),
        seen=seen_of(file),
        checks=checks_of(context.store.snapshot(tip).history(task_id), task.end_sha),
        earlier=tuple(one for one in rounds if one.review is not None),
        left_epic=left_epic_in(context.index, task),
        to_merge=left_merge(task, context.settings.merge.mode),
    )


def _look_first(context: Context, span: tuple[str, str] | None) -> tuple[Remark, ...]:
    if span is None:
        return ()
    signers = context.settings.approvals.allowed_signers
    return look_first(tree_changes(context.repository, *span), signers and os.path.normpath(signers))


def diff(context: Context, task: Task) -> bytes:
    """Returns the task's changes as a patch, as stored: no filter, converter or external program is asked.

    Files that are binary, and changes too long to be read here, come last with a line each.
    """
    span = _span(context, task)
    return b"" if span is None else patch_between(context.repository, span)


def commits(context: Context, task: Task) -> dict[str, str]:
    """Returns the subjects of the commits that a task's work consists of, by id, the newest first."""
    span = span_of(context.repository, at_its_branch(context.repository, task))
    return {} if span is None else lost_commits(context.repository, span[:1], span[1:])


def patch_between(repository: Repository, span: tuple[str, str]) -> bytes:
    """Returns what is between two commits as such a patch."""
    left_out = long_changes(repository, *span)
    options = ["-r", "-p", "--text", "--no-textconv", "--no-ext-diff", "-M"]
    without = [f":(top,exclude,literal){path}" for path in left_out]
    asked = [
        *("-c", "core.quotePath=false"),
        "diff-tree",
        *options,
        "--end-of-options",
        *span,
        *(["--", ":(top)", *without] if without else []),
    ]
    patch = run_git(asked, repository_dir=repository.common_dir).stdout
    for path, lines in left_out.items():
        what = "binary" if lines is None else f"{lines:,} lines changed"
        shown = path if path.isprintable() else ascii(path)[1:-1]
        command = f"git diff {span[0][:10]} {span[1][:10]} -- {quote(path)}"
        patch += os.fsencode(f"not shown: {shown} ({what}): {command}\n")
    return patch


def _span(context: Context, task: Task) -> tuple[str, str] | None:
    """Returns where a task's difference begins and ends; None if nothing was handed off."""
    require_code(context.repository, task)
    return span_of(context.repository, task)


def _conflicts(context: Context, task: Task) -> tuple[str, ...] | None:
    if is_outdated(context, task):
        return None
    return (conflicts_of(context.repository, task) or ()) if task.is_open else ()


def is_outdated(context: Context, task: Task) -> bool:
    """True if an open task's branch has commits since the hand-off, so that a verdict would not be on all of its work."""
    return task.is_open and has_new_commits(context.repository, task)


def reject_work(context: Context, task_id: TaskId, feedback: str, seen: Seen) -> None:
    """Sends work back that an agent reviews, or that a person judges after that."""
    task = check_judging(context, task_id, accepts=False)
    if task.status is Status.AGENT_REVIEW:
        _reject_in_review(context, task, feedback, seen)
    else:
        reject_task(context, task_id, feedback, seen)


def check_judging(context: Context, task_id: TaskId, *, accepts: bool) -> Task:
    """Returns a task whose work may be judged as it stands; refuses any other before something is added to it.

    An answer to a question, or the word that a person did a part, is no verdict on work.
    """
    context.require_person("accept work" if accepts else "reject work")
    task = context.store.task_file(task_id).task
    is_judged = task.status is Status.REVIEWING and task.awaiting not in (*ANSWERED, Awaiting.WORK)
    if is_judged or (task.status is Status.AGENT_REVIEW and not accepts):
        return task
    stands = f"{task.status}, and awaits {task.awaiting}" if task.awaiting else task.status
    can_be = "that awaits a person's review can be accepted" if accepts else "under review can be sent back"
    hint = f'`gt respond {task.id} "…"`' if task.awaiting in ANSWERED else f"`gt show {task.id}`"
    if task.awaiting is Awaiting.WORK:
        hint = f"`gt close {task.id}`, once it is done"
    raise RefusedError(f"`{task.id}` is {stands}: only work {can_be}", hint=hint)


def _reject_in_review(context: Context, task: Task, feedback: str, seen: Seen) -> None:
    """Sends work back that an agent has not finished reviewing: the person's review is a FAIL with the feedback."""
    task_id = task.id
    text = f"FAIL by {context.actor.name}\n\n{feedback.strip()}"
    circumstances = context.circumstances(task)

    requested = Requested(context.actor, Status.WORKING, feedback.strip(), seen=seen)
    sections = {"sections": [Section.REVIEW.value]}
    written = Event(EventType.TEXT_CHANGED, context.now, context.actor, data=sections)

    def operation(transaction: Transaction) -> None:
        transaction.put_task(transaction.task_file(task_id).with_section(Section.REVIEW, text))
        transaction.append_events(task_id, (written,))
        carry_out(transaction, task_id, requested, circumstances)

    context.store.transact(operation, author=context.author)


def comment_on(
    context: Context, task_id: TaskId, comments: Sequence[str], *, seen: Seen | None = None
) -> Seen | None:
    """Adds a person's comments as notes; one that begins with `path:line` quotes that line of the work.

    Returns what there is to see of the task then; None if that was not what was `seen`, and then no comment is added. One
    that was added since the task awaits a person is not added again: the verdict that it was sent with may have been refused.

    Raises:
        UsageError: a file has no such line; then no comment is added.
    """
    context.require_person("comment on work")
    task = context.store.task_file(task_id).task
    notes = [require_words(_note(context, task, one), "note", f'gt note {task_id} "…"') for one in comments]

    def write(transaction: Transaction) -> Seen | None:
        file = transaction.task_file(task_id)
        if seen not in (None, seen_of(file)):
            return None
        since = file.task.asked_at if file.task.awaiting else None
        there = [one.text for one in file.entries(Section.NOTES) if since and one.at >= since]
        for note in notes:
            if note not in there:
                add_entry(context, transaction, task_id, Section.NOTES, note)
        return seen_of(transaction.task_file(task_id))

    return context.store.transact(write, author=context.author)


def _note(context: Context, task: Task, comment: str) -> str:
    place = _PLACE.fullmatch(comment)
    quoted = _quote(context, task, place["path"], int(place["line"])) if place else None
    if place is None or quoted is None:
        if place is not None and _FILE.fullmatch(place["path"]):
            context.warnings.append(f"the work has no file `{place['path']}`: the comment quotes no line")
        return comment
    text = place["text"] or ""
    if not text.strip():
        where = f"{place['path']}:{place['line']}"
        again = f'`gt review {task.id} --comment {quote(where)} "…"`'
        raise UsageError(f"there is no comment for `{where}`", hint=again)
    return f"{quoted}\n\n{text}"


def _quote(context: Context, task: Task, path: str, number: int) -> str | None:
    """Returns the place with the line as it was handed off; None if there is no such file."""
    repository = context.repository
    tip = task.branch and read_ref(repository.common_dir, f"{BRANCHES}{task.branch}")
    commit = task.end_sha or tip
    if commit is None:
        return None
    found = repository.objects.find(repository.objects.tree_of(commit), path)
    if found is None or not found.is_file:
        return None
    # As git, the interface and editors number them: lines end at LF only.
    lines = BytesIO(repository.objects.read_blob(found.object_id)).readlines()
    if not 0 < number <= len(lines):
        count = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
        raise UsageError(f"`{path}` has {count} at {commit[:7]}, but no line {number}")
    line = lines[number - 1].decode("utf-8", "replace").rstrip("\r\n").replace("\r", " ")
    return f"On `{path}:{number}` at {commit[:7]}:\n\n    {line[:_LONGEST_LINE]}"
