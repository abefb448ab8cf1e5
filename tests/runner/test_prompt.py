from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gitticks.model.event import ENGINE, Actor, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry
from gitticks.model.settings import LimitSettings, Settings, VerifySettings
from gitticks.model.status import ActorKind, Isolation, Role, Status
from gitticks.model.task import Ending, Task
from gitticks.runner.prompt import (
    Setbacks,
    build_prompt,
    feedback_text,
    find_setbacks,
    gate_lines,
    open_question_text,
)
from gitticks.runner.workspaces import Workspace
from gitticks.store.branch import Store
from gitticks.store.transaction import Transaction
from tests.support.repositories import commit_file, git
from tests.support.runs import DONE, RunProject, project
from tests.support.stores import ADA, make_store, make_task

__all__ = ["project"]

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
BODY = """\
Fix the login.

## Acceptance Criteria

- the URL is kept

## Notes

### 2026-01-02T03:04:05Z · human · Ada

Mind the tests.

### 2026-01-02T03:05:05Z · agent · claude

A private thought.
"""

AGENT = Actor(ActorKind.AGENT, "claude", Role.WORKER)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path / "repo")


def plan(store: Store, task: Task) -> Workspace:
    top = store.repository.common_dir.parent
    start = git("rev-parse", "main", at=top)
    return Workspace(task.id, top, f"gitticks/work/{task.id}", "main", start, start, Isolation.TASK)


def prompt(store: Store, task: Task, role: Role = Role.WORKER, settings: Settings | None = None) -> str:
    file = store.task_file(task.id)
    return build_prompt(store, file, role, plan(store, task), settings or Settings())


def write(store: Store, path: str, text: str) -> None:
    def change(transaction: Transaction) -> None:
        transaction.write(path, text.encode())
        transaction.describe("files")

    store.transact(change, author=ADA)


def test_an_answer_that_stands_among_the_notes_too_is_said_once() -> None:
    asked = Entry(AT, ActorKind.AGENT, "claude", "Which tone?")
    said = Entry(AT, ActorKind.HUMAN, "Ada", "Friendly.")
    text = feedback_text((said,), (asked, said))
    assert (text.count("> Which tone?"), text.count("> Friendly.")) == (1, 1)


def test_a_worker_is_told_what_the_branch_knows(store: Store) -> None:
    make_task(store, "The login epic", id="epic", body="All about logins.")
    task = make_task(store, id="k7f2", body=BODY, parent=TaskId("epic"))
    write(store, "tasks/ic/epic/scratchpad.md", "### 2026-01-02T03:04:05Z · k7f2\n\nuse make\n")
    write(
        store, "tasks/f2/k7f2/worklog.md", "## 1 · 2026-01-02T03:04:05Z · worker · claude\n\n- ended: clean\n"
    )
    text = prompt(store, task, settings=Settings()._replace(verify=VerifySettings(test="pytest -q")))
    for part in (
        "Fix the login.",
        "- the URL is kept",
        "The login epic",
        "All about logins.",
        "use make",
        "- ended: clean",
        "Ada wrote at 2026-01-02T03:04:05Z:\n\n> Mind the tests.",
        "- everything is committed\n- `pytest -q`",
        str(plan(store, task).mailbox),
    ):
        assert part in text
    assert "A private thought." not in text


def test_a_reviewer_sees_the_difference_and_the_hand_off(store: Store) -> None:
    top = store.repository.common_dir.parent
    git("switch", "--quiet", "-c", "gitticks/work/k7f2", at=top)
    head = commit_file(top, "login.py", "a\nb\n")
    task = make_task(store, id="k7f2", body=f"{BODY}\n## Handoff\n\nDONE: the URL\n", end_sha=head)
    text = prompt(store, task, Role.REVIEWER)
    assert "1 file changed, 2 lines added, 0 removed:\n\n- `login.py`" in text
    assert f"`git diff main...{head}`" in text
    assert "DONE: the URL" in text


def test_a_failed_review_goes_to_the_worker(store: Store) -> None:
    task = make_task(store, id="k7f2", body=f"{BODY}\n## Review\n\nFAIL\n\n- a.py leaks\n")
    assert "- a.py leaks" in prompt(store, task)
    passed = make_task(store, id="k7f3", body=f"{BODY}\n## Review\n\nPASS\n\n- fine\n")
    assert "- fine" not in prompt(store, passed)


