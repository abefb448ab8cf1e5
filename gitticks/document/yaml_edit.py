"""Changes single values of a YAML text in place; every other byte stays."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gitticks.document.texts import LINE_BREAK, Source, line_end, line_start
from gitticks.document.yaml_nodes import Loose, Mapping, Node, Pair, Scalar, loose_node
from gitticks.document.yaml_nodes import Sequence as SequenceNode
from gitticks.document.yaml_read import parse_yaml
from gitticks.document.yaml_scalars import YamlValue, loose, render, render_text
from gitticks.errors import DocumentError

_BLOCK_HEADER = re.compile(r"[|>][0-9+-]*")
_INDENTATION = re.compile(r"(?:[ ]*(?:\r\n|\r|\n))*( +)")
_COMMA = re.compile(r"\s*,")
_BREAKS_AND_TABS = dict.fromkeys(map(ord, "\n\t"))


class Edit(NamedTuple):
    """Replaces the text from `start` to `end`."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """Returns `text` after edits that do not overlap; what is added in one place stands in the order of the edits."""
    for edit in sorted(edits, key=lambda edit: edit[:2])[::-1]:
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


class Editor(NamedTuple):
    """Makes edits of one text, whose new lines end in `newline`."""

    text: str
    newline: str

    def appended(self, line: str) -> list[Edit]:
        """Returns the edit that adds `line` at the end of the text."""
        glue = self.newline if self.text and not self.text.endswith(("\n", "\r")) else ""
        return [Edit(len(self.text), len(self.text), f"{glue}{line}{self.newline}")]

    def inserted(self, mapping: Mapping, key: str, value: YamlValue) -> Iterator[list[Edit]]:
        """Yields ways to add a key after the mapping's last one."""
        pair = f"{render_text(key, flow=mapping.flow)}: {render(value, flow=mapping.flow)}"
        if mapping.flow:
            place = mapping.pairs[-1].end if mapping.pairs else mapping.start + 1
            yield [Edit(place, place, f", {pair}" if mapping.pairs else pair)]
            return
        last = mapping.pairs[-1]
        indentation = " " * (mapping.pairs[0].start - line_start(self.text, mapping.pairs[0].start))
        for offset in (line_end(self.text, last.end), self._after_blank_lines(last.end)):
            yield [self._new_line(offset, indentation + pair)]

    def removed(self, mapping: Mapping, pair: Pair) -> Iterator[list[Edit]]:
        """Yields ways to remove a key together with its line."""
        if mapping.flow:
            yield list(self._removed_in_flow(mapping.pairs, [mapping.pairs.index(pair)]))
            return
        start = line_start(self.text, pair.start)
        if self.text[start : pair.start].strip(" ") not in ("", "?"):
            return
        for end in (line_end(self.text, pair.end), self._after_blank_lines(pair.end)):
            yield [Edit(start, end, "")]

    def replaced(self, pair: Pair, value: YamlValue, *, flow: bool) -> Iterator[list[Edit]]:
        """Yields ways to give a key another value."""
        node = pair.value
        if isinstance(node, SequenceNode) and isinstance(value, Sequence) and not isinstance(value, str):
            yield from self._changed_items(node, value)
        rendered = render(value, flow=flow)
        if isinstance(node, Scalar) and node.style in ("|", ">"):
            if isinstance(value, str) and "\n" in value and value.translate(_BREAKS_AND_TABS).isprintable():
                yield self._block_scalar_rewritten(node, value)
            yield self._block_scalar_replaced(node, rendered)
        elif node.start == node.end:
            yield [Edit(node.start, node.end, f" {rendered}")]
            yield [Edit(pair.key.end, pair.key.end, f": {rendered}")]
        elif isinstance(node, Scalar) or node.flow:
            yield [Edit(node.start, node.end, rendered)]
        else:
            colon = self.text.find(":", pair.key.end, node.start)
            lines = Edit(line_start(self.text, node.start), line_end(self.text, node.end), "")
            yield [Edit(colon + 1, colon + 1, f" {rendered}"), lines]

    def _block_scalar_rewritten(self, node: Scalar, value: str) -> list[Edit]:
        """Returns the edit of the lines below the `|`, which stay as far indented as they are."""
        body = line_end(self.text, node.start)
        indentation = _INDENTATION.match(self.text, body, node.end)
        lead = indentation[1] if indentation else ""
        lines = (f"{lead}{line}" if line else "" for line in value.removesuffix("\n").split("\n"))
        ending = self.newline if self.text[body : node.end].endswith(("\n", "\r")) else ""
        return [Edit(body, max(body, node.end), self.newline.join(lines) + ending)]

    def _block_scalar_replaced(self, node: Scalar, rendered: str) -> list[Edit]:
        """Returns the edits that keep a comment behind the `|`."""
        header = _BLOCK_HEADER.match(self.text, node.start)
        header_end = node.start if header is None else header.end()
        line_end = LINE_BREAK.search(self.text, header_end, node.end)
        body = node.end if line_end is None else line_end.start()
        return [Edit(node.start, header_end, rendered), Edit(body, max(body, node.end), "")]

    def _changed_items(self, node: SequenceNode, value: Sequence[YamlValue]) -> Iterator[list[Edit]]:
        """Yields the edits that keep the items, quotes and comments that stay."""
        old = [loose_node(item) for item in node.items]
        new = [loose(item) for item in value]
        kept = [index for index, item in enumerate(old) if item in new]
        staying = [old[index] for index in kept]
        if staying == new[: len(staying)] and staying:
            added = value[len(staying) :]
            gone = [index for index in range(len(old)) if index not in kept]
            yield [
                *self._items_removed(node, gone, is_followed=bool(added)),
                *self._items_added(node, added),
            ]
        shared = min(len(old), len(new))
        if shared:
            yield [
                *(
                    Edit(node.items[index].start, node.items[index].end, render(value[index], flow=node.flow))
                    for index in range(shared)
                    if old[index] != new[index]
                ),
                *self._items_removed(node, range(shared, len(old))),
                *self._items_added(node, value[shared:]),
            ]

    def _items_removed(
        self, node: SequenceNode, gone: Sequence[int], *, is_followed: bool = False
    ) -> Iterator[Edit]:
        if node.flow:
            yield from self._removed_in_flow(node.items, gone, is_followed=is_followed)
            return
        for item in (node.items[index] for index in gone):
            yield Edit(line_start(self.text, item.start), line_end(self.text, item.end), "")

    def _items_added(self, node: SequenceNode, items: Sequence[YamlValue]) -> list[Edit]:
        if not items:
            return []
        last = node.items[-1]
        if node.flow:
            text = "".join(f", {render(item, flow=True)}" for item in items)
            return [Edit(last.end, last.end, text)]
        start = line_start(self.text, last.start)
        lead = self.text[start : last.start]
        lines = self.newline.join(lead + render(item) for item in items)
        return [self._new_line(line_end(self.text, last.end), lines)]

    def _removed_in_flow(
        self, parts: Sequence[Node | Pair], gone: Sequence[int], *, is_followed: bool = False
    ) -> Iterator[Edit]:
        """Yields the edits that delete parts, and for each one comma; a comment between two parts stays.

        The comma is the one behind the part, and of the last parts the one before it if none is behind them, or if
        others are to follow.
        """
        last_kept = max((index for index in range(len(parts)) if index not in gone), default=-1)
        last_comma = None if is_followed else _COMMA.match(self.text, parts[-1].end)
        for index in gone:
            part = parts[index]
            gap = (part.end, part.end)
            if index < len(parts) - 1 and (index < last_kept or last_comma):
                gap = (part.end, parts[index + 1].start)
            elif last_comma:
                gap = (part.end, last_comma.end())
            elif index > 0:
                gap = (parts[index - 1].end, part.start)
            if "#" not in self.text[slice(*gap)]:
                yield Edit(min(gap[0], part.start), max(gap[1], part.end), "")
            else:
                comma = self.text.find(",", *gap)
                yield Edit(part.start, part.end, "")
                yield Edit(comma, comma + 1, "")

    def _new_line(self, offset: int, line: str) -> Edit:
        glue = "" if offset == 0 or self.text[offset - 1] in "\r\n" else self.newline
        return Edit(offset, offset, f"{glue}{line}{self.newline}")

    def _after_blank_lines(self, offset: int) -> int:
        end = line_end(self.text, offset)
        blank = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))*").match(self.text, end)
        return end if blank is None else blank.end()


