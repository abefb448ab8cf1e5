"""What a session spent counts although its runner was killed: it is read from the transcript."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from gitticks.agents.process import StopRequest
from gitticks.errors import MachineError
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Role, Status
from gitticks.model.task import SessionRecord
from gitticks.runner import finishing
from gitticks.runner.claiming import ClaimedElsewhereError, RunClaims
from gitticks.runner.context import RunContext
from gitticks.runner.finishing import recover, recover_session
from gitticks.runner.outcome import RunExit
from gitticks.runner.session import SessionRun
from gitticks.store.claims import Holder
from tests.end_to_end.test_health import health
from tests.runner.test_budgets import STUCK, reasons
from tests.runner.test_council import APPROVED, council
from tests.runner.test_finishing_recovery import K7F2, opened, run_and_die
from tests.runner.test_session_costs import codex, told
from tests.support.runs import DONE, NO_PERSON, NO_REVIEW, TO_REVIEW, RunProject, project
from tests.support.waiting import until

__all__ = ["project"]

HANGS = 'touch "{up}"; exec sleep 600\n'


def has_told(project: RunProject, reviewer: str = "") -> bool:
    """Returns whether what the agent spent is in the transcript, where it is read from after a kill."""
    transcripts = (project.path / ".git/gitticks/transcripts/k7f2").glob("*")
    return any(reviewer + '{"gitticks": "usage"' in path.read_text() for path in transcripts)


def killed(project: RunProject, body: str, *, when: str = "agent", **spent: object) -> None:
    """Lets the run be killed once its agent has told what it spent, done `body` and hangs, or once its checks do."""
    up = project.shared / "up"
    hangs = HANGS.format(up=up)
    project.agent(told(**spent) + body + (hangs if when == "agent" else ""))
    if when == "checks":
        project.settings(f"verify: {{test: 'touch {up}; exec sleep 600'}}\n")
    with project.running() as process:
        until(lambda: up.exists() and has_told(project), "the agent")
        process.kill()
    up.unlink()


def ended(project: RunProject) -> dict[str, object]:
    """Returns what the history says of the only session that ended."""
    (event,) = (one for one in project.events("k7f2") if one.type is EventType.SESSION_ENDED)
    return dict(event.data)


def test_what_was_told_before_the_kill_counts_and_is_called_incomplete(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}budget: {{task: {{cost: 2}}}}\n")
    project.make()
    killed(project, "", tokens_in=900, tokens_out=100, cost=2.5)
    health(project)
    usage = project.task("k7f2").usage
    assert (usage.tokens_in, usage.tokens_out, usage.cost, usage.iterations) == (900, 100, 2.5, 0)
    assert (ended(project)["cost"], ended(project)["estimated"]) == (2.5, True)
    assert "usage incomplete" in project.ok("log", "k7f2")
    assert reasons(project) == ["125 % of `budget.task.cost`: $2.50 of $2.00"]
    assert project.stands() == STUCK


def test_it_counts_into_the_epic_and_the_next_run_tells_it(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}budget: {{epic: {{cost: 2}}}}\n")
    project.make("e9wt", type="epic")
    project.make(parent="e9wt")
    killed(project, "", cost=1.9)
    project.agent(DONE)
    ran = project.run()
    assert project.stands() == TO_REVIEW
    words = "95 % of `budget.epic.cost`: $1.90 of $2.00"
    assert reasons(project, "e9wt") == [words]
    assert "$1.90 of $2.00" in ran.out
    assert project.task("k7f2").usage.cost == 1.9


def test_an_agent_that_had_ended_has_told_all(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.make()
    killed(project, DONE, when="checks", tokens_in=900, cost=0.5)
    project.ok("config", "verify.test", "--unset")
    health(project)
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)
    assert project.task("k7f2").usage.cost == 0.5
    assert "estimated" not in ended(project)
    assert ended(project)["seconds"]
    worklog = project.store.read("tasks/f2/k7f2/worklog.md") or b""
    assert b"$0.50" in worklog


def test_it_is_counted_once(project: RunProject, monkeypatch: pytest.MonkeyPatch) -> None:
    project.settings(NO_REVIEW)
    project.agent(told(cost=0.5) + "exit 9")
    project.make()
    SessionRun(opened(project), K7F2, Role.WORKER, StopRequest()).execute()  # in the same second, perhaps
    assert project.task("k7f2").usage.cost == 0.5
    run_and_die(project, monkeypatch, SessionRun, "_finish")
    assert recover(opened(project)) == ["k7f2"]
    assert recover(opened(project)) == []
    assert project.task("k7f2").usage.cost == 1.0


def test_what_could_not_be_written_at_first_counts_for_the_run_too(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.settings("limits: {rest: 1s}\n")
    project.agent(told(cost=3))
    project.make()
    real, failures = finishing.finish_session, [MachineError("no space left")]

    def full(*arguments: Any, **named: Any) -> object:
        if failures:
            raise failures.pop()
        return real(*arguments, **named)

    monkeypatch.setattr("gitticks.runner.session.finish_session", full)
    ran = project.run("--auto", "--all", "--poll", "1s", "--max-cost", "2")
    assert ran.code == RunExit.LIMIT
    assert "the limit of $2.00 is reached: $3.00 on `k7f2`" in ran.out
    assert project.kinds().count(EventType.SESSION_STARTED) == 1, "it is finished before another one begins"
    assert ended(project)["cost"] == 3


def test_nobody_works_in_a_workspace_whose_last_session_is_not_finished(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.settings("isolation: epic\nlimits: {rest: 1s}\n")
    project.agent(DONE)
    project.make("eeee", type="epic")
    for name in ("aaa2", "aaa3"):
        project.make(name, parent="eeee")
    real, failures = finishing.finish_session, [MachineError("no space left")]
    begun: list[tuple[str, bool]] = []

    def full(*arguments: Any, **named: Any) -> object:
        if failures:
            raise failures.pop()
        return real(*arguments, **named)

    def finish(run: RunContext, record: SessionRecord, stop: StopRequest) -> object:
        begun.append((record.task, EventType.SESSION_STARTED in project.kinds("aaa3")))
        run.holds.ask_run_to_stop()
        return recover_session(run, record, stop)

    monkeypatch.setattr("gitticks.runner.session.finish_session", full)
    monkeypatch.setattr("gitticks.runner.loop.recover_session", finish)
    project.run("--auto", "--all", "--poll", "1s")
    assert begun == [("aaa2", False)]
    project.run()
    assert EventType.SESSION_ENDED in project.kinds("aaa3")


def test_tokens_are_priced_and_the_rest_of_a_resumed_session_is_not_counted_twice(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.settings(f"{NO_PERSON}prices: {{gpt-7: {{input: 1, output: 10}}}}\n")
    codex(project)
    project.ok("config", "agents.codex.model", "gpt-7")
    project.make()
    run_and_die(project, monkeypatch, SessionRun, "_finish")
    project.ok("config", "agents.codex.model", "gpt-8")
    recover(opened(project))
    found = ended(project)
    assert (found["cost"], found["cost_source"]) == (2.0, "prices")
    assert (found["session"], found["counted_in"], found["counted_out"]) == ("t1", 1_000_000, 100_000)


def test_what_has_no_price_is_a_warning(project: RunProject, monkeypatch: pytest.MonkeyPatch) -> None:
    project.agent(told(tokens_in=5000, model="nobody-knows"))
    project.make()
    run_and_die(project, monkeypatch, SessionRun, "_finish")
    assert "no price is known for `nobody-knows`" in project.gt("health").err


def test_a_transcript_that_is_gone_leaves_the_figures_unknown(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.agent(told(cost=0.5))
    project.make()
    run_and_die(project, monkeypatch, SessionRun, "_finish")
    for path in (project.path / ".git/gitticks/transcripts/k7f2").iterdir():
        path.unlink()
    recover(opened(project))
    assert "cost" not in ended(project)


def council_killed(project: RunProject) -> None:
    """Lets the run be killed once the first reviewer has answered, for $0.25, and the second has told of $0.50."""
    up = project.shared / "up"
    council(
        project,
        one=told(cost=0.25) + APPROVED,
        two=told(cost=0.5) + f"if [ ! -e '{up}' ]; then touch '{up}'; exec sleep 600; fi\n" + APPROVED,
    )
    project.make()
    kept = project.path / ".git/gitticks/council/k7f2/one.json"
    with project.running() as process:
        until(
            lambda: kept.exists() and up.exists() and has_told(project, "[two] "),
            "the first answer, and the second reviewer",
        )
        process.kill()


def test_of_a_council_it_counts_who_will_be_asked_again(project: RunProject) -> None:
    council_killed(project)
    health(project)
    assert project.last(EventType.SESSION_ENDED).data["cost"] == 0.5
    assert project.run().code == 3
    assert project.task("k7f2").usage.cost == 1.25


def test_of_a_council_whose_task_another_clone_took_it_counts_all(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    council_killed(project)

    def taken(_claims: RunClaims, task_id: TaskId) -> None:
        raise ClaimedElsewhereError(task_id, Holder("someone", "elsewhere", datetime.now(UTC)))

    with monkeypatch.context() as patched:
        patched.setattr(RunClaims, "confirm", taken)
        until(lambda: recover(opened(project)), "the end of the second reviewer")
    assert project.last(EventType.SESSION_ENDED).data["ending"] == "stopped"
    assert project.run().code == 3
    assert project.task("k7f2").usage.cost == 1.25
