"""Builds the tree from ruamel.yaml's event stream, checking limits on the events as they come.

Nothing is resolved, constructed or executed: a bomb is refused while it is still a line of text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ruamel.yaml import events
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.loader import SafeLoader
from ruamel.yaml.reader import ReaderError

from gitticks.document.texts import Source, is_encodable
from gitticks.document.yaml_nodes import Mapping, Node, Pair, Scalar, Sequence
from gitticks.errors import DocumentError

MOST_EVENTS = 5000
MOST_DEPTH = 16


def build_tree(source: Source) -> Node | None:
    """Returns the root of the one document in the text, or None if there is none."""
    return _Builder(source, _events(source)).document()


def _events(source: Source) -> Iterator[events.Event]:
    """Yields ruamel's events, with every failure of its scanner as an error that names the place."""
    try:
        loader = SafeLoader(source.text)
        while loader.check_event():
            yield loader.get_event()
    except ReaderError as error:
        raise source.error(
            f"the character U+{error.character:04X} is not allowed in YAML",
            error.position,
            hint="delete it, or write it in double quotes as an escape",
        ) from None
    except MarkedYAMLError as error:
        raise _marked(source, error) from None
    except (
        YAMLError,
        ValueError,
        RecursionError,
        OverflowError,
        AssertionError,
        LookupError,
        AttributeError,
    ) as error:
        problem = " ".join(str(error).split())[:200]
        raise source.error(f"this is not YAML: {problem}", 0, hint="put values in double quotes") from None


def _marked(source: Source, error: MarkedYAMLError) -> DocumentError:
    """Returns the error for what ruamel refused at a place; for what is never closed that is where it was opened."""
    opened = error.context_mark
    context, problem = str(error.context), str(error.problem)
    is_unclosed = ("quoted scalar" in context and "end of stream" in problem) or (
        "flow" in context and "stream end" in problem
    )
    if opened is not None and is_unclosed:
        place = opened.index
        if "flow node" in context:  # the end of the text, where something inside the brackets was expected
            place = max(source.text.rfind(bracket, 0, place) for bracket in "[{")
        sign = source.text[place]
        return source.error(
            f"the `{sign}` here is never closed", place, hint=f"close it, or delete the `{sign}`"
        )
    mark = error.problem_mark or opened
    problem = " ".join(str(error.problem or error.context or "this is not YAML").split())
    offset = 0 if mark is None else min(mark.index, len(source.text))
    is_tab = source.text[offset : offset + 1] == "\t"
    hint = "put the value in double quotes"
    if problem.startswith("mapping values"):
        hint = f"indent the key as the one above it, or {hint} if the colon is part of it"
    return source.error(problem, offset, hint="write spaces instead of the tab" if is_tab else hint)


class _Builder:
    def __init__(self, source: Source, events: Iterator[events.Event]) -> None:
        self._source = source
        self._events = events
        self._count = 0

    def document(self) -> Node | None:
        """Returns the root of the only document, or None if there is none."""
        root: Node | None = None
        for event in self._events:
            if isinstance(event, events.DocumentStartEvent):
                if root is not None:
                    raise self._error(
                        "a second YAML document begins", event, "delete the `---` or `...` line"
                    )
                root = self._node(next(self._events), 0)
        return root

    def _node(self, event: events.Event, depth: int) -> Node:
        self._refuse(event, depth)
        start = event.start_mark.index
        if isinstance(event, events.ScalarEvent):
            return self._scalar(event)
        flow = isinstance(event, events.CollectionStartEvent) and bool(event.flow_style)
        if isinstance(event, events.SequenceStartEvent):
            items = []
            while not isinstance(event := next(self._events), events.SequenceEndEvent):
                items.append(self._node(event, depth + 1))
            return Sequence(tuple(items), flow, start, self._end(event, items, flow=flow))
        pairs: dict[str, Pair] = {}
        while not isinstance(event := next(self._events), events.MappingEndEvent):
            key = self._key(self._node(event, depth + 1), pairs)
            pairs[key.text] = Pair(key, self._placed(key, self._node(next(self._events), depth + 1)))
        return Mapping(tuple(pairs.values()), flow, start, self._end(event, list(pairs.values()), flow=flow))

    def _placed(self, key: Scalar, value: Node) -> Node:
        """Returns an absent value as standing directly behind the colon, where ruamel's mark is lines below."""
        if not isinstance(value, Scalar) or value.style or value.text:
            return value
        offset = self._source.text.find(":", key.end, value.end) + 1 or key.end
        return Scalar("", "", offset, offset)

    def _end(self, event: events.Event, children: Iterable[Node | Pair], *, flow: bool) -> int:
        return int(event.end_mark.index) if flow else max(child.end for child in children)

    def _refuse(self, event: events.Event, depth: int) -> None:
        self._count += 1
        if self._count > MOST_EVENTS:
            raise self._error(f"the YAML has more than {MOST_EVENTS} parts", event, "move text below it")
        if depth > MOST_DEPTH:
            raise self._error(f"the YAML is nested deeper than {MOST_DEPTH}", event, "write it flat")
        if isinstance(event, events.AliasEvent) or getattr(event, "anchor", None):
            raise self._error("anchors and aliases are not allowed", event, "repeat the value")
        if getattr(event, "ctag", None) is not None:
            raise self._error("tags are not allowed", event, "delete the word that begins with `!`")

    def _scalar(self, event: events.ScalarEvent) -> Scalar:
        text = str(event.value)
        if "\0" in text or not is_encodable(text):
            raise self._error("the value contains an invalid character", event, "delete the escape")
        start, end = event.start_mark.index, event.end_mark.index
        if event.style in ("|", ">"):
            end = start + len(self._source.text[start:end].rstrip(" \t\r\n"))
        return Scalar(text, event.style or "", start, end)

    def _key(self, node: Node, pairs: dict[str, Pair]) -> Scalar:
        if not isinstance(node, Scalar):
            raise self._source.error("a key must be a word", node.start, hint="write `key: value`")
        earlier = pairs.get(node.text)
        if earlier is not None:
            first = self._source.line(earlier.start)
            raise self._source.error(
                f"`{node.text}` is already set on line {first}", node.start, hint="delete one of the two"
            )
        return node

    def _error(self, problem: str, event: events.Event, hint: str) -> Exception:
        return self._source.error(problem, event.start_mark.index, hint=hint)
