"""Changes single values of a YAML text at the offsets of its nodes; every other byte stays.

Each change is read back before it is accepted, so a form of YAML that the splice does not understand is refused
and never half-changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gitticks.document.lines import Source
from gitticks.document.yaml_edits import Edit, Editor, apply_edits
from gitticks.document.yaml_nodes import Loose, Mapping, Scalar, loose_node
from gitticks.document.yaml_scalars import YamlValue, loose, render, render_text
from gitticks.document.yaml_tree import parse_yaml
from gitticks.errors import DocumentError


@dataclass(frozen=True, slots=True)
class Change:
    """A key, as the path to it through nested mappings, and its new value; None removes the key."""

    keys: tuple[str, ...]
    value: YamlValue | None


def splice(source: Source, changes: Iterable[Change], newline: str) -> Source:
    """Returns the text with the changes made, in their order; lines that are added end in `newline`.

    Raises:
        DocumentError: the text writes a value in a form that cannot be changed in place.
    """
    for change in changes:
        source = _changed(source, change, newline)
    return source


def _changed(source: Source, change: Change, newline: str) -> Source:
    root = parse_yaml(source)
    expected = _expected(loose_node(root), change)
    if expected is None:
        return source
    for edits in _ways(Editor(source.text, newline), root, change):
        result = Source(apply_edits(source.text, edits), source.path, source.first_line)
        if _reads_as(result, expected):
            return result
    name = ".".join(change.keys)
    raise DocumentError(
        f"`{name}` stands in a form that cannot be changed in place",
        path=source.path,
        line=source.first_line,
        hint=f"write it on one line, as `{change.keys[-1]}: …`",
    )


def _reads_as(source: Source, expected: Loose) -> bool:
    try:
        return _same(loose_node(parse_yaml(source)), expected)
    except DocumentError:
        return False


def _same(found: Loose, expected: Loose) -> bool:
    """True if both are equal, where a mapping that lost its last key may read as null."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return list(found) == list(expected) and all(_same(found[key], expected[key]) for key in found)
    return found == expected or (expected == {} and found == "")


def _expected(tree: Loose, change: Change) -> Loose | None:
    """Returns the tree after the change, or None where there is nothing to remove."""
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
    """Returns `value` inside one mapping for each key."""
    result: YamlValue = {} if value is None else value
    for key in reversed(keys):
        result = {key: result}
    return result
