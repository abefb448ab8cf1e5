from __future__ import annotations

import pytest

from gitticks.document.frontmatter import Frontmatter, split
from gitticks.document.misnamed import misnamed_keys
from gitticks.model.task import HUMAN_FIELDS


def _file(lines: str) -> Frontmatter:
    return split(f"---\nid: k7f2\n{lines}---\nText.\n".encode(), "TASK.md")


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("priorty", "priority"),
        ("label", "labels"),
        ("blocked-by", "blocked_by"),
        ("deferred_until", "defer_until"),
        ("statsu", "status"),
        ("Title", "title"),
    ],
)
def test_a_key_that_is_nearly_a_field_is_told_with_its_line(key: str, meant: str) -> None:
    assert misnamed_keys(_file("title: A\n"), _file(f"title: A\n{key}: x\n")) == (
        f"TASK.md:4: `{key}` is no field, and does nothing: did you mean `{meant}`?",
    )
    assert misnamed_keys(_file(f"{key}: x\n"), _file(f"{key}: y\n")) == ()
    assert len(misnamed_keys(None, _file(f"{key}: y\n"))) == 1


@pytest.mark.parametrize(
    "key", [*sorted(HUMAN_FIELDS), "status", "manual", "base", "pr", "due", "sprint", "estimate", "team", "Ü"]
)
def test_fields_and_keys_of_ones_own_are_none(key: str) -> None:
    assert misnamed_keys(None, _file(f"{key}: x\n")) == ()
