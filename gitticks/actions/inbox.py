"""Gathers what is waiting for a person: what was asked, what the review said and what the work changes."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.derived_state import Standing, left_merge_in, person_here, standing_of
from gitticks.actions.stop_reasons import MOST_READ, told_of
from gitticks.errors import GitticksError
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry, Section
from gitticks.model.queries import Graph, Surroundings, by_urgency
from gitticks.model.status import BUDGET_SPENT, Status
from gitticks.model.task_row import TaskRow
from gitticks.runner.liveness import (
    MERGING_FILE,
    OVERLAPS_FILE,
    RECORD,
    REQUESTS_FOLDER,
    SPENDING_FILE,
    is_run_alive_at,
    names_in,
)
from gitticks.store.authors import own_names
from gitticks.store.index import Index, graph_over

if TYPE_CHECKING:
    from gitticks.actions.changes import Changes
    from gitticks.runner.questions import Question
    from gitticks.runner.run_record import Foreseen, QueuedMerge, SpendingRecord
    from gitticks.workflow.merging import LeftMerge

MOST_COMPARED = 10
"""So many tasks' work is compared with its base, which asks git several times for each."""
MOST_SECONDS = 3.0
"""So long git is asked in all."""
_NOTHING = ("", None)


class ReviewWord(NamedTuple):
    """What an agent's review came to: a word of `ReviewOutcome`, by whom, if the history says, and the review itself."""

    outcome: str
    by: str | None
    text: str


class Asked(NamedTuple):
    """A task that awaits a person.

    `reviewer` is who is to answer, None for anybody; `is_mine` unless that is somebody else. `said` is what `told_of` says; empty where questions say it. `answer` was written into the file since it was asked, and moves nothing
    before a verdict. `answer`, `review` and `changes` are None where there are none, or where this task is too far
    down to be looked into. `conflicts_with` names other work that the last run found to conflict with this. `stranger` wrote
    the task, and is not known in this clone. `to_merge` is what a person is to merge of approved work.
    `granted` is what an approval grants where a budget is spent: as much as that is now; where it is an epic's of which all
    tasks are closed, the approval `ends` it instead.
    """

    standing: Standing[TaskRow]
    reviewer: str | None
    is_mine: bool
    questions: tuple[Entry, ...]
    said: str
    review: ReviewWord | None
    answer: Entry | None = None
    changes: Changes | None = None
    conflicts_with: tuple[str, ...] = ()
    stranger: str | None = None
    to_merge: LeftMerge | None = None
    granted: str | None = None
    ends: bool = False


