"""The page about the events of `gt run --json`, and their JSON Schema, made from the types of the events.

`python -m tools.events_reference` fails if the page is stale; `--write` renews it.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import types
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from gitticks.actions.attaching import SessionOver
from gitticks.cli.json import SCHEMA
from gitticks.cli.views.run import EVENT_KINDS
from gitticks.model.status import Awaiting, Status
from tools.page import check_or_write

PAGE = Path("docs/reference/events.md")
OF_ATTACH = "session.over"
OPENING = f"""\
# Events of a run

<!-- written by `make docs` from the types of the events; edit these, not this page -->

`gt run --json` prints one JSON object per line on stdout, as things happen, each with `"schema": {SCHEMA}` and `event`, its kind.
Keys and kinds may be added without a new schema number, so skip what you do not know; none is removed or changes its meaning.
Every key of a kind is always present, null where the type allows it.
`gt attach ID --json` prints `agent.said` of one session, and `{OF_ATTACH}` at its end.
The run continues even if nobody reads its output any more.
Its [exit code](json.md#exit-codes) is in `run.ended` too.
"""


def events() -> dict[str, type]:
    """Returns the types of all events by their kinds, in the order of the page."""
    return {**{kind: of for of, kind in EVENT_KINDS.items()}, OF_ATTACH: SessionOver}


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of a line."""
    kinds = [
        {"title": kind, **_object(of, {"schema": {"const": SCHEMA}, "event": {"const": kind}})}
        for kind, of in events().items()
    ]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "oneOf": kinds}


def _object(of: Any, more: Mapping[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(of, localns={"Status": Status, "Awaiting": Awaiting})
    properties = {**more, **{name: _type(hints[name]) for name in of._fields}}
    return {"type": "object", "properties": properties, "required": list(properties)}


_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def _type(of: Any) -> dict[str, Any]:
    """Returns what JSON holds for a type of Python."""
    of = getattr(of, "__supertype__", of)
    if of in _PLAIN:
        return {"type": _PLAIN[of]}
    if get_origin(of) in (Union, types.UnionType):
        return {"anyOf": [_type(one) for one in get_args(of)]}
    if get_origin(of) is tuple:
        return {"type": "array", "items": _type(get_args(of)[0])}
    if hasattr(of, "_fields"):
        return _object(of, {})
    if isinstance(of, type) and issubclass(of, Enum):
        return {"enum": [one.value for one in of]}
    raise TypeError(f"no JSON is known for {of}")


def _page(_present: str) -> str:
    return "".join(_parts())


def _parts() -> Iterator[str]:
    yield OPENING
    for kind, of in events().items():
        found = _object(of, {})
        yield f"\n## `{kind}`\n\n{_words(of)}\n\n| key | holds |\n| --- | --- |\n"
        for name, of_key in found["properties"].items():
            yield f"| `{name}` | {_in_words(of_key)} |\n"
    yield "\n## JSON Schema\n\n```json\n"
    whole = schema()
    kinds = ",\n".join(json.dumps(one) for one in whole.pop("oneOf"))
    yield f'{json.dumps(whole)[:-1]}, "oneOf": [\n{kinds}\n]}}'
    yield "\n```\n"


def _words(of: type) -> str:
    """Returns what a type's docstring says, a sentence a line, with JSON's words."""
    text = " ".join((inspect.getdoc(of) or "").split()).replace("None", "null")
    return re.sub(r"[.] (?=[A-Z`])", ".\n", text)


def _in_words(of: dict[str, Any]) -> str:
    if "anyOf" in of:
        return " or ".join(_in_words(one) for one in of["anyOf"])
    if "enum" in of:
        return ", ".join(f"`{one}`" for one in of["enum"])
    if of["type"] == "array":
        return f"a list, each: {_in_words(of['items'])}"
    if of["type"] == "object":
        return "; ".join(f"`{name}`: {_in_words(one)}" for name, one in of["properties"].items())
    return str(of["type"])


def main(arguments: list[str]) -> int:
    """Compares the page with the types, or writes it; returns the exit code."""
    return check_or_write(arguments, "tools.events_reference", PAGE, _page, "the events' types")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
