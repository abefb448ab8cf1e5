"""Merges the frontmatter key by key, keeping the bytes of the side that each key comes from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from gitticks.document.fields import FIELDS, MANUAL
from gitticks.document.frontmatter import Frontmatter
from gitticks.document.merging.three_way import joined_order, union_of_lines
from gitticks.document.texts import Source, line_end, line_start, with_newlines
from gitticks.document.yaml_edit import Change
from gitticks.document.yaml_nodes import Loose, Node, Scalar, loose_node
from gitticks.document.yaml_nodes import Mapping as MappingNode
from gitticks.document.yaml_nodes import Sequence as SequenceNode
from gitticks.document.yaml_read import parse_yaml
from gitticks.document.yaml_scalars import Plain, YamlValue

SETS = frozenset({"labels", "blocked_by"})
UPDATED = "updated"
Later: TypeAlias = Callable[[tuple[str, ...]], tuple[int, int] | None]
_MOST_CHANGES = 50
"""Each is written and read back by itself; a mapping that takes more from the other side is nobody's by hand."""
_COMMENT = re.compile(r"(?<!\S)#.*")
_KNOWN = frozenset(one.key for one in FIELDS)


class MergedFields(NamedTuple):
    """The frontmatter, and the keys of which only the later value stands because both sides changed them."""

    frontmatter: Frontmatter
    overridden: tuple[str, ...]


class _Part(NamedTuple):
    """One key: the comments and blank lines above it, its own lines, and its value."""

    lead: str
    pair: str
    node: Node

    @property
    def value(self) -> Loose:
        return loose_node(self.node)

    @property
    def comments(self) -> list[str]:
        """Returns the comments among its own lines, and what looks like one."""
        return _COMMENT.findall(self.pair)


class _Parts(NamedTuple):
    """The YAML of one file by keys; `rest` is what is below the last one."""

    by_key: Mapping[str, _Part]
    rest: str


