"""The transition table, row by row, and every pair that is not in it."""

from __future__ import annotations

from itertools import product

import pytest

from gitticks.errors import Exit, RefusedError
from gitticks.model.event import Actor
from gitticks.model.notes import ReviewOutcome
from gitticks.model.settings import Policy, ReviewPolicy
from gitticks.model.status import ActorKind, Awaiting, Role, Status
from gitticks.workflow.artifacts import Artifacts
from gitticks.workflow.transitions import Asker, asker_of, targets
from gitticks.workflow.triggers import Requested
from tests.support.decisions import (
    ACTORS,
    ADA,
    CLARIFIER,
    FAILED,
    HANDED_OFF,
    HEAD,
    OTHER_HEAD,
    PASSED,
    REVIEWER,
    WORKER,
    make_epic,
    make_task,
    run,
    way,
)
from tests.workflow.steps import is_legal_step

EVERYBODY = "worker reviewer human engine"
NOTHING = Artifacts(head=HEAD)
QUESTION = Artifacts(open_question=True)

# from, to, who may ask by a request, what opens the gate; what only a verdict or the merge does has nobody here
ROWS = [
    ("pending", "working", EVERYBODY, NOTHING),
    ("pending", "clarification", EVERYBODY, NOTHING),
    ("pending", "cancelled", "human engine", NOTHING),
    ("clarification", "working", "human", NOTHING),
    ("clarification", "cancelled", "human", NOTHING),
    ("working", "agent-review", "worker human engine", HANDED_OFF),
    ("working", "clarification", "worker human engine", QUESTION),
    ("working", "stuck", "human engine", NOTHING),
    ("working", "cancelled", "human engine", NOTHING),
    ("agent-review", "reviewing", "reviewer human engine", PASSED),
    ("agent-review", "working", "reviewer human engine", FAILED),
    ("agent-review", "stuck", "reviewer human engine", FAILED),
    ("agent-review", "cancelled", "human", NOTHING),
    ("reviewing", "done", "", PASSED),
    ("reviewing", "working", "", FAILED),
    ("reviewing", "cancelled", "human", NOTHING),
    ("stuck", "working", "human", NOTHING),
    ("stuck", "cancelled", "human", NOTHING),
    ("stuck", "agent-review", "human engine", HANDED_OFF),
]
PAIRS = {(source, target) for source, target, _, _ in ROWS}
ENGINE_ALONE = {("agent-review", "reviewing"), ("agent-review", "stuck"), ("reviewing", "stuck")}
AT_LIMIT = {("agent-review", "stuck")}
STATUSES = [str(status) for status in Status]


def failed_reviews(source: str, target: str) -> int:
    return 1 if (source, target) in AT_LIMIT else 0


@pytest.mark.parametrize(
    ("source", "target", "asker", "artifacts"),
    [(source, target, asker, opens) for source, target, askers, opens in ROWS for asker in askers.split()],
)
def test_row_is_open_to_its_askers(source: str, target: str, asker: str, artifacts: Artifacts) -> None:
    task = make_task(Status(source), failed_reviews=failed_reviews(source, target))
    decision = run(task, Requested(ACTORS[asker], Status(target)), artifacts=artifacts)
    assert way(decision)[:2] == [source, target]
    assert decision.task.status is Status(target)
    assert decision.events[0].actor == ACTORS[asker]


@pytest.mark.parametrize(
    ("source", "target", "asker", "artifacts"),
    [
        (source, target, asker, opens)
        for source, target, askers, opens in ROWS
        for asker in EVERYBODY.split()
        if asker not in askers.split()
    ],
)
def test_row_is_shut_to_others(source: str, target: str, asker: str, artifacts: Artifacts) -> None:
    task = make_task(Status(source), failed_reviews=failed_reviews(source, target))
    with pytest.raises(RefusedError) as refused:
        run(task, Requested(ACTORS[asker], Status(target)), artifacts=artifacts)
    assert refused.value.exit_code is Exit.REFUSED
    assert refused.value.message.startswith(f"`k7f2` cannot go from {source} to {target}: ")


@pytest.mark.parametrize(
    ("source", "target", "asker"),
    [
        (source, target, asker)
        for source, target, asker in product(STATUSES, STATUSES, EVERYBODY.split())
        if (source, target) not in PAIRS
    ],
)
def test_any_other_pair_is_refused(source: str, target: str, asker: str) -> None:
    everything = Artifacts(handoff=True, review=ReviewOutcome.PASS, open_question=True)
    with pytest.raises(RefusedError) as refused:
        run(make_task(Status(source)), Requested(ACTORS[asker], Status(target)), artifacts=everything)
    message = refused.value.message
    assert refused.value.exit_code is Exit.REFUSED
    assert refused.value.hint
    assert message.startswith(f"`k7f2` cannot go from {source} to {target}: ")
    allowed = [end for start, end in sorted(PAIRS) if start == source]
    assert all(end in message for end in allowed)
    assert allowed or ("already" if source == target else "closed") in message


