"""A command in a fork is a process of its own, and one that hangs says where."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests.cli.support import gt
from tests.faults.forked import gt_forked
from tests.support.forking import HungError, fork_gt
from tests.support.processes import has_read
from tests.support.repositories import make_repository
from tests.support.waiting import until


def test_a_hung_command_shows_its_stacks_and_what_its_processes_wait_for(tmp_path: Path) -> None:
    assert gt("init", at=make_repository(tmp_path)).code == 0
    task = gt("create", "One", at=tmp_path).out.strip()
    read, write = os.pipe()
    with tempfile.TemporaryFile() as out, open(write, "w") as typing:  # noqa: PTH123 - a descriptor
        fork = fork_gt(["update", task, "-d", "-"], tmp_path, {}, (read, out.fileno(), out.fileno()))
        os.close(read)
        typing.write("a line without an end")
        typing.flush()
        until(lambda: has_read(typing))
        with pytest.raises(HungError) as hung:
            fork.wait(0.0)
    told = str(hung.value)
    assert "(most recent call first)" in told
    assert "in _run" in told
    assert " tests.support.forking " in told
    assert "\n    0 pipe:" in told
    assert gt("show", task, at=tmp_path).code == 0


def test_a_fork_has_nothing_of_the_test_s_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitticks.cli.app.run", lambda _: 3)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = Grace\n\temail = grace@example.org\n")
    top = make_repository(tmp_path / "r", commits=0)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / ".gitconfig"))
    assert gt_forked("init", at=top).code == 0
    assert gt_forked("create", "One", at=top).code == 0
    assert "Grace" in gt_forked("log", at=top).out
