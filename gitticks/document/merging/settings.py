"""Merges a `config.yaml` key by key."""

from __future__ import annotations

from gitticks.document.frontmatter import Frontmatter
from gitticks.document.lines import Source
from gitticks.document.merging.fields import merge_frontmatter
from gitticks.document.yaml_nodes import Mapping
from gitticks.document.yaml_tree import parse_yaml


def merge_settings(base: str, one: str, other: str) -> tuple[str, tuple[str, ...]]:
    """Returns the settings with the changes of both sides, and the keys that both changed; there that of `one` stands.

    Raises:
        DocumentError: a side is no YAML of one key a line.
    """
    merged = merge_frontmatter(
        _as_frontmatter(base) if base.strip() else None,
        _as_frontmatter(one),
        _as_frontmatter(other),
        bundle=frozenset(),
        guest_is_later=False,
    )
    return merged.frontmatter.yaml, merged.overridden


def _as_frontmatter(text: str) -> Frontmatter:
    path = "config.yaml"
    newline = "\r\n" if "\r\n" in text else "\n"
    tree = parse_yaml(Source(text, path))
    nothing = Mapping((), flow=False, start=0, end=0)
    return Frontmatter(path, "", text, "", "", newline, tree if tree is not None else nothing)
