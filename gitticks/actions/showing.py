"""Gathers everything about one task: its fields, its text, who said what, and what happened to it; and to all tasks."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.derived_state import Standing, standing_of
from gitticks.document.sections import Body, is_empty, same_name
from gitticks.document.texts import Source
from gitticks.document.verdict_line import review_outcome
from gitticks.errors import GitticksError, NotFoundError
from gitticks.model.ids import BOARD_FOLDER, TaskId, is_valid_id, task_path
from gitticks.model.notes import (
    Entry,
    QuestionPair,
    Section,
    mentioned,
    pair_questions,
    with_unasked,
    words_like_ids,
)
from gitticks.model.queries import by_priority_and_age
from gitticks.model.status import Role, Status
from gitticks.model.task_row import TaskRow
from gitticks.store.authors import own_names
from gitticks.store.index import Index, graph_over
from gitticks.store.layout import STATE_REF, Round, events_of, read_rounds, state_tip
from gitticks.store.task_row import TaskDetails

if TYPE_CHECKING:
    from gitticks.actions.changes import Changes
    from gitticks.git.log import LoggedCommit
    from gitticks.model.event import Event

MOST_SECONDS = 2.0
"""So long git is asked what a task's work changes."""
_MOST_SEARCHED = 100_000
"""So many characters are searched for the ids of other tasks."""
_CREATED = b'{"type":"task.created",'
_PUT_ASIDE = frozenset({"verdict.given", "task.reopened", "approval.voided"})


class ShownHistory:
    """A task's history.jsonl, read where its events are asked for: loading what reads it takes as long as the page."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    @property
    def is_only_begun(self) -> bool:
        """True if nothing is known to have happened since the task was made, as its only line tells at a glance."""
        return not self.content or (self.content.count(b"\n") <= 1 and self.content.startswith(_CREATED))

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Returns those that can be understood, oldest first."""
        return events_of(self.content)


class ShownTask(NamedTuple):
    """One task with all its text.

    `sections` are those with text but Notes and Questions, in file order by their names; `idle_blockers` block
    nothing because they are missing or cancelled; `children` are closed and open ones. `review_outcome` is a word of
    `ReviewOutcome`, None without a review. `rounds` are earlier ones; `mentions` are other tasks that its text names; `changes` is None where there is no code, or
    where it was not asked for.
    """

    standing: Standing[TaskRow]
    details: TaskDetails
    is_by_stranger: bool
    parent: TaskRow | None
    children: tuple[TaskRow, ...]
    idle_blockers: tuple[TaskId, ...]
    summary: str
    sections: dict[str, str]
    review_outcome: str | None
    notes: tuple[Entry, ...]
    questions: tuple[QuestionPair, ...]
    history: ShownHistory
    warnings: tuple[str, ...]
    rounds: tuple[Round, ...]
    mentions: tuple[Standing[TaskRow], ...]
    changes: Changes | None

    @property
    def last_handoff(self) -> Event | None:
        """Returns the event that tells who handed the work off last, as far as the history says."""
        return _last_written(self.history.events, Role.WORKER, Section.HANDOFF)

    @property
    def last_review(self) -> Event | None:
        """Returns the event that tells who reviewed last."""
        return _last_written(self.history.events, Role.REVIEWER, Section.REVIEW)

    @property
    def is_merged(self) -> bool:
        """True if its work was merged; a task may be done with nothing to merge."""
        return any(event.type == "merge.done" for event in self.history.events)

    @property
    def seconds_to_close(self) -> float | None:
        """Returns how long it took from the first start of work to done; None for a task that is not done."""
        task = self.standing.task
        if task.status != Status.DONE or not task.closed:
            return None
        started = next((event.at for event in self.history.events if event.to_status == Status.WORKING), None)
        return None if started is None else (datetime.fromisoformat(task.closed) - started).total_seconds()


def _last_written(history: tuple[Event, ...], role: Role, section: Section) -> Event | None:
    """Returns who wrote a section last; what a person wrote during an agent's session stays, and the agent's is a note."""
    ended = None
    for event in reversed(history):
        if event.is_edit_of(section):
            return event
        if ended is not None and (event.begins(role) or event.ends(role)):
            break
        ended = event if event.ends(role) else ended
    return ended


def last_reviewer(history: bytes) -> str | None:
    """Returns who reviewed last, as a history.jsonl tells; None if it does not."""
    last = _last_written(events_of(history), Role.REVIEWER, Section.REVIEW)
    return None if last is None else last.actor.name


def show_task(context: Context, named: str | None, *, with_changes: bool = False) -> ShownTask:
    """Returns everything about a task; what its work changes only `with_changes`, as git has to be asked for that."""
    index = context.index
    task_id = context.resolve(named)
    task = index.find(task_id, with_json=True)
    if task is None:
        from gitticks.actions.task_files import cannot_be_shown

        raise cannot_be_shown(index, task_id)
    body = body_of(index, task_id)
    graph = graph_over(index)
    around, history = context.surroundings(), ShownHistory(index.history(task_id))
    asked = entries_of(body, Section.QUESTIONS)
    return ShownTask(
        standing=standing_of(context, task, graph, around),
        details=index.details_of(task_id),
        is_by_stranger=bool(index.by_strangers(own_names(context.repository.own_place), task_id)),
        parent=graph.tasks.get(task.parent) if task.parent else None,
        children=tuple(sorted(index.children(task_id), key=by_priority_and_age)),
        idle_blockers=graph.idle_blockers(task),
        summary=body.preamble,
        sections=_sections(body),
        review_outcome=review_outcome_of(body),
        # What people wrote among the questions and answers none is a note.
        notes=with_unasked(entries_of(body, Section.NOTES), asked),
        questions=pair_questions(asked),
        history=history,
        warnings=body.warnings,
        rounds=_rounds(context, task_id, history),
        mentions=tuple(
            standing_of(context, one, graph, around)
            for one in (_mentions(index, task_id, body.text) if body.text.strip() else ())
        ),
        changes=_changes(context, task) if with_changes else None,
    )


