"""Sections of three versions: each by itself, and never one inside another."""

from __future__ import annotations

import pytest

from gitticks.document.merging.task import WHOLE, MergedBody, merge_body
from gitticks.document.merging.three_way import conflict_line
from gitticks.document.sections import Body
from gitticks.document.texts import Source


def body(text: str) -> Body:
    return Body(Source(text, "f"), "\r\n" if "\r\n" in text else "\n")


def merge(base: str | None, frame: str, guest: str, *bundle: str) -> MergedBody:
    return merge_body(
        None if base is None else body(base),
        body(frame),
        body(guest),
        bundle=frozenset(bundle),
        times=("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"),
    )


@pytest.mark.parametrize(
    ("base", "frame", "guest", "merged"),
    [
        (
            "\n## A\n\na\n\n## B\n\nb\n",
            "\n## A\n\nA\n\n## B\n\nb\n",
            "\n## A\n\na\n\n## B\n\nB\n",
            "\n## A\n\nA\n\n## B\n\nB\n",
        ),
        ("\n## A\n\na\n", "\n## A\n\nA\n", "\n## A\n\na\n\n## C\n\nc\n", "\n## A\n\nA\n\n## C\n\nc\n"),
        ("\n## A\n\na\n", "\n## A\n\nA", "\nWords.\n\n## A\n\na\n", "\nWords.\n\n## A\n\nA"),
        (
            "\n## A\n\na\n\n## B\n\nb\n",
            "\n## B\n\nb\n",
            "\n## A\n\nA\n\n## B\n\nb\n",
            "\n## A\n\nA\n\n## B\n\nb\n",
        ),
        (
            "\n## A\n\na\n\n## B\n\nb\n",
            "\n## B\n\nb\n\n## A\n\na\n",
            "\n## A\n\nA\n\n## B\n\nb\n",
            "\n## B\n\nb\n\n## A\n\nA\n",
        ),
        (
            "\n# Top\n\nt\n\n## A\n\na\n",
            "\n# Top\n\nT\n\n## A\n\na\n",
            "\n# Top\n\nt\n\n## A\n\nA\n",
            "\n# Top\n\nT\n\n## A\n\nA\n",
        ),
        (
            "\n## A\n\none\n\n## A\n\ntwo\n",
            "\n## A\n\nONE\n\n## A\n\ntwo\n",
            "\n## A\n\none\n\n## A\n\nTWO\n",
            "\n## A\n\nONE\n\n## A\n\nTWO\n",
        ),
        (
            "\nA\n---\n\na\n",
            "\nA\n---\n\nA\n",
            "\nA\n---\n\na\n\nB\n---\n\nb\n",
            "\nA\n---\n\nA\n\nB\n---\n\nb\n",
        ),
        ("", "\n## A\n\na\n", "\n## B\n\nb\n", None),
    ],
)
def test_sections(base: str, frame: str, guest: str, merged: str | None) -> None:
    found = merge(base, frame, guest)
    assert not found.conflicts
    if merged is not None:
        assert found.text == merged


def test_sections_of_the_bundle_are_the_frames() -> None:
    found = merge("\n## H\n\nh\n", "\n## H\n\nours\n", "\n## H\n\ntheirs\n\n## R\n\nr\n", "h", "r")
    assert found == MergedBody("\n## H\n\nours\n", ())


def test_line_breaks_are_the_frames() -> None:
    found = merge("\n## A\n\na\n", "\r\n## A\r\n\r\na\r\n", "\n## A\n\na\n\n## B\n\nb\n")
    assert found.text == "\r\n## A\r\n\r\na\r\n\r\n## B\r\n\r\nb\r\n"


def test_what_both_wrote_stands_twice_and_again_once() -> None:
    base, one, other, third = (f"\n## A\n\n{text}\n" for text in ("a", "one", "other", "third"))
    found = merge(base, one, other)
    assert found.conflicts == ("## A",)
    assert conflict_line(Source(found.text, "f")) == 4
    assert merge(base, found.text, other).text == found.text
    again = merge(base, found.text, third).text
    assert [again.count(f"\n{text}\n") for text in ("one", "other", "third")] == [1, 1, 1]
    assert again.count("gitticks conflict") == 4


@pytest.mark.parametrize("open_text", ["```\ncode", "<!-- open", "text\n\n~~~~\nmore"])
def test_a_text_that_hides_what_follows_loses_nothing(open_text: str) -> None:
    base = "\n## A\n\na\n\n## B\n\nb\n"
    for frame, guest in (
        (f"\n## A\n\n{open_text}\n", "\n## A\n\nother\n\n## B\n\nb\n"),
        ("\n## A\n\nother\n\n## B\n\nB\n", f"\n## A\n\na\n\n## B\n\n{open_text}\n"),
        (f"\n## A\n\n{open_text}\n", "\n## A\n\na\n\n## B\n\nB\n"),
    ):
        found = merge(base, frame, guest)
        for line in (*frame.split("\n"), *guest.split("\n")):
            assert line in found.text or line in base
        assert not found.conflicts or conflict_line(Source(found.text, "f")) is not None
        assert WHOLE in found.conflicts or "other" in found.text or "B" in found.text


def test_entries_that_hide_what_follows_are_made_safe() -> None:
    note = "### 2026-01-0{}T00:00:00Z · human · Ada\n\n{}\n"
    base = "\n## Notes\n\n" + note.format(1, "first")
    frame = base + "\n" + note.format(3, "last")
    guest = base + "\n" + note.format(2, "```\nopen")
    found = merge(base, frame, guest)
    assert not found.conflicts
    assert found.text.index("open") < found.text.index("last")
    assert len(body(found.text).headings) == 4
