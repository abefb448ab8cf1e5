"""The real thing: in a real terminal, driven by keys, on a real run that outlives the view's death."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import termios
import threading
from pathlib import Path

import pytest

from gitticks.model.approval import SIGNED, TERMINAL
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId, task_path
from gitticks.model.status import Awaiting, Status, TaskType
from gitticks.runner.liveness import is_run_alive_at
from tests.cli.support import command
from tests.support.agents import processes_with, write_program
from tests.support.keys import make_key, signer_line
from tests.support.repositories import commit_file, git, make_repository
from tests.support.runs import COMMIT, HANDOFF, NO_REVIEW, RunProject
from tests.support.tasks import write_files
from tests.support.waiting import LONGEST_SECONDS, until
from tests.tui.terminal import Terminal

_AGENT = f"""\
echo "I look at $GITTICKS_TASK"
while [ ! -e "$GO" ]; do sleep 0.05; done
{COMMIT}{HANDOFF}echo '<promise>COMPLETE</promise>'
"""


@pytest.mark.debian("tmux")
def test_a_run_goes_on_when_its_view_is_killed(
    played: RunProject, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = played
    project.settings(NO_REVIEW)
    project.agent(_AGENT)
    project.make("h8d4", title="Parallel runs", type=TaskType.EPIC)
    project.make("k7f2", title="Login loses the URL", parent="h8d4")
    go = project.path.parent / "go"
    monkeypatch.setenv("GO", str(go))
    terminal.open(project.path)
    terminal.sees("Parallel runs", "Nothing is waiting for you")

    terminal.keys("Enter")
    terminal.sees("Tasks of h8d4", "I look at k7f2", "mine")
    os.kill(terminal.pid, signal.SIGKILL)
    terminal.ends()
    own = str(project.path / ".git/gitticks")
    assert is_run_alive_at(own)

    terminal.open_again()
    terminal.sees("running", "1 running")
    go.touch()
    terminal.keys("i")
    terminal.sees("Login loses the URL", "merges cleanly", "y approve")
    terminal.keys("y")
    terminal.sees("Approve k7f2 into main?")
    terminal.keys("Enter")
    until(lambda: project.task("k7f2").status is Status.DONE, "the merge")
    terminal.keys("q")
    terminal.ends()
    assert is_run_alive_at(own), "leaving stops nothing"
    project.ok("stop")
    until(lambda: not is_run_alive_at(own), "the end of the run")


@pytest.mark.debian("tmux")
def test_an_approval_is_as_strong_as_policy_asks(
    project: RunProject, terminal: Terminal, tmp_path: Path
) -> None:
    address, key = "ada@example.org", make_key(tmp_path, "ada")
    git("config", "user.email", address, at=project.path)
    commit_file(project.path, "allowed_signers", signer_line(address, key))
    project.settings("review: none\napprovals: {minimum: L1, allowed_signers: allowed_signers}\n")
    for task_id in ("k7f2", "m3xq"):
        project.make(task_id, title=f"Work of {task_id}")
    project.run("--parallel", "1")  # one after the other, so that it is known who waits longer
    terminal.open(project.path, size=(120, 36))

    terminal.sees("2 for you")
    terminal.keys("i")
    terminal.sees("merges cleanly")
    terminal.keys("y")
    terminal.sees("Approve k7f2 into main?", "type the task's id")
    terminal.type("m3xq")
    terminal.keys("Enter")
    terminal.sees("`k7f2` was not approved")
    terminal.keys("y")
    terminal.sees("Approve k7f2 into main?")
    terminal.type("k7f2")
    terminal.keys("Enter")
    until(lambda: project.task("k7f2").status is Status.DONE, "the merge")
    assert project.last(EventType.VERDICT).data["strength"] == TERMINAL

    project.ok("config", "approvals.minimum", "L2")
    terminal.sees("1 for you", "merges cleanly")
    terminal.keys("Enter")
    terminal.sees("Hand-off", "merges 1 commit into main")
    terminal.keys("y")
    terminal.sees("Approve m3xq into main?", "a signature", "sign it")
    terminal.keys("Enter")
    terminal.sees("no key is configured to sign your approvals")  # and the interface is back
    git("config", "gpg.format", "ssh", at=project.path)
    git("config", "user.signingKey", str(key), at=project.path)
    terminal.keys("y")
    terminal.sees("Approve m3xq into main?")
    terminal.keys("Enter")
    until(lambda: project.task("m3xq").status is Status.DONE, "the merge")
    assert project.last(EventType.VERDICT, "m3xq").data["strength"] == SIGNED
    terminal.sees("0 for you")
    terminal.keys("q")
    terminal.ends()


@pytest.mark.debian("tmux")
def test_an_editor_that_fails_and_a_shell_give_the_terminal_back(
    project: RunProject, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.settings(NO_REVIEW)
    project.make("k7f2", title="Keep the path")
    project.run()
    monkeypatch.setenv("SHELL", str(write_program(project.path.parent / "shell", "pwd; read -r word")))
    terminal.open(project.path, size=(120, 36))
    terminal.sees("1 for you")
    terminal.keys("i")
    terminal.sees("merges cleanly")
    terminal.keys("Enter")
    terminal.sees("Hand-off", "y approve")
    terminal.keys("o")
    terminal.sees("exit or ctrl-d returns", ".gitticks-work/k7f2")
    terminal.keys("Enter")
    terminal.sees("Hand-off", "y approve")
    terminal.keys("e")
    terminal.sees("the editor `false` failed", "Hand-off")
    terminal.keys("q")
    terminal.ends()


@pytest.mark.debian("tmux")
def test_a_broken_file_is_fixed_and_a_long_answer_written_in_the_editor(
    project: RunProject, terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.make("k7f2", title="Keep the path")
    project.make("m3xq", title="Which tone?", awaiting=Awaiting.INPUT, status=Status.CLARIFICATION)
    whole = tmp_path / "whole.md"
    whole.write_bytes(project.store.read(task_path(TaskId("k7f2"))) or b"")
    write_files(project.store, {task_path(TaskId("k7f2")): b"---\nid: [\n---\n"})
    left = tmp_path / "left"
    editor = f"""\
