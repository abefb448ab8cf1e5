"""Edits of the body's sections that cannot change anything else.

Every write is read back: each heading must stand where it stood, and a heading written below the result must
still be seen as one. Text that breaks this, by an open code fence for instance, is refused.
"""

from __future__ import annotations

import re

from gitticks.document.sections import Block, Body, same_name
from gitticks.document.texts import LINE_BREAK, Source, is_encodable, line_end, trimmed, with_newlines
from gitticks.errors import DocumentError
from gitticks.model.notes import Section

_IN_ORDER = tuple(section.value for section in Section)
_PROBE = "\n\n## probe\n"
_BLANK_END = re.compile(r"(?:\A|\r\n|(?<!\r)\n|\r(?!\n))[ \t]*(?:\r\n|\r|\n)\Z")


def set_section(body: Body, name: str, text: str) -> Body:
    """Returns the body with the text of a section replaced, or the section added in its place."""
    found = body.find(name)
    if not found:
        return _added(body, name, text)
    block = found[-1]
    new = _section_text(body, body.text[: block.text_start], text)
    new += body.newline if block.end < len(body.text) else ""
    return _spliced(body, block.text_start, block.end, new, f"`## {block.title}`")


def set_preamble(body: Body, text: str) -> Body:
    """Returns the body with the text before its first section replaced."""
    end = next((block.start for block in body.blocks if block.is_section), len(body.text))
    content = with_newlines(trimmed(text), body.newline)
    new = body.newline + content + body.newline if content else ""
    new += body.newline if end < len(body.text) else ""
    return _spliced(body, 0, end, new, "the summary")


def remove_section(body: Body, name: str) -> Body:
    """Returns the body without every section of that name.

    Raises:
        DocumentError: removing one would change another heading.
    """
    found = body.find(name)
    if not found:
        return body
    text, expected, is_gone = body.text[: body.blocks[0].start], list[int](), False
    for block in body.blocks:
        if not block.is_named(name):
            text += body.newline if is_gone and text and not _ends_blank(text) else ""
            expected.append(len(text))
            text += body.text[block.start : block.end]
        is_gone = block.is_named(name)
    return _checked(body, text, expected, f"`## {found[-1].title}`")


def append_to_section(body: Body, name: str, text: str) -> Body:
    """Returns the body with `text` added below what the section holds, which is added if it is missing."""
    found = body.find(name)
    if not found:
        return _added(body, name, text)
    block = found[-1]
    held = body.text[block.text_start : block.end].rstrip(" \t\r\n")
    offset = line_end(body.text, block.text_start + len(held)) if held else block.text_start
    new = _gap(body, body.text[:offset]) + with_newlines(trimmed(text), body.newline) + body.newline
    after = body.text[offset:]
    new += body.newline if after and LINE_BREAK.match(after) is None else ""
    return _spliced(body, offset, offset, new, f"`## {block.title}`")


def _added(body: Body, name: str, text: str) -> Body:
    place = _place_of_new(body, name)
    offset = len(body.text) if place is None else place.start
    lead = _gap(body, body.text[:offset])
    new = f"{lead}## {name}{body.newline}"
    new += _section_text(body, new, text) + (body.newline if offset < len(body.text) else "")
    return _spliced(body, offset, offset, new, f"`## {name}`", added_at=offset + len(lead))


def _place_of_new(body: Body, name: str) -> Block | None:
    wanted = same_name(name)
    later: tuple[str, ...] = ()
    for at, known in enumerate(_IN_ORDER):
        if same_name(known) == wanted:
            later = _IN_ORDER[at + 1 :]
    return next((block for block in body.blocks if any(block.is_named(other) for other in later)), None)


def _section_text(body: Body, before: str, text: str) -> str:
    content = with_newlines(trimmed(text), body.newline)
    glue = "" if before.endswith(("\n", "\r")) else body.newline
    return glue + (body.newline + content + body.newline if content else "")


def _gap(body: Body, before: str) -> str:
    """Returns the line breaks that are missing for a blank line below `before`; nothing counts as a line."""
    if not before or before.endswith(("\n", "\r")):
        return "" if before and _ends_blank(before) else body.newline
    return body.newline * 2


def _ends_blank(text: str) -> bool:
    """True if the text ends with a blank line."""
    return _BLANK_END.search(text, max(0, len(text) - 200)) is not None


def _spliced(body: Body, start: int, end: int, new: str, what: str, *, added_at: int | None = None) -> Body:
    """Returns the body with `new` from `start` to `end`, if every other heading stays where it is."""
    text = body.text[:start] + new + body.text[end:]
    if "\0" in new or not is_encodable(new):
        problem = f"the text of {what} contains a character that a file cannot have"
        raise DocumentError(problem, path=body.source.path, hint="delete it")
    moved = len(text) - len(body.text)
    expected = [block.start for block in body.blocks if block.start < start]
    expected += [] if added_at is None else [added_at]
    expected += [block.start + moved for block in body.blocks if block.start >= end]
    return _checked(body, text, expected, what)


def _checked(body: Body, text: str, expected: list[int], what: str) -> Body:
    """Returns the body with another text if its headings stand where they are expected, and nothing hides what follows."""
    result = _read(body, text)
    stays = [block.start for block in result.blocks] == expected
    if stays and (not _is_open_ended(body, result) or _is_open_ended(body, body)):
        return result
    fence = body.unclosed_fence_line or result.unclosed_fence_line
    reason = "" if fence is None else f": a code fence that opens on line {fence} never ends"
    raise DocumentError(
        f"the text of {what} would change the sections around it{reason}",
        path=body.source.path,
        line=fence,
        hint="close code fences and comments, and use headings from `###` down",
    )


def _is_open_ended(body: Body, result: Body) -> bool:
    """True if a heading written below the text would be taken for part of it."""
    return len(_read(body, result.text + _PROBE).blocks) == len(result.blocks)


def _read(body: Body, text: str) -> Body:
    return Body(Source(text, body.source.path, body.source.first_line), body.newline)
