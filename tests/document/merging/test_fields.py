"""Frontmatter of three versions: key by key, with the bytes of the side that each comes from."""

from __future__ import annotations

import pytest

from gitticks.document.frontmatter import Frontmatter, split
from gitticks.document.merging.fields import MergedFields, merge_frontmatter, merge_settings
from gitticks.errors import DocumentError

HEAD = "id: k7f2\ntitle: Say hello\nstatus: working\n"


def front(yaml: str) -> Frontmatter:
    return split(f"---\n{HEAD}{yaml}---\n".encode(), "f")


def merge(base: str | None, frame: str, guest: str, *, later: bool = False) -> MergedFields:
    return merge_frontmatter(
        None if base is None else front(base),
        front(frame),
        front(guest),
        bundle=frozenset({"status", "awaiting"}),
        guest_is_later=later,
    )


@pytest.mark.parametrize(
    ("base", "frame", "guest", "merged"),
    [
        ("", "agent: a\n", "model: m\n", "model: m\nagent: a\n"),
        (
            "agent: a # why\n",
            "agent: a # why\nmodel: m\n",
            "agent: a # because\n",
            "agent: a # because\nmodel: m\n",
        ),
        ("agent: a\n", "# one\nagent: a\n", "# two\nagent: a\n", "# one\n# two\nagent: a\n"),
        ("agent: a\n", "", "agent: a\n", ""),
        ("# about it\nagent: a\n", "# about it\nagent: a\nmodel: m\n", "# kept\n", "model: m\n# kept\n"),
        ("mine: a\n", "", "mine: b\n", "mine: b\n"),
        (
            "mine: |\n  a\n  b\n",
            "mine: |\n  a\n  b\nagent: x\n",
            "mine: |\n  a\n  c\n",
            "mine: |\n  a\n  c\nagent: x\n",
        ),
        ("mine: {a: 1}\n", "mine: {a: 1, b: 2}\n", "mine: {a: 1, c: 3}\n", "mine: {a: 1, b: 2, c: 3}\n"),
        ("mine:\n  a: 1\n  b: 2\n", "mine:\n  a: 9\n  b: 2\n", "mine:\n  a: 1\n", "mine:\n  a: 9\n"),
        ("labels: [a, b]\n", "labels: [b]\n", "labels: [a, b, c]\n", "labels: [b, c]\n"),
        ("labels: [a]\n", "labels: [a, b]\n", "", "labels: [b]\n"),
        ("labels: [a]\n", "", "labels: [a]\nagent: x\n", "agent: x\n"),
        (
            "labels:\n- a # first\n",
            "labels:\n- a # first\n- b\n",
            "labels:\n- a # first\n- c\n",
            "labels:\n- a # first\n- b\n- c\n",
        ),
        ("awaiting: work\n", "", "awaiting: input\n", ""),
        ("agent: ~\n", "agent: ~\nmodel: m\n", "", "model: m\n"),
        ("agent: a\n", "agent: b\n", "agent: a  # why\n", "agent: b  # why\n"),
        ("agent: a\n", "agent: a  # why\n", "agent: 'b'\n", "agent: b  # why\n"),
        ("agent: a # old\n", "agent: b # old\n", "agent: a # new\n", "agent: b # new\n"),
        ("agent: a\n", "agent: b # mine\n", "agent: a # theirs\n", "agent: b # mine\n"),
        ("agent: a\n", "", "agent: a # why\n", ""),
        ("awaiting: work\n", "awaiting: input\n", "awaiting: work # why\n", "awaiting: input # why\n"),
        ("labels:\n- a\n", "labels:\n- a\n- b\n", "labels:\n- a # first\n", "labels:\n- a # first\n- b\n"),
        (
            "mine:\n  a: 1\n  b: 2\n",
            "mine:\n  a: 1\n  b: 3\n",
            "mine:\n  a: 1 # one\n  b: 2\n",
            "mine:\n  a: 1 # one\n  b: 3\n",
        ),
        (
            "setup:\n  run: |\n    a\n    b\n  x: 1\n",
            "setup:\n  run: |\n    a\n\n    c\n  x: 1\n",
            "setup:\n  run: |\n    a\n    b\n  x: 1  # one\n",
            "setup:\n  run: |\n    a\n\n    c\n  x: 1  # one\n",
        ),
        ("# why\nagent: a\n", "# why\nagent: b\n", "agent: a\n", "agent: b\n"),
        ("# why\nagent: a\n", "agent: a\n", "# why\nagent: b\n", "agent: b\n"),
    ],
)
def test_keys(base: str, frame: str, guest: str, merged: str) -> None:
    found = merge(base, frame, guest)
    assert found.frontmatter.yaml.startswith("id: k7f2\n")
    assert found.frontmatter.yaml.removeprefix(HEAD) == merged
    assert found.overridden == ()


@pytest.mark.parametrize("later", [True, False])
def test_of_two_values_the_later_stands(later: bool) -> None:
    found = merge("agent: a\n", "agent: b\n", "agent: c\n", later=later)
    assert found.frontmatter.yaml == f"{HEAD}agent: {'c' if later else 'b'}\n"
    assert found.overridden == ("agent",)
    nested = merge("mine: {a: 1}\n", "mine: {a: 2}\n", "mine: {a: 3}\n", later=later)
    assert nested.frontmatter.yaml == f"{HEAD}mine: {{a: {3 if later else 2}}}\n"
    assert nested.overridden == ("mine.a",)


@pytest.mark.parametrize("text", ["human: {}\n", "verify: {{test: {}, build: b}}\n"])
@pytest.mark.parametrize("is_swapped", [True, False])
def test_a_setting_that_one_side_removed_and_the_other_changed_is_told(text: str, is_swapped: bool) -> None:
    rest = "parallel: 2\n"
    removed = rest if text.startswith("human") else f"verify: {{build: b}}\n{rest}"
    sides = (removed, text.format("two") + rest)
    found, told = merge_settings(text.format("one") + rest, *(sides[::-1] if is_swapped else sides))
    assert "two" in found
    assert told == (("human",) if text.startswith("human") else ("verify.test",))


def test_the_later_time_stands_whoever_writes_the_rest() -> None:
    times = [f"updated: 2026-01-0{day}T00:00:00Z\n" for day in (1, 2, 3)]
    assert merge(*times, later=True).frontmatter.yaml == HEAD + times[2]
    assert merge(times[0], times[2], times[1]).frontmatter.yaml == HEAD + times[2]


def test_without_a_base_both_count_as_new() -> None:
    found = merge(None, "labels: [a]\nagent: x\n", "labels: [b]\nmodel: m\n")
    assert set(found.frontmatter.yaml.removeprefix(HEAD).splitlines()) == {
        "labels: [a, b]",
        "agent: x",
        "model: m",
    }


def test_yaml_in_one_pair_of_braces_is_declined() -> None:
    flow = split(b"---\n{id: k7f2, title: T}\n---\n", "f")
    with pytest.raises(DocumentError, match="one key a line"):
        merge_frontmatter(None, flow, front(""), bundle=frozenset(), guest_is_later=False)


def test_a_mapping_that_takes_very_much_from_the_other_side_is_refused_rather_than_taking_minutes() -> None:
    base, frame, guest = (
        f"mine: {{{', '.join(f'a{one}: {word}' for one in range(60))}}}\n" for word in "abc"
    )
    with pytest.raises(DocumentError, match="cannot be merged key by key"):
        merge(base, frame, guest, later=True)
    assert merge(base, frame, guest).frontmatter.yaml == HEAD + frame
