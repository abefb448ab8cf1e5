"""The short cut gives exactly the task that the tree gives, or nothing."""

from __future__ import annotations

import os

import pytest
from hypothesis import example, given, settings

from gitticks.document.fields import read_fields, read_quickly
from gitticks.document.frontmatter import Frontmatter, split
from gitticks.document.taskfile import new_task_file, read_file
from gitticks.document.texts import Source
from gitticks.document.yaml_events import build_tree
from gitticks.document.yaml_nodes import Mapping
from gitticks.errors import DocumentError
from gitticks.model.task import Task
from tests.support.hostile_yaml import KEYS, TAILS, VALUES, documents
from tests.support.tasks_in_full import FULL

IS_FULL = os.environ.get("GITTICKS_DOSE") == "full"
SAMPLE = [
    "parent",
    "type",
    "priority",
    "labels",
    "blocked_by",
    "agent",
    "base",
    "start_sha",
    "usage",
    "created",
    "own",
]
HEAD = "id: a1\ntitle: T\n"


def by_ruamel(yaml: str) -> Task:
    tree = build_tree(Source(yaml, "f"))
    assert isinstance(tree, Mapping)
    return read_fields(Frontmatter("f", "", yaml, "", "", "\n", tree))


@settings(max_examples=50_000 if IS_FULL else 600)
@given(yaml=documents)
@example(HEAD + "labels: [null, no]\nblocked_by: [null]\nparent: null\n")
@example(HEAD + "created: 2026-W47-7T10:02:03Z\n")
@example(HEAD + "created: 2026-02-30T10:02:03Z\n")
@example(HEAD + "defer_until: 2026-W01-1\n")
@example(HEAD + "review_round: ٣\n")
@example(HEAD + f"review_round: {'9' * 19}\n")
@example(HEAD + f"review_round: {'9' * 5000}\n")
@example(HEAD + 'model: "-x"\n')
@example(HEAD + "model: -x\n")
@example(HEAD + 'agent: ""\nmodel: " "\nreviewer: a # b\n')
@example("id: null\ntitle: null\n")
@example(HEAD + "own: a\nown: b\n")
@example(HEAD + "agent: a\nagent:\n")
@example(HEAD + "usage: {cost: 1}\nusage: {cost: 1}\n")
def test_the_short_cut_agrees_with_the_tree(yaml: str) -> None:
    found = read_quickly(yaml)
    if found is not None:
        assert found == by_ruamel(yaml)


@pytest.mark.parametrize("key", KEYS if IS_FULL else SAMPLE)
def test_every_hostile_value_is_read_as_by_the_tree_or_left_to_it(key: str) -> None:
    for value in VALUES:
        for tail in TAILS if IS_FULL else [""]:
            yaml = f"{HEAD}{key}: {value}{tail}\n"
            found = read_quickly(yaml)
            assert found is None or found == by_ruamel(yaml), yaml


@settings(max_examples=20_000 if IS_FULL else 200)
@given(yaml=documents)
def test_a_file_is_read_the_same_with_and_without_it(yaml: str) -> None:
    data = f"---\n{yaml}---\nbody\n---\n".encode()
    outcomes = []
    for read in (_read_quickly, _read_by_the_tree):
        try:
            outcomes.append(read(data))
        except DocumentError as error:
            outcomes.append((error.message, error.hint))
    assert outcomes[0] == outcomes[1]


def _read_quickly(data: bytes) -> tuple[object, ...]:
    file = read_file(data, "f")
    return file.task, file.text[file.body_start :], file.body_source.first_line, file.newline


def _read_by_the_tree(data: bytes) -> tuple[object, ...]:
    parts = split(data, "f")
    return read_fields(parts), parts.body, parts.body_source.first_line, parts.newline


def test_what_gitticks_writes_takes_the_short_cut() -> None:
    yaml = new_task_file(FULL).frontmatter.yaml
    for line in yaml.splitlines(keepends=True):
        found = read_quickly(line if line.startswith(("id", "title")) else HEAD + line)
        if "x: y" not in line and not line.startswith(("id", "title")):
            assert found == by_ruamel(HEAD + line), line


@pytest.mark.parametrize(
    "lines",
    [
        "manual: true\n",
        "priority: 5\n",
        "status: open\n",
        "labels:\n- a\n",
        "title: U\n",
        "agent: 'a'\n",
        "agent: a\n  b\n",
        "a\n",
        "own: " + "[" * 101 + "\n",
        'own: "' + "[" * 101 + '"\n',
        'own: "' + "{" * 101 + '"\n',
        "own: " + "a" * 10_000 + "\n",
    ],
)
def test_the_rest_is_left_to_the_tree(lines: str) -> None:
    assert read_quickly(HEAD + lines) is None


@pytest.mark.parametrize("yaml", ["", "id: a1\n", "title: T\n", "# nothing\n", 'id: a1\ntitle: " "\n'])
def test_a_task_needs_an_id_and_a_title(yaml: str) -> None:
    assert read_quickly(yaml) is None


def test_fields_of_an_import_need_no_tree() -> None:
    assert read_quickly(f"{HEAD}imported: {{run: {{session_id: s1, n: 3}}, source: ticks}}\n") is not None