@dataclass(slots=True)
class _Merge:
    """One go at merging: `chosen` is what was put together, `changes` are to be spliced into it."""

    base: _Parts
    frame: _Parts
    guest: _Parts
    bundle: frozenset[str]
    guest_is_later: bool | None
    later: Later
    is_settings: bool = False
    overridden: list[str] = field(default_factory=list)
    chosen: dict[str, Loose] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)

    def joined(self) -> str:
        """Returns the YAML put together; sets and mappings that take from both are still the frame's."""
        text, waiting = "", ""
        for key in joined_order(list(self.frame.by_key), list(self.guest.by_key)):
            chosen = self._chosen(key)
            lead = self._lead(key, is_kept=chosen is not None)
            if chosen is None:
                waiting += lead
            else:
                self.chosen[key] = chosen.value
                text += waiting + lead + _ended(chosen.pair)
                waiting = ""
        return text + waiting + union_of_lines(self.base.rest, self.frame.rest, self.guest.rest)

    def _lead(self, key: str, *, is_kept: bool) -> str:
        base, frame, guest = (
            parts.by_key[key].lead if key in parts.by_key else None
            for parts in (self.base, self.frame, self.guest)
        )
        if is_kept:
            return union_of_lines(
                base or "",
                frame if frame is not None else base or "",
                guest if guest is not None else base or "",
            )
        return "".join(_ended(lead) for lead in (frame, guest) if lead and lead.strip() and lead != base)

    def _chosen(self, key: str) -> _Part | None:
        base, frame, guest = (parts.by_key.get(key) for parts in (self.base, self.frame, self.guest))
        if key in (MANUAL, "id"):
            return frame
        if key in self.bundle:
            return self._with_comments(key, base, frame, guest)
        if key == UPDATED:
            return guest if self._guest_stands((), _value(frame), _value(guest)) else frame
        if _value(frame) == _value(guest):
            return guest if frame is None or (base and base.pair == frame.pair) else frame
        if _value(guest) == _value(base):
            return self._with_comments(key, base, frame, guest)
        if _value(frame) == _value(base):
            return self._with_comments(key, base, guest, frame)
        return self._joined(key, base, frame, guest)

    def _with_comments(
        self, key: str, base: _Part | None, part: _Part | None, other: _Part | None
    ) -> _Part | None:
        """Returns the part of one side, with the comments if it is these that the other one changed."""
        if (
            not (base and part and other)
            or _value(part) is None
            or not part.comments == base.comments != other.comments
            or _value(other) != _value(base)
        ):
            return part
        if isinstance(other.node, MappingNode) and isinstance(part.node, MappingNode):
            self.changes += self._nested((key,), base.node, other.node, part.node)
        else:
            self.changes.append(Change((key,), as_value(part.node)))
        return other

    def _joined(self, key: str, base: _Part | None, frame: _Part | None, guest: _Part | None) -> _Part | None:
        if key in SETS:
            return self._joined_set(key, base, frame, guest)
        if frame is None or guest is None:
            if self.is_settings:
                self.overridden.append(key)
            if self.is_settings or key not in _KNOWN:
                return frame or guest
        elif isinstance(frame.node, MappingNode) and isinstance(guest.node, MappingNode):
            self.changes += self._nested((key,), base.node if base else None, frame.node, guest.node)
            return frame
        self.overridden.append(key)
        return guest if self._guest_stands((key,), _value(frame), _value(guest)) else frame

    def _guest_stands(self, keys: tuple[str, ...], mine: Loose | None, theirs: Loose | None) -> bool:
        """True if the later value is the guest's; of two of one time the values decide, so that it stays like that."""
        times = self.later(keys) if keys else None
        if times is not None and times[0] != times[1]:
            return times[1] > times[0]
        if times is None and self.guest_is_later is not None:
            return self.guest_is_later
        return (theirs is not None, repr(theirs)) > (mine is not None, repr(mine))

    def _joined_set(
        self, key: str, base: _Part | None, frame: _Part | None, guest: _Part | None
    ) -> _Part | None:
        old, mine, theirs = _items(base), _items(frame), _items(guest)
        # The order must not depend on which side is the frame: what both keep as it was, then what either added.
        result = [item for item in dict.fromkeys(old) if item in mine and item in theirs]
        result += sorted({*mine, *theirs} - {*old})
        if not result:
            return None
        if result in (mine, theirs):
            return frame if result == mine else guest
        self.changes.append(Change((key,), result))
        return frame or guest

    def _nested(
        self, keys: tuple[str, ...], base: Node | None, frame: MappingNode, guest: MappingNode
    ) -> Iterator[Change]:
        """Yields what a mapping of the frame takes from the guest's."""
        old = base if isinstance(base, MappingNode) else None
        for pair in guest.pairs:
            key, theirs = pair.key.text, pair.value
            mine, before = frame.get(key), old.get(key) if old else None
            if _same(mine, theirs) or _same(before, theirs):
                continue
            if isinstance(mine, MappingNode) and isinstance(theirs, MappingNode):
                yield from self._nested((*keys, key), before, mine, theirs)
                continue
            is_changed = mine is not None and not _same(mine, before)
            if is_changed or (self.is_settings and mine is None and before is not None):
                self.overridden.append(".".join((*keys, key)))
            if not is_changed or self._guest_stands((*keys, key), loose_node(mine), loose_node(theirs)):
                yield Change((*keys, key), as_value(theirs))
        for pair in frame.pairs:
            before = old.get(pair.key.text) if old else None
            if guest.get(pair.key.text) is not None or before is None:
                continue
            if _same(before, pair.value):
                yield Change((*keys, pair.key.text), None)
            elif self.is_settings:
                self.overridden.append(".".join((*keys, pair.key.text)))


