"""What may run here is each user's own to say."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitticks.document.runnables import Runnable, RunnableKind
from gitticks.document.taskfile import TaskFile
from gitticks.errors import DocumentError
from gitticks.git.repository import discover
from gitticks.store.layout import may_run
from gitticks.store.runnable_files import runnables_of_file
from gitticks.store.trust import agree_on_settings, agreed_settings, trust, untrusted
from tests.support.repositories import make_repository

MAKE = Runnable(RunnableKind.TEMPLATE, "prompts/a.md", "make")
DANCE = Runnable(RunnableKind.TEMPLATE, "prompts/b.md", "dance")
BOTH = (MAKE, DANCE)

PATH = "tasks/f2/k7f2/TASK.md"
TASK = b"---\nid: k7f2\ntitle: x\nstatus: pending\n---\n\n%s\n\n```sh\ntrue\n```\n"
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


def test_what_another_user_wrote_trusts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = discover(make_repository(tmp_path / "r"))
    trust(repository, [MAKE])
    assert untrusted(repository, BOTH) == (DANCE,)
    with monkeypatch.context() as other:
        other.setattr(os, "geteuid", lambda: 4242)
        assert untrusted(repository, BOTH) == BOTH
        trust(repository, [DANCE])
        assert untrusted(repository, BOTH) == BOTH  # that file is not of the other user either
    assert (repository.own_dir / "trust-4242").exists()
    assert untrusted(repository, BOTH) == (DANCE,)


@pytest.mark.parametrize("lay", [os.mkfifo, Path.mkdir, lambda file: file.symlink_to("nowhere")])
def test_what_lies_in_its_place_keeps_nobody_waiting(tmp_path: Path, lay: Callable[[Path], object]) -> None:
    repository = discover(make_repository(tmp_path / "r"))
    file = repository.own_dir / "trust"
    file.parent.mkdir()
    lay(file)
    with pytest.raises(OSError, match="trust") as caught:
        trust(repository, [MAKE])
    assert caught.value.filename == str(file)
    assert untrusted(repository, BOTH) == BOTH


def test_a_pipe_that_somebody_reads_is_no_memory(tmp_path: Path) -> None:
    repository = discover(make_repository(tmp_path / "r"))
    file = repository.own_dir / "trust"
    file.parent.mkdir()
    os.mkfifo(file)
    reader = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(OSError, match="not a regular file"):
            trust(repository, [MAKE])
        assert os.read(reader, 100) == b""
    finally:
        os.close(reader)


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
    assert runnables_of_file(PATH, task)
    assert may_run(PATH, task)


@pytest.mark.parametrize("text", [b"## Description", b"A script.", b"the\nsubscription", b""])
def test_other_words_are_passed_over(text: bytes) -> None:
    task = TASK % text
    assert not runnables_of_file(PATH, task)
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


@given(st.lists(_PIECES, max_size=12).map("".join))
@settings(max_examples=300)
def test_whatever_runs_is_seen(heading: str) -> None:
    task = TASK % heading.encode()
    with suppress(DocumentError):
        if TaskFile.parse(task, PATH).scripts.worker:
            assert runnables_of_file(PATH, task)
            assert may_run(PATH, task)


def test_settings_that_nobody_can_read_are_never_agreed_to(tmp_path: Path) -> None:
    repository = discover(make_repository(tmp_path / "r"))
    agree_on_settings(repository, b"approvals: {minimum: L2}\n")
    agreed = agreed_settings(repository)
    for broken in (b"<<<<<<< a\n", b"approvals: {minimum: L9}\n", b"minimum: L0\n"):
        agree_on_settings(repository, broken)
        assert agreed_settings(repository) == agreed
    # As a version that knows other settings may have left it.
    with (repository.own_dir / "trust").open("a") as file:
        file.write('{"agreed": "<<<<<<< a"}\n')
    assert agreed_settings(repository) == agreed
    assert [given.value for given in agreed.given.values()] == ["L2"]