if [ ! -e {left} ] && ! grep -q '^id:' "$1"; then touch {left}; exit; fi
if grep -q '^id: \\[' "$1"; then cat {whole} > "$1"; else printf 'first line\\nsecond line\\n' >> "$1"; fi
"""
    monkeypatch.setenv("VISUAL", str(write_program(tmp_path / "editor", editor)))
    terminal.open(project.path, size=(120, 36))
    terminal.sees("2 for you", "Which tone?", "TASK.md")
    terminal.keys("i", "End", "e")
    terminal.sees("k7f2 fixed")
    terminal.sees("1 for you", "Keep the path")
    terminal.keys("Enter")
    terminal.sees("your answer", "^g your editor")
    terminal.keys("h", "a", "l", "f")
    terminal.sees("half")
    terminal.keys("C-g")  # and nothing is saved there
    until(left.exists, "the editor")
    terminal.sees("half", "^g your editor")
    assert project.task("m3xq").awaiting is Awaiting.INPUT
    terminal.keys("C-g")
    until(lambda: project.task("m3xq").awaiting is None, "the answer")
    terminal.keys("q")
    terminal.ends()
    assert b"half\nfirst line\nsecond line" in project.file("m3xq").data


@pytest.mark.debian("tmux")
def test_a_save_on_the_board_that_is_refused_waits_in_the_inbox_until_it_is_fixed(
    project: RunProject, terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = project.board_file(project.ok("create", "Keep the path").strip())
    whole = tmp_path / "whole.md"
    whole.write_bytes(file.read_bytes().replace(b"Keep the path", b"Keep the query"))
    monkeypatch.setenv("VISUAL", str(write_program(tmp_path / "editor", f'cat {whole} > "$1"')))
    terminal.open(project.path, size=(120, 36))
    terminal.sees("Keep the path", "0 for you")
    file.write_text("---\nid: [\n")
    terminal.sees("1 for you", "TASK.md", "edited, refused: line")
    terminal.keys("i", "Enter")
    terminal.sees("0 for you", "Keep the query")
    terminal.keys("q")
    terminal.ends()


@pytest.mark.debian("tmux")
def test_tasks_are_set_up_from_the_interface(terminal: Terminal, tmp_path: Path) -> None:
    repository = tmp_path / "new"
    make_repository(repository)
    terminal.open(repository)
    terminal.sees("this repository has no tasks yet", "sets them up now")
    terminal.keys("Enter")
    terminal.sees("Should a person approve")
    terminal.keys("Enter")
    terminal.sees("created branch gitticks/state", "enter returns")
    terminal.keys("Enter")
    terminal.sees("No tasks yet. + creates one")
    terminal.keys("q")
    terminal.ends()


def _words_of(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""  # it has ended


@pytest.mark.debian("tmux")
def test_leaving_waits_for_no_merge(
    project: RunProject, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.settings(NO_REVIEW)
    project.make("k7f2", title="Keep the path")
    project.run()
    go = project.path.parent / "go"
    project.ok("config", "verify.test", f"while [ ! -e {go} ]; do sleep 0.05; done")
    terminal.open(project.path, size=(120, 36))
    terminal.sees("1 for you")
    terminal.keys("i")
    terminal.sees("merges cleanly")
    terminal.keys("y")
    terminal.sees("Approve k7f2 into main?", "the tests run on the merge")
    terminal.keys("Enter")
    until(lambda: any("merge k7f2" in _words_of(one) for one in processes_with(project.mark)), "the merge")
    terminal.keys("q")
    terminal.ends()
    assert project.task("k7f2").status is Status.REVIEWING
    go.touch()
    until(lambda: project.task("k7f2").status is Status.DONE, "the merge")


@pytest.mark.debian("tmux")
def test_the_terminal_rings_when_something_is_waiting(project: RunProject, terminal: Terminal) -> None:
    project.make("k7f2", title="Keep the path")
    terminal.open(project.path)
    terminal.sees("Keep the path", "0 for you")
    project.ok("update", "k7f2", "--awaiting", "work")
    terminal.sees("1 for you")
    until(lambda: terminal.tmux("display-message", "-p", "#{window_bell_flag}").strip() == "1", "the bell")


@pytest.mark.debian("tmux")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_end_leaves_the_terminal_as_it_was(
    project: RunProject, terminal: Terminal, number: signal.Signals
) -> None:
    project.make("k7f2", title="Keep the path")
    terminal.open(project.path)
    terminal.sees("Keep the path")
    os.kill(terminal.pid, number)
    terminal.ends()
    assert terminal.tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag}").strip() == "0 0"


def test_a_signal_to_go_on_behind_that_to_end_leaves_the_usual_mode(project: RunProject) -> None:
    project.make("k7f2", title="Keep the path")
    screen, ours = os.openpty()
    shown = bytearray()

    def read() -> None:
        with contextlib.suppress(OSError):
            while True:
                shown.extend(os.read(screen, 65536))

    try:
        program = subprocess.Popen(
            command(),
            cwd=project.path,
            stdin=ours,
            stdout=ours,
            stderr=ours,
            env={**os.environ, "TERM": "xterm-256color"},
        )
        threading.Thread(target=read, daemon=True).start()
        until(lambda: b"Keep the path" in shown, "the interface")
        assert not termios.tcgetattr(ours)[3] & termios.ICANON
        for number in (signal.SIGTERM, signal.SIGCONT):  # as `timeout` does
            program.send_signal(number)
        assert program.wait(LONGEST_SECONDS) == 128 + signal.SIGTERM
        assert termios.tcgetattr(ours)[3] & termios.ICANON
    finally:
        os.close(ours)
        os.close(screen)


@pytest.mark.debian("tmux")
def test_a_terminal_closed_under_an_editor_ends_the_interface_and_keeps_what_the_editor_rescued(
    project: RunProject, terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.make("k7f2", title="Keep the path")
    program = """trap 'echo unsaved > "$1.swp"; exit 1' HUP
touch "$(dirname "$0")/open"
while sleep 0.05; do :; done"""
    monkeypatch.setenv("VISUAL", str(write_program(tmp_path / "editor", program)))
    terminal.open(project.path)
    terminal.sees("Keep the path")
    terminal.keys("t")
    terminal.sees("TASK.md")
    terminal.keys("e")
    until((tmp_path / "open").exists, "the editor")
    terminal.close()
    until(lambda: not processes_with(project.mark), "the end of the interface")
    assert [one.read_text() for one in project.path.glob(".git/gitticks/drafts/*/*.swp")] == ["unsaved\n"]


@pytest.mark.debian("tmux")
def test_without_a_shell_behind_it_the_interface_is_not_suspended(
    project: RunProject, terminal: Terminal
) -> None:
    project.make("k7f2", title="Keep the path")
    terminal.open(project.path)
    terminal.sees("Keep the path")
    terminal.keys("C-z")
    terminal.sees("there is no shell here to go back to")
    terminal.keys("q")
    terminal.ends()
