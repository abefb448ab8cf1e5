"""Figures in words that lines and pages share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitticks.actions.statistics.figures import HALF, MOST, Figures, share
from gitticks.cli.render import count_of, elapsed

if TYPE_CHECKING:
    from gitticks.actions.statistics.figures import Period, Statistics

NO_EPIC, NO_AGENT = "(no epic)", "(no agent)"
_THOUSAND, _MILLION = 1_000, 1_000_000


def money(dollars: float) -> str:
    """Returns `$1.50`."""
    return f"${dollars:,.2f}"


def short_number(number: int) -> str:
    """Returns `950`, `84 k`, `1.2 M`."""
    if number >= _MILLION:
        return f"{number / _MILLION:,.1f} M"
    return f"{number // _THOUSAND} k" if number >= _THOUSAND else str(number)


def typical(seconds: Sequence[float]) -> str:
    """Returns the median of some durations; empty if there are none."""
    middle = share(seconds, HALF)
    return "" if middle is None else elapsed(middle)


def period_words(period: Period) -> str:
    """Returns `since 2026-10-25`, or that it is all."""
    if period.since is None:
        return "since the beginning"
    return f"since {period.since.astimezone().date().isoformat()}"


def summary(found: Statistics) -> list[tuple[str, str]]:
    """Returns what all tasks come to, each with what it is about."""
    total = found.total
    counts = f"{total.done} done, {total.cancelled} cancelled, {total.created} created; {total.open} open now"
    told = [
        ("tasks", counts),
        ("from creation to done", lead(total)),
        ("waiting for people", waiting(total)),
    ]
    told += [
        (f"  {one.kind}", f"{elapsed(sum(one.seconds))} in {count_of(len(one.seconds), 'wait')}")
        for one in found.waits
    ]
    if total.sessions:
        told += [("agents", agents(total)), ("spent", spent(total))]
    return told


def lead(figures: Figures) -> str:
    """Returns how long it took to get things done."""
    most = share(figures.lead_seconds, MOST)
    if most is None:
        return "nothing was done"
    return f"{typical(figures.lead_seconds)} is the median, nine of ten within {elapsed(most)}"


def waiting(figures: Figures) -> str:
    """Returns how long people were waited for."""
    if not figures.wait_seconds:
        return "nothing waited"
    told = (
        f"{elapsed(figures.waited_seconds)} in {count_of(len(figures.wait_seconds), 'wait')}, "
        f"median {typical(figures.wait_seconds)}"
    )
    return f"{told}; {figures.waiting} still waiting" if figures.waiting else told


def agents(figures: Figures) -> str:
    """Returns how often agents worked, and what went wrong."""
    return ", ".join(
        (
            count_of(figures.sessions, "session"),
            count_of(figures.rounds, "round"),
            count_of(figures.failed_reviews, "failed review"),
            count_of(figures.crashes, "crash", "crashes"),
        )
    )


def spent(figures: Figures) -> str:
    """Returns what agents took, as far as they told."""
    usage = figures.usage
    told = [money(usage.cost)] if usage.cost else []
    if usage.tokens_in or usage.tokens_out:
        told.append(f"{short_number(usage.tokens_in)} tokens in, {short_number(usage.tokens_out)} out")
    return ", ".join((*told, f"{elapsed(usage.seconds)} of agent time"))


COLUMNS = ("open", "done", "lead", "waited", "rounds", "failed", "crashes", "tokens", "cost")


def row(figures: Figures) -> list[str]:
    """Returns the figures of an epic or an agent, in the order of `COLUMNS`; most of those that are zero are left empty."""
    tokens = figures.usage.tokens_in + figures.usage.tokens_out
    return [
        str(figures.open),
        str(figures.done),
        typical(figures.lead_seconds),
        elapsed(figures.waited_seconds) if figures.wait_seconds else "",
        str(figures.rounds or ""),
        str(figures.failed_reviews or ""),
        str(figures.crashes or ""),
        short_number(tokens) if tokens else "",
        money(figures.usage.cost) if figures.usage.cost else "",
    ]
