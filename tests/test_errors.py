from __future__ import annotations

from gitticks.errors import first_of


def test_the_first_are_named_and_the_others_counted() -> None:
    assert first_of(["a", "b"], 2) == "a, b"
    assert first_of(["a", "b", "c"], 2) == "a, b and 1 more"
    assert first_of(("a", "b", "c", "d"), 2, between="; ") == "a; b and 2 more"
