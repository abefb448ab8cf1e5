"""The last line of defence: processes found by their mark."""

from __future__ import annotations

import subprocess
from uuid import uuid4

from gitticks.agents.process import MARK_VARIABLE, kill_marked, marked_processes
from tests.support.waiting import until


def test_only_marked_processes_are_killed() -> None:
    mark = uuid4().hex
    with (
        subprocess.Popen(["sleep", "600"], env={MARK_VARIABLE: mark}) as ours,
        subprocess.Popen(["sleep", "600"], env={MARK_VARIABLE: f"{mark}x"}) as stranger,
    ):
        try:
            until(lambda: marked_processes(mark) == [ours.pid])
            kill_marked(mark)
            assert ours.wait() == -9
            assert stranger.poll() is None
        finally:
            ours.kill()
            stranger.kill()
