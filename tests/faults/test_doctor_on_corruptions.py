"""Whatever is broken, `gt doctor` names it, and a fix that it prints as a command fixes it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import Any

import pytest

from tests.faults.corruptions import dosed
from tests.faults.corruptions.corruption import Corruption
from tests.faults.scene import Scene, scene_in
from tests.faults.usage import complaint
from tests.support.waiting import LONGEST_SECONDS

_COMMAND = re.compile(r"`((?:gt|git|mv|mkdir|rm|printf) [^`]*)`(?! (?:shows|says|lists|compares|looks))")
_TRIES = 4
"""A fix may bring to light what was hidden behind the damage."""


@pytest.fixture
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """Returns the scene as it was."""
    made = scene_in(tmp_path_factory.getbasetemp() / "doctor" / "scene")
    made.restore()
    return made


def findings(scene: Scene, *options: str) -> list[dict[str, Any]]:
    """Returns what `gt doctor` finds; where it cannot look at all, its error is the finding."""
    ended = scene.gt("doctor", "--json", *options)
    assert complaint(ended) is None, ended
    told = json.loads(ended.out or ended.err)
    if "error" in told:
        return [{"what": told["error"]["message"], "fix": told["error"]["hint"], "severity": "error"}]
    found: list[dict[str, Any]] = told["findings"]
    return found


def command_of(finding: dict[str, Any]) -> str | None:
    """Returns the first command that fixes a finding, if it can be run as it stands."""
    if finding["severity"] == "note":
        return None
    match = _COMMAND.search(finding["fix"] or "")
    return match[1] if match and not {"<", "…"} & set(match[1]) else None


def carry_out(scene: Scene, command: str) -> str:
    """Runs a fix as a person would paste it, and returns what it said."""
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=scene.path,
        env={**os.environ, **scene.environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=LONGEST_SECONDS,
    )
    return f"$ {command}\n{done.stdout}{done.stderr}[{done.returncode}]"


@pytest.mark.parametrize("corruption", dosed(one_in=5, first=1), ids=lambda one: one.name)
def test_it_is_named_and_its_fix_works(scene: Scene, corruption: Corruption) -> None:
    corruption.make(scene)
    found = first = findings(scene, "--full")
    told = "\n".join(f"{one['severity']} {one['what']}\n    {one['fix']}" for one in first)
    assert corruption.finding in told, told or "no problems found"
    if not corruption.can_be_fixed:
        return
    said: list[str] = []
    for _ in range(_TRIES):
        commands = dict.fromkeys(command for one in found if (command := command_of(one)))
        if not commands:
            break
        said += [carry_out(scene, command) for command in commands]
        found = findings(scene, "--full")
    left = [one for one in found if command_of(one)]
    assert not left, "\n".join([told, *said, "left:", *(f"{one['what']}\n    {one['fix']}" for one in left)])