def merge_frontmatter(
    base: Frontmatter | None,
    frame: Frontmatter,
    guest: Frontmatter,
    *,
    bundle: frozenset[str],
    guest_is_later: bool | None,
    later: Later = lambda _: None,
    is_settings: bool = False,
) -> MergedFields:
    """Returns the frontmatter of `frame` with what `guest` changed.

    The arguments are those of `merge_files`; `bundle` are the keys that come from the frame alone. Of settings it is
    told too where one side removed what the other changed.

    Raises:
        DocumentError: one of them writes its YAML in a form that cannot be joined.
    """
    old = _Parts({}, "") if base is None else _parts(base)
    merge = _Merge(old, _parts(frame), _parts(guest), bundle, guest_is_later, later, is_settings)
    text = merge.joined()
    text = frame.yaml if text == with_newlines(frame.yaml, "\n") else with_newlines(text, frame.newline)
    result = frame.with_yaml(text)
    if loose_node(result.tree) != merge.chosen or len(merge.changes) > _MOST_CHANGES:
        raise result.source.error("the two sides cannot be merged key by key", 0)
    return MergedFields(result.with_changes(merge.changes), tuple(dict.fromkeys(merge.overridden)))


def value_at(frontmatter: Frontmatter, keys: tuple[str, ...]) -> Loose | None:
    """Returns the value of a key inside others; null says as much as no key at all."""
    node: Node | None = frontmatter.tree
    for key in keys:
        node = node.get(key) if isinstance(node, MappingNode) else None
    return None if node is None or (isinstance(node, Scalar) and node.is_null) else loose_node(node)


def as_value(node: Node) -> YamlValue:
    """Returns a node as it can be written again: what is plain stays plain."""
    if isinstance(node, Scalar):
        return node.text if node.style else Plain(node.text)
    if isinstance(node, SequenceNode):
        return [as_value(item) for item in node.items]
    return {pair.key.text: as_value(pair.value) for pair in node.pairs}


def _parts(frontmatter: Frontmatter) -> _Parts:
    text = with_newlines(frontmatter.yaml, "\n")
    source = Source(text, frontmatter.path, first_line=2)
    tree = parse_yaml(source)
    if (
        tree is None
        or tree.flow
        or any(text[line_start(text, pair.start) : pair.start] for pair in tree.pairs)
    ):
        raise source.error("the frontmatter is not written as one key a line", 0)
    found: dict[str, _Part] = {}
    place = 0
    for pair in tree.pairs:
        end = line_end(text, pair.end)
        found[pair.key.text] = _Part(text[place : pair.start], text[pair.start : end], pair.value)
        place = end
    return _Parts(found, text[place:])


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _value(part: _Part | None) -> Loose | None:
    """Returns a key's value; null says as much as no key at all."""
    if part is None or (isinstance(part.node, Scalar) and part.node.is_null):
        return None
    return part.value


def _same(one: Node | None, other: Node | None) -> bool:
    return one is not None and other is not None and loose_node(one) == loose_node(other)


def _items(part: _Part | None) -> Sequence[str]:
    value = _value(part)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else ()


def merge_settings(base: str, one: str, other: str) -> tuple[str, tuple[str, ...]]:
    """Returns the settings with the changes of both sides, and the keys that both changed.

    There that of `one` stands; of what one side removed, the value that the other one gave.

    Raises:
        DocumentError: a side is no YAML of one key a line.
    """
    merged = merge_frontmatter(
        _as_frontmatter(base) if base.strip() else None,
        _as_frontmatter(one),
        _as_frontmatter(other),
        bundle=frozenset(),
        guest_is_later=False,
        is_settings=True,
    )
    return merged.frontmatter.yaml, merged.overridden


def _as_frontmatter(text: str) -> Frontmatter:
    path = "config.yaml"
    newline = "\r\n" if "\r\n" in text else "\n"
    tree = parse_yaml(Source(text, path))
    nothing = MappingNode((), flow=False, start=0, end=0)
    return Frontmatter(path, "", text, "", "", newline, tree if tree is not None else nothing)
