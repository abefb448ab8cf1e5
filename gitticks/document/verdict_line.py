"""The verdict line of `## Review`: the first line of prose that has PASS or FAIL as a word; PASS has to begin it.

A councillor's answer has another, `VERDICT: APPROVED` or `VERDICT: BLOCKING`, and the last one counts; see `last_verdict`.
What is code, quote or comment is no verdict in either. `## Review` is the only text that is parsed inline, because a word in inline code or in a comment is no verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gitticks.document.sections import block_parser, without_comments
from gitticks.model.notes import ReviewOutcome

if TYPE_CHECKING:
    from markdown_it.token import Token
    from markdown_it.utils import EnvType

MOST_CHARACTERS = 64_000
MOST_INLINE_CHARACTERS = 8_000
_WORD = re.compile(r"\b(?:PASS|FAIL)\b", re.IGNORECASE | re.ASCII)
_AROUND = r"(?:[^\w!=~\u2260\u00ac\u274c\u2717\u2718\u00d7]|_)"
"""What may stand before a verdict: no sign that denies it."""
_LABEL = (
    r"(?:(?:(?:my|the|final|overall|code|review) )?"
    r"(?:verdict|result|review|status|decision|outcome|overall|assessment|conclusion|summary|recommendation)"
    rf"(?:[^\w:=!]|_){{0,60}}?(?:[:=]|\s(?:-|\u2013|\u2014)\s){_AROUND}*+)?"
)
_BEGINS_FAIL = re.compile(
    rf"(?:\[x\]|{_AROUND}|\d+[.)]|[\u274c\u2717\u2718])*+{_LABEL}FAIL\b", re.IGNORECASE | re.ASCII
)
_PASSES = re.compile(
    rf"(?:{_AROUND}|\d+[.)])*+{_LABEL}"
    r"PASS(?![-.(]\w|\(\))(?=(?u:[\s*]*(?:$|[:.,;!()\[\]-]|[^\x00-\x7f\w\s])))",
    re.IGNORECASE | re.ASCII,
)
"""A line that is a PASS beyond doubt: it begins with the word, and no sentence goes on with it."""
_LEADING = re.compile(r"\s*(PASS|FAIL)(?![\w-])[\s:.,;-]*", re.IGNORECASE | re.ASCII)
_DOUBTFUL = re.compile(r"[\x00-\x1f\x7f-\xa0\U00010000-\U0010ffff]|[`<\[&\\_]|~~~|    |^[ *+.)\d-]*>|\w\*+\w")
"""What may make a line look other than it is written: code, quotes, links, markup within a word, rare signs."""
_HINT = re.compile(r"pass|fail", re.IGNORECASE | re.ASCII)
_CODE_ELEMENTS = re.compile(
    r"<(code|pre|script|style|textarea|blockquote)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_TAG = re.compile(r"<[^<>]*>")
_VERDICT = re.compile(
    r"""^(?P<indent>[\ \t]*+)(?:
    (?P<APPROVED>(?<![\ \t])[\ \t*_#`]*+VERDICT[\ \t*_`]*:[\ \t*_`]*APPROVED[\ \t*_`.]*$)
    |(?P<BLOCKING>(?:(?:[-+*]|\d+[.)])[\ \t]+)*+[\ \t*_#`]*+VERDICT[\ \t*_`]*:(?:[^\w\n]|_)*+BLOCKING(?![^\W_]).*)
    |(?P<OTHER>(?![\ \t*+.)\d-]*>).*?VERDICT[\ \t*_`]*+:.*)
    )""",
    re.MULTILINE | re.IGNORECASE | re.ASCII | re.VERBOSE,
)
"""A verdict line. BLOCKING may have more in its line; APPROVED may not, nor what a line of a diff can begin with."""
_SAID = {
    "VERDICT: APPROVED": ReviewOutcome.PASS,
    "VERDICT: BLOCKING": ReviewOutcome.FAIL,
    "VERDICT: OTHER": ReviewOutcome.UNCLEAR,
}
_LINE_BREAKS = frozenset({"softbreak", "hardbreak"})


def review_outcome(text: str | None) -> ReviewOutcome:
    """Returns what a review says; only its first 64,000 characters are read."""
    if text is None:
        return ReviewOutcome.MISSING
    plain = _plain_lines(text)
    return _outcome(_prose(text[:MOST_CHARACTERS]) if plain is None else plain)


def last_verdict(text: str) -> ReviewOutcome:
    """Returns what the verdict lines of an answer say; only its last 64,000 characters are read.

    The last one counts, but APPROVED only if no line says BLOCKING: what is in doubt is unclear.
    """
    end = text[-MOST_CHARACTERS:].replace("\r", "")
    apart, count = _VERDICT.subn(_set_apart, end)
    said = [] if count == 0 else [_SAID[one.content] for one in _unquoted(apart, {}) if one.content in _SAID]
    # Where the beginning is cut off, what looks like code may be the answer, and the other way round.
    is_cut = len(text) > MOST_CHARACTERS and any(one["BLOCKING"] for one in _VERDICT.finditer(end))
    if said and said[-1] is ReviewOutcome.PASS and ReviewOutcome.FAIL not in said and not is_cut:
        return ReviewOutcome.PASS
    clear = [one for one in said if one is not ReviewOutcome.UNCLEAR]
    return ReviewOutcome.FAIL if clear and clear[-1] is ReviewOutcome.FAIL else ReviewOutcome.UNCLEAR


def has_verdict_line(text: str) -> bool:
    """True if a line of an answer looks like a verdict, whatever it says and wherever it stands."""
    return _VERDICT.search(text) is not None


def _set_apart(line: re.Match[str]) -> str:
    """Returns a verdict line as a paragraph, apart from a quotation above and from text of any length."""
    # Another line may begin or end a comment or code, so it stays, but it must not read like a verdict.
    kept = line[0].replace(":", " ") if line.lastgroup == "OTHER" else ""
    return f"{kept}\n\n{line['indent']}VERDICT: {line.lastgroup}\n"


def leading_verdict(text: str) -> tuple[ReviewOutcome, str] | None:
    """Returns the verdict that a text begins with and the reasons after it; None if it begins with none."""
    found = _LEADING.match(text)
    if found is None or (found[1].upper() == "PASS" and not _PASSES.match(text.strip().partition("\n")[0])):
        return None
    return ReviewOutcome(found[1].lower()), text[found.end() :].rstrip()


def _outcome(lines: Iterable[str]) -> ReviewOutcome:
    lines = iter(lines)
    for line in lines:
        words = {word.upper() for word in _WORD.findall(line)}
        if words == {"FAIL"}:
            return ReviewOutcome.FAIL
        if words:
            # A review that lists criteria may fail one after it passed others.
            passes = words == {"PASS"} and _PASSES.match(line) and not any(map(_BEGINS_FAIL.match, lines))
            return ReviewOutcome.PASS if passes else ReviewOutcome.UNCLEAR
    return ReviewOutcome.UNCLEAR


def _plain_lines(text: str) -> list[str] | None:
    """Returns the lines up to the first with such a word, if each is seen as it is written; None to ask the parser.

    Most reviews begin with their verdict, and loading a Markdown parser takes longer than showing a whole task.
    """
    if len(text) > MOST_INLINE_CHARACTERS:
        return None
    lines: list[str] = []
    has_fail = "fail" in text.lower()
    for line in text.split("\n"):
        if _DOUBTFUL.search(line):
            return None
        lines.append(line)
        if _WORD.search(line) and not has_fail:
            break
    return lines


def _unquoted(text: str, environment: EnvType) -> Iterator[Token]:
    """Yields the blocks of a text that are in no quote."""
    depth = 0
    for token in block_parser().parse(text, environment):
        depth += (token.type == "blockquote_open") - (token.type == "blockquote_close")
        if depth == 0 and token.type in ("inline", "html_block"):
            yield token


def _prose(text: str) -> Iterator[str]:
    """Yields the lines that are no code, quote or comment, as a reader sees them."""
    parser = block_parser()
    environment: EnvType = {}
    for token in _unquoted(text, environment):
        if token.type == "inline" and _HINT.search(token.content):
            if len(token.content) > MOST_INLINE_CHARACTERS:
                return
            children: list[Token] = []
            parser.inline.parse(token.content, parser, environment, children)
            yield from _inline_lines(children)
        elif token.type == "html_block":
            yield from _TAG.sub(" ", _CODE_ELEMENTS.sub(" ", without_comments(token.content))).split("\n")


def _inline_lines(tokens: list[Token]) -> Iterator[str]:
    line = ""
    for token in tokens:
        if token.type in _LINE_BREAKS:
            yield line
            line = ""
        elif token.type in ("text", "text_special"):
            line += token.content
        elif token.type in ("code_inline", "html_inline", "image"):
            line += " "
    yield line
