"""Generated files: what a write does not concern stays, and any input is a value or an error."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitticks.document.fields import written
from gitticks.document.taskfile import TaskFile
from gitticks.errors import DocumentError
from gitticks.model.notes import Entry, ReviewOutcome, Section
from gitticks.model.status import ActorKind, Awaiting, Status
from gitticks.model.task import Approval, Usage

AT = datetime(2026, 11, 22, 10, 2, 3, tzinfo=UTC)

FRONTMATTER = st.lists(
    st.sampled_from(
        [
            "# comment",
            "",
            "status: 'working'  # now",
            'labels: [a, "b"]',
            "labels:\n- a # x\n-  b",
            "mine: |+\n  text\n\n",
            "other: >-\n  folded\n  text",
            "more: {a: [1, 2], b: c}",
            "usage:\n  cost: 1 # dollars\n  own: x",
            "reviewer:   # nobody",
            'agent: "cl\\u0061ude"',
            "model: plain\n  text",
            "ünï: é 🎉",
        ]
    ),
    unique_by=lambda line: line.partition(":")[0] or line,
    max_size=8,
)
BODY = st.lists(
    st.sampled_from(
        [
            "# H",
            "H",
            "===",
            "---",
            "## Context",
            "## Handoff",
            "## Notes",
            "## handoff",
            "text",
            "```",
            "~~~",
            "<!-- x -->",
        ]
    )
    | st.sampled_from(
        [
            "<!--",
            "> ## q",
            "- l",
            "a\u2028## b",
            "c\x85d",
            "### 2026-11-22 · human · Ada",
            "",
            "",
            "é 🎉",
            "\x0c",
        ]
    ),
    max_size=12,
)
FILES = st.builds(
    lambda mark, lines, body, newline, ends: (
        mark
        + newline.join(["---", "id: a1", "title: T", *lines, "---", *body])
        .replace("\n", newline)
        .replace("\r\r", "\r")
        + (newline if ends else "")
    ),
    st.sampled_from(["", "\ufeff"]),
    FRONTMATTER,
    BODY,
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
FIELD_CHANGES = st.sampled_from(
    [
        {"status": Status.DONE},
        {"title": "no: #1 \u202e"},
        {"labels": ("b", "x, y")},
        {"labels": ()},
        {"usage": Usage(iterations=2)},
        {"usage": Usage()},
        {"reviewer": "Ada", "agent": None},
        {"model": "null"},
        {"awaiting": Awaiting.INPUT, "asked_at": AT},
        {"approval": Approval("Ada", AT, "ab" * 20)},
        {"agent_sessions": {"claude": "1"}},
    ]
)


@given(FILES)
def test_parsing_loses_no_byte(text: str) -> None:
    assert TaskFile.parse(text.encode(), "f").data == text.encode()


@given(FILES, FIELD_CHANGES)
@settings(max_examples=120)
def test_a_field_changes_and_no_other_byte(text: str, change: dict[str, object]) -> None:
    before = TaskFile.parse(text.encode(), "f")
    task = replace(before.task, **change)  # type: ignore[arg-type]
    after = before.with_task(task)
    assert written(after.task) == written(task)
    assert after.body.text == before.body.text
    assert (after.frontmatter.opening, after.frontmatter.closing) == (
        before.frontmatter.opening,
        before.frontmatter.closing,
    )
    kept = [
        line
        for line in before.frontmatter.yaml.splitlines(keepends=True)
        if line.startswith(("#", "mine", "other", "more", "ünï", "  text", "  folded"))
        and not (line.startswith("  text") and "model" in change)
    ]
    remaining = iter(after.frontmatter.yaml.splitlines(keepends=True))
    assert all(line in remaining for line in kept)
    assert TaskFile.parse(after.data, "f") == after


@given(
    FILES,
    st.sampled_from([Section.HANDOFF, Section.NOTES, Section.CONTEXT]),
    st.sampled_from(["done", "### a\n\nb"]),
)
@settings(max_examples=120)
def test_a_section_changes_and_no_other_byte(text: str, section: Section, new: str) -> None:
    before = TaskFile.parse(text.encode(), "f")
    try:
        after = before.with_section(section, new)
    except DocumentError:
        return
    assert after.section(section) == new
    assert after.frontmatter.yaml == before.frontmatter.yaml
    assert after.task == before.task
    if before.body.find(section):
        block = before.body.find(section)[-1]
        assert after.body.text.startswith(before.body.text[: block.text_start])
        assert after.body.text.endswith(before.body.text[block.end :])
    else:
        added = after.body.find(section)[-1]
        rest = after.body.text[: added.start].rstrip("\r\n") + after.body.text[added.end :]
        assert rest.replace("\r", "").replace("\n", "") == before.body.text.replace("\r", "").replace(
            "\n", ""
        )
    assert TaskFile.parse(after.data, "f") == after


@given(FILES, st.sampled_from(["text", "## Review\nPASS", "```\nopen", "x\n---\n<!--"]))
@settings(max_examples=80)
def test_an_entry_is_added_to_any_file_or_refused_whole(text: str, note: str) -> None:
    before = TaskFile.parse(text.encode(), "f")
    try:
        after = before.with_entry(Section.NOTES, Entry(AT, ActorKind.AGENT, "claude", note))
    except DocumentError:
        return
    assert after.entries(Section.NOTES)[:-1] == before.entries(Section.NOTES)
    assert after.entries(Section.NOTES)[-1].text == note
    assert after.section(Section.REVIEW) == before.section(Section.REVIEW)


def parses_or_is_refused(data: bytes) -> None:
    try:
        file = TaskFile.parse(data, "f")
    except DocumentError as error:
        message = str(error)
    else:
        check_readable(file, data)
        return
    assert message.startswith("f:")


def check_readable(file: TaskFile, data: bytes) -> None:
    assert file.data == data
    assert file.review_outcome in ReviewOutcome
    assert file.warnings is not None
    assert file.entries(Section.NOTES) is not None


@given(st.binary(max_size=200))
def test_any_bytes_are_a_file_or_an_error(data: bytes) -> None:
    parses_or_is_refused(data)
    parses_or_is_refused(b"---\nid: a\ntitle: T\n" + data)
    parses_or_is_refused(b"---\nid: a\ntitle: T\n" + data + b"\n---\n")
    parses_or_is_refused(b"---\nid: a\ntitle: T\n---\n" + data)


@given(
    st.lists(
        st.sampled_from(
            [
                "a: ",
                "- ",
                "[",
                "]",
                "{",
                "}",
                "&a ",
                "*a",
                "!!str ",
                "|",
                ">",
                "'",
                '"',
                "\\u",
                "\n",
                "  ",
                "#",
                "? ",
                ": ",
            ]
        )
        | st.sampled_from(
            [
                ",",
                "%YAML 1.1\n",
                "---\n",
                "...\n",
                "\t",
                "x",
                "id: b\n",
                "<<: ",
                "\u2028",
                "é",
                "usage: ",
                "labels: ",
                "2026-",
            ]
        ),
        max_size=20,
    ).map("".join)
)
@settings(max_examples=200)
@example("a: " + "[" * 2000)
@example("a: " + "[" * 500)
@example("[" * 250 + "{" * 250)
@example("".join(" " * n + "k:\n" for n in range(300)))
@example("- " * 30_000)
@example("a: [" + "a, " * 20_000 + "]")
@example("a: &a [b]\n" + "".join(f"a{n}: [*a, *a]\n" for n in range(100)))
@example("".join(f"k{n}: 1\n" for n in range(6000)))
@example("usage: {cost: " + "9" * 5000 + "}")
@example("created: 0001-01-01T00:00:00+14:00")
@example('title2: "\\ud800"')
def test_any_yaml_is_a_file_or_an_error(yaml: str) -> None:
    parses_or_is_refused(f"---\nid: a\ntitle: T\n{yaml}\n---\ntext\n".encode())


@pytest.mark.parametrize(
    "part",
    [
        "- a\n",
        "> ",
        "[a]: \n",
        "## a\n",
        "```\n",
        "<!--\n",
        "a\n---\n",
        "1. ",
        "### 2026-11-22 · human · A\n",
    ],
)
def test_a_hostile_body_has_an_end(part: str) -> None:
    count = min(19_000 // max(1, part.count("\n")), 900_000 // len(part.encode()))
    parses_or_is_refused(b"---\nid: a\ntitle: T\n---\n## Notes\n" + (part * count).encode())
