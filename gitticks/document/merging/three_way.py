"""Three-way merges of a sequence of keyed parts (YAML keys, sections, entries) and of lines, and how conflicts are marked.

The result keeps the order of the frame, one of the two sides; what only the other one, the guest, has comes behind
the part that it follows there. Conflicts are marked by git's own markers and by our comments.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Final, NamedTuple, TypeVar

from gitticks.document.sections import parse_blocks
from gitticks.document.texts import Source, line_starts, with_newlines

K = TypeVar("K", bound=Hashable)

_MOST_PAIRS = 2_000_000
"""Lines that occur often are compared with one another again and again; past so many pairs nobody waits for it."""
_MOST_STEPS = 20_000_000
"""For each run of lines that stayed together all lines are looked at; past so many looks nobody waits either."""
Places = tuple[int, int, int]
_BEGIN, _BASE, _END = (rf"{sign}{{7}}(?: [^\n]*)?\r?$" for sign in ("<", r"\|", ">"))
_MIDDLE = r"={7}\r?$"


def _lines_up_to(*markers: str) -> str:
    return rf"(?:(?!{'|'.join(markers)})[^\n]*\n)*"


HUNK: Final = re.compile(
    rf"^{_BEGIN}\n(?P<ours>{_lines_up_to(_BEGIN, _BASE, _MIDDLE)})"
    rf"(?:{_BASE}\n(?P<base>{_lines_up_to(_BEGIN, _MIDDLE)}))?"
    rf"{_MIDDLE}\n(?P<theirs>{_lines_up_to(_BEGIN, _END)}){_END}\n?",
    re.MULTILINE,
)
"""What git writes where both sides exclude each other, whole; markers that stand alone are text."""
WORD: Final = "gitticks conflict"
END_MARK: Final = f"<!-- {WORD}: end -->"
_MARK = re.compile(rf"^<!-- {WORD}: [^\r\n]*-->[ \t]*\r?$", re.MULTILINE)
_VERSION = re.compile(rf"^<!-- {WORD}: version of ([^\n]*?) -->\n", re.MULTILINE)
_TICKS = re.compile(r"^ {0,3}(~{3,})", re.MULTILINE)


def joined_order(frame: Sequence[K], guest: Sequence[K]) -> list[K]:
    """Returns every key of both once, in the order of the frame."""
    known = set(frame)
    followers: dict[K | None, list[K]] = {}
    last: K | None = None
    for key in guest:
        if key in known:
            last = key
        else:
            followers.setdefault(last, []).append(key)
    result = list(followers.get(None, ()))
    for key in frame:
        result.append(key)
        result += followers.get(key, ())
    return result


def numbered(names: Sequence[K]) -> list[tuple[K, int]]:
    """Returns the names as keys that are unique: each with how often it occurred before."""
    seen: dict[K, int] = {}
    keys = []
    for name in names:
        keys.append((name, seen.get(name, 0)))
        seen[name] = seen.get(name, 0) + 1
    return keys


class Stretch(NamedTuple):
    """Some lines of the result; `clash` holds those of the other side where both changed the same, else it is None."""

    lines: tuple[str, ...]
    clash: tuple[str, ...] | None = None


def merge_text(base: str, one: str, other: str) -> str | None:
    """Returns the text with the changes of both sides; None if both changed the same lines."""
    if other in (one, base):
        return one
    if one == base:
        return other
    stretches = merge_lines(_lines(base), _lines(one), _lines(other))
    if any(stretch.clash is not None for stretch in stretches):
        return None
    return "".join(line for stretch in stretches for line in stretch.lines)


def union_of_lines(base: str, one: str, other: str, *, is_prose: bool = False) -> str:
    """Returns the text with the changes of both sides, and where both changed the same, the lines of both.

    Of such lines each stands once, unless it `is_prose`, where a line means nothing without those around it.
    """
    if one in (base, other):
        return other
    if other == base:
        return one
    # Where both ended the last line, to add others, it is none that they changed.
    base += next(
        (end for end in ("\n", "\r\n") if one.startswith(base + end) and other.startswith(base + end)), ""
    )
    parts: list[str] = []
    for stretch in merge_lines(_lines(base), _lines(one), _lines(other)):
        parts += stretch.lines
        if is_prose:
            parts += _apart(stretch.lines, stretch.clash or ())
        else:
            parts += [line for line in stretch.clash or () if line not in stretch.lines]
    whole = (line if line.endswith(("\n", "\r")) else f"{line}\n" for line in parts[:-1])
    return "".join([*whole, *parts[-1:]])


def _apart(lines: tuple[str, ...], clash: tuple[str, ...]) -> list[str]:
    """Returns of the second lines what is to follow the first, as a paragraph of its own.

    Left out are the blank lines that both begin with, and all of one that is the beginning of the other.
    """
    both = list(takewhile(lambda pair: pair[0] == pair[1], zip(lines, clash, strict=False)))
    if len(both) < min(len(lines), len(clash)):
        both = list(takewhile(lambda pair: not pair[0].strip(), both))
    head = len(both)
    is_joined = head < min(len(lines), len(clash)) and lines[-1].strip() and clash[head].strip()
    return [*(["\n"] if is_joined else []), *clash[head:]]


def merge_lines(base: Sequence[str], one: Sequence[str], other: Sequence[str]) -> list[Stretch]:
    """Returns the result in stretches, in order."""
    result: list[Stretch] = []
    start = (0, 0, 0)
    for anchor, length in _anchors(base, one, other):
        result += _between(base, one, other, start, anchor)
        result.append(Stretch(tuple(base[anchor[0] : anchor[0] + length])))
        start = (anchor[0] + length, anchor[1] + length, anchor[2] + length)
    result += _between(base, one, other, start, (len(base), len(one), len(other)))
    return [stretch for stretch in result if stretch.lines or stretch.clash]


def _between(
    base: Sequence[str], one: Sequence[str], other: Sequence[str], start: Places, end: Places
) -> Iterator[Stretch]:
    """Yields what becomes of the lines between two anchors, each given by its places in the three versions."""
    old, mine, theirs = (
        tuple(lines[first:last]) for lines, first, last in zip((base, one, other), start, end, strict=True)
    )
    if mine in (old, theirs):
        yield Stretch(theirs)
    elif theirs == old:
        yield Stretch(mine)
    else:
        yield Stretch(mine, theirs)


def _anchors(base: Sequence[str], one: Sequence[str], other: Sequence[str]) -> Iterator[tuple[Places, int]]:
    """Yields the runs of lines that all three have, as their places and their length."""
    mine, theirs = _kept(base, one), _kept(base, other)
    place = 0
    while place < len(base):
        length = 0
        while (
            place + length < len(base)
            and mine[place + length] == mine[place] + length >= 0
            and theirs[place + length] == theirs[place] + length >= 0
            and mine[place] >= 0
            and theirs[place] >= 0
        ):
            length += 1
        if length:
            yield (place, mine[place], theirs[place]), length
        place += max(1, length)


def _kept(base: Sequence[str], side: Sequence[str]) -> list[int]:
    """Returns for each line of the base where the side has it, -1 where it has not."""
    found = [-1] * len(base)
    head = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(base, side, strict=False)))
    rest = min(len(base), len(side)) - head
    ends = zip(reversed(base[-rest:] if rest else ()), reversed(side[-rest:] if rest else ()), strict=False)
    tail = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    found[:head] = range(head)
    if tail:
        found[len(base) - tail :] = range(len(side) - tail, len(side))
    old, new = base[head : len(base) - tail], side[head : len(side) - tail]
    for first, second, length in _matches(old, new):
        found[head + first : head + first + length] = range(head + second, head + second + length)
    return found


def _matches(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int]]:
    counts, neighbours = Counter(new), set(pairwise(new))
    runs = 1 + sum(pair[0] in counts and pair not in neighbours for pair in pairwise(old))
    if sum(counts[line] for line in old) > _MOST_PAIRS or runs * len(old) > _MOST_STEPS:
        return []
    from difflib import SequenceMatcher

    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return [(block.a, block.b, block.size) for block in blocks]


def _lines(text: str) -> list[str]:
    starts = line_starts(text)
    return [text[start:end] for start, end in pairwise(starts)]


class Sides(NamedTuple):
    """The versions that git merged into a text with markers; `base` is None where git did not write it."""

    base: str | None
    ours: str
    theirs: str


def split_sides(text: str) -> Sides | None:
    """Returns the versions that a text with git's markers was made of; None if there is no complete conflict in it."""
    found = [*HUNK.finditer(text)]
    if not found:
        return None
    base, ours, theirs = (HUNK.sub(rf"\g<{side}>", text) for side in Sides._fields)
    return Sides(None if any(one["base"] is None for one in found) else base, ours, theirs)


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """One of the texts that exclude each other, and when its side was last written, in words."""

    time: str
    text: str


