"""The words of the enums as text."""

from __future__ import annotations

from gitticks.model import words
from gitticks.model.notes import Section
from gitticks.model.status import Status


def test_the_words_are_those_of_the_enums() -> None:
    assert frozenset(Status) == words.STATUSES
    assert tuple(Section) == words.SECTIONS
    for member in (*Status, *Section):
        assert getattr(words, member.name) == member
        assert hash(member) == hash(str(member))
