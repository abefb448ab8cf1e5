"""Finds keys that look like a field of TASK.md and are none: they are kept as a person's own, and do nothing."""

from __future__ import annotations

from dataclasses import fields
from difflib import get_close_matches

from gitticks.document.frontmatter import Frontmatter
from gitticks.model.task import HUMAN_FIELDS, Task

_WRITTEN = sorted(HUMAN_FIELDS | {"status"})
_KNOWN = frozenset(field.name for field in fields(Task)) | {"manual"}
_ALIKE = 0.8
"""How much of two names has to be the same: `label` is near `labels`, and `due` is a key of its own."""


def misnamed_keys(before: Frontmatter | None, after: Frontmatter) -> tuple[str, ...]:
    """Returns a warning with path and line for each new key that is probably meant as a field."""
    old = set() if before is None else {pair.key.text for pair in before.tree.pairs}
    found = []
    for pair in after.tree.pairs:
        key = pair.key.text
        near = [] if key in _KNOWN or key in old else get_close_matches(key, _WRITTEN, n=1, cutoff=_ALIKE)
        if near:
            place = f"{after.path}:{after.source.line(pair.start)}"
            found.append(f"{place}: `{key}` is no field, and does nothing: did you mean `{near[0]}`?")
    return tuple(found)
