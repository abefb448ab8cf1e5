"""Merging a task's file: symmetric to the byte, nothing lost, nothing mixed, nothing invented."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitticks.document.fields import written
from gitticks.document.merging.task import MergedFile, is_conflicted
from gitticks.document.taskfile import TaskFile
from gitticks.model.notes import Entry, Section, open_questions
from gitticks.model.status import Status
from gitticks.store.merging.task import merge_task
from gitticks.workflow.bundle import BUNDLE_FIELDS, BUNDLE_SECTIONS
from tests.support.versions import PATH, Versions, make_base, parse, versions

WORD = re.compile(r"\w+")
OWN_WORDS = {"gitticks", "conflict", "version", "of", "end", "unknown", "time", "markdown"}


def merge(base: bytes | None, ours: bytes, theirs: bytes) -> MergedFile:
    merged = merge_task(base, ours, theirs, PATH)
    assert merged is not None
    return merged


def entries(data: bytes) -> list[Entry]:
    file = parse(data)
    return [*file.entries(Section.NOTES), *file.entries(Section.QUESTIONS)]


def bundle(data: bytes) -> tuple[object, ...]:
    file = parse(data)
    return (
        *(getattr(file.task, name) for name in sorted(BUNDLE_FIELDS)),
        *(file.section(section) for section in BUNDLE_SECTIONS),
    )


def keys(data: bytes) -> set[str]:
    return {pair.key.text for pair in parse(data).frontmatter.tree.pairs}


@given(versions())
@settings(max_examples=60)
def test_both_ways_give_the_same_bytes(made: Versions) -> None:
    ours, theirs = made.sides
    assert merge(made.base, ours, theirs) == merge(made.base, theirs, ours)


@given(versions())
def test_a_side_without_changes_takes_the_other_byte_for_byte(made: Versions) -> None:
    ours, _ = made.sides
    assert merge(made.base, ours, made.base).data == ours
    assert merge(made.base, made.base, ours).data == ours
    assert merge(made.base, ours, ours).data == ours


@given(versions())
@settings(max_examples=60)
def test_a_result_merged_again_stays(made: Versions) -> None:
    ours, theirs = made.sides
    merged = merge(made.base, ours, theirs).data
    for side in (ours, theirs):
        again = merge(made.base, merged, side).data
        assert bundle(again) == bundle(merged)
        assert sorted(map(repr, entries(again))) == sorted(map(repr, entries(merged)))
        if len({parse(one).task.updated for one in made.sides}) > 1:
            assert again == merged
        else:
            assert written(parse(again).task) == written(parse(merged).task)


@given(versions())
@settings(max_examples=60)
def test_nothing_is_lost_and_nothing_invented(made: Versions) -> None:
    merged = merge(made.base, *made.sides)
    result = entries(merged.data)
    for side in made.sides:
        assert not [one for one in entries(side) if one not in result]
        own = {key for key in keys(side) if key in ("mine", "theirs", "team", "estimate")}
        assert own <= keys(merged.data)
        for comment in re.findall(rb"(?m)^# .*?\r?$", side):
            assert comment in merged.data
    assert len(result) == len({repr(one) for side in made.sides for one in entries(side)})
    known = {word for text in made.sides for word in WORD.findall(text.decode())}
    # A file with marked versions is a second younger than they are.
    words = WORD.findall(re.sub(rb"(?m)^updated: .*$", b"updated", merged.data).decode())
    assert set(words) <= known | OWN_WORDS


@given(versions())
@settings(max_examples=60)
def test_the_bundle_is_that_of_one_side(made: Versions) -> None:
    ours, theirs = made.sides
    result = bundle(merge(made.base, ours, theirs).data)
    assert result in (bundle(ours), bundle(theirs))
    if bundle(ours) == bundle(made.base):
        assert result == bundle(theirs)


@given(versions())
@settings(max_examples=50)
def test_a_text_of_the_other_side_stands_or_is_marked(made: Versions) -> None:
    merged = merge(made.base, *made.sides)
    text = merged.data.decode()
    for side in made.sides:
        for name in ("Context", "Plan", "Risks"):
            for line in (parse(side).section(name) or "").splitlines():
                is_old = line in made.base.decode()
                assert is_old or line in text
    assert bool(merged.conflicts) == is_conflicted(parse(merged.data))


@given(versions())
@settings(max_examples=50)
def test_an_open_question_is_never_answered_by_a_merge(made: Versions) -> None:
    def still_open(data: bytes) -> set[str]:
        return {one.text for one in open_questions(parse(data).entries(Section.QUESTIONS))}

    merged = still_open(merge(made.base, *made.sides).data)
    answered = [
        {one.text for one in parse(side).entries(Section.QUESTIONS)} - still_open(side) for side in made.sides
    ]
    for side in made.sides:
        assert still_open(side) - answered[0] - answered[1] <= merged


@given(versions(count=3))
@settings(max_examples=50)
def test_three_clones_end_with_the_same_whoever_merges_first(made: Versions) -> None:
    one, two, three = made.sides
    left = merge(made.base, merge(made.base, one, two).data, three)
    right = merge(made.base, one, merge(made.base, two, three).data)
    # Where only the time of the last write tells two states apart, it is that of whatever was written last.
    moved = [parse(side).task for side in made.sides if bundle(side) != bundle(made.base)]
    if len({(task.status, task.review_round) for task in moved}) == len(moved):
        assert bundle(left.data) == bundle(right.data)
    assert sorted(map(repr, entries(left.data))) == sorted(map(repr, entries(right.data)))
    assert keys(left.data) == keys(right.data)
    for name in ("labels", "blocked_by"):
        assert set(getattr(parse(left.data).task, name)) == set(getattr(parse(right.data).task, name))


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_any_bytes_are_merged_or_declined(ours: bytes, theirs: bytes) -> None:
    merge_task(make_base(), ours, theirs, PATH)
    merge_task(ours, make_base(), make_base(Status.DONE), PATH)
    assert (
        ours == make_base() or merge_task(None, ours, make_base(), PATH) is None or TaskFile.parse(ours, PATH)
    )


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_section_rewritten_twice_holds_both_texts(newline: str) -> None:
    base = make_base(newline=newline)
    ours, theirs = (base.replace(b"The second line.", text) for text in (b"Ours.", b"Theirs."))
    merged = merge(base, ours, theirs)
    assert merged.conflicts == ("## Context",)
    assert is_conflicted(parse(merged.data))
    assert b"Ours." in merged.data
    assert b"Theirs." in merged.data
    settled = ours.replace(b"Ours.", b"Settled.")
    assert merge(merged.data, settled, merged.data).data == settled
    assert not is_conflicted(parse(settled))
