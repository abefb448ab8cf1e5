"""Splits a task file into fences, YAML and body without losing a byte, and changes keys of the YAML in place.

Reading is a handler of python-frontmatter over ruamel.yaml. The library's own `loads` and `dumps` are not used: they
strip the text around the body, drop comments and take a scalar for no frontmatter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from frontmatter.default_handlers import BaseHandler

from gitticks.document.texts import (
    BYTE_ORDER_MARK,
    Source,
    conflict_error,
    count_line_breaks,
    decode,
    find_conflict,
    refuse_conflict,
)
from gitticks.document.yaml_edit import Change, splice
from gitticks.document.yaml_nodes import Mapping, loose_node
from gitticks.document.yaml_read import parse_yaml
from gitticks.errors import DocumentError

_CLOSING = re.compile(r"(?<=[\r\n])---[ \t]*(?:\r\n|\r|\n|\Z)")


class Frontmatter(NamedTuple):
    """The parts of a task file, which joined again are the file, and the tree of its YAML.

    `opening` holds a byte order mark, if any, and the first fence; `newline` is the fence's line break.
    """

    path: str
    opening: str
    yaml: str
    closing: str
    body: str
    newline: str
    tree: Mapping

    @property
    def text(self) -> str:
        """Returns the whole file."""
        return self.opening + self.yaml + self.closing + self.body

    @property
    def source(self) -> Source:
        """Returns the YAML with its place in the file."""
        return Source(self.yaml, self.path, first_line=2)

    @property
    def body_source(self) -> Source:
        """Returns the body with its place in the file."""
        before = self.opening + self.yaml + self.closing
        return Source(self.body, self.path, 1 + count_line_breaks(before))

    def with_changes(self, changes: Iterable[Change]) -> Frontmatter:
        """Returns the file with keys of its frontmatter set or removed."""
        text, tree = splice(self.source, changes, self.newline, self.tree)
        return self.with_yaml(text) if tree is None else self._replace(yaml=text, tree=tree)

    def with_yaml(self, yaml: str) -> Frontmatter:
        """Returns the file with another text between its fences."""
        return self._replace(yaml=yaml, tree=FrontmatterHandler(self.path).tree(yaml))


class FrontmatterHandler(BaseHandler):
    """YAML between two lines `---`, of which the first begins the file."""

    FM_BOUNDARY = re.compile(rf"{BYTE_ORDER_MARK}?---[ \t]*(\r\n|\r|\n)")

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def split(self, text: str) -> tuple[str, str]:
        """Returns the YAML and the body, exactly as they are.

        Raises:
            DocumentError: there is no frontmatter, it never ends, or it holds a conflict.
        """
        opening = self.opening(text)
        closing = _CLOSING.search(text, opening.end())
        yaml = text[opening.end() : len(text) if closing is None else closing.start()]
        refuse_conflict(self._source(yaml))
        if closing is None:
            hint = "end the frontmatter with a line `---`"
            raise DocumentError("the frontmatter has no end", path=self._path, line=1, column=1, hint=hint)
        return yaml, text[closing.end() :]

    def opening(self, text: str) -> re.Match[str]:
        """Returns the first fence, whose group is its line break."""
        found = self.FM_BOUNDARY.match(text)
        if found is None:
            source = Source(text, self._path)
            if find_conflict(text) == 0:
                raise conflict_error(source, 0)
            raise source.error("there is no frontmatter", 0, hint="begin the file with a line `---`")
        return found

    def load(self, fm: str) -> dict[str, Any]:
        """Returns the texts of the YAML by their keys."""
        return {pair.key.text: loose_node(pair.value) for pair in self.tree(fm).pairs}

    def tree(self, yaml: str) -> Mapping:
        """Returns the YAML as nodes that know their places."""
        source = self._source(yaml)
        tree = parse_yaml(source)
        if tree is None:
            hint = "write `id`, `title` and `status` into it"
            raise source.error("the frontmatter is empty", 0, hint=hint)
        return tree

    def _source(self, yaml: str) -> Source:
        return Source(yaml, self._path, first_line=2)


def split(data: bytes, path: str) -> Frontmatter:
    """Returns the parts of a task file."""
    text, handler = decode(data, path), FrontmatterHandler(path)
    yaml, body = handler.split(text)
    opening = handler.opening(text)
    return Frontmatter(
        path=path,
        opening=opening[0],
        yaml=yaml,
        closing=text[opening.end() + len(yaml) : len(text) - len(body)],
        body=body,
        newline=opening[1],
        tree=handler.tree(yaml),
    )
