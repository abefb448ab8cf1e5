"""The tree of a YAML document: nodes with their positions in the text."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

NULLS = frozenset({"", "~", "null", "Null", "NULL"})
Loose: TypeAlias = "str | list[Loose] | dict[str, Loose]"


class Scalar(NamedTuple):
    """One value's text as YAML reads it; `style` is empty for a plain one, else its quote, `|` or `>`."""

    text: str
    style: str
    start: int
    end: int

    @property
    def is_null(self) -> bool:
        """True for a plain scalar that YAML 1.2 reads as null."""
        return not self.style and self.text in NULLS


class Sequence(NamedTuple):
    """A list; `flow` where it is written in brackets."""

    items: tuple[Node, ...]
    flow: bool
    start: int
    end: int


class Pair(NamedTuple):
    """A key and its value."""

    key: Scalar
    value: Node

    @property
    def start(self) -> int:
        """Returns where the key begins."""
        return self.key.start

    @property
    def end(self) -> int:
        """Returns where the value ends."""
        return max(self.key.end, self.value.end)


class Mapping(NamedTuple):
    """Pairs in the order of the file; no key occurs twice. `flow` where it is written in braces."""

    pairs: tuple[Pair, ...]
    flow: bool
    start: int
    end: int

    def pair(self, key: str) -> Pair | None:
        """Returns the pair of that key."""
        for pair in self.pairs:  # a generator would double the time that reading a task's fields takes
            if pair.key.text == key:
                return pair
        return None

    def get(self, key: str) -> Node | None:
        """Returns the value of that key."""
        found = self.pair(key)
        return None if found is None else found.value


Node: TypeAlias = Scalar | Sequence | Mapping


def loose_node(node: Node | None) -> Loose:
    """Returns the node's texts without their places and quotes; nothing at all is an empty mapping."""
    if node is None:
        return {}
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Sequence):
        return [loose_node(item) for item in node.items]
    return {pair.key.text: loose_node(pair.value) for pair in node.pairs}
