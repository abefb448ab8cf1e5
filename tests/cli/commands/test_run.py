"""What `gt run` refuses before anything starts, each with what to type instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.model.settings import PermissionMode
from tests.support.projects import make_project


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (
            ["--timeout", "soon"],
            "`--max-duration` / `--timeout` is not a duration: 'soon'",
            "write 90s, 30m, ",
        ),
        (
            ["--max-duration", "0"],
            "`--max-duration` / `--timeout` is not a duration: '0'",
            "write 90s, 30m, ",
        ),
        (["--poll", "0"], "`--poll` is not a duration: '0'", "write 90s, 30m, "),
        (["--debounce", "x"], "`--debounce` is not a duration: 'x'", "write 90s, 30m, "),
        (
            ["--permission", "all"],
            "invalid value for `--permission`: `all` is not one of `interactive`, `auto-edit`, `auto-all`, `yolo`",
            "`gt run --help`",
        ),
        (["--max-cost", "x"], "invalid value for `--max-cost`: `x` is not a valid float", "`gt run --help`"),
        (["--parallel", "0"], "invalid value for `--parallel`: 0 is not in the range ", "`gt run --help`"),
        (
            ["--worktree", "--isolation", "none"],
            "`--worktree` means `--isolation epic`",
            "use one of the two",
        ),
        (["zzzz"], "there is no task `zzzz`", "`gt list` shows the tasks"),
        (["--agent", "nosuch"], "there is no agent `nosuch`", "`gt agents` lists the agents"),
        (["--agent", "claude"], "the agent `claude` is not on PATH", "`gt agents` lists those that are"),
    ],
)
def test_what_is_refused_before_anything_starts(
    tmp_path: Path, arguments: list[str], message: str, hint: str
) -> None:
    project = make_project(tmp_path)
    project.make("k7f2")
    tip = project.tip()
    ran = project.gt("run", *arguments, environment={"PATH": "/usr/bin:/bin"})
    assert (ran.code, ran.out) == (64, "")
    assert ran.err.startswith(f"error: {message}")
    assert f"\nhint: {hint}" in ran.err
    assert project.tip() == tip


@pytest.mark.parametrize("mode", list(PermissionMode))
def test_every_mode_of_permission_is_taken_by_its_name(tmp_path: Path, mode: PermissionMode) -> None:
    meant = ["--yolo-without-sandbox"] if mode is PermissionMode.YOLO else []
    ran = make_project(tmp_path).gt("run", "--permission", mode.value, *meant)
    assert (ran.code, ran.out) == (0, "no open tasks\n"), ran.seen
