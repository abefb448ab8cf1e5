"""Escaped text makes no structure and comes back as it was."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitticks.document.entries import (
    add_entry,
    escape,
    find_loose_text,
    normalised,
    read_entries,
    unescape,
)
from gitticks.document.section_edits import set_section
from gitticks.document.sections import Body
from gitticks.document.texts import Source
from gitticks.errors import DocumentError
from gitticks.model.notes import Entry, Section
from gitticks.model.status import ActorKind

LINES = (
    st.sampled_from(
        [
            "# a",
            "## b",
            "### c",
            "#### d",
            "#",
            "\\# a",
            "\\\\## b",
            "  # x",
            "    # code",
            "\t# code",
            "text",
            "",
            " ",
        ]
    )
    | st.sampled_from(
        [
            "---",
            "===",
            "-",
            "\\---",
            "```",
            "```sh",
            "~~~",
            "````",
            "\\```",
            "``` a`b",
            "<!--",
            "-->",
            "\\<div>",
        ]
    )
    | st.sampled_from(["<https://x>", "<div>", "- # l", "- ```", "> # q", "  ```", "1. x", "    ```", "#\ta"])
)

AT = datetime(2026, 11, 22, 10, 2, 3, tzinfo=UTC)
ENTRY_LINES = (
    st.sampled_from(
        [
            "# a",
            "## Review",
            "### 2026-11-22T10:02:03Z · human · Ada",
            "\\# a",
            "text",
            "",
            "---",
            "===",
            "```",
            "~~~",
        ]
    )
    | st.sampled_from(
        [
            "````",
            "<!--",
            "-->",
            "<div>",
            "<pre>",
            "<script>",
            "<?x",
            "<!X",
            "<![CDATA[",
            "- l",
            "- ```",
            "> # q",
            "> <!--",
        ]
    )
    | st.sampled_from(
        [
            "  ```",
            "    # c",
            "1. ```",
            "   - ~~~",
            "[r]:",
            "[r]: /u '",
            "PASS",
            "\u2028## x",
            "\x85",
            "|a|b|",
            "é 🎉",
            "\t",
        ]
    )
)
TEXTS = st.lists(ENTRY_LINES, max_size=10).map("\n".join)


@given(st.lists(LINES, max_size=16).map("\n".join), st.booleans())
@settings(max_examples=300)
@example("```\n# a\n", True)
@example("```\n# a\n```", True)
@example("````\n```\n# a\n````\n# b", True)
def test_every_text_comes_back(text: str, keep_fences: bool) -> None:
    assert unescape(escape(text, keep_fences=keep_fences)) == text


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("# a", "\\# a"),
        ("### 2026-01-01T00:00:00Z · human · Ada", "\\### 2026-01-01T00:00:00Z · human · Ada"),
        ("#### a", "#### a"),
        ("a\n---\nb", "a\n\\---\nb"),
        ("a\n\n---", "a\n\n---"),
        ("<!-- a", "\\<!-- a"),
        ("<https://a.b>", "<https://a.b>"),
        ("```sh\n# a\n```\n# b", "```sh\n# a\n```\n\\# b"),
        ("```sh\n# a", "\\```sh\n\\# a"),
        ("\\# a", "\\\\# a"),
        ("plain #a and `# b`", "plain #a and `# b`"),
    ],
)
def test_what_gains_a_backslash(text: str, escaped: str) -> None:
    assert escape(text) == escaped


def test_fences_are_escaped_on_request() -> None:
    assert escape("```\n# a\n```", keep_fences=False) == "\\```\n\\# a\n\\```"


def test_many_openers_cost_no_more_than_their_lines() -> None:
    text = "````a\n" * 20_000 + "```\n"
    assert unescape(escape(text)) == text


def body(text: str, newline: str = "\n") -> Body:
    return Body(Source(text, "f"), newline)


def entry(text: str, kind: ActorKind = ActorKind.AGENT, name: str = "claude") -> Entry:
    return Entry(AT, kind, name, text)


def test_an_entry_is_a_heading_and_its_text() -> None:
    found = add_entry(body("Summary\n"), Section.NOTES, entry("one\n\ntwo\n"))
    assert found.text == "Summary\n\n## Notes\n\n### 2026-11-22T10:02:03Z · agent · claude\n\none\n\ntwo\n"
    assert read_entries(found, Section.NOTES) == (entry("one\n\ntwo"),)
    assert read_entries(found, Section.QUESTIONS) == ()


def test_text_written_by_hand_survives() -> None:
    before = "## Notes\n\nmy own words\n\n### Ideas\n\n- one\n\n## Other\n\nx\n"
    found = add_entry(add_entry(body(before), Section.NOTES, entry("a")), Section.NOTES, entry("b"))
    assert found.text == before.replace(
        "- one\n",
        "- one\n\n### 2026-11-22T10:02:03Z · agent · claude\n\na\n\n### 2026-11-22T10:02:03Z · agent · claude\n\nb\n",
    )
    assert [one.text for one in read_entries(found, Section.NOTES)] == ["a", "b"]


@pytest.mark.parametrize(
    ("heading", "is_entry"),
    [
        ("### 2026-11-22T10:02:03Z · human · Ada Lovelace", True),
        ("### 2026-11-22 11:02:03+01:00 · human · Ada · Lovelace", True),
        ("### 2026-11-22 · engine · gitticks", True),
        ("### yesterday · human · Ada", False),
        ("### 2026-11-22T10:02:03Z · robot · Ada", False),
        ("### 2026-11-22T10:02:03Z · human", False),
        ("#### 2026-11-22T10:02:03Z · human · Ada", False),
        ("> ### 2026-11-22T10:02:03Z · human · Ada", False),
    ],
)
def test_which_headings_begin_an_entry(heading: str, is_entry: bool) -> None:
    assert bool(read_entries(body(f"## Notes\n\n{heading}\n\ntext\n"), Section.NOTES)) is is_entry


@given(
    st.lists(st.tuples(TEXTS, st.sampled_from(ActorKind)), min_size=1, max_size=3),
    st.sampled_from(["\n", "\r\n"]),
)
@settings(max_examples=120)
@example([("- a\n  ```\n# b\n  ```", ActorKind.AGENT)], "\n")
@example([("```\n## Review\nPASS", ActorKind.AGENT), ("x\n---", ActorKind.HUMAN)], "\n")
@example([("# x\n2. ```\n# y", ActorKind.AGENT)], "\n")
def test_entries_come_back_and_forge_nothing(written: list[tuple[str, ActorKind]], newline: str) -> None:
    found = body(newline.join(["", "Summary", "", "## Review", "", "FAIL", "", "## Other", "", "x"]), newline)
    for text, kind in written:
        found = add_entry(found, Section.NOTES, entry(text, kind))
    assert read_entries(found, Section.NOTES) == tuple(
        normalised(entry(text, kind)) for text, kind in written
    )
    assert [block.title for block in found.blocks] == ["Review", "Other", "Notes"]
    assert found.get("Review") == "FAIL"


@given(st.text(st.characters(codec=None), max_size=40), st.text(st.characters(codec=None), max_size=20))
@example("a", "C #")
@example("a", "#")
@example("a", "\\#")
@example("a", "x \\\\## ")
@example("\0\ud800\r\nb\rc", "a\nb · c")
def test_any_text_and_any_name_can_be_written(text: str, name: str) -> None:
    wanted = normalised(entry(text, name=name))
    found = add_entry(body(""), Section.NOTES, entry(text, name=name))
    assert read_entries(found, Section.NOTES) == (wanted,)
    found.text.encode()
    again = add_entry(found, Section.NOTES, wanted)
    assert read_entries(again, Section.NOTES) == (wanted, wanted)


def test_a_nameless_entry_has_a_name() -> None:
    assert normalised(entry("a", name=" \n")).name == "unknown"


@pytest.mark.parametrize("held", ["```\nopen", "<!-- open"])
def test_what_would_swallow_the_entry_is_refused(held: str) -> None:
    with pytest.raises(DocumentError, match="would") as caught:
        add_entry(body(f"## Notes\n\n{held}\n"), Section.NOTES, entry("a"))
    assert caught.value.hint is not None
    assert "close" in caught.value.hint


def test_loose_text_below_the_last_entry_is_found_and_taken() -> None:
    asked = add_entry(body("## Questions\n\n## Notes\n\nx\n"), Section.QUESTIONS, entry("Which?\n\n# a"))
    answered = body(asked.text.replace("\\# a\n", "\\# a\n\nThe first.\n\n### Because\n\nit is.\n"))
    assert find_loose_text(asked, Section.QUESTIONS, asked) is None
    loose = find_loose_text(answered, Section.QUESTIONS, asked)
    assert loose is not None
    assert loose.text == "The first.\n\n### Because\n\nit is."
    assert set_section(answered, Section.QUESTIONS, loose.rest).text == asked.text


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_loose_text_below_any_entry_is_none_of_its_authors(newline: str) -> None:
    asked = body("")
    for text in ("Which colour?", "Which font?", "Which size?"):
        asked = add_entry(asked, Section.QUESTIONS, entry(text))
    asked = body(asked.text.replace("\n", newline), newline)
    below = {"colour?": "Navy.\n\nOr red.", "size?": "12."}
    text = asked.text
    for word, answer in below.items():
        text = text.replace(word, f"{word}\n\n{answer}".replace("\n", newline))
    loose = find_loose_text(body(text, newline), Section.QUESTIONS, asked)
    assert loose is not None
    assert loose.text == "Navy.\n\nOr red.\n\n12."
    assert set_section(body(text, newline), Section.QUESTIONS, loose.rest).text == asked.text


def test_an_edited_question_is_no_answer() -> None:
    asked = add_entry(body(""), Section.QUESTIONS, entry("Which?"))
    edited = body(asked.text.replace("Which", "What"))
    assert find_loose_text(edited, Section.QUESTIONS, asked) is None
    assert find_loose_text(body(""), Section.QUESTIONS, asked) is None
    assert find_loose_text(asked, Section.QUESTIONS, None) is None


@pytest.mark.parametrize(
    ("now", "before", "loose"),
    [
        ("Mind the step.", "", "Mind the step."),
        ("  - and\n    - this", "", "  - and\n    - this"),
        ("### Because\n\nof it", "", "### Because\n\nof it"),
        ("old\n\nnew\nlines", "old", "new\nlines"),
        ("<!-- notes go here -->\nnew", "<!-- notes go here -->", "new"),
        ("old", "old", None),
        ("older", "old", None),
        ("new\nold", "old", None),
        ("<!-- notes go here -->", "", None),
        ("", "", None),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_was_added_where_there_is_no_entry_is_loose_too(
    now: str, before: str, loose: str | None, newline: str
) -> None:
    text = "Do it.\n\n## Notes\n\n{}\n\n## Other\n\nx\n".replace("\n", newline)
    found = find_loose_text(
        body(text.format(now), newline), Section.NOTES, body(text.format(before), newline)
    )
    assert (found and found.text) == loose
    if found is not None:
        taken = set_section(body(text.format(now), newline), Section.NOTES, found.rest)
        assert taken.get("Other") == "x"
        assert taken.content(taken.find("Notes")[-1]) == before