def mark(words: str) -> str:
    """Returns the line that marks a conflict, without its line break."""
    return f"<!-- {WORD}: {words} -->"


def marked(versions: Iterable[Version], *, fenced: bool = False) -> str:
    """Returns the texts between marks, the oldest first and each once; LF line breaks, one at the end.

    Texts are `fenced` where one could hide what follows it.
    """
    kept: dict[str, Version] = {}
    for version in sorted(versions):
        kept.setdefault(version.text, version)
    parts = [f"{mark(f'version of {one.time}')}\n\n{_body(one.text, fenced)}\n" for one in kept.values()]
    return "".join(parts) + END_MARK + "\n"


def _body(text: str, fenced: bool) -> str:
    if fenced:
        fence = "~" * max(3, 1 + max((len(found[1]) for found in _TICKS.finditer(text)), default=0))
        text = f"{fence}markdown\n{text}\n{fence}"
    return f"{text}\n" if text else ""


def versions_of(text: str) -> tuple[Version, ...] | None:
    """Returns the texts of a part that is nothing but a marked conflict; None for every other text."""
    text = with_newlines(text, "\n")
    if WORD not in text or not text.endswith(END_MARK) or text.count(END_MARK) != 1:
        return None
    found = list(_VERSION.finditer(text))
    if len(found) < 2 or found[0].start() != 0:  # noqa: PLR2004
        return None
    ends = [*(one.start() for one in found[1:]), len(text) - len(END_MARK)]
    return tuple(
        Version(one[1], text[one.end() : end].strip("\n")) for one, end in zip(found, ends, strict=True)
    )


def times_of_versions(text: str) -> list[str]:
    """Returns when the marked versions of a text were written, in the words of their marks."""
    return _VERSION.findall(with_newlines(text, "\n")) if WORD in text else []


def conflict_line(source: Source) -> int | None:
    """Returns the line of the file on which a conflict begins that nobody has settled; None if there is none.

    Found are our marks and the complete markers of git, outside of code.
    """
    text = source.text
    found = [one.start() for one in _MARK.finditer(text)] if WORD in text else []
    if "<<<<<<<" in text:
        found += [one.start() for one in HUNK.finditer(text)]
    if not found:
        return None
    code, starts = lines_of_code(source), line_starts(text)
    lines = (source.first_line - 1 + bisect_right(starts, offset) for offset in sorted(found))
    return next((line for line in lines if line not in code), None)


def lines_of_code(source: Source) -> set[int]:
    """Returns the lines of the file that belong to code blocks."""
    return {
        source.first_line + line
        for token in parse_blocks(source)
        if token.type in ("fence", "code_block") and token.map
        for line in range(*token.map)
    }