def show_round(context: Context, named: str | None, number: int) -> tuple[TaskId, Round]:
    """Returns one of a task's earlier rounds."""
    task_id = context.resolve(named)
    for one in read_rounds(context.repository, context.index.commit, task_id):
        if one.number == number:
            return task_id, one
    raise NotFoundError(f"`{task_id}` has no earlier round {number}", hint=f"`gt show {task_id}`")


def _rounds(context: Context, task_id: TaskId, history: ShownHistory) -> tuple[Round, ...]:
    """Returns the earlier rounds; of a task that never went back nothing is read."""
    if history.is_only_begun or not any(map(_goes_back, history.events)):
        return ()
    return read_rounds(context.repository, context.index.commit, task_id)


def _mentions(index: Index, named: TaskId, text: str) -> list[TaskRow]:
    """Returns the other tasks that a text names, in the order of their first mention."""
    text = text[:_MOST_SEARCHED]
    known = index.known(words_like_ids(text) - {named})
    return [known[task_id] for task_id in mentioned(text, known)] if known else []


def _goes_back(event: Event) -> bool:
    """True for an event that may have put a hand-off or a review aside."""
    is_return = event.to_status in (Status.WORKING, Status.PENDING) and event.from_status not in (
        None,
        Status.PENDING,
    )
    return is_return or event.type.value in _PUT_ASIDE


def _changes(context: Context, task: TaskRow) -> Changes | None:
    if '"start_sha": null' in task.json:
        return None
    from gitticks.actions.changes import at_its_branch, find_changes, left_epic_in

    whole = at_its_branch(context.repository, context.index.task(task.id))
    in_review = task.status == Status.REVIEWING
    until = time.monotonic() + MOST_SECONDS
    left = left_epic_in(context.index, whole)
    return find_changes(context.repository, whole, until, with_conflicts=in_review, left=left)


def body_of(index: Index, task_id: TaskId) -> Body:
    """Returns the text of a task."""
    text, first_line = index.body(task_id)
    return Body(Source(text, f"{BOARD_FOLDER}/{task_path(task_id)}", first_line))


def _sections(body: Body) -> dict[str, str]:
    blocks = [block for block in body.blocks if block.is_section]
    counting = {same_name(block.title): block for block in blocks}
    names = dict.fromkeys(_known_name(block.title) for block in blocks)
    texts = {
        name: body.content(counting[same_name(name)])
        for name in names
        if name not in (Section.NOTES, Section.QUESTIONS)
    }
    return {name: text for name, text in texts.items() if not is_empty(text)}


def _known_name(title: str) -> str:
    """Returns a section's title as gitticks writes it, where it is one that gitticks knows."""
    return next((name for name in Section if name.lower() == title.lower()), title)


def review_outcome_of(body: Body) -> str | None:
    """Returns what the review came to, a word of `ReviewOutcome`; None without a review."""
    text = body.get(Section.REVIEW)
    if text is None:
        return None

    return review_outcome(text).value


def entries_of(body: Body, section: Section) -> tuple[Entry, ...]:
    """Returns the notes or the questions, in file order."""
    if not body.find(section):
        return ()
    from gitticks.document.entries import read_entries

    return read_entries(body, section)


class TaskHistory(NamedTuple):
    """A task's events, oldest first; `left_out` is how many earlier ones there are."""

    task_id: TaskId
    events: tuple[Event, ...]
    left_out: int


def task_history(
    context: Context, task: str | None, count: int | None = None, since: datetime | None = None
) -> TaskHistory:
    """Returns the events of a task: only the last `count`, and those `since` a time."""
    task_id = context.resolve(task)
    # What git merged or reverted stands in the file in the order in which it came.
    events = sorted(events_of(context.index.history(task_id)), key=lambda event: event.at)
    kept = tuple(event for event in events if since is None or event.at >= since)
    kept = kept if count is None else kept[max(0, len(kept) - count) :]
    return TaskHistory(task_id, kept, len(events) - len(kept))


def branch_history(
    context: Context, count: int | None, since: datetime | None = None
) -> tuple[LoggedCommit, ...]:
    """Returns the commits of the state branch, newest first: only the last `count`, and those `since` a time."""
    from gitticks.git.log import read_log

    state_tip(context.repository)
    return read_log(context.repository, STATE_REF, count=count, since=since)


def task_of(commit: LoggedCommit) -> str | None:
    """Returns the id that a commit's subject begins with; None if it begins with none."""
    name, colon, _ = commit.subject.partition(":")
    return name if colon and is_valid_id(name) else None


def titles_in(context: Context, commits: Iterable[LoggedCommit]) -> dict[str, str]:
    """Returns the present titles of the tasks that commits are about, by id; none where tasks cannot be read."""
    ids = {task_id for commit in commits if (task_id := task_of(commit)) is not None}
    try:
        return {task.id: task.title for task in context.index.known(sorted(ids)).values()}
    except GitticksError:
        return {}  # the log is what somebody looks at who fixes them
