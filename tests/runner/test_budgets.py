"""Budgets of tasks, epics and runs, by the command, with agents that tell what they spend."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Status
from gitticks.runner.outcome import RunExit
from tests.runner.test_session_costs import told
from tests.support.runs import DONE, FAIL, NO_PERSON, NO_REVIEW, PASS, RunProject, project
from tests.support.tasks import write_files
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

GOES_ON = "echo on my way\n"
STUCK = (Status.STUCK, Awaiting.ESCALATION)


def spends(project: RunProject, body: str = GOES_ON, **usage: object) -> None:
    """Makes the agent spend something in each of its sessions."""
    project.agent(told(**usage) + body)


def reasons(project: RunProject, task_id: str = "k7f2") -> list[str]:
    return [event.reason or "" for event in project.events(task_id) if event.type is EventType.BUDGET]


class TestTask:
    @pytest.mark.parametrize(
        ("limit", "words", "sessions"),
        [
            ("iterations: 2", "`budget.task.iterations` is spent: 2 of 2 iterations, 2,000 tokens, $2.00", 2),
            ("tokens: 3000", "`budget.task.tokens` is spent: 3,000 of 3,000 tokens, 3 iterations, $3.00", 3),
            ("cost: 2.5", "`budget.task.cost` is spent: $3.00 of $2.50, 3 iterations, 3,000 tokens", 3),
        ],
    )
    def test_a_spent_budget_makes_the_task_stuck(
        self, project: RunProject, limit: str, words: str, sessions: int
    ) -> None:
        project.settings(f"budget: {{task: {{{limit}}}}}\n")
        spends(project, tokens_in=900, tokens_out=100, cost=1.0)
        project.make()
        ran = project.run()
        assert (ran.code, project.stands()) == (RunExit.STUCK, STUCK)
        assert f"stuck: {words}" in ran.out
        assert project.task("k7f2").usage.iterations == sessions
        inbox = project.ok("inbox")
        assert words in inbox
        assert re.search(r"approving grants another (2 iterations|3,000 tokens|\$2\.50)\n", inbox)
        assert "gt show k7f2 · gt approve k7f2 · gt respond k7f2" in inbox

    def test_the_inbox_names_what_an_approval_grants_once_the_budget_was_raised(
        self, project: RunProject
    ) -> None:
        project.settings("budget: {task: {cost: 1}}\n")
        spends(project, cost=1.0)
        project.make()
        project.run()
        project.ok("config", "budget.task.cost", "6")
        assert "approving grants another $6.00\n" in project.ok("inbox")

    def test_a_duration_counts_the_agents_time(self, project: RunProject) -> None:
        project.settings("budget: {task: {duration: 1s}}\n")
        project.agent("sleep 0.6")
        project.make()
        assert project.run().code == RunExit.STUCK
        spent = r"`budget\.task\.duration` is spent: \d+ s of 1 s, [12] iterations?"
        assert re.search(spent, project.ok("inbox"))

    def test_approved_it_may_spend_as_much_again_in_another_run(self, project: RunProject) -> None:
        project.settings("budget: {task: {cost: 2.0}}\n")
        spends(project, cost=1.0)
        project.make()
        assert project.run().code == RunExit.STUCK
        project.ok("approve", "k7f2")
        assert project.run().code == RunExit.STUCK
        assert project.task("k7f2").usage.cost == 4.0
        assert "$2.00 of $2.00" in project.ok("inbox")

    def test_it_counts_over_runs(self, project: RunProject) -> None:
        project.settings("budget: {task: {cost: 2.0}}\n")
        spends(project, cost=1.0)
        project.make()
        assert project.run("--max-iterations", "1").code == RunExit.LIMIT
        assert project.run("--max-iterations", "1").code == RunExit.STUCK
        assert project.run().code == RunExit.STUCK
        assert project.task("k7f2").usage.iterations == 2

    def test_warnings_come_at_80_and_95_per_cent_once(
        self, project: RunProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("gitticks.runner.loop.LONGEST_NOTIFYING_SECONDS", LONGEST_SECONDS)
        monkeypatch.setattr("gitticks.runner.notifications.LONGEST_COMMAND_SECONDS", LONGEST_SECONDS)
        project.settings(
            f"budget: {{task: {{cost: 10}}}}\niterations: 50\nnotify: 'cat >> {tmp_path}/told'\n"
        )
        project.agent(
            f'n=$(cat "{tmp_path}/n" 2>/dev/null || echo 8.0)\n'
            f'echo 0.5 > "{tmp_path}/n"\n'
            'echo "{\\"gitticks\\": \\"usage\\", \\"cost\\": $n}"\n'
        )
        project.make()
        code, events = project.events_of_run()
        assert code == RunExit.STUCK
        reached = [event for event in events if event["event"] == "budget.reached"]
        assert [(one["level"], one["budget"]["scope"], one["budget"]["spent"]) for one in reached] == [
            (80, "task", 8.0),
            (95, "task", 9.5),
            (100, "task", 10.0),
        ]
        assert reasons(project) == [
            "80 % of `budget.task.cost`: $8.00 of $10.00",
            "95 % of `budget.task.cost`: $9.50 of $10.00",
            "100 % of `budget.task.cost`: $10.00 of $10.00",
        ]
        notices = [json.loads(line) for line in (tmp_path / "told").read_text().splitlines()]
        assert [(one["event"], one["reason"].partition(",")[0]) for one in notices] == [
            ("budget.warning", "80 % of `budget.task.cost` is spent: $8.00 of $10.00"),
            ("budget.warning", "95 % of `budget.task.cost` is spent: $9.50 of $10.00"),
            ("task.stuck", "`budget.task.cost` is spent: $10.00 of $10.00"),
        ]
        assert notices[0]["task"]["id"] == "k7f2"

    def test_work_that_was_handed_off_is_reviewed_all_the_same(self, project: RunProject) -> None:
        project.settings("budget: {task: {cost: 1.0}}\n")
        spends(project, f'if [ "$GITTICKS_ROLE" = reviewer ]; then {PASS}\nelse\n{DONE}fi\n', cost=1.0)
        project.make()
        assert project.run().code == RunExit.WAITS
        assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)
        assert project.task("k7f2").usage.cost == 2.0

    def test_work_that_comes_back_is_stuck(self, project: RunProject) -> None:
        project.settings("budget: {task: {cost: 1.0}}\n")
        spends(project, f'if [ "$GITTICKS_ROLE" = reviewer ]; then {FAIL}\nelse\n{DONE}fi\n', cost=1.0)
        project.make()
        assert project.run().code == RunExit.STUCK
        assert "$2.00 of $1.00" in project.ok("inbox")

    def test_a_limit_that_was_lowered_stops_before_the_next_session(self, project: RunProject) -> None:
        spends(project, cost=3.0)
        project.make()
        assert project.run("--max-iterations", "1").code == RunExit.LIMIT
        project.ok("config", "budget.task.cost", "2.5")
        assert project.run().code == RunExit.STUCK
        assert project.task("k7f2").usage.iterations == 1
        assert "`budget.task.cost` is spent: $3.00 of $2.50" in project.ok("inbox")


EPIC = "budget: {epic: {cost: 3.0}}\n"


def epic(project: RunProject, *names: str) -> None:
    project.make("epic", type="epic")
    for name in names:
        project.make(name, parent="epic")


class TestEpic:
    def test_a_spent_budget_stops_the_epic_and_an_approval_grants_as_much_again(
        self, project: RunProject
    ) -> None:
        project.settings(f"{NO_REVIEW}{EPIC}")
        spends(project, DONE, cost=1.0)
        epic(project, *(f"t{number}aa" for number in range(1, 8)))
        project.make("other")
        ran = project.run("--parallel", "1")
        assert ran.code == RunExit.WAITS
        words = "`budget.epic.cost` is spent: $3.00 of $3.00, on `t1aa` $1.00, `t2aa` $1.00, `t3aa` $1.00"
        assert words in ran.out
        assert project.stands("epic") == (Status.WORKING, Awaiting.ESCALATION)
        assert project.stands("t4aa") == (Status.PENDING, None)
        assert project.stands("other")[0] is Status.REVIEWING
        assert words in project.ok("inbox")
        assert "approved; its tasks continue" in project.ok("approve", "epic", "-m", "worth it")
        assert project.run("--parallel", "1").code == RunExit.WAITS
        assert project.stands("epic") == (Status.WORKING, Awaiting.ESCALATION)
        assert project.stands("t6aa")[0] is Status.REVIEWING
        assert project.stands("t7aa") == (Status.PENDING, None)
        assert "is spent: $3.00 of $3.00, since the epic began on `t1aa` $1.00, " in project.ok("inbox")

    def test_a_grant_counts_from_the_approval(self, project: RunProject) -> None:
        project.settings(f"{NO_REVIEW}{EPIC}")
        stopped = "until $GT show epic | grep -q escalation; do sleep 0.05; done\n"
        late = f'if [ "$GITTICKS_TASK" = t2aa ]; then {stopped}fi\n'
        spends(project, late + DONE, cost=3.0)
        epic(project, *(f"t{number}aa" for number in range(1, 5)))
        assert project.run("--parallel", "2").code == RunExit.WAITS
        assert project.stands("t2aa")[0] is Status.REVIEWING
        assert project.stands("t3aa") == (Status.PENDING, None)
        project.ok("approve", "epic")
        spends(project, DONE, cost=2.0)
        assert project.run("--parallel", "1").code == RunExit.WAITS
        assert project.stands("t4aa")[0] is Status.REVIEWING

    def test_an_approval_ends_an_epic_in_which_all_is_closed(self, project: RunProject) -> None:
        project.settings(f"{NO_PERSON}{EPIC}")
        spends(project, DONE, cost=3.0)
        epic(project, "t1aa", "t2aa")
        assert project.run("--parallel", "1").code == RunExit.WAITS
        assert "approving grants another $3.00\n" in project.ok("inbox")
        project.ok("cancel", "t2aa")
        assert "all below it is closed, so approving lets it end\n" in project.ok("inbox")
        project.ok("approve", "epic")
        assert project.stands("epic") == (Status.DONE, None)

    def test_sessions_side_by_side_share_it(self, project: RunProject) -> None:
        project.settings(f"{NO_REVIEW}budget: {{epic: {{iterations: 4}}}}\n")
        project.agent(DONE)
        epic(project, *(f"t{number}aa" for number in range(1, 8)))
        assert project.run("--parallel", "3").code == RunExit.WAITS
        begun = [number for number in range(1, 8) if project.task(f"t{number}aa").usage.iterations]
        assert len(begun) == 4
        assert project.stands("epic") == (Status.WORKING, Awaiting.ESCALATION)

    def test_an_epic_that_finishes_within_its_budget_is_not_stopped(self, project: RunProject) -> None:
        project.settings(f"{NO_PERSON}{EPIC}")
        spends(project, DONE, cost=1.5)
        epic(project, "t1aa", "t2aa")
        assert project.run().code == 0
        assert project.stands("epic") == (Status.DONE, None)

    def test_epics_above_epics_count_too(self, project: RunProject) -> None:
        project.settings(f"{NO_REVIEW}{EPIC}")
        spends(project, DONE, cost=2.0)
        project.make("top0", type="epic")
        project.make("mid1", type="epic", parent="top0")
        project.make("mid2", type="epic", parent="top0")
        project.make("aaa1", parent="mid1")
        project.make("aaa2", parent="mid2")
        project.make("aaa3", parent="mid2")
        assert project.run("--parallel", "1").code == RunExit.WAITS
        assert project.stands("top0")[1] is Awaiting.ESCALATION
        assert project.stands("mid1")[1] is None
        assert project.stands("aaa3") == (Status.PENDING, None)

    def test_all_epics_above_that_have_spent_theirs_ask_at_once(self, project: RunProject) -> None:
        project.settings(f"{NO_REVIEW}budget: {{epic: {{cost: 1}}}}\n")
        spends(project, DONE, cost=1.0)
        project.make("top0", type="epic")
        project.make("mid1", type="epic", parent="top0")
        for name in ("aaa1", "aaa2", "aaa3"):
            project.make(name, parent="mid1")
        assert project.run("--parallel", "1").code == RunExit.WAITS
        assert [project.stands(name)[1] for name in ("top0", "mid1")] == [Awaiting.ESCALATION] * 2
        project.ok("approve", "mid1")
        project.ok("approve", "top0")
        project.run("--parallel", "1")
        assert project.stands("aaa2")[0] is Status.REVIEWING
        assert project.stands("aaa3") == (Status.PENDING, None)


class TestRun:
    def spent(self, project: RunProject) -> float:
        return sum(project.task(one.id).usage.cost for one in project.store.snapshot().all_tasks().values())

    @pytest.mark.parametrize(
        ("flag", "setting", "words"),
        [
            (("--max-cost", "2.5"), "cost: 2.5", "the limit of $2.50 is reached: $3.00 on `aaaa` $1.00,"),
            (
                ("--max-tokens", "2500"),
                "tokens: 2500",
                "the limit of 2,500 tokens is reached: 3,000 tokens on",
            ),
            (("--max-iterations", "3"), "iterations: 3", "the limit of 3 iterations is reached"),
        ],
    )
    def test_a_spent_budget_ends_the_run(
        self, project: RunProject, flag: tuple[str, ...], setting: str, words: str
    ) -> None:
        project.settings(NO_REVIEW)
        spends(project, DONE, tokens_in=1000, cost=1.0)
        for name in ("aaaa", "bbbb", "cccc", "dddd"):
            project.make(name)
        ran = project.run("--parallel", "1", *flag)
        assert (ran.code, self.spent(project)) == (RunExit.LIMIT, 3.0)
        assert words in ran.out
        assert "`gt run` continues" in ran.err
        project.settings(f"budget: {{run: {{{setting}}}}}\n")
        project.make("eeee")
        project.make("ffff")
        project.make("gggg")
        ran = project.run("--parallel", "1")
        assert (ran.code, self.spent(project)) == (RunExit.LIMIT, 6.0)

    def test_a_flag_goes_before_the_setting(self, project: RunProject) -> None:
        project.settings(f"{NO_REVIEW}budget: {{run: {{cost: 1.0}}}}\n")
        spends(project, DONE, cost=1.0)
        for name in ("aaaa", "bbbb", "cccc"):
            project.make(name)
        assert project.run("--parallel", "1", "--max-cost", "2").code == RunExit.LIMIT
        assert self.spent(project) == 2.0

    def test_a_duration_of_the_settings_ends_it(self, project: RunProject) -> None:
        project.settings("budget: {run: {duration: 1s}}\niterations: 100\n")
        project.agent("sleep 0.3")
        project.make()
        ran = project.run()
        assert ran.code == RunExit.LIMIT
        assert "the limit of 1 s is reached" in ran.out

    def test_what_is_spent_of_what_is_said_after_each_session(self, project: RunProject) -> None:
        project.settings(f"{NO_REVIEW}budget: {{task: {{cost: 3}}, run: {{cost: 4, iterations: 9}}}}\n")
        spends(project, DONE, tokens_in=1200, cost=1.0)
        for name in ("aaaa", "bbbb", "cccc", "dddd"):
            project.make(name)
        ran = project.run("--parallel", "1")
        lines = ran.out.splitlines()
        assert any(
            line.startswith("aaaa  spent  $1.00, 1,200 tokens, task $1.00 of $3.00, run 1 of 9 iterations, ")
            for line in lines
        ), ran.out
        assert any("80 % of `budget.run." in line for line in lines) is False
        assert any(line.startswith("run   ") for line in lines) is False
        assert lines[-1].endswith("$4.00 of $4.00  4 of 9 iterations"), lines[-1]

    def test_the_run_names_its_budget_in_lines(self, project: RunProject) -> None:
        project.settings(f"{NO_REVIEW}budget: {{run: {{cost: 1}}}}\n")
        spends(project, DONE, cost=0.8)
        project.make()
        out = project.run().out
        assert "\nrun   80 % of `budget.run.cost` is spent: $0.80 of $1.00 " in out

    def test_the_run_warns_too(self, project: RunProject) -> None:
        project.settings(f"{NO_REVIEW}budget: {{run: {{cost: 5}}}}\n")
        spends(project, DONE, cost=1.0)
        for number in range(1, 7):
            project.make(f"t{number}aa")
        code, events = project.events_of_run("--parallel", "1")
        assert code == RunExit.LIMIT
        reached = [event for event in events if event["event"] == "budget.reached"]
        assert [(one["level"], one["budget"]["task"], one["budget"]["percent"]) for one in reached] == [
            (80, None, 80),
            (100, None, 100),
        ]
        assert events[-1]["budgets"][0]["spent"] == 5.0

    def test_without_figures_and_limits_nothing_is_said_of_them(self, project: RunProject) -> None:
        project.settings(NO_REVIEW)
        project.make()
        assert "spent" not in project.run().out


def test_nonsense_is_an_error_with_its_line_before_anything_starts(project: RunProject) -> None:
    before = project.store.read("config.yaml") or b""
    project.make()
    for text, words in (
        ("budget: {task: {cost: -1}}", "`budget.task.cost` is not a number above 0"),
        ("budget: {task: {cost: lots}}", "`budget.task.cost` is not a number above 0"),
        ("budget: {run: {tokens: 0}}", "`budget.run.tokens` is not a whole number from 1 up"),
        ("budget: {epic: {duration: 0s}}", "`budget.epic.duration` is not a duration"),
        ("budget: {epoch: {cost: 1}}", "there is no setting `budget.epoch"),
        ("prices: {m: {input: .nan, output: 1}}", "`prices.m.input` is not a number from 0 up"),
        ("prices: {m: 3}", "`prices.m` is not"),
    ):
        write_files(project.store, {"config.yaml": before + text.encode() + b"\n"})
        ran = project.run()
        assert (ran.code, ran.out) == (RunExit.USAGE, ""), text
        assert ran.err.startswith("error: config.yaml:5:"), ran.err
        assert words in ran.err, ran.err
    assert project.stands() == (Status.PENDING, None)


def test_a_killed_run_forgets_nothing_that_a_task_spent(project: RunProject, tmp_path: Path) -> None:
    project.settings("budget: {task: {cost: 2.0}}\niterations: 50\n")
    spends(project, f'[ -e "{tmp_path}/go" ] || {{ touch "{tmp_path}/go"; exit; }}\nsleep 600\n', cost=1.0)
    project.make()
    with project.running() as process:
        until(lambda: len(kinds_of(project)) == 2, "the second session")
        process.kill()
        process.wait()
    spends(project, cost=1.0)
    assert project.run().code == RunExit.STUCK
    assert project.task("k7f2").usage.cost == 2.0


def kinds_of(project: RunProject) -> list[Any]:
    return [kind for kind in project.kinds() if kind is EventType.SESSION_STARTED]


class TestShown:
    def test_status_shows_what_is_spent_of_what_while_a_run_lives(
        self, project: RunProject, tmp_path: Path
    ) -> None:
        project.settings("budget: {task: {cost: 4.0}}\niterations: 50\n")
        spends(
            project, f'[ -e "{tmp_path}/go" ] || {{ touch "{tmp_path}/go"; exit; }}\nsleep 600\n', cost=1.0
        )
        project.make()
        with project.running() as process:
            until(lambda: len(kinds_of(project)) == 2, "the second session")
            said = project.ok("status")
            assert "budgets\n  run  $1.00 of $20.00 (5 %)\n  k7f2  $1.00 of $4.00 (25 %)\n" in said, said
            found = json.loads(project.ok("status", "--json"))
            assert [(one["task"], one["spent"]) for one in found["budgets"]] == [(None, 1.0), ("k7f2", 1.0)]
            process.kill()
            process.wait()
        assert "budgets" not in project.ok("status")
        spends(project, cost=1.0)
        project.run("--max-iterations", "1")

    def test_stats_show_budgets_and_who_priced_what(self, project: RunProject) -> None:
        project.settings(f"{NO_REVIEW}budget: {{task: {{cost: 4.0}}, epic: {{tokens: 5000000}}}}\n")
        project.agent(told(tokens_in=1_000_000, model="gpt-5-mini") + DONE)
        epic(project, "t1aa")
        project.run()
        said = project.ok("stats")
        assert "$0.25 ($0.25 of it calculated from prices)" in said, said
        assert re.search(r"t1aa  Login loses the return URL +6  \$0.25 of \$4.00\n", said), said
        assert re.search(r"epic  Login loses the return URL +20  1,000,000 of 5,000,000 tokens\n", said), said
        found = json.loads(project.ok("stats", "--json"))
        assert found["budgets"][0] == {
            "id": "epic",
            "scope": "epic",
            "metric": "tokens",
            "spent": 1000000,
            "limit": 5000000,
            "percent": 20,
        }

    def test_the_limit_that_ended_a_run_is_in_the_inbox_till_the_next_one(self, project: RunProject) -> None:
        project.settings("iterations: 50\n")
        spends(project, cost=1.5)
        project.make()
        project.run("--max-cost", "2")
        words = "the last run ended: the limit of $2.00 is reached: $3.00 on `k7f2`"
        assert words in project.ok("inbox")
        status = project.ok("status")
        assert "last run\n  ended " in status
        assert (
            f": {words.removeprefix('the last run ended: ')}\n  0 done, 2 iterations, $3.00  `gt run` continues\n"
            in status
        )
        assert json.loads(project.ok("inbox", "--json"))["ended"] == words.removeprefix(
            "the last run ended: "
        )
        project.settings("budget: {task: {iterations: 2}}\n")
        project.run()
        assert "the last run" not in project.ok("inbox")
        assert ": nothing else is ready\n  0 done, " in project.ok("status")
