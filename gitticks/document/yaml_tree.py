"""Reads YAML into a tree whose every node knows its place, within limits that hold before anything is built."""

from __future__ import annotations

import re

from gitticks.document.texts import Source
from gitticks.document.yaml_nodes import Mapping, Scalar
from gitticks.document.yaml_simple import parse_simple

MOST_BYTES = 64_000
MOST_BRACKETS = 500
_DIRECTIVE = re.compile(r"(?:\A|[\r\n])(?=%)")


def parse_yaml(source: Source) -> Mapping | None:
    """Returns the tree of one YAML document whose root is a mapping, or None where it holds nothing.

    Raises:
        DocumentError: it is no YAML, passes a limit, or uses anchors, aliases, tags or a key twice.
    """
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
