from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.cli.support import command, gt, gt_process
from tests.support.repositories import git, make_repository
from tests.support.waiting import LONGEST_SECONDS


@pytest.fixture
def project(tmp_path: Path) -> Path:
    make_repository(tmp_path)
    assert gt_process("init", at=tmp_path).code == 0
    assert gt_process("add", "Fix the login", at=tmp_path).code == 0
    return tmp_path


def test_a_folder_to_start_in(project: Path) -> None:
    (project / "deep").mkdir()
    assert "Fix the login" in gt_process("-C", str(project), "-C", "deep", "ls", at=Path("/")).out
    ran = gt_process("-C", "nowhere", "ls", at=project)
    assert (ran.code, ran.err.splitlines()[0]) == (
        2,
        "error: cannot go to `nowhere`: No such file or directory",
    )
    assert gt_process("-C", at=project).err.startswith("error: `-C` needs a folder")


def test_a_folder_to_start_in_counts_wherever_it_stands_before_the_command(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    make_repository(other)
    git("config", "--global", "gitticks.alias.home", f"-C {project} --color=always every", at=project)
    git("config", "--global", "gitticks.alias.every", "--no-pager list --all", at=project)
    assert "\x1b[" in gt_process("home", at=other).out
    for words in (["home"], [f"-C{project}", "list"], ["--no-pager", "-C", str(project), "every"]):
        assert "Fix the login" in gt_process(*words, at=other).out, words
    for words in (["--web"], ["--port", "0", "--web"], ["--web", "--port=0"]):
        ran = gt_process(*words, "-C", "nowhere", at=project)
        assert ran.err.startswith("error: cannot go to `nowhere`"), words


@pytest.mark.parametrize("before", [["-C", "nowhere"], ["--color", "blue"]])
def test_a_run_that_cannot_begin_exits_as_one(project: Path, before: list[str]) -> None:
    assert gt_process(*before, "run", at=project).code == 64
    assert gt_process(*before, "list", at=project).code == 2


@pytest.mark.parametrize(
    ("words", "environment", "is_coloured"),
    [
        (["list"], {}, False),
        (["--color=always", "list"], {"NO_COLOR": "1"}, True),
        (["--color", "always", "list"], {}, True),
        (["list", "--color=always"], {}, True),
        (["list"], {"FORCE_COLOR": "1"}, True),
        (["list"], {"FORCE_COLOR": "0"}, False),
        (["list"], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--color=never", "list"], {"FORCE_COLOR": "1"}, False),
        (["--color=auto", "list"], {"FORCE_COLOR": "1"}, True),
    ],
)
def test_colour(project: Path, words: list[str], environment: dict[str, str], is_coloured: bool) -> None:
    ran = gt_process(*words, at=project, environment=environment)
    assert ran.code == 0
    assert ("\x1b[" in ran.out) is is_coloured


def test_a_wrong_choice_of_colour(project: Path) -> None:
    ran = gt_process("list", "--color=blue", at=project)
    assert ran.code == 2
    assert ran.err.startswith("error: `--color` is always, never or auto, not `blue`")


def test_aliases_of_ones_own(project: Path) -> None:
    git("config", "--global", "gitticks.alias.mine", "every --json", at=project)
    git("config", "--global", "gitticks.alias.every", "ls --all", at=project)
    git("config", "--global", "gitticks.alias.list", "create no", at=project)
    git("config", "--global", "gitticks.alias.round", "round", at=project)
    assert gt_process("mine", at=project).out.startswith('{"schema": 1, "tasks"')
    assert "Fix the login" in gt_process("list", at=project).out
    assert gt_process("round", at=project).err.startswith("error: the aliases form a cycle at `round`")
    assert "no command `nothing`" in gt_process("nothing", at=project).err
    assert gt_process("config", "verify.test", "true", at=project).code == 0, "an alias is no setting"
    git("config", "gitticks.alias.own", "list --mine", at=project)
    told = gt_process("own", at=project)
    assert told.err.startswith("error: the alias `own` does not count: it is set in this repository")
    assert "hint: `git config --global gitticks.alias.own 'list --mine'`" in told.err
    told = gt_process("config", "alias.mine", "list --mine", at=project)
    assert "git config --global gitticks.alias.mine" in told.err


def _on_terminal(*words: str, at: Path, pager: str | None, lines: int) -> str:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, 80, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "LINES": str(lines)}
    if pager is not None:
        environment["GIT_PAGER"] = pager
    with subprocess.Popen(
        command(*words), cwd=at, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:
            pass  # the other side is closed
        assert process.wait(LONGEST_SECONDS) == 0
    os.close(ours)
    return shown.decode()


def test_beside_another_gt_hints_say_gitticks(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "gt").write_text("#!/bin/sh\n")
    (other / "gt").chmod(0o755)
    path = {"PATH": f"{other}:{os.environ['PATH']}"}
    assert (
        f"another tool's gt comes first on PATH: {other}/gt"
        in gt_process("init", at=project, environment=path).err
    )
    ours = Path(sys.executable).with_name("gitticks")
    ran = subprocess.run([ours, "show", "zzzz"], cwd=project, capture_output=True, text=True, check=False)
    assert "hint: `gitticks list" in ran.stderr
    script = "echo hi > hi.txt\ngit add hi.txt\ngit commit -qm hi\ngt handoff --done hi\n"
    said_hi = gt_process(
        "create", "Say hi", "--agent", "script", "--script", "-", at=project, input=script
    ).out.strip()
    assert gt_process("run", said_hi, at=project).code == 3
    file = project / gt_process("path", said_hi, at=project).out.strip()
    file.write_text(
        file.read_text("utf-8").replace("awaiting: review\n", "awaiting: review\nverdict: approved\n"),
        "utf-8",
    )
    commit = ["git", "-C", str(project / ".gitticks"), "commit", "-qam", "looks right"]
    committed = subprocess.run(commit, env={**os.environ, **path}, capture_output=True, text=True, check=True)
    assert f"`gitticks merge {said_hi}` merges it" in committed.stdout + committed.stderr
    task_id = gt_process("create", "Order a sign", "--awaiting", "work", at=project).out.strip()
    asked = subprocess.run([ours, "inbox"], cwd=project, capture_output=True, text=True, check=True).stdout
    assert f"gitticks start {task_id} · gitticks close {task_id}" in asked
    shown = subprocess.run([ours, "create", "--help"], capture_output=True, text=True, check=True).stdout
    assert shown.startswith('  gitticks create "Fix login"')
    for words in (
        ["help"],
        ["help", "all"],
        ["help", "run"],
        ["list", "--mine"],
        ["graph"],
        ["log", task_id],
    ):
        said = subprocess.run([ours, *words], cwd=project, capture_output=True, text=True, check=True)
        assert "`gt" not in said.stdout + said.stderr, words
    by_hook = [sys.executable, "-P", "-m", "gitticks", "show", "zzzz"]
    environment = {**os.environ, **path}
    hooked = subprocess.run(
        by_hook, cwd=project, env=environment, capture_output=True, text=True, check=False
    ).stderr
    assert "hint: `gitticks list" in hooked


def test_a_pager_shows_what_is_longer_than_the_terminal(project: Path) -> None:
    for number in range(6):
        assert gt("add", f"Task {number}", at=project).code == 0
    quoting = "sed 's/^/> /'"
    long = _on_terminal("list", at=project, pager=quoting, lines=5)
    assert len(long.splitlines()) == 8, long
    assert [line for line in long.splitlines() if not line.startswith("> ")] == []
    assert "> " not in _on_terminal("list", at=project, pager=quoting, lines=40)
    assert "> " not in _on_terminal("--no-pager", "list", at=project, pager=quoting, lines=5)
    assert len(_on_terminal("list", at=project, pager="no-such-pager", lines=5).splitlines()) == 8
    assert len(_on_terminal("list", at=project, pager="head -n 2", lines=5).splitlines()) == 2
    with_variable = "N=2 sh -c 'head -n $N'"
    assert len(_on_terminal("list", at=project, pager=with_variable, lines=5).splitlines()) == 2


def test_an_empty_pager_is_none_as_in_git(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", "sed 's/^/> /'")
    assert "> " in _on_terminal("list", at=project, pager=None, lines=2)
    assert "> " not in _on_terminal("list", at=project, pager="", lines=2)
    git("config", "--global", "core.pager", "", at=project)
    assert "> " not in _on_terminal("list", at=project, pager=None, lines=2)
