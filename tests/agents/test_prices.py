"""Prices where an agent tells none: by the settings, by the library, by nobody."""

from __future__ import annotations

import pytest

from gitticks.agents.base import AgentReport, AgentSpec
from gitticks.agents.prices import LIBRARY, OWN, Priced, foresee, with_cost
from gitticks.model.settings import AgentKind, Price
from gitticks.model.task import Ending, Usage

MINE = {"m": Price(3.0, 15.0), "c": Price(3.0, 15.0, 0.3), "gpt-5.1": Price(1.0, 1.0), "half": Price(1.0)}


def report(tokens_in: int, tokens_out: int, *, cached: int = 0, model: str | None = None) -> AgentReport:
    usage = Usage(tokens_in=tokens_in, tokens_out=tokens_out)
    return AgentReport(Ending.CLEAN, usage=usage, cached_tokens=cached, model=model)


@pytest.mark.parametrize(
    ("said", "cost", "source"),
    [
        (report(1_000_000, 100_000, model="m"), 4.5, OWN),
        (report(1_000_000, 100_000, cached=500_000, model="m"), 4.5, OWN),
        (report(1_000_000, 100_000, cached=500_000, model="c"), 3.15, OWN),
        (report(1_000_000, 0, cached=9_000_000, model="c"), 0.3, OWN),
        (report(1_000_000, 1_000_000, model="gpt-5.1"), 2.0, OWN),
        (report(1_000_000, 0, model="gpt-5-mini"), 0.25, LIBRARY),
        (report(0, 1_000_000, model="gpt-5-mini"), 2.0, LIBRARY),
        (report(1_000_000, 0, cached=1_000_000, model="gpt-5-mini"), 0.025, LIBRARY),
        (report(10, 0, model="nobody-knows"), None, None),
        (report(10, 0, model="half"), None, None),
        (report(10, 0), None, None),
        (report(0, 0, model="m"), None, None),
    ],
)
def test_tokens_are_priced_by_the_settings_else_by_the_library(
    said: AgentReport, cost: float | None, source: str | None
) -> None:
    found = with_cost(said, AgentKind.CODEX, MINE)
    assert (found.cost, found.cost_source) == (cost, source)
    assert found.spent.cost == found.usage.cost == (cost or 0.0)
    assert found.is_unpriced is (cost is None and found.tokens > 0)


def test_the_agents_own_figure_goes_first() -> None:
    said = AgentReport(Ending.CLEAN, usage=Usage(tokens_in=1_000_000, cost=0.5), cost=0.5, model="m")
    assert with_cost(said, AgentKind.CLAUDE, MINE) is said


def test_a_model_that_the_agent_does_not_tell_is_the_one_that_it_was_asked_for() -> None:
    assert with_cost(report(1_000_000, 0), AgentKind.CODEX, MINE, model="m").cost == 3.0
    assert with_cost(report(1_000_000, 0, model="c"), AgentKind.CODEX, MINE, model="m").cost == 3.0


def test_a_session_is_no_single_long_request() -> None:
    short = with_cost(report(100_000, 1000, model="gemini-2.5-pro"), AgentKind.GEMINI, {})
    long = with_cost(report(1_000_000, 10_000, model="gemini-2.5-pro"), AgentKind.GEMINI, {})
    assert short.cost is not None
    assert long.cost == pytest.approx(10 * short.cost)


@pytest.mark.parametrize(
    ("kind", "model", "priced"),
    [
        (AgentKind.CODEX, "gpt-5.1", Priced.YES),
        (AgentKind.CODEX, "claude-sonnet-4-5", Priced.YES),
        (AgentKind.CODEX, "m", Priced.YES),
        (AgentKind.CODEX, "nobody-knows", Priced.NO_PRICE),
        (AgentKind.CODEX, None, Priced.NO_MODEL),
        (AgentKind.GEMINI, "gemini-2.5-flash", Priced.YES),
        (AgentKind.GEMINI, "nobody-knows", Priced.NO_PRICE),
        (AgentKind.GEMINI, None, Priced.YES),
        (AgentKind.AMP, "smart", Priced.YES),
        (AgentKind.CLAUDE, "nobody-knows", Priced.YES),
        (AgentKind.COMMAND, "nobody-knows", Priced.NO_PRICE),
        (AgentKind.COMMAND, "m", Priced.YES),
        (AgentKind.COMMAND, None, Priced.YES),
        (AgentKind.SCRIPT, "nobody-knows", Priced.YES),
    ],
)
def test_it_is_known_beforehand_whether_sessions_will_have_a_cost(
    kind: AgentKind, model: str | None, priced: Priced
) -> None:
    agent = AgentSpec("a", kind, model=model)
    assert foresee(agent, MINE, is_chosen=True) is priced
    unchosen = Priced.YES if kind is AgentKind.COMMAND else priced
    assert foresee(agent, MINE, is_chosen=False) is unchosen