def test_what_sent_an_epic_back_goes_to_the_agents_of_its_children(store: Store) -> None:
    said = "### 2026-01-02T03:06:05Z · human · Ada\n\ncart.py:12: this loses a cent"
    make_task(
        store,
        id="epic",
        body=f"All about carts.\n\n## Review\n\nFAIL\n\n- a.py leaks\n\n## Notes\n\n{said}\n",
    )
    task = make_task(store, "Rework: carts", id="k7f2", body="the review failed", parent=TaskId("epic"))
    text = prompt(store, task)
    assert "- a.py leaks" in text
    assert "> cart.py:12: this loses a cent" in text
    passed = make_task(store, id="ep2", body="## Review\n\nPASS\n\n- a.py is fine\n")
    other = make_task(store, id="b2c3", parent=passed.id)
    assert "a.py is fine" not in prompt(store, other)


def test_the_limit_and_the_teams_templates_hold(store: Store) -> None:
    task = make_task(store, id="k7f2", body=BODY)
    write(store, "tasks/f2/k7f2/scratchpad.md", "x\n" * 50_000)
    limited = Settings()._replace(limits=LimitSettings(prompt=10_000))
    assert len(prompt(store, task, settings=limited).encode()) <= 10_000
    write(store, "prompts/parts/limits.md", "Only ours.")
    assert prompt(store, task, settings=limited).endswith("Only ours.\n")


def test_answers_stand_with_their_questions_in_the_order_of_time() -> None:
    question = Entry(AT, ActorKind.AGENT, "claude", "Which page?")
    answer = Entry(AT + timedelta(minutes=2), ActorKind.HUMAN, "Ada", "The first.\n\nOnly that.")
    note = Entry(AT + timedelta(minutes=1), ActorKind.HUMAN, "Ada", "Hurry.")
    assert feedback_text((note,), (question, answer)) == (
        "Ada wrote at 2026-01-02T03:05:05Z:\n\n> Hurry.\n\n"
        "Asked by claude:\n\n> Which page?\n\n"
        "Ada answered at 2026-01-02T03:06:05Z:\n\n> The first.\n>\n> Only that."
    )
    assert open_question_text((question, answer, question)).count("Which page?") == 1


def test_what_answers_no_question_is_a_note_also_among_the_questions() -> None:
    question = Entry(AT, ActorKind.AGENT, "claude", "Which page?")
    answer, more = (
        Entry(AT + timedelta(minutes=minutes), ActorKind.HUMAN, "Ada", text)
        for minutes, text in ((1, "The first."), (2, "And no other."))
    )
    assert feedback_text((), (question, answer, more)).endswith(
        "> The first.\n\nAda wrote at 2026-01-02T03:06:05Z:\n\n> And no other."
    )
    assert feedback_text((more,), (more,)).count("And no other.") == 1


def test_the_gates_are_named_in_the_order_they_run() -> None:
    verify = VerifySettings(test="t", build="b", scripts=("s",))
    assert gate_lines(verify) == ("everything is committed", "`t`", "`b`", "`s`")
    assert gate_lines(VerifySettings(committed=False)) == ()


def started(role: Role = Role.WORKER) -> Event:
    return Event(EventType.SESSION_STARTED, AT, AGENT, data={"role": role.value})


def ended(ending: Ending = Ending.CLEAN, role: Role = Role.WORKER) -> Event:
    return Event(EventType.SESSION_ENDED, AT, AGENT, data={"role": role.value, "ending": ending.value})


def failed(reason: str) -> Event:
    return Event(EventType.GATE_FAILED, AT, ENGINE, reason=reason, data={"gate": "checks"})


def test_a_task_without_a_past_has_none() -> None:
    assert find_setbacks([started()]) == Setbacks()


def test_the_last_failure_and_the_warnings_of_the_last_session_count() -> None:
    warned = Event(EventType.WARNED, AT, AGENT, reason="changes to `status` were dropped")
    history = [
        started(),
        failed("old"),
        ended(),
        started(),
        warned,
        warned,
        failed("new"),
        ended(),
        started(),
    ]
    assert find_setbacks(history) == Setbacks("new", warnings=("changes to `status` were dropped",))


