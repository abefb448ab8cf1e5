"""Makes any text safe to stand inside an entry, and gives it back as it was.

A backslash goes before what would begin a heading of level 1 to 3, an underline that makes one, an HTML block or
a code fence that never ends; CommonMark shows such a line as it was written. Both directions look at lines in
the same way and each changed line gains or loses exactly one backslash, so every text comes back as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_HEADING = re.compile(r" {0,3}(\\*)#{1,3}(?:[ \t]|\Z)")
_HTML = re.compile(r" {0,3}(\\*)<(?![A-Za-z][A-Za-z0-9+.-]*:)")
_UNDERLINE = re.compile(r" {0,3}(\\*)(?:=+|-+)[ \t]*\Z")
_CLOSER = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*\Z")
_FENCE = re.compile(r" {0,3}(\\*)(?:(`{3,})[^`]*\Z|(~{3,}))")


def escape(text: str, *, keep_fences: bool = True) -> str:
    """Returns `text`, whose line breaks are LF, with backslashes before what would make structure.

    Args:
        text: what somebody wrote.
        keep_fences: leave closed code fences and the lines inside them as they are.
    """
    return _mapped(text, _with_backslash, keep_fences=keep_fences)


def unescape(text: str) -> str:
    """Returns the text that `escape` was given, with whatever choice about fences."""
    return _mapped(text, _without_backslash, keep_fences=True)


def _mapped(text: str, change: Callable[[str, re.Match[str]], str], *, keep_fences: bool) -> str:
    lines = text.split("\n")
    changed = list(lines)
    for index, match in _structural_lines(lines, keep_fences=keep_fences):
        changed[index] = change(lines[index], match)
    return "\n".join(changed)


def _structural_lines(lines: list[str], *, keep_fences: bool) -> Iterator[tuple[int, re.Match[str]]]:
    """Yields the lines outside code fences that would make structure, with or without backslashes before it."""
    longest = _longest_closers(lines)
    index = 0
    while index < len(lines):
        fence = _FENCE.match(lines[index])
        if fence is not None and not fence[1] and keep_fences:
            closing = _closing(lines, index, fence, longest)
            if closing is not None:
                index = closing + 1
                continue
        match = fence or _structure(lines, index)
        if match is not None:
            yield index, match
        index += 1


def _structure(lines: list[str], index: int) -> re.Match[str] | None:
    line = lines[index]
    found = _HEADING.match(line) or _HTML.match(line)
    if found is None and index > 0 and lines[index - 1].strip(" \t"):
        return _UNDERLINE.match(line)
    return found


def _longest_closers(lines: list[str]) -> list[dict[str, int]]:
    """Returns for each line how long the longest closing fence below it is, which spares searches in vain."""
    result: list[dict[str, int]] = []
    longest: dict[str, int] = {}
    for line in reversed(lines):
        result.append(longest)
        closer = _CLOSER.match(line)
        if closer is not None and len(closer[1]) > longest.get(closer[1][0], 0):
            longest = longest | {closer[1][0]: len(closer[1])}
    return result[::-1]


def _closing(lines: list[str], index: int, fence: re.Match[str], longest: list[dict[str, int]]) -> int | None:
    """Returns the line that closes the fence which opens on line `index`."""
    mark = fence[2] or fence[3]
    if longest[index].get(mark[0], 0) < len(mark):
        return None
    for at in range(index + 1, len(lines)):
        closer = _CLOSER.match(lines[at])
        if closer is not None and closer[1][0] == mark[0] and len(closer[1]) >= len(mark):
            return at
    return None


def _with_backslash(line: str, match: re.Match[str]) -> str:
    return line[: match.start(1)] + "\\" + line[match.start(1) :]


def _without_backslash(line: str, match: re.Match[str]) -> str:
    return line if not match[1] else line[: match.start(1)] + line[match.start(1) + 1 :]