class Inbox(NamedTuple):
    """What awaits a person, the most urgent first: one's own and nobody's before what is others'.

    `left_out` are less urgent ones beyond the count, `for_others` those that were left out because others are asked.
    `ended` is the limit that ended the last run, None while one lives. `merges` are those of approved work that were
    tried and wait. `requests` are the permission requests of agents at work.
    """

    asked: tuple[Asked, ...]
    left_out: int
    for_others: int
    ended: str | None = None
    merges: tuple[QueuedMerge, ...] = ()
    requests: tuple[Question, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if nothing awaits the person who asks."""
        return not (self.asked or self.merges or self.requests)


def open_inbox(
    context: Context,
    *,
    everybody: bool = False,
    count: int | None = None,
) -> Inbox:
    """Returns what awaits the person who asks, and with `everybody` also what awaits others, at most `count` tasks."""
    context.warn_of_left_behind()
    index = context.index
    # A graph that reads tasks as they are asked for would need the index longer than it is open.
    graph = index.graph(index.listed(open_only=True)) if context.as_json else graph_over(index)
    around = context.surroundings()
    found = inbox_of(context, graph, around, everybody=everybody, count=count)
    spending = spending_of_run(context)
    ended = None if spending is None else spending.ended
    return found._replace(asked=with_changes(context, found.asked), ended=ended)


def spending_of_run(context: Context) -> SpendingRecord | None:
    """Returns what the run that lives has spent of what, or the limit that ended the last one; None if nothing is recorded."""
    place = context.repository.own_place
    if not os.path.exists(f"{place}/{SPENDING_FILE}"):
        return None
    from gitticks.runner.run_record import read_spending

    return read_spending(place, context.now, is_run_alive=is_run_alive_at(place))


def foreseen_conflicts(context: Context) -> tuple[Foreseen, ...]:
    """Returns the conflicts that the last run found and that still are, of work that is not closed."""
    if not os.path.exists(f"{context.repository.own_place}/{OVERLAPS_FILE}"):
        return ()
    from gitticks.runner.run_record import read_foreseen

    found = read_foreseen(context.repository.common_dir)
    names = {name for one in found for name in (one.name, one.other) if name is not None}
    closed = {task.id for task in context.index.known(names).values() if not task.is_open}
    return tuple(one for one in found if closed.isdisjoint((one.name, one.other)))


def merge_queue(context: Context) -> dict[TaskId, QueuedMerge]:
    """Returns the merge queue of the active run, in its order; without one, the merges that were tried and wait."""
    place = context.repository.own_place
    if not os.path.exists(f"{place}/{MERGING_FILE}"):
        return {}
    from gitticks.runner.run_record import MergeState, read_merging

    is_alive = is_run_alive_at(place)
    return {one.task: one for one in read_merging(place) if is_alive or one.state is MergeState.WAITING}


def _waiting_merges(context: Context) -> tuple[QueuedMerge, ...]:
    """Returns the approved tasks whose merge waits for something, with its reason."""
    waits = [one for one in merge_queue(context).values() if one.reason]
    rows = {one.task: context.index.find(one.task) for one in waits}
    return tuple(one for one in waits if (row := rows[one.task]) is not None and row.is_merging)


def _requests(context: Context) -> tuple[Question, ...]:
    names = names_in(f"{context.repository.own_place}/{REQUESTS_FOLDER}")
    if not any(name.endswith(RECORD) for name in names):
        return ()
    from gitticks.runner.questions import Questions

    return Questions(context.repository.own_dir).open()


def inbox_of(
    context: Context,
    graph: Graph[TaskRow],
    around: Surroundings,
    *,
    everybody: bool = False,
    count: int | None = None,
) -> Inbox:
    """Returns what `open_inbox` returns, but not what the work changes, nor how the last run ended."""
    index = context.index
    reviewers = index.reviewers()
    mine, others = _routed(context, index.needing_people(with_json=context.as_json), reviewers)
    wanted = [*mine, *others] if everybody else mine
    shown = wanted if count is None else wanted[:count]
    foreseen = foreseen_conflicts(context)
    strangers = index.by_strangers(own_names(context.repository.own_place))
    asked = tuple(
        Asked(
            standing=standing_of(context, task, graph, around),
            reviewer=reviewers.get(task.id),
            is_mine=place < len(mine),
            questions=(questions := index.open_questions(task.id)),
            said=(told := told_of(index, task) if not questions and place < MOST_READ else _NOTHING)[0],
            review=_review(index, task) if task.status == Status.REVIEWING and place < MOST_READ else None,
            answer=told[1],
            conflicts_with=tuple(
                one.other if one.name == task.id else one.name
                for one in foreseen
                if one.other is not None and task.id in (one.name, one.other)
            ),
            stranger=strangers.get(task.id),
            to_merge=left_merge_in(context, task) if place < MOST_READ else None,
            granted=_granted(context, told[0]),
            ends=_ends(index, task, told[0]),
        )
        for place, task in enumerate(shown)
    )
    return Inbox(
        asked,
        left_out=len(wanted) - len(shown),
        for_others=0 if everybody else len(others),
        merges=_waiting_merges(context),
        requests=_requests(context),
    )


def _routed(
    context: Context, tasks: Sequence[TaskRow], reviewers: Mapping[TaskId, str]
) -> tuple[list[TaskRow], list[TaskRow]]:
    """Returns one's own and nobody's, and those of others, each by urgency; who asks is found out only if it matters."""
    ordered = sorted(tasks, key=by_urgency)
    person = person_here(context) if reviewers else None
    if person is None:
        return ordered, []
    others = {one for one, reviewer in reviewers.items() if not person.is_asked(reviewer)}
    mine = [task for task in ordered if task.id not in others]
    return mine, [task for task in ordered if task.id in others]


def _review(index: Index, task: TaskRow) -> ReviewWord | None:
    from gitticks.actions.showing import body_of, last_reviewer, review_outcome_of

    body = body_of(index, task.id)
    outcome, text = review_outcome_of(body), body.get(Section.REVIEW)
    if outcome is None or text is None:
        return None
    return ReviewWord(outcome, last_reviewer(index.history(task.id)), text)


def _granted(context: Context, said: str) -> str | None:
    """Returns the limit, as it is set now, of the budget that a spent task names as its reason."""
    if not said.startswith(BUDGET_SPENT):
        return None
    from gitticks.model.spending import Metric, in_words

    scope, _, metric = said.removeprefix(BUDGET_SPENT).partition("`")[0].partition(".")
    try:
        limit = getattr(getattr(context.settings.budget, scope), metric)
        return None if limit is None else in_words(Metric(metric), limit)
    # The settings cannot be read, or the reason names a budget that this version does not know.
    except (GitticksError, AttributeError, ValueError):
        return None


def _ends(index: Index, task: TaskRow, said: str) -> bool:
    if not task.is_epic or not said.startswith(BUDGET_SPENT):
        return False
    children = index.children(task.id)
    return bool(children) and not any(one.is_open for one in children)


def with_changes(context: Context, asked: tuple[Asked, ...]) -> tuple[Asked, ...]:
    """Returns the same with what the first of the tasks in review change, as far as git tells in the time that it has.

    The index is let go before git is asked, since writers of it wait as long as it is open.
    """
    index = context.index
    in_review = [one.standing.task.id for one in asked if one.standing.task.status == Status.REVIEWING]
    tasks = [index.task(task_id) for task_id in in_review[:MOST_COMPARED]]
    work = [task for task in tasks if task.end_sha is not None]
    if not work:
        return asked
    from gitticks.actions.changes import find_changes, left_epic_in

    left = {task.id: left_epic_in(index, task) for task in work}
    index.close()
    until = time.monotonic() + MOST_SECONDS
    found = {
        task.id: find_changes(context.repository, task, until, with_conflicts=True, left=left[task.id])
        for task in work
        if time.monotonic() < until
    }
    return tuple(one._replace(changes=found.get(one.standing.task.id)) for one in asked)
