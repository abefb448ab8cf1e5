"""What a session costs where its agent tells tokens only, and how people see who priced it."""

from __future__ import annotations

import json

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Status
from tests.runner.test_council import APPROVED, council
from tests.runner.test_kept_from_work import standing_in
from tests.support.runs import DONE, NO_PERSON, RunProject, project

__all__ = ["project"]

CODEX = (
    {"type": "thread.started", "thread_id": "t1"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"type": "agent_message", "text": "<promise>COMPLETE</promise>"}},
    {"type": "turn.completed", "usage": {"input_tokens": 1_000_000, "output_tokens": 100_000}},
)


WRONG = {"tokens_in": "12000", "cost": "7.50"}


def told(**usage: object) -> str:
    """Returns the line by which a command says what it spent."""
    return f"echo '{json.dumps({'gitticks': 'usage', **usage})}'\n"


def codex(project: RunProject) -> None:
    lines = "\n".join(json.dumps(event) for event in CODEX)
    standing_in(project, "codex", f"cat > /dev/null\n{DONE.replace('echo', ':')}cat <<'END'\n{lines}\nEND")


def test_codex_is_priced_by_the_library_and_everybody_is_told_so(project: RunProject) -> None:
    project.settings(NO_PERSON)
    codex(project)
    project.ok("config", "agents.codex.model", "gpt-5-mini")
    project.make()
    assert project.run().code == 0
    assert project.task("k7f2").usage.cost == 0.45
    ended = project.last(EventType.SESSION_ENDED)
    assert (ended.data["cost"], ended.data["cost_source"]) == (0.45, "genai-prices")
    worklog = project.store.read("tasks/f2/k7f2/worklog.md") or b""
    assert b"$0.45 (priced by genai-prices)" in worklog


def test_the_settings_price_goes_before_the_library(project: RunProject) -> None:
    project.settings(f"{NO_PERSON}prices: {{gpt-5-mini: {{input: 1, output: 10}}}}\n")
    codex(project)
    project.make()
    assert project.run("--model", "gpt-5-mini").code == 0
    assert project.task("k7f2").usage.cost == 2.0
    assert project.last(EventType.SESSION_ENDED).data["cost_source"] == "prices"


