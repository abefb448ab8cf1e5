"""Every line of `gt run --json` is as the reference's schema says, in runs in which every kind of event happens."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gitticks.cli.views.run import EVENT_KINDS
from gitticks.errors import Exit
from gitticks.runner.outcome import RunExit
from tests.support.repositories import git
from tests.support.runs import DONE, NO_PERSON, RunProject, project
from tests.support.waiting import LONGEST_SECONDS

__all__ = ["project"]

REFERENCE = Path(__file__).parents[2] / "docs/reference"
SPENDS = """echo '{"gitticks": "usage", "tokens_in": 85}'\n"""
NAMED: dict[str, type | tuple[type, ...]] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None), "array": list, "object": dict,
}  # fmt: skip


def schemas() -> dict[str, Any]:
    """Returns the schema of each kind, as the page has them."""
    text = (REFERENCE / "events.md").read_text().partition("```json\n")[2].partition("```")[0]
    return {one["title"]: one for one in json.loads(text)["oneOf"]}


def wrong(value: Any, schema: dict[str, Any], at: str = "") -> list[str]:
    """Returns what of a value is not as its schema says, unknown keys too; for the words that our schemas use."""
    known = {"title", "type", "const", "enum", "anyOf", "items", "properties", "required"}
    assert schema.keys() <= known, schema
    if "anyOf" in schema:
        tried = [wrong(value, one, at) for one in schema["anyOf"]]
        return [] if [] in tried else [f"{at}: {value!r} fits nothing of {schema['anyOf']}"]
    if "const" in schema or "enum" in schema:
        return [] if value in schema.get("enum", [schema.get("const")]) else [f"{at}: {value!r}"]
    is_bool = isinstance(value, bool) and schema["type"] != "boolean"
    if is_bool or not isinstance(value, NAMED[schema["type"]]):
        return [f"{at}: {value!r} is no {schema['type']}"]
    if isinstance(value, list):
        return [
            words
            for place, one in enumerate(value)
            for words in wrong(one, schema["items"], f"{at}[{place}]")
        ]
    if isinstance(value, dict):
        others = [f"{at}: `{key}`" for key in value.keys() ^ schema["properties"].keys()]
        shared = value.keys() & schema["properties"].keys()
        return [
            *others,
            *(
                words
                for key in shared
                for words in wrong(value[key], schema["properties"][key], f"{at}.{key}")
            ),
        ]
    return []


TOLD_ELSEWHERE = {"permission.asked", "run.added"}
"""What takes a client with a hook, and a second `gt run`; the tests of these look at it."""


def require_valid(events: list[dict[str, Any]]) -> None:
    """Fails if one of these is not as the page says."""
    known = schemas()
    assert [words for one in events for words in wrong(one, known[one["event"]], one["event"])] == []


def test_every_kind_of_event_is_as_its_schema_says(project: RunProject) -> None:
    project.settings(f"{NO_PERSON}verify: {{test: 'true'}}\n")
    project.agent(f"echo hello\n[ $GITTICKS_TASK = k7f2 ] || exit 0\n{SPENDS}{DONE}")
    project.make("k7f2", priority=0)
    project.make("m3xq", blocked_by=("k7f2",))
    project.make("gone", status="done")
    project.make("late", blocked_by=("m3xq",))
    in_the_way = project.path / "k7f2.txt"
    in_the_way.write_text("mine\n")
    project.ok("pause")
    events = []
    words = ("--json", "--max-tokens", "100", "--max-duration", "1h", "k7f2", "m3xq", "gone")
    with project.running(*words) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if not line.startswith("{"):
                continue
            events.append(json.loads(line))
            if events[-1]["event"] == "run.waits":
                project.ok("unpause")
            if events[-1]["event"] == "merge.waits":
                in_the_way.unlink()
        process.wait(LONGEST_SECONDS)
    _, more = project.events_of_run()
    events += more
    require_valid(events)
    assert {event["event"] for event in events} == set(EVENT_KINDS.values()) - TOLD_ELSEWHERE
    assert events[-1]["event"] == "run.ended"


def test_checkpoints_are_reported_by_the_name_that_resume_takes(project: RunProject) -> None:
    project.settings(f"{NO_PERSON}checkpoint_every: 2\n")
    project.agent(f"[ $GITTICKS_TASK = m3xq ] || [ $GITTICKS_ITERATION -gt 2 ] || exit 0\n{DONE}")
    project.make("k7f2", priority=0)
    project.make("m3xq", blocked_by=("k7f2",))
    _, events = project.events_of_run()
    require_valid(events)
    made = [event for event in events if event["event"] == "checkpoint.made"]
    assert [(one["checkpoint"], one["cause"], one["iteration"]) for one in made] == [
        ("k7f2-2", "iterations", 2),
        ("k7f2-3", "merge", 3),
        ("m3xq-1", "merge", 1),
    ]
    for one in made:
        ref = f"refs/gitticks/checkpoints/{one['checkpoint'].replace('-', '/')}"
        assert git("rev-parse", ref, at=project.path) == one["commit"]


def test_what_is_not_as_the_schema_says_is_found() -> None:
    known = schemas()
    good = {"schema": 1, "event": "agent.said", "task": "k7f2", "line": "hello"}
    require_valid([good])
    for bad in (good | {"line": None}, good | {"schema": 2}, good | {"more": 1}, {"event": "agent.said"}):
        assert wrong(bad, known["agent.said"])


def test_a_followed_session_is_reported_by_the_same_schema(project: RunProject) -> None:
    assert set(schemas()) == {*EVENT_KINDS.values(), "session.over"}
    over = {
        "schema": 1,
        "event": "session.over",
        "task": "k7f2",
        "agent": "mine",
        "ending": None,
        "detail": None,
    }
    require_valid([over | {"status": "working", "awaiting": None}])


@pytest.mark.parametrize(
    ("heading", "codes"),
    [
        ("All commands except `run`:", [value for name, value in vars(Exit).items() if name.isupper()]),
        ("`gt run`, the first that applies:", [RunExit.INTERRUPTED, RunExit.USAGE, RunExit.LIMIT, RunExit.STUCK, RunExit.WORK, RunExit.WAITS, RunExit.DONE]),
    ],
    ids=["commands", "run"],
)  # fmt: skip
def test_the_tables_of_exit_codes_are_those_of_the_code(heading: str, codes: list[int]) -> None:
    table = (
        (REFERENCE / "json.md").read_text().partition(heading)[2].partition("\n\n")[2].partition("\n\n")[0]
    )
    assert [int(code) for code in re.findall(r"(?m)^\| (\d+) \|", table)] == codes
