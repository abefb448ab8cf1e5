"""Gathers what awaits a person: each task with what was asked, what the review said and what the work changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from gitticks.actions.derived_state import person_here, standing_of
from gitticks.actions.stop_reasons import MOST_READ, said_of
from gitticks.model.queries import Graph, by_urgency
from gitticks.model.words import ANSWERED, QUESTIONS, REVIEW, REVIEWING
from gitticks.store.indexed_tasks import graph_over

if TYPE_CHECKING:
    from gitticks.actions.changes import Changes
    from gitticks.actions.context import Context
    from gitticks.actions.derived_state import Standing
    from gitticks.model.notes import Entry
    from gitticks.store.index import BrokenFile, Index
    from gitticks.store.indexed_task import IndexedPage

MOST_COMPARED = 10
"""So many tasks' work is compared with its base, which asks git several times for each."""
MOST_SECONDS = 3.0
"""So long git is asked in all."""
_NO_CODE = '"end_sha": null'


class ReviewWord(NamedTuple):
    """What an agent's review came to: a word of `ReviewOutcome`, by whom, if the history tells, and the review itself."""

    outcome: str
    by: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A task that awaits a person.

    `is_mine` unless somebody else is to answer. `said` is why it is stuck, or else what its agent said when it
    stopped; empty where questions say it. `answer` was written into the file since it was asked, and moves nothing
    before a verdict. `answer`, `review` and `changes` are None where there are none, or where this task is too far
    down to be looked into.
    """

    standing: Standing[IndexedPage]
    is_mine: bool
    questions: tuple[Entry, ...]
    said: str
    review: ReviewWord | None
    answer: Entry | None = None
    changes: Changes | None = None


@dataclass(frozen=True, slots=True)
class Inbox:
    """What awaits a person, the most urgent first: one's own and nobody's before what is others'.

    `left_out` are less urgent ones beyond the count, `for_others` those that were left out because others are asked.
    """

    asked: tuple[Asked, ...]
    left_out: int
    for_others: int
    broken: tuple[BrokenFile, ...]


def open_inbox(
    context: Context,
    *,
    everybody: bool = False,
    count: int | None = None,
    with_changes: bool = True,
    with_json: bool = False,
) -> Inbox:
    """Returns what awaits the person who asks, and with `everybody` also what awaits others, at most `count` tasks.

    Git is asked what work changes unless that is not wanted. The rows have their JSON where that is wanted.
    """
    context.warn_of_left_behind()
    index = context.index
    mine, others = _routed(context, index.needing_people(with_json=with_json))
    wanted = [*mine, *others] if everybody else mine
    shown = wanted if count is None else wanted[:count]
    # A graph that reads tasks as they are asked for would need the index longer than it is open.
    graph = Graph.of(index.listed(open_only=True), index.unreadable()) if with_json else graph_over(index)
    around = context.surroundings()
    asked = [
        Asked(
            standing=standing_of(context, page, graph, around),
            is_mine=place < len(mine),
            questions=(questions := index.open_questions(page.id)),
            said=said_of(index, page) if not questions and place < MOST_READ else "",
            review=_review(index, page) if page.status == REVIEWING and place < MOST_READ else None,
            answer=_answer(index, page) if not questions and place < MOST_READ else None,
        )
        for place, page in enumerate(shown)
    ]
    broken = index.to_mend()
    if with_changes:
        asked = _with_changes(context, asked)
    return Inbox(tuple(asked), len(wanted) - len(shown), 0 if everybody else len(others), broken)


def _routed(context: Context, pages: Sequence[IndexedPage]) -> tuple[list[IndexedPage], list[IndexedPage]]:
    """Returns one's own and nobody's, and those of others, each by urgency; who asks is found out only if it matters."""
    ordered = sorted(pages, key=by_urgency)
    person = person_here(context) if any(page.reviewer for page in ordered) else None
    if person is None:
        return ordered, []
    return (
        [page for page in ordered if person.is_asked(page.reviewer)],
        [page for page in ordered if not person.is_asked(page.reviewer)],
    )


def _review(index: Index, page: IndexedPage) -> ReviewWord | None:
    from gitticks.actions.showing import body_of, last_reviewer, review_outcome_of

    body = body_of(index, page)
    outcome, text = review_outcome_of(body), body.get(REVIEW)
    if outcome is None or text is None:
        return None
    return ReviewWord(outcome, last_reviewer(index.history(page.id)), text)


def _answer(index: Index, page: IndexedPage) -> Entry | None:
    """Returns the answer that a task's file holds already."""
    asked_at = page.asked_at if page.awaiting in ANSWERED else None
    if asked_at is None or QUESTIONS.lower().encode() not in (index.data(page.id) or b"").lower():
        return None
    from gitticks.actions.showing import body_of
    from gitticks.document.entries import read_entries
    from gitticks.model.notes import Section, answer_since

    return answer_since(read_entries(body_of(index, page), Section.QUESTIONS), asked_at)


def _with_changes(context: Context, asked: list[Asked]) -> list[Asked]:
    """Returns the same with what the first of the tasks in review change, as far as git tells in the time that it has.

    The index is let go before git is asked, since writers of it wait as long as it is open.
    """
    index = context.index
    in_review = [one.standing.task.id for one in asked if one.standing.task.status == REVIEWING]
    pages = [index.find_page(task_id) for task_id in in_review[:MOST_COMPARED]]
    work = {page.id: page.json for page in pages if page is not None and _NO_CODE not in page.json}
    if not work:
        return asked
    index.close()
    from gitticks.actions.changes import Allowance, find_changes, names_in

    allowance = Allowance(MOST_SECONDS)
    found = {
        task_id: find_changes(context.repository, names_in(fields), allowance, with_conflicts=True)
        for task_id, fields in work.items()
        if not allowance.is_spent
    }
    return [replace(one, changes=found.get(one.standing.task.id)) for one in asked]