# from, to, what is there, what the message names as missing
SHUT_GATES = [
    ("working", "agent-review", NOTHING, "human", "`## Handoff` is missing from .gitticks/tasks/f2/k7f2/TASK.md"),
    ("working", "agent-review", NOTHING, "worker", "`## Handoff`"),
    ("working", "agent-review", Artifacts(handoff=True, checks_failure="`make test` failed"), "human", "make test"),
    ("working", "clarification", NOTHING, "worker", "`## Questions`"),
    ("stuck", "agent-review", NOTHING, "human", "`## Handoff`"),
    ("agent-review", "reviewing", NOTHING, "human", "PASS"),
    ("agent-review", "reviewing", FAILED, "human", "is FAIL, not PASS"),
    ("agent-review", "reviewing", Artifacts(review=ReviewOutcome.UNCLEAR), "reviewer", "does not clearly begin with PASS"),
    ("agent-review", "reviewing", Artifacts(review=ReviewOutcome.PASS, head=OTHER_HEAD), "reviewer", "moved to ccccccc"),
    ("agent-review", "working", NOTHING, "reviewer", "FAIL"),
    ("agent-review", "working", PASSED, "human", "is PASS, not FAIL"),
    ("agent-review", "stuck", FAILED, "human", "limit of failed reviews is not reached"),
    ("agent-review", "stuck", PASSED, "engine", "is PASS, not FAIL"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "target", "artifacts", "asker", "missing"), SHUT_GATES)
def test_shut_gate_names_what_is_missing(
    source: str, target: str, artifacts: Artifacts, asker: str, missing: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        run(make_task(Status(source)), Requested(ACTORS[asker], Status(target)), artifacts=artifacts)
    assert refused.value.message.startswith(f"`k7f2` cannot go from {source} to {target}: ")
    assert missing in refused.value.message
    assert refused.value.hint


@pytest.mark.parametrize("asker", ["reviewer", "engine"])
def test_only_a_person_returns_work_at_the_limit(asker: str) -> None:
    task = make_task(Status.AGENT_REVIEW, failed_reviews=1)
    with pytest.raises(RefusedError, match="limit of failed reviews is reached"):
        run(task, Requested(ACTORS[asker], Status.WORKING), artifacts=FAILED)
    decision = run(task, Requested(ADA, Status.WORKING), artifacts=FAILED)
    assert decision.task.failed_reviews == 0


def test_council_leaves_nothing_stuck() -> None:
    task = make_task(Status.AGENT_REVIEW, failed_reviews=3)
    with pytest.raises(RefusedError, match="a council that blocked too often"):
        run(
            task,
            Requested(REVIEWER, Status.STUCK),
            artifacts=FAILED,
            policy=Policy(review=ReviewPolicy.COUNCIL),
        )


@pytest.mark.parametrize("asker", ["worker", "engine"])
@pytest.mark.parametrize("target", ["agent-review", "clarification"])
def test_nobody_but_a_person_moves_a_task_that_awaits_one(asker: str, target: str) -> None:
    task = make_task(Status.WORKING, awaiting=Awaiting.CHECKPOINT)
    artifacts = Artifacts(handoff=True, open_question=True, head=HEAD)
    with pytest.raises(RefusedError, match=r"cannot go from working to .* awaits a person \(checkpoint\)"):
        run(task, Requested(ACTORS[asker], Status(target)), artifacts=artifacts)
    assert run(task, Requested(ADA, Status(target)), artifacts=artifacts).task.status is Status(target)


def test_agents_do_not_hand_off_epics() -> None:
    with pytest.raises(RefusedError, match="all its children are closed"):
        run(make_epic(), Requested(WORKER, Status.AGENT_REVIEW), artifacts=HANDED_OFF)
    assert run(make_epic(), Requested(ADA, Status.AGENT_REVIEW), artifacts=HANDED_OFF).steps


@pytest.mark.parametrize(("source", "target"), list(product(STATUSES, STATUSES)))
def test_legal_steps_are_the_tables_and_reopening(source: str, target: str) -> None:
    legal = (source, target) in PAIRS | ENGINE_ALONE | {("done", "pending"), ("cancelled", "pending")}
    assert is_legal_step(Status(source), Status(target)) is legal


@pytest.mark.parametrize("source", STATUSES)
def test_targets_follow_the_table(source: str) -> None:
    assert [str(target) for target in targets(Status(source))] == [
        end for start, end, _, _ in ROWS if start == source
    ]


@pytest.mark.parametrize("source", [status for status in STATUSES if status != "reviewing"])
@pytest.mark.parametrize(("name", "asker"), [("worker", Asker.WORKER), ("engine", Asker.ENGINE)])
def test_targets_of_one_asker(source: str, name: str, asker: Asker) -> None:
    rows = [end for start, end, askers, _ in ROWS if start == source and name in askers.split()]
    assert [str(target) for target in targets(Status(source), asker)] == rows


@pytest.mark.parametrize(
    ("actor", "asker"),
    [
        (ADA, Asker.HUMAN),
        (WORKER, Asker.WORKER),
        (REVIEWER, Asker.REVIEWER),
        (CLARIFIER, Asker.WORKER),
        (Actor(ActorKind.AGENT, "somebody"), Asker.WORKER),
        (Actor(ActorKind.ENGINE, "gitticks", Role.REVIEWER), Asker.ENGINE),
    ],
)
def test_asker_of_an_actor(actor: Actor, asker: Asker) -> None:
    assert asker_of(actor) is asker
