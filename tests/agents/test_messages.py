"""Remembering what an agent said, within a bound."""

from __future__ import annotations

from gitticks.agents.messages import Messages


def test_the_latest_messages_are_kept() -> None:
    messages = Messages(largest_total=1000)
    for number in range(100):
        messages.add(f"message {number}")
    kept = messages.as_tuple()
    assert kept == tuple(f"message {number}" for number in range(100 - len(kept), 100))
    assert 5 < len(kept) < 10
    assert messages.last == "message 99"


def test_a_message_that_is_too_long_keeps_its_end() -> None:
    messages = Messages(largest_total=1000)
    messages.add("x" * 5000 + "end")
    assert messages.as_tuple() == ("x" * 997 + "end",)


def test_a_message_may_grow() -> None:
    messages = Messages(largest_total=1000)
    assert messages.last is None
    messages.extend_last("a")
    for _ in range(3000):
        messages.extend_last("bc")
    assert messages.as_tuple() == ("bc" * 500,)
