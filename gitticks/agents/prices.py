"""Prices tokens if the agent reports no cost: from the settings, else from a library.

The agent's own figure goes first. The library's data comes with it, so no network is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum

from gitticks.agents.base import AgentReport, AgentSpec
from gitticks.model.settings import AgentKind, Price
from gitticks.model.task import Usage

OWN = "prices"
LIBRARY = "genai-prices"
"""Where a figure comes from: the setting of that name, or the library."""

_MILLION = 1_000_000
_ONE_REQUEST = 100_000
"""So many tokens are priced at once: the library takes a whole session for one long request, which costs more each."""
_TELL_TOKENS_ONLY = (AgentKind.CODEX, AgentKind.GEMINI)
"""So does Amp, but what it is asked for is a mode of its own, which says nothing of the price."""
_PROVIDERS = {AgentKind.CODEX: "openai", AgentKind.GEMINI: "google", AgentKind.CLAUDE: "anthropic"}


def with_cost(
    report: AgentReport, kind: AgentKind, prices: Mapping[str, Price], *, model: str | None = None
) -> AgentReport:
    """Returns a report with what its session cost, if that can be known.

    The settings' `prices` go before the library's; `model` counts where the report names none.
    """
    used = report.model or model
    if report.cost is not None or not report.tokens or used is None:
        return report
    report = replace(report, model=used)
    source = OWN if used in prices else LIBRARY
    cost = (
        _by_price(report, prices[used])
        if used in prices
        else _by_library(report.usage, report.cached_tokens, used, kind)
    )
    if cost is None:
        return report
    return replace(report, cost=cost, usage=report.usage._replace(cost=cost), cost_source=source)


class Priced(Enum):
    """What can be said beforehand of the cost of an agent's sessions."""

    YES = "yes"
    NO_MODEL = "no model"
    NO_PRICE = "no price"


def foresee(agent: AgentSpec, prices: Mapping[str, Price], *, is_chosen: bool) -> Priced:
    """Returns whether it will be known what an agent's sessions cost; what reports no tokens costs nothing.

    A command whose model has no price may tell its cost itself, which is not relied on for a limit that somebody chose.
    """
    is_command = agent.kind is AgentKind.COMMAND
    model = agent.model
    if model is None:
        return Priced.NO_MODEL if agent.kind is AgentKind.CODEX else Priced.YES
    if agent.kind not in _TELL_TOKENS_ONLY and not (is_command and is_chosen):
        return Priced.YES
    is_known = model in prices or _by_library(Usage(tokens_in=1), 0, model, agent.kind) is not None
    return Priced.YES if is_known else Priced.NO_PRICE


def _by_price(report: AgentReport, price: Price) -> float | None:
    if price.input is None or price.output is None:
        return None
    cached = min(report.cached_tokens, report.usage.tokens_in)
    fresh = report.usage.tokens_in - cached
    per_cached = price.input if price.cached is None else price.cached
    dollars = fresh * price.input + cached * per_cached + report.usage.tokens_out * price.output
    return round(dollars / _MILLION, 6)


def _by_library(usage: Usage, cached_tokens: int, model: str, kind: AgentKind) -> float | None:
    """Returns the library's price, None where it knows none; a provider that lacks the model leaves it to all."""
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    parts = max(1, -(-usage.tokens_in // _ONE_REQUEST))
    tokens_in = usage.tokens_in // parts
    tokens = Tokens(
        input_tokens=tokens_in,
        output_tokens=usage.tokens_out // parts,
        cache_read_tokens=min(cached_tokens // parts, tokens_in),
    )
    for provider in dict.fromkeys((_PROVIDERS.get(kind), None)):
        try:
            found = calc_price(tokens, model_ref=model, provider_id=provider)
        except (LookupError, ValueError):
            continue
        return round(float(found.total_price) * parts, 6)
    return None
