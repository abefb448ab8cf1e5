"""Reads YAML into a tree of nodes with positions: a fast path for what gitticks writes, else ruamel.yaml."""

from __future__ import annotations

import re

from gitticks.document.texts import Source
from gitticks.document.yaml_nodes import Mapping, Node, Pair, Scalar, Sequence

MOST_LINES = 400
_FIRST = r"[^\x00-')-\-:-@\[-^`{-\x7f]"
_MIDDLE = r"[^\x00-\x20:\x7f]"
WORD = rf"{_FIRST}(?:{_MIDDLE}|:(?=[\w/])| (?=[^\s#]))*"
FLOW_WORD = r"[A-Za-z0-9_.](?:[\w./+@-]|:(?=[\w/])| (?=[\w./+@]))*"
QUOTED = r'"[^"\\]*"'
_END = r" *(?: #.*)?"
_LINE = re.compile(rf"([a-z_]+): +(?:({WORD}|{QUOTED}){_END}|([\[{{].*))")
_is_end = re.compile(_END).fullmatch
_ITEM = re.compile(rf"{FLOW_WORD}|{QUOTED}")
_KEY = re.compile(r"([A-Za-z_]{1,100}): ")
_DEEPEST = 6
MOST_BYTES = 64_000
MOST_BRACKETS = 500
_DIRECTIVE = re.compile(r"(?:\A|[\r\n])(?=%)")


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
    found = _flow(match.string, match.start(3), offset, 0)
    return found if found is not None and _is_end(match.string, found.end - offset) else None


def _scalar(match: re.Match[str], group: int, offset: int) -> Scalar:
    text, style = match[group], ""
    if text.startswith('"'):
        text, style = text[1:-1], '"'
    return Scalar(text, style, offset + match.start(group), offset + match.end(group))


def _flow(text: str, start: int, offset: int, depth: int) -> Node | None:
    """Returns the value that begins at `start` inside brackets, which may hold others; None for rarer forms."""
    opening = text[start : start + 1]
    if opening not in ("[", "{"):
        item = _ITEM.match(text, start)
        return None if item is None else _scalar(item, 0, offset)
    place, closing = start + 1, "]" if opening == "[" else "}"
    items: list[Node] = []
    pairs: dict[str, Pair] = {}
    while items or pairs or text[place : place + 1] != closing:
        key = _KEY.match(text, place) if opening == "{" else None
        is_pair_missing = opening == "{" and (key is None or key[1] in pairs)
        value = (
            None
            if is_pair_missing or depth == _DEEPEST
            else _flow(text, key.end() if key else place, offset, depth + 1)
        )
        if value is None:
            return None
        if key is None:
            items.append(value)
        else:
            pairs[key[1]] = Pair(_scalar(key, 1, offset), value)
        place = value.end - offset
        if text[place : place + 1] == closing:
            break
        if text[place : place + 2] != ", ":
            return None
        place += 2
    end = offset + place + 1
    if opening == "[":
        return Sequence(tuple(items), flow=True, start=offset + start, end=end)
    return Mapping(tuple(pairs.values()), flow=True, start=offset + start, end=end)


def parse_yaml(source: Source) -> Mapping | None:
    """Returns the tree of one YAML document whose root is a mapping, or None where it holds nothing."""
    _refuse_excess(source)
    simple = parse_simple(source.text)
    if simple is not None:
        return simple
    from gitticks.document.yaml_events import build_tree

    root = build_tree(source)
    if root is None or (isinstance(root, Scalar) and not root.text and not root.style):
        return None
    if not isinstance(root, Mapping):
        raise source.error("this is not a list of `key: value` lines", root.start, hint="write `key: value`")
    return root


def _refuse_excess(source: Source) -> None:
    """Refuses what costs time, or breaks ruamel, before the first event."""
    if len(source.text.encode()) > MOST_BYTES:
        raise source.error(f"the YAML is longer than {MOST_BYTES // 1000} kB", 0, hint="move text below it")
    for bracket in "[{":
        if source.text.count(bracket) > MOST_BRACKETS:
            raise source.error(
                f"the YAML has more than {MOST_BRACKETS} `{bracket}`", 0, hint="move text below it"
            )
    directive = _DIRECTIVE.search(source.text)
    if directive is not None:
        hint = "delete the line that begins with `%`"
        raise source.error("directives are not allowed", directive.end(), hint=hint)
