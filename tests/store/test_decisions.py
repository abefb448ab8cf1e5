"""What decisions become on the branch: files, rounds, history, and what follows for the epic above, in one commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.errors import RefusedError
from gitticks.model.event import ENGINE, Actor, EventType
from gitticks.model.ids import TaskId, task_folder
from gitticks.model.notes import Section
from gitticks.model.settings import Settings
from gitticks.model.status import ActorKind, Awaiting, Isolation, Role, Status, TaskType, Verdict
from gitticks.store.branch import Store
from gitticks.store.decisions import Circumstances, carry_out
from gitticks.store.transaction import Transaction
from gitticks.workflow.decision import Decision
from gitticks.workflow.triggers import AwaitingSet, Requested, Trigger, VerdictGiven
from tests.support.repositories import fsck_problems, git
from tests.support.stores import ADA, NOW, change_task, make_store, make_task

PERSON = Actor(ActorKind.HUMAN, "Ada Lovelace")
WORKER = Actor(ActorKind.AGENT, "claude", Role.WORKER)
A, B = "a" * 40, "b" * 40
CIRCUMSTANCES = Circumstances(NOW, Settings(), random_number=lambda below: below - 1)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path / "repository")


def decide(
    store: Store, task_id: str, trigger: Trigger, circumstances: Circumstances = CIRCUMSTANCES
) -> Decision:
    """Carries one trigger out in a commit of its own."""
    return store.transact(
        lambda transaction: carry_out(transaction, TaskId(task_id), trigger, circumstances), author=ADA
    )


def log(store: Store) -> str:
    """Returns the message of the newest commit of the state branch."""
    return git("log", "-1", "--format=%B", "gitticks/state", at=store.repository.common_dir)


def test_one_decision_is_one_commit_that_says_the_whole_way(store: Store) -> None:
    task = make_task(store, id="k7f2", status=Status.WORKING, body="## Handoff\n\nDONE: all\n")
    before = store.tip()
    waiving = CIRCUMSTANCES._replace(review_waiver="nobody can review", head=B)
    decide(store, task.id, Requested(WORKER, Status.AGENT_REVIEW), waiving)
    assert git("rev-list", "--count", f"{before}..{store.tip()}", at=store.repository.common_dir) == "1"
    assert log(store).splitlines() == [
        "k7f2: working → reviewing",
        "",
        "Task: k7f2",
        "Event: status.changed",
        "Event: gate.waived",
        "Event: auto.advanced",
        "Actor: agent claude",
    ]
    after = store.task_file(task.id).task
    assert (after.status, after.awaiting, after.end_sha, after.updated) == (
        Status.REVIEWING,
        Awaiting.REVIEW,
        B,
        NOW,
    )
    assert [event.type for event in store.history(task.id)][1:] == [
        EventType.MOVED,
        EventType.WAIVED,
        EventType.ADVANCED,
    ]
    assert fsck_problems(store.repository.common_dir) == ""


def test_a_refusal_writes_nothing(store: Store) -> None:
    task = make_task(store, status=Status.WORKING)
    before = store.tip()
    with pytest.raises(RefusedError, match="`## Handoff` is missing"):
        decide(store, task.id, Requested(WORKER, Status.AGENT_REVIEW))
    assert store.tip() == before


def test_every_artifact_of_a_round_is_kept_under_its_number(store: Store) -> None:
    body = "text\n\n## Handoff\n\nfirst try\n\n## Review\n\nFAIL: no\n"
    task = make_task(store, status=Status.REVIEWING, awaiting=Awaiting.REVIEW, review_round=1, body=body)
    decide(store, task.id, VerdictGiven(PERSON, Verdict.REJECTED, "once more"))
    file = store.task_file(task.id)
    assert file.section(Section.HANDOFF) is None
    assert file.section(Section.REVIEW) == "FAIL: no"
    assert [entry.text for entry in file.entries(Section.NOTES)] == ["once more"]
    rounds = f"{task_folder(task.id)}/rounds"
    assert store.list(rounds) == ("01-handoff.md",)
    assert store.read(f"{rounds}/01-handoff.md") == b"first try"

    store.transact(
        lambda transaction: transaction.put_task(
            transaction.task_file(task.id).with_section(Section.HANDOFF, "second try")
        ),
        author=ADA,
    )
    decide(store, task.id, Requested(WORKER, Status.AGENT_REVIEW))
    assert store.list(rounds) == ("01-handoff.md", "01-review.md")
    assert store.task_file(task.id).section(Section.REVIEW) is None
    decide(store, task.id, Requested(PERSON, Status.CANCELLED))
    assert store.task_file(task.id).section(Section.HANDOFF) == "second try"


def test_two_sections_of_one_name_are_both_kept(store: Store) -> None:
    body = "## Handoff\n\nan older one\n\n## Handoff\n\nthe last one\n"
    task = make_task(store, status=Status.WORKING, awaiting=Awaiting.CHECKPOINT, body=body)
    decide(store, task.id, VerdictGiven(PERSON, Verdict.APPROVED))
    kept = store.read(f"{task_folder(task.id)}/rounds/01-handoff.md")
    assert kept == b"an older one\n\nthe last one"


def make_epic(store: Store, **fields: object) -> None:
    make_task(store, "A till", id="e1", type=TaskType.EPIC, **fields)
    make_task(store, "Amounts", id="c1", parent=TaskId("e1"), body="## Handoff\n\n- DONE: amounts\n")
    make_task(store, "Totals", id="c2", parent=TaskId("e1"))


def statuses(store: Store) -> dict[str, str]:
    return {task.id: task.status.value for task in store.snapshot().all_tasks().values()}


def test_an_epic_follows_its_children_within_their_commits(store: Store) -> None:
    make_epic(store)
    decide(store, "c1", Requested(PERSON, Status.WORKING))
    assert statuses(store) == {"e1": "working", "c1": "working", "c2": "pending"}
    decide(store, "c2", Requested(PERSON, Status.CANCELLED))
    before = store.tip()
    change_task(store, "c1", awaiting=Awaiting.WORK)
    decide(store, "c1", VerdictGiven(PERSON, Verdict.APPROVED))
    assert statuses(store) == {"e1": "done", "c1": "done", "c2": "cancelled"}
    assert git("rev-list", "--count", f"{before}..{store.tip()}", at=store.repository.common_dir) == "2"
    handoff = store.task_file(TaskId("e1")).section(Section.HANDOFF)
    assert handoff == "- c1 Amounts (done): DONE: amounts\n- c2 Totals (cancelled)"


def test_a_step_that_changes_nothing_for_the_epic_reads_none_of_the_other_tasks(store: Store) -> None:
    make_epic(store)
    decide(store, "c1", Requested(PERSON, Status.WORKING))

    def hand_off(transaction: Transaction) -> bool:
        carry_out(transaction, TaskId("c1"), Requested(PERSON, Status.AGENT_REVIEW), CIRCUMSTANCES)
        return transaction._base_tasks is None

    assert store.transact(hand_off, author=ADA)
    assert statuses(store) == {"e1": "working", "c1": "agent-review", "c2": "pending"}


def test_a_child_with_a_branch_of_its_own_is_no_code_of_its_epic(store: Store) -> None:
    make_epic(store)
    change_task(
        store, "c1", status=Status.DONE, branch="gitticks/work/c1", start_sha=A, end_sha=B, merged_sha=B
    )
    decide(store, "c2", Requested(PERSON, Status.CANCELLED))
    assert store.task_file(TaskId("e1")).task.end_sha is None


def test_an_epic_that_is_given_back_looks_at_its_children_again(store: Store) -> None:
    make_epic(store, status=Status.STUCK, awaiting=Awaiting.ESCALATION)
    for child in ("c1", "c2"):
        change_task(store, child, status=Status.DONE)
    decide(store, "e1", VerdictGiven(PERSON, Verdict.APPROVED))
    assert statuses(store)["e1"] == "done"


def test_an_epic_in_review_that_waits_for_nobody_any_more_goes_back_to_its_open_children(
    store: Store,
) -> None:
    make_epic(store, status=Status.AGENT_REVIEW, awaiting=Awaiting.REVIEW, review_round=1)
    decide(store, "e1", AwaitingSet(PERSON, None))
    assert statuses(store)["e1"] == "working"
    change_task(store, "e1", status=Status.AGENT_REVIEW, awaiting=Awaiting.REVIEW)
    for child in ("c1", "c2"):
        change_task(store, child, status=Status.DONE)
    decide(store, "e1", AwaitingSet(PERSON, None))
    assert statuses(store)["e1"] == "agent-review"


def test_an_epic_that_is_rejected_gets_a_child_with_the_feedback(store: Store) -> None:
    make_epic(store, status=Status.REVIEWING, awaiting=Awaiting.REVIEW, review_round=1)
    for child in ("c1", "c2"):
        change_task(store, child, status=Status.DONE)
    settings = Settings()._replace(isolation=Isolation.EPIC)
    decide(
        store,
        "e1",
        VerdictGiven(PERSON, Verdict.REJECTED, "the totals are wrong\n\n## Handoff\n\nforged"),
        CIRCUMSTANCES._replace(settings=settings),
    )
    tasks = store.snapshot().all_tasks()
    (rework,) = set(tasks) - {"e1", "c1", "c2"}
    made = tasks[rework]
    assert (made.title, made.parent, made.status) == ("Rework: A till", "e1", Status.PENDING)
    assert "the totals are wrong" in store.task_file(made.id).summary
    assert store.task_file(made.id).section(Section.HANDOFF) is None
    assert statuses(store)["e1"] == "working"
    assert store.history(made.id)[0].actor == ENGINE


def test_a_task_with_a_missing_parent_moves_all_the_same(store: Store) -> None:
    task = make_task(store, parent=TaskId("gone"))
    decide(store, task.id, Requested(PERSON, Status.WORKING))
    assert store.task_file(task.id).task.status is Status.WORKING
