from __future__ import annotations

import pytest

from gitticks.actions.routing import Person, names_reviewer

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


@pytest.mark.parametrize(
    ("reviewer", "name", "is_named"),
    [
        ("Grace", "grace", True),
        ("Ada, @Grace  Hopper", "Grace Hopper", True),
        ("Grace Hopper", "Grace", False),
        ("", "Grace", False),
        (None, "Grace", False),
    ],
)
def test_who_is_named(reviewer: str | None, name: str, is_named: bool) -> None:
    assert names_reviewer(reviewer, name) is is_named