def test_what_a_session_passed_is_not_said_again() -> None:
    assert find_setbacks([started(), failed("old"), ended(), started(), ended(), started()]) == Setbacks()


def test_a_session_that_came_to_nothing_does_not_count_as_told() -> None:
    history = [started(), failed("red"), ended(), started(), ended(Ending.INTERRUPTED), started()]
    assert find_setbacks(history).failure == "red"


def test_a_reviewers_session_in_between_changes_nothing() -> None:
    history = [
        started(),
        failed("red"),
        ended(),
        started(Role.REVIEWER),
        ended(role=Role.REVIEWER),
        started(),
    ]
    assert find_setbacks(history).failure == "red"


def test_a_failed_merge_brings_its_paths() -> None:
    conflict = Event(
        EventType.MERGE_FAILED, AT, ENGINE, reason="conflicts", data={"conflicts": ["a.py", "b.py"]}
    )
    setbacks = find_setbacks([started(), ended(), conflict, started()])
    assert setbacks == Setbacks("The merge failed: conflicts", conflicts=("a.py", "b.py"))


def test_a_crash_is_told_where_no_gate_failed() -> None:
    crash = Event(EventType.CRASHED, AT, AGENT, reason="exit code 1")
    assert find_setbacks([started(), crash, ended(Ending.CRASHED), started()]).failure == (
        "The last session ended early: exit code 1"
    )


def test_a_way_out_of_stuck_is_seen() -> None:
    freed = Event(EventType.MOVED, AT, ENGINE, Status.STUCK, Status.WORKING)
    assert find_setbacks([started(), ended(), freed, started()]).was_stuck


def test_a_broken_template_is_named_before_anything_starts(project: RunProject) -> None:
    project.agent(DONE)
    project.make()
    template = project.board / "prompts/worker.md"
    template.parent.mkdir()
    template.write_text("Do it.\n\n{{ tsk.title }}\n")
    git("add", "prompts", at=project.board)
    git("commit", "-qm", "ours", at=project.board)
    ran = project.run()
    assert "error: the prompt template `worker.md:3` is broken: 'tsk' is undefined" in ran.err
    assert "fix `.gitticks/prompts/worker.md`" in ran.err
    assert project.stands() == (Status.PENDING, None)
    assert "prompt template `worker.md:3` is broken" in project.gt("doctor").out
    template.write_text("{{ task.title }}\n{% include 'parts/signals.md' %}")
    git("commit", "-qam", "ours", at=project.board)
    project.run()
    assert project.stands() != (Status.PENDING, None)


def test_a_template_that_replaces_none_is_named_with_the_one_that_is_meant(project: RunProject) -> None:
    parts = project.board / "prompts/parts"
    parts.mkdir(parents=True)
    (parts.parent / "wroker.md").write_text("Do it.\n")
    (parts / "limits.md").write_text("{% include 'parts/house-rules.md' %}")
    (parts / "house-rules.md").write_text("- Be kind.\n")
    git("add", "prompts", at=project.board)
    git("commit", "-qm", "ours", at=project.board)
    words = "warning  `prompts/wroker.md` replaces no prompt template: did you mean `prompts/worker.md`?"
    told = project.gt("doctor").out
    assert words in told
    assert "house-rules" not in told
    project.make()
    assert words.removeprefix("warning  ") in project.run("--max-iterations", "1").err


def test_a_check_that_failed_is_in_the_scratchpad_once_and_with_its_end(project: RunProject) -> None:
    noise = "for i in $(seq 2000); do echo line $i; done; echo the end; false"
    project.settings(f"review: none\nverify: {{test: '{noise}'}}\n")
    project.agent(DONE)
    project.make()
    project.run("--max-iterations", "2")
    scratchpad = (project.store.read("tasks/f2/k7f2/scratchpad.md") or b"").decode()
    assert scratchpad.count("k7f2 · checks\n\ntests failed (exit code 1)") == 1
    assert scratchpad.rstrip().endswith("the end")
    assert "line 1\n" not in scratchpad
    assert len(scratchpad) < 2_000