class Change(NamedTuple):
    """A key, as the path to it through nested mappings, and its new value; None removes the key."""

    keys: tuple[str, ...]
    value: YamlValue | None


class Spliced(NamedTuple):
    """A text, and its tree; None for a text that holds nothing."""

    text: str
    tree: Mapping | None


def splice(source: Source, changes: Iterable[Change], newline: str, tree: Mapping | None = None) -> Spliced:
    """Returns the text with the changes made, in their order; lines that are added end in `newline`.

    `tree` is that of the source, where it is known already.
    """
    made = Spliced(source.text, parse_yaml(source) if tree is None else tree)
    for change in changes:
        made = _changed(source._replace(text=made.text), made, change, newline)
    return made


def _changed(source: Source, before: Spliced, change: Change, newline: str) -> Spliced:
    expected = _expected(loose_node(before.tree), change)
    if expected is None:
        return before
    for edits in _ways(Editor(source.text, newline), before.tree, change):
        text = apply_edits(source.text, edits)
        with contextlib.suppress(DocumentError):
            tree = parse_yaml(source._replace(text=text))
            if _same(loose_node(tree), expected):
                return Spliced(text, tree)
    name = ".".join(change.keys)
    raise DocumentError(
        f"`{name}` has a form that cannot be changed in place",
        path=source.path,
        line=source.first_line,
        hint=f"write it on one line, as `{change.keys[-1]}: …`",
    )


