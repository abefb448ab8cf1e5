"""`gt run --tmux`: the agent is in a tmux session, is joined by `gt attach` on a terminal, and is bounded as ever."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from pathlib import Path

import pytest

from gitticks.agents.tmux import is_joinable, server_name
from gitticks.model.event import EventType
from gitticks.model.status import Status
from tests.cli.support import command
from tests.support.agents import write_program
from tests.support.runs import DONE, TO_REVIEW, RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

pytest.importorskip("libtmux", reason="the extra `tmux` is not installed")
pytestmark = pytest.mark.debian("tmux")
TALKS = f"""[ -t 0 ] && [ -n "$TMUX" ] || exit 9
printf '\\033[1mwho?\\033[0m\\n'
read who
echo "it is $who" | tee who.txt
{DONE}"""


@pytest.fixture
def in_tmux(project: RunProject) -> RunProject:
    """Returns a project whose agent reads from its terminal."""
    project.settings("review: none\n")
    project.ok("config", "agents.mine.prompt", "file")
    project.agent(TALKS)
    project.make("k7f2")
    return project


def server_of(project: RunProject) -> str:
    return server_name(project.path / ".git/gitticks", "k7f2")


def shown_till(terminal: int, wanted: bytes, typed: bytes = b"") -> None:
    """Reads until something is shown; what is typed is typed again each second, as a client that begins may miss it."""
    shown, end = b"", time.monotonic() + LONGEST_SECONDS
    while wanted not in shown:
        assert time.monotonic() < end, shown
        if typed:
            os.write(terminal, typed)
        is_shown = select.select([terminal], [], [], 1.0 if typed else LONGEST_SECONDS)[0]
        assert is_shown or typed, shown
        try:
            shown += os.read(terminal, 65536) if is_shown else b""
        except OSError as error:  # the other side is closed
            raise AssertionError(shown) from error


def test_an_agent_is_joined_typed_into_and_its_work_counts(in_tmux: RunProject) -> None:
    ours, theirs = pty.openpty()
    with in_tmux.running("--tmux") as run:
        until(lambda: is_joinable(server_of(in_tmux)), "the tmux server")
        with subprocess.Popen(
            command("attach", "k7f2"),
            cwd=in_tmux.path,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm", "TMUX": "another,1,0"},
        ) as attached:
            os.close(theirs)
            shown_till(ours, b"who?")
            os.write(ours, b"Ada\r")
            shown_till(ours, b"session ended: clean")
            assert attached.wait(LONGEST_SECONDS) == 0
        out, _ = run.communicate(timeout=LONGEST_SECONDS)
    os.close(ours)
    assert in_tmux.stands() == TO_REVIEW, out
    assert in_tmux.files("gitticks/work/k7f2").count("who.txt") == 1
    (transcript,) = (in_tmux.path / ".git/gitticks/transcripts/k7f2").iterdir()
    assert transcript.read_text().splitlines()[:3] == ["who?", "Ada", "it is Ada"]
    assert not is_joinable(server_of(in_tmux))


def test_leaving_goes_on_and_a_stop_ends_all_of_it(in_tmux: RunProject) -> None:
    ours, theirs = pty.openpty()
    with in_tmux.running("--tmux") as run:
        until(lambda: is_joinable(server_of(in_tmux)), "the tmux server")
        with subprocess.Popen(
            command("attach"),
            cwd=in_tmux.path,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm"},
        ) as attached:
            os.close(theirs)
            shown_till(ours, b"who?")
            shown_till(ours, b"the agent keeps running", typed=b"\x02d")
            assert attached.wait(LONGEST_SECONDS) == 0
        os.close(ours)
        in_tmux.ok("stop", "k7f2")
        run.communicate(timeout=LONGEST_SECONDS)
    assert in_tmux.last(EventType.SESSION_ENDED).data["ending"] == "stopped"
    assert in_tmux.task("k7f2").status is Status.WORKING
    assert not is_joinable(server_of(in_tmux))


def test_a_killed_run_leaves_no_server(in_tmux: RunProject) -> None:
    with in_tmux.running("--tmux") as run:
        until(lambda: is_joinable(server_of(in_tmux)), "the tmux server")
        run.kill()
        run.wait()
    until(lambda: not is_joinable(server_of(in_tmux)), "the end of the tmux server")
    until(lambda: 'finished": ["k7f2"]' in in_tmux.ok("health", "--json"), "the end of its supervisor")
    assert in_tmux.last(EventType.SESSION_ENDED).data["ending"] == "interrupted"


def test_a_prompt_on_stdin_and_an_exit_code_are_as_without(project: RunProject) -> None:
    project.agent("grep -q 'Login loses' && echo read; exit 9")
    project.make("k7f2")
    project.run("--tmux", "--max-iterations", "1")
    ended = project.last(EventType.SESSION_ENDED)
    assert ended.data["ending"] == "crashed"
    assert "exit code 9" in (ended.reason or "")
    (transcript,) = (project.path / ".git/gitticks/transcripts/k7f2").iterdir()
    assert transcript.read_text() == "read\n"


def test_a_long_prompt_arrives_as_an_argument(project: RunProject) -> None:
    project.ok("config", "agents.mine.prompt", "argument")
    project.agent(f'printf %s "$1" > {project.shared}/prompt.md')
    text = "don't lose it, naïve caller\n" * 700
    project.make("k7f2", body=text)
    project.run("--tmux", "--max-iterations", "1")
    assert text in (project.shared / "prompt.md").read_text()


def test_a_session_that_tmux_does_not_make_is_a_failed_session_with_its_words(project: RunProject) -> None:
    programs = project.path.parent / "programs"
    programs.mkdir()
    write_program(programs / "tmux", '[ "$1" = -V ] && echo tmux 3.3a && exit; echo no room >&2; exit 1')
    project.agent(DONE)
    project.make("k7f2")
    environment = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    project.run("--tmux", "--max-iterations", "1", environment=environment)
    reason = str(project.last(EventType.SESSION_ENDED).reason)
    assert "tmux failed: " in reason
    assert "no room" in reason


def test_without_tmux_nothing_begins(in_tmux: RunProject, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("git", "sh"):
        (programs / name).symlink_to(f"/usr/bin/{name}")
    ran = in_tmux.run("--tmux", environment={"PATH": str(programs)})
    assert (ran.code, ran.out) == (64, "")
    assert "error: `--tmux` needs tmux, which is not on PATH\n\nhint: " in ran.err
    assert in_tmux.task("k7f2").status is Status.PENDING
