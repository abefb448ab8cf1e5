"""What tests of imports share: the made-up data of other trackers, and what came of bringing it in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitticks.document.taskfile import TaskFile
from gitticks.model.ids import TaskId
from gitticks.store.branch import Store
from tests.cli.support import gt
from tests.support.repositories import git
from tests.support.stores import make_store

FOREIGN = Path(__file__).parents[1] / "data" / "foreign"


def taken_in(root: Path, *arguments: str) -> dict[str, Any]:
    """Runs `gt import` and returns what it told as JSON."""
    ran = gt("import", *arguments, "--json", at=root)
    assert ran.code == 0, ran.seen
    found: dict[str, Any] = json.loads(ran.out)["import"]
    return found


def file_of(store: Store, name: str) -> TaskFile:
    """Returns a task's file."""
    return store.task_file(TaskId(name))


def commits(root: Path) -> int:
    """Returns how many commits the state branch has."""
    return int(git("rev-list", "--count", "gitticks/state", at=root))


def assert_well(root: Path) -> None:
    """Asserts that doctor finds nothing in tasks and histories."""
    ran = gt("doctor", "--json", at=root)
    found = [
        one
        for one in json.loads(ran.out)["findings"]
        if one["severity"] != "note" and one["topic"] != "board"
    ]
    assert found == []
    assert gt("doctor", "--range", "gitticks/state", at=root).code == 0


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Makes a state branch without tasks."""
    return make_store(tmp_path)