def _same(found: Loose, expected: Loose) -> bool:
    """True if both are equal, where a mapping that lost its last key may read as null."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return list(found) == list(expected) and all(_same(found[key], expected[key]) for key in found)
    return found == expected or (expected == {} and found == "")


def _expected(tree: Loose, change: Change) -> Loose | None:
    key, *rest = change.keys
    pairs = dict(tree) if isinstance(tree, dict) else {}
    if rest:
        inner = _expected(pairs.get(key, {}), Change(tuple(rest), change.value))
        return None if inner is None else pairs | {key: inner}
    if change.value is not None:
        return pairs | {key: loose(change.value)}
    return {name: item for name, item in pairs.items() if name != key} if key in pairs else None


def _ways(editor: Editor, root: Mapping | None, change: Change) -> Iterator[list[Edit]]:
    """Yields ways to make the change, the one that leaves most as it was first."""
    keys, value = change.keys, change.value
    if root is None:
        yield editor.appended(f"{render_text(keys[0])}: {render(_nested(keys[1:], value))}")
        return
    mapping, depth = root, 0
    while (pair := mapping.pair(keys[depth])) is not None and depth < len(keys) - 1:
        if not isinstance(pair.value, Mapping):
            if not (isinstance(pair.value, Scalar) and pair.value.is_null):
                return
            break
        mapping, depth = pair.value, depth + 1
    if pair is None:
        yield from editor.inserted(mapping, keys[depth], _nested(keys[depth + 1 :], value))
    elif value is None:
        yield from editor.removed(mapping, pair)
    else:
        yield from editor.replaced(pair, _nested(keys[depth + 1 :], value), flow=mapping.flow)


def _nested(keys: Sequence[str], value: YamlValue | None) -> YamlValue:
    result: YamlValue = {} if value is None else value
    for key in reversed(keys):
        result = {key: result}
    return result
