"""What could not be looked at is not said to be well, and is said once."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.projects import make_project
from tests.support.repositories import git


def test_where_settings_cannot_be_read_what_needs_them_is_not_said_to_be_well(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.make("k7f2", agent="nobody")
    assert "workspaces" in json.loads(project.gt("doctor", "--json").out)["looked_at"]
    (project.board / "config.yaml").write_text("version: 1\nparallel: many\n")
    git("-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-am", "broken", at=project.board)
    found = json.loads(project.gt("doctor", "--json").out)
    assert {"settings", "tasks"} <= set(found["looked_at"])
    assert "workspaces" not in found["looked_at"]
    assert [one["topic"] for one in found["findings"] if "`parallel`" in one["what"]] == ["settings"]
    assert "workspaces  ok" not in project.gt("doctor", "--verbose").out


def test_a_price_that_keeps_every_run_from_starting_is_an_error(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.ok("config", "prices.some-model.input", "3")
    ran = project.gt("doctor")
    assert ran.code == 1
    assert "`prices.some-model` lacks `output`" in ran.out
    project.ok("config", "prices.some-model.output", "15")
    assert "prices" not in project.gt("doctor").out
