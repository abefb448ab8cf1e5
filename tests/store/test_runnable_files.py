"""The glance at a file never misses what runs, and passes over words that only look like it."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitticks.document.scripts import runnable_of_task
from gitticks.document.taskfile import TaskFile
from gitticks.errors import DocumentError
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
        b"x\r## Script\r",
        b"x\r\rScript\r---\r",
        b"## \x0bScript\x0c",
        "## \u00a0Script\u00a0".encode(),
        "## \u2003\u3000SCRIPT".encode(),
        "## \u2028\u0085Script".encode(),
        "\u00a0Script\n------".encode(),
        "\u00a0\nScript\n\u00a0\n---".encode(),
    ],
)
def test_the_heading_of_a_script_is_seen(heading: bytes) -> None:
    task = TASK % heading
    assert TaskFile.parse(task, PATH).scripts.worker
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


_PIECES = st.sampled_from(
    [
        *(
            "## ",
            "##",
            "#",
            "Script",
            "script",
            "SCRIPT",
            "x",
            " ",
            "\t",
            "\n",
            "\r",
            "\r\n",
            "---",
            "===",
            "*",
            "_",
        ),
        *("\u00a0", "\u2003", "\u2028", "\x0b", "\x1c", "\x85", "> ", "- ", "`", "<!--", "-->", "\\"),
    ]
)


@given(st.lists(_PIECES, max_size=12).map("".join))
@settings(max_examples=300)
def test_whatever_runs_is_seen(heading: str) -> None:
    task = TASK % heading.encode()
    with suppress(DocumentError):
        if TaskFile.parse(task, PATH).scripts.worker:
            assert runnable_of_task("k7f2", task) is not None
            assert may_run(PATH, task)
