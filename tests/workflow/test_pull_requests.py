"""What follows from how a pull request stands, row by row."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from gitticks.errors import RefusedError
from gitticks.model.event import EventType
from gitticks.model.pull_request import Check, Comment, PullRequest, PullState
from gitticks.model.settings import MergeMode, Policy
from gitticks.model.status import Awaiting, Status, Verdict
from gitticks.model.task import Task
from gitticks.workflow.artifacts import Counts
from gitticks.workflow.decision import Decision
from gitticks.workflow.history_rules import impossible
from gitticks.workflow.triggers import Closed, MergeFound, PullRequestOpened, PullRequestSeen, VerdictGiven
from tests.support.decisions import ADA, AT, HEAD, MERGE, OTHER_HEAD, kinds, make_merging, run

URL = "https://github.com/acme/shop/pull/1"
POLICY = Policy(merge_mode=MergeMode.PULL_REQUEST)
OFFERED = run(make_merging(), PullRequestOpened(URL), policy=POLICY).task
APPROVED = replace(OFFERED, awaiting=Awaiting.WORK)
PULL = PullRequest(URL, PullState.OPEN, HEAD, "main")
RED, GREEN, RUNNING = (
    Check("unit", is_red=True, log="E  1 == 2"),
    Check("lint"),
    Check("slow", is_running=True),
)
BEFORE = AT - timedelta(hours=1)
REQUEST = Comment("line:1", "grace", BEFORE, "This leaks.", "a.py:1", is_request=True)
TALK = Comment("talk:1", "grace", BEFORE, "Thank you.")

WORK, REVIEW = (Status.REVIEWING, Awaiting.WORK), (Status.REVIEWING, Awaiting.REVIEW)
BACK, STUCK = (Status.WORKING, None), (Status.STUCK, Awaiting.ESCALATION)
PERSON = (Status.REVIEWING, Awaiting.ESCALATION)


def see(task: Task, pull: PullRequest, **counts: int | frozenset[str]) -> Decision:
    return run(task, PullRequestSeen(pull), policy=POLICY, counts=Counts(**counts))  # type: ignore[arg-type]


ROWS = [
    (PULL, REVIEW),
    (PULL._replace(checks=(GREEN,)), REVIEW),
    (PULL._replace(checks=(RED, GREEN)), BACK),
    (PULL._replace(checks=(RED, RUNNING)), REVIEW),
    (PULL._replace(checks=(RED,), head=OTHER_HEAD), REVIEW),
    (PULL._replace(comments=(TALK,)), REVIEW),
    (PULL._replace(comments=(REQUEST,)), BACK),
    (PULL._replace(comments=(REQUEST,), head=OTHER_HEAD), BACK),
    (PULL._replace(comments=(REQUEST._replace(at=AT),)), REVIEW),
    (PULL._replace(approved_by=("grace",)), WORK),
    (PULL._replace(approved_by=("grace",), refused_by=("lin",)), REVIEW),
    (PULL._replace(approved_by=("grace",), head=OTHER_HEAD), REVIEW),
    (PULL._replace(approved_by=("grace",), checks=(RED,)), BACK),
    (PULL._replace(state=PullState.CLOSED), PERSON),
    (PULL._replace(state=PullState.MERGED, base="release"), PERSON),
]


@pytest.mark.parametrize(("pull", "stands"), ROWS)
def test_rows(pull: PullRequest, stands: tuple[Status, Awaiting | None]) -> None:
    after = see(OFFERED, pull).task
    assert (after.status, after.awaiting) == stands
    assert impossible(after) is None


def test_opening_needs_an_approval_that_stands() -> None:
    assert OFFERED.is_offered
    assert impossible(OFFERED) is None
    with pytest.raises(RefusedError, match="is not approved any more"):
        run(OFFERED, PullRequestOpened(URL), policy=POLICY)
    with pytest.raises(RefusedError, match="has no open pull request"):
        see(make_merging(), PULL)


def test_a_comment_is_taken_once_at_its_own_time() -> None:
    decision = see(OFFERED, PULL._replace(comments=(TALK, REQUEST)), taken=frozenset({"line:1"}))
    ((_, note),) = decision.entries
    assert (note.at, note.name, note.text) == (BEFORE, "grace", "Thank you.")
    assert decision.task == OFFERED
    (event,) = decision.events
    assert (event.type, event.data["taken"]) == (EventType.NOTED, ["talk:1"])


def test_who_still_comments_is_let_finish() -> None:
    decision = see(OFFERED, PULL._replace(comments=(REQUEST, REQUEST._replace(mark="line:2", at=AT))))
    assert decision.events == ()


def test_nothing_new_writes_nothing() -> None:
    decision = see(OFFERED, PULL._replace(comments=(TALK,), checks=(GREEN,)), taken=frozenset({"talk:1"}))
    assert (decision.task, decision.events, decision.entries) == (OFFERED, (), ())


@pytest.mark.parametrize("pull", [PULL._replace(checks=(RED,)), PULL._replace(comments=(REQUEST,))])
def test_the_limit_of_reviews_bounds_it(pull: PullRequest) -> None:
    after = see(OFFERED, pull, pulls_sent_back=1).task
    assert (after.status, after.awaiting) == STUCK


def test_a_red_check_tells_its_log() -> None:
    decision = see(OFFERED, PULL._replace(checks=(RED,)))
    assert kinds(decision) == [EventType.GATE_FAILED, EventType.ADVANCED]
    assert "E  1 == 2" in (decision.events[0].reason or "")
    assert decision.events[1].reason == "`unit` failed on the pull request"


@pytest.mark.parametrize("policy", [POLICY._replace(four_eyes=True), POLICY._replace(minimum_approval="L1")])
def test_a_name_on_a_forge_is_not_enough_for_every_policy(policy: Policy) -> None:
    pull = PULL._replace(approved_by=("grace",))
    assert run(OFFERED, PullRequestSeen(pull), policy=policy).task == OFFERED


def test_an_approval_here_counts_as_one_there() -> None:
    after = run(OFFERED, VerdictGiven(ADA, Verdict.APPROVED), policy=POLICY).task
    assert (after.awaiting, after.approval and after.approval.by) == (Awaiting.WORK, ADA.name)


def test_what_is_to_be_merged_is_not_approved_again_but_closed() -> None:
    with pytest.raises(RefusedError, match="its pull request has to be merged"):
        run(APPROVED, VerdictGiven(ADA, Verdict.APPROVED), policy=POLICY)
    assert run(APPROVED, Closed(ADA), policy=POLICY).task.status is Status.DONE
    assert run(APPROVED, MergeFound(ADA, MERGE), policy=POLICY).task.status is Status.DONE


def test_a_merge_in_doubt_keeps_the_approval_and_asks_a_person() -> None:
    after = run(APPROVED, MergeFound(ADA, MERGE, "though a commit is missing"), policy=POLICY).task
    assert (after.status, after.awaiting) == PERSON
    assert after.approval == APPROVED.approval
    assert impossible(after) is None
    assert run(after, Closed(ADA), policy=POLICY).task.status is Status.DONE


def test_a_rejection_goes_back_and_needs_a_new_approval() -> None:
    after = run(OFFERED, VerdictGiven(ADA, Verdict.REJECTED, "no"), policy=POLICY).task
    assert (after.status, after.approval, after.is_offered) == (Status.WORKING, None, False)
