from __future__ import annotations

import pytest

from gitticks.actions.routing import Person

ADA = Person.of("Ada Lovelace", "ada.l@example.org")


@pytest.mark.parametrize(
    "reviewer",
    [
        None,
        "",
        " , ",
        "Ada Lovelace",
        "ada  lovelace",
        "Ada",
        "LOVELACE",
        "ada.l@example.org",
        "ada.l",
        "@ada.l",
        "Ada Lovelace <ada.l@example.org>",
        "Grace, Ada",
    ],
)
def test_it_is_this_persons_turn(reviewer: str | None) -> None:
    assert ADA.is_asked(reviewer)


@pytest.mark.parametrize("reviewer", ["Grace", "Ad", "example.org", "ada.l@example.com", "Grace, Alan"])
def test_it_is_somebody_elses_turn(reviewer: str) -> None:
    assert not ADA.is_asked(reviewer)
