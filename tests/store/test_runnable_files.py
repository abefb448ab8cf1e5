"""The glance at a file never misses what runs, and passes over words that only look like it."""

from __future__ import annotations

import pytest

from gitticks.document.runnables import runnable_of_task
from gitticks.store.runnable_files import may_run

PATH = "tasks/f2/k7f2/TASK.md"
TASK = b"---\nid: k7f2\ntitle: x\nstatus: pending\n---\n\n%s\n\n```sh\ntrue\n```\n"


@pytest.mark.parametrize(
    "heading",
    [
        b"## Script",
        b"   ##\t SCRIPT ##",
        b"Script\n------",
        b"  script \n---",
        b"## script\r",
        b"x\n## Script",
    ],
)
def test_the_heading_of_a_script_is_seen(heading: bytes) -> None:
    task = TASK % heading
    assert runnable_of_task("k7f2", task) is not None
    assert may_run(PATH, task)


@pytest.mark.parametrize("text", [b"## Description", b"A script.", b"the\nsubscription", b""])
def test_other_words_are_passed_over(text: bytes) -> None:
    task = TASK % text
    assert runnable_of_task("k7f2", task) is None
    assert not may_run(PATH, task)


@pytest.mark.parametrize(
    ("path", "may"),
    [
        ("config.yaml", True),
        ("prompts/worker.md", True),
        ("prompts/parts/rules.md", True),
        ("tasks/f2/k7f2/worklog.md", False),
        ("tasks/aa/k7f2/TASK.md", False),
        ("other.md", False),
    ],
)
def test_what_a_path_may_hold(path: str, may: bool) -> None:
    assert may_run(path, b"## Script\n") is may
    assert not may_run(path, None)
