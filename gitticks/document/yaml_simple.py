"""A short cut past ruamel.yaml for the frontmatter that gitticks itself writes: one `key: value` a line.

Importing and running a whole YAML parser costs more than everything else that reading a task does. This reader
accepts a small part of YAML in which every line stands for itself, gives exactly the tree that ruamel's events
give for it (a property test compares them), and declines everything else.
"""

from __future__ import annotations

import re

from gitticks.document.yaml_nodes import Mapping, Node, Pair, Scalar, Sequence

MOST_LINES = 400
_FIRST = r"[^\x00-')-\-:-@\[-^`{-\x7f]"
_MIDDLE = r"[^\x00-\x20:\x7f]"
WORD = rf"{_FIRST}(?:{_MIDDLE}|:(?=[\w/])| (?=[^\s#]))*"
FLOW_WORD = r"[A-Za-z0-9_.](?:[\w./+@-]|:(?=[\w/])| (?=[\w./+@]))*"
QUOTED = r'"[^"\\]*"'
_LIST_ITEM = rf"(?:{FLOW_WORD}|{QUOTED})"
_LIST = rf"\[(?:{_LIST_ITEM}(?:, {_LIST_ITEM})*)?\]"
_FLOW_PAIR = rf"[a-z_]+: (?:{FLOW_WORD}|{QUOTED})"
_MAP = rf"\{{(?:{_FLOW_PAIR}(?:, {_FLOW_PAIR})*)?\}}"
_LINE = re.compile(rf"([a-z_]+): +(?:({WORD})|({QUOTED})|({_LIST})|({_MAP})) *(?: #.*)?")
_ITEM = re.compile(rf"({FLOW_WORD})|({QUOTED})")
_ITEM_PAIR = re.compile(rf"([a-z_]+): (?:({FLOW_WORD})|({QUOTED}))")


def parse_simple(text: str) -> Mapping | None:
    """Returns the tree of `text`, or None where it needs, or may need, a real YAML parser."""
    pairs: dict[str, Pair] = {}
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        return None
    offset = 0
    for line in lines:
        content = line.removesuffix("\r")
        if content and not content.startswith("#"):
            match = _LINE.fullmatch(content)
            value = None if match is None or match[1] in pairs else _value(match, offset)
            if match is None or value is None:
                return None
            pairs[match[1]] = Pair(_scalar(match, 1, offset), value)
        if not content.isprintable():
            return None
        offset += len(line) + 1
    if not pairs:
        return None
    every = tuple(pairs.values())
    return Mapping(every, flow=False, start=every[0].start, end=every[-1].end)


def _value(match: re.Match[str], offset: int) -> Node | None:
    if match[2] is not None:
        return _scalar(match, 2, offset)
    if match[3] is not None:
        return _quoted(match, 3, offset)
    return _list(match, offset) if match[4] is not None else _map(match, offset)


def _scalar(match: re.Match[str], group: int, offset: int) -> Scalar:
    return Scalar(match[group], "", offset + match.start(group), offset + match.end(group))


def _quoted(match: re.Match[str], group: int, offset: int) -> Scalar:
    return Scalar(match[group][1:-1], '"', offset + match.start(group), offset + match.end(group))


def _list(match: re.Match[str], offset: int) -> Sequence:
    start, end = match.span(4)
    items = tuple(
        _scalar(item, 1, offset) if item[1] is not None else _quoted(item, 2, offset)
        for item in _ITEM.finditer(match.string, start + 1, end - 1)
    )
    return Sequence(items, flow=True, start=offset + start, end=offset + end)


def _map(match: re.Match[str], offset: int) -> Mapping | None:
    start, end = match.span(5)
    pairs: dict[str, Pair] = {}
    for item in _ITEM_PAIR.finditer(match.string, start + 1, end - 1):
        value = _scalar(item, 2, offset) if item[2] is not None else _quoted(item, 3, offset)
        if item[1] in pairs:
            return None
        pairs[item[1]] = Pair(_scalar(item, 1, offset), value)
    return Mapping(tuple(pairs.values()), flow=True, start=offset + start, end=offset + end)
