"""A session on a task that a sync gives another id, as a colleague's was born with the same one before it."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Status
from tests.cli.support import command
from tests.support.clones import Clone, make_clones, make_first_clone, on_path
from tests.support.doses import LONGEST_TEST_SECONDS
from tests.support.runs import COMMIT, HANDOFF, NO_PERSON, allow_shared
from tests.support.tasks import task_ids, write_files
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["on_path"]

pytestmark = [pytest.mark.usefixtures("on_path"), pytest.mark.timeout(LONGEST_TEST_SECONDS)]

EARLY, LATE = datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
SETTINGS = f"version: 1\n{NO_PERSON}".encode()


def renamed(clone: Clone) -> str:
    (found,) = (one for one in task_ids(clone.store) if one != "k7f2")
    return found


def test_what_an_agent_hands_off_meanwhile_is_its_own_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    allow_shared(shared, monkeypatch)
    waits = f"touch {shared}/up; while [ ! -e {shared}/go ]; do sleep 0.1; done\n"
    first = make_first_clone(tmp_path)
    write_files(first.store, {"config.yaml": SETTINGS})
    one, other = make_clones(tmp_path, first, 2)
    one.ok("sync")
    other.make(
        "k7f2", title="Second", created=LATE, body=f"## Script\n\n```sh\n{waits}{COMMIT}{HANDOFF}```\n"
    )
    other.ok("trust", "--yes")
    run = subprocess.Popen(
        command("run", "k7f2", "--json", "--debounce", "0"),
        cwd=other.path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    until((shared / "up").exists, "the agent")
    one.make("k7f2", title="First", created=EARLY)
    one.ok("sync")
    (shared / "go").touch()
    said = run.communicate(timeout=LONGEST_SECONDS)[0]
    new = renamed(other)
    assert f"renamed k7f2 to {new}: Second" in said
    assert other.task("k7f2").status is Status.PENDING
    assert other.task("k7f2").usage.iterations == 0
    assert [one.type for one in other.events("k7f2")] == [EventType.CREATED]
    assert other.task(new).end_sha is not None, said