def test_a_command_tells_what_it_spent(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.agent(told(tokens_in=5000, tokens_out=10, cost=0.5) + told(cost=0.25) + DONE)
    project.make()
    assert project.run().code == 0
    usage = project.task("k7f2").usage
    assert (usage.tokens_in, usage.tokens_out, usage.cost) == (5000, 10, 0.75)
    assert "cost_source" not in project.last(EventType.SESSION_ENDED).data


def test_a_wrong_line_of_usage_is_a_warning_in_the_run_and_in_the_history(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.agent(told(**WRONG) + told(cost="1") + DONE)
    project.make()
    ran = project.run()
    words = [f"`{key}` in its usage line is not a number: '{value}'" for key, value in WRONG.items()]
    assert [ran.err.count(one) for one in words] == [1, 1]
    warned = [event.reason for event in project.events("k7f2") if event.type is EventType.WARNED]
    assert warned == words
    assert project.task("k7f2").usage.cost == 0


def test_tokens_without_a_price_are_a_warning(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.agent(told(tokens_in=5000, model="nobody-knows") + DONE)
    project.make("aaaa")
    ran = project.run()
    assert "no price is known for `nobody-knows`: its 5,000 tokens count in no budget of dollars" in ran.err
    assert "`gt config prices.nobody-knows.input`" in ran.err


def test_half_a_price_is_an_error_with_its_line_before_anything_starts(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.ok("config", "prices.gpt-7.input", "3")
    project.make()
    ran = project.run()
    assert (ran.code, ran.out) == (64, "")
    assert ran.err.startswith("error: config.yaml:7:"), ran.err
    assert (
        "`prices.gpt-7` lacks `output`\n\nhint: `gt config prices.gpt-7.output PRICE`, in dollars per million tokens"
        in ran.err
    )
    project.ok("config", "prices.gpt-7.output", "15")
    assert project.run().code == 0


def test_a_model_without_a_price_is_an_error_before_anything_starts(
    project: RunProject,
) -> None:
    project.settings(NO_PERSON)
    codex(project)
    project.ok("config", "agents.codex.model", "nobody-knows")
    project.make()
    ran = project.run()
    words = "no price is known for `nobody-knows`, so dollar budgets cannot be enforced for `codex`"
    assert (ran.code, ran.out) == (64, "")
    assert ran.err.startswith(f"error: {words}\n"), ran.err
    assert "`gt config prices.nobody-knows.input DOLLARS`" in ran.err
    ran = project.run("--model", "nobody-here")
    assert ran.err.startswith("error: no price is known for `nobody-here`")
    project.ok("config", "agents.codex.model", "--unset")
    project.ok("update", "k7f2", "--model", "nobody-knows")
    ran = project.run()
    assert ran.err.startswith("error: no price is known for `nobody-knows`"), ran.err
    project.ok("config", "budget.run.cost", "null")
    assert project.run().code == 0


def test_a_command_whose_model_has_no_price_is_an_error_where_somebody_limits_dollars(
    project: RunProject,
) -> None:
    project.settings(NO_PERSON)
    project.agent(told(tokens_in=5000) + DONE)
    project.ok("config", "agents.mine.model", "gpt-99")
    project.make()
    words = "no price is known for `gpt-99`, so dollar budgets cannot be enforced for `mine`"
    ran = project.run("--max-cost", "1")
    assert (ran.code, ran.out) == (64, "")
    assert ran.err.startswith(f"error: {words}\n"), ran.err
    ran = project.run()
    assert ran.code == 0, "by default it may still tell its cost itself"
    assert "no price is known for `gpt-99`: its 5,000 tokens count in no budget of dollars" in ran.err


def test_a_task_that_comes_later_with_such_a_model_is_not_started(project: RunProject) -> None:
    project.settings(f"{NO_PERSON}budget: {{task: {{cost: 3}}}}\n")
    project.make()
    project.make("aaaa", model="gpt-99", blocked_by=("k7f2",))
    ran = project.run()
    assert "no price is known for `gpt-99`" in ran.err
    assert (project.stands()[0], project.stands("aaaa")[0]) == (Status.DONE, Status.PENDING)


@pytest.mark.parametrize("place", ["config", "task", "flag"])
def test_a_command_that_names_no_model_is_priced_by_the_one_it_was_asked_for(
    project: RunProject, place: str
) -> None:
    project.settings(f"{NO_PERSON}prices: {{gpt-7: {{input: 1, output: 10}}}}\n")
    project.agent(told(tokens_in=500_000) + DONE)
    project.make()
    if place == "config":
        project.ok("config", "agents.mine.model", "gpt-7")
    if place == "task":
        project.ok("update", "k7f2", "--model", "gpt-7")
    ran = project.run("--max-cost", "5", *(("--model", "gpt-7") if place == "flag" else ()))
    assert ran.code == 0, ran.err
    assert project.task("k7f2").usage.cost == 0.5


def test_an_agent_that_tells_neither_cost_nor_model_cannot_go_by_dollars_that_were_asked_for(
    project: RunProject,
) -> None:
    project.settings(f"{NO_PERSON}budget: {{task: {{cost: 3}}}}\n")
    codex(project)
    project.make()
    ran = project.run()
    assert ran.err.startswith("error: `codex` reports neither its cost nor its model"), ran.err
    project.ok("config", "budget.task.cost", "--unset")
    for limit in ("5", "20"):  # also what is the default, if somebody asks for it
        ran = project.run("--max-cost", limit)
        assert ran.err.startswith("error: `codex` reports neither its cost nor its model"), ran.err
    ran = project.run()
    assert ran.code == 0
    assert (
        "warning: `codex` reports neither its cost nor its model, so no budget of dollars can be enforced"
        in ran.err
    )


def test_of_a_council_what_has_a_price_counts_though_another_reviewers_tokens_have_none(
    project: RunProject,
) -> None:
    council(
        project,
        "budget: {task: {cost: 2}}\n",
        one=told(cost=3) + APPROVED,
        two=told(tokens_in=10) + APPROVED,
    )
    project.make()
    ran = project.run()
    assert "`two` took 10 tokens and reported neither their cost nor its model" in ran.err
    assert project.last(EventType.SESSION_ENDED).data["cost"] == 3
    assert project.task("k7f2").usage.cost == 3
    assert "150 % of `budget.task.cost`" in project.ok("log", "k7f2")


def test_a_reviewer_of_a_council_is_asked_for_its_price_before_anything_starts(project: RunProject) -> None:
    project.settings("review: council\nreviewers: [{name: one, agent: mine}, {name: two, agent: codex}]\n")
    project.make()
    ran = project.run("--max-cost", "5")
    assert "its reviewer `two` abstains: the agent `codex` is not on PATH" in ran.err
    project.make("aaaa")
    project.ok("config", "agents.codex.argv", '["true"]')
    ran = project.run("--max-cost", "5")
    assert (ran.code, ran.out) == (64, "")
    assert ran.err.startswith("error: `codex` reports neither its cost nor its model"), ran.err
