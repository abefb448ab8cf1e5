"""Running a command under the supervisor: what goes in, what comes out, how it ends."""

from __future__ import annotations

import gc
import os
import signal
import threading
from pathlib import Path

import pytest

from gitticks.agents.base import Command, Ended, EndReason, Limits
from gitticks.agents.output import gap_marker
from gitticks.agents.process import StopRequest, run_supervised
from gitticks.flocks import is_lock_held
from gitticks.processes import ProcessIdentity, identity_of, is_alive, send_signal
from tests.support.agents import python_agent
from tests.support.waiting import LONGEST_SECONDS

ENVIRONMENT = {"PATH": os.environ["PATH"]}
LIMITS = Limits(total_seconds=LONGEST_SECONDS, grace_seconds=LONGEST_SECONDS)


def shell(script: str, cwd: Path, *, merge_errors: bool = False, stdin: bytes | None = None) -> Command:
    return Command(("sh", "-c", script), cwd, ENVIRONMENT, stdin, merge_errors)


def test_a_command_tells_its_exit_code_and_both_outputs(tmp_path: Path) -> None:
    ended = run_supervised(shell("echo out; echo err >&2; exit 3", tmp_path), LIMITS)
    assert (ended.reason, ended.exit_code, ended.signal) == (EndReason.EXITED, 3, None)
    assert (ended.output, ended.errors, ended.dropped_bytes) == ("out\n", "err\n", 0)
    assert not ended.is_success


def test_a_command_that_dies_by_a_signal_tells_it(tmp_path: Path) -> None:
    ended = run_supervised(shell("kill -SEGV $$", tmp_path), LIMITS)
    assert (ended.reason, ended.exit_code, ended.signal) == (EndReason.EXITED, None, signal.SIGSEGV)


def test_merged_errors_keep_their_order(tmp_path: Path) -> None:
    ended = run_supervised(shell("echo 1; echo 2 >&2; echo 3", tmp_path, merge_errors=True), LIMITS)
    assert (ended.output, ended.errors) == ("1\n2\n3\n", "")


@pytest.mark.parametrize("given", [b"", b"one\ntwo", b"x" * 1_000_000])
def test_stdin_is_what_was_given(tmp_path: Path, given: bytes) -> None:
    ended = run_supervised(shell("wc -c", tmp_path, stdin=given), LIMITS)
    assert int(ended.output) == len(given)


def test_stdin_is_empty_if_none_was_given(tmp_path: Path) -> None:
    assert run_supervised(shell("wc -c", tmp_path), LIMITS).output.strip() == "0"


def test_the_environment_is_what_was_given_and_a_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "of the runner")
    command = Command(("/usr/bin/env",), tmp_path, {"GIVEN": "as is: \udcff ✓"})
    names = {line.partition("=")[0] for line in run_supervised(command, LIMITS).output.splitlines()}
    assert names == {"GIVEN", "GITTICKS_SUPERVISION"}


def test_the_command_runs_in_a_session_of_its_own(tmp_path: Path) -> None:
    command = python_agent(
        tmp_path, "import os; print(os.getsid(0) == os.getpid() != os.getsid(os.getppid()))"
    )
    assert run_supervised(Command(command, tmp_path, ENVIRONMENT), LIMITS).output == "True\n"


def test_nothing_of_the_runner_is_inherited(tmp_path: Path) -> None:
    with (tmp_path / "held").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        body = "import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:4])"
        command = Command(python_agent(tmp_path, body), tmp_path, ENVIRONMENT)
        ended = run_supervised(command, LIMITS, lock=tmp_path / "lock")
    assert ended.output == "[0, 1, 2, 3]\n", "3 is the listing itself"


@pytest.mark.parametrize(
    ("argv", "cwd", "words"),
    [
        (("no-such-program",), "", "cannot start `no-such-program`: no such file or directory"),
        (("./data",), "", "cannot start `./data`: permission denied"),
        (("true",), "missing", "missing`: no such file or directory"),
        (("true", "x" * 3_000_000), "", "cannot start `true`: argument list too long"),
        (("true", "a\0b"), "", "arguments and variables cannot hold a null character"),
        ((), "", "there is no command to start"),
    ],
)
def test_what_cannot_be_started_says_why(tmp_path: Path, argv: tuple[str, ...], cwd: str, words: str) -> None:
    (tmp_path / "data").write_text("no program")
    ended = run_supervised(Command(argv, tmp_path / cwd, ENVIRONMENT), LIMITS)
    assert ended.reason is EndReason.START_FAILED
    assert ended.problem.endswith(words)


def test_lines_are_delivered_while_the_command_runs(tmp_path: Path) -> None:
    lines: list[str] = []

    def answer(line: str) -> None:
        lines.append(line)
        (tmp_path / line).touch()

    script = "echo first; while [ ! -e first ]; do sleep 0.01; done; echo second"
    assert run_supervised(shell(script, tmp_path), LIMITS, answer).is_success
    assert lines == ["first", "second"]


def test_lines_of_both_outputs_go_to_their_own_listener(tmp_path: Path) -> None:
    lines: list[str] = []
    errors: list[str] = []
    script = r"printf 'a\r\n\377\n\nlast'; printf 'e\n' >&2"
    run_supervised(shell(script, tmp_path), LIMITS, lines.append, on_error_line=errors.append)
    assert (lines, errors) == (["a", "�", "", "last"], ["e"])


def test_output_beyond_the_limit_loses_its_middle(tmp_path: Path) -> None:
    lines: list[str] = []
    limits = Limits(total_seconds=LONGEST_SECONDS, output_bytes=100_000, kept_bytes=2000)
    ended = run_supervised(shell("seq 1 200000", tmp_path), limits, lines.append)
    marker = lines.index(gap_marker(ended.dropped_bytes))
    assert ended.dropped_bytes > 1_000_000
    assert lines[: marker - 1] == [str(number) for number in range(1, marker)]
    after = lines[marker + 1 :]
    assert after == [str(number) for number in range(200_001 - len(after), 200_001)]
    assert ended.output.startswith("1\n2\n")
    assert ended.output.endswith("\n199999\n200000\n")
    assert "bytes of output left out here]\n" in ended.output
    assert len(ended.output) < 2100


def test_a_long_line_is_cut_and_says_so(tmp_path: Path) -> None:
    lines: list[str] = []
    limits = Limits(total_seconds=LONGEST_SECONDS, line_bytes=10)
    run_supervised(shell("echo 0123456789abc; echo short", tmp_path), limits, lines.append)
    assert lines == ["0123456789 [gitticks: 3 bytes of this line left out]", "short"]


def test_the_time_limit_ends_a_command_that_prints_on(tmp_path: Path) -> None:
    limits = Limits(total_seconds=0.3, idle_seconds=LONGEST_SECONDS, grace_seconds=LONGEST_SECONDS)
    ended = run_supervised(shell("while :; do echo on; sleep 0.01; done", tmp_path), limits)
    assert (ended.reason, ended.signal) == (EndReason.TIMED_OUT, signal.SIGTERM)


def run_till_idle(script: str, cwd: Path) -> Ended:
    """Runs a script up to an idle limit within which its shell has begun, so that it printed something."""
    tries = (
        run_supervised(shell(script, cwd), LIMITS._replace(idle_seconds=seconds)) for seconds in (0.5, 5, 50)
    )
    return next(ended for ended in tries if ended.output)


def test_the_idle_limit_ends_a_command_that_prints_nothing(tmp_path: Path) -> None:
    ended = run_till_idle("echo once; sleep 600", tmp_path)
    assert (ended.reason, ended.output) == (EndReason.IDLE, "once\n")


def test_a_command_may_use_its_grace_to_clean_up(tmp_path: Path) -> None:
    ended = run_till_idle("trap 'echo cleaned; exit 7' TERM; while :; do sleep 0.01; done", tmp_path)
    assert (ended.reason, ended.exit_code, ended.output) == (EndReason.IDLE, 7, "cleaned\n")


@pytest.mark.parametrize(("at_once", "number"), [(False, signal.SIGTERM), (True, signal.SIGKILL)])
def test_another_thread_can_stop_it(tmp_path: Path, at_once: bool, number: int) -> None:
    stop = StopRequest()

    def ask(_line: str) -> None:
        thread = threading.Thread(target=stop.request, kwargs={"at_once": at_once})
        thread.start()
        thread.join()

    ended = run_supervised(
        shell("echo ready; exec sleep 600", tmp_path), Limits(grace_seconds=LONGEST_SECONDS), ask, stop
    )
    assert ended.reason is EndReason.STOPPED
    assert ended.signal in (number, signal.SIGTERM), "a kill at once sends both, and the first may be quicker"


def test_a_second_request_hurries_the_first(tmp_path: Path) -> None:
    stop = StopRequest()

    def ask(line: str) -> None:
        stop.request(at_once=line == "still here")

    script = "trap 'echo still here' TERM; echo ready; while :; do sleep 0.01; done"
    ended = run_supervised(shell(script, tmp_path), Limits(grace_seconds=LONGEST_SECONDS), ask, stop)
    assert (ended.reason, ended.signal) == (EndReason.STOPPED, signal.SIGKILL)


def test_a_request_made_before_keeps_it_from_starting(tmp_path: Path) -> None:
    stop = StopRequest()
    stop.request()
    ended = run_supervised(shell("touch started", tmp_path), LIMITS, stop=stop)
    assert ended.reason is EndReason.STOPPED
    assert not (tmp_path / "started").exists()


def of_process(number: str) -> ProcessIdentity:
    found = identity_of(int(number))
    assert found is not None
    return found


def test_a_terminate_signal_to_the_supervisor_stops_the_command(tmp_path: Path) -> None:
    supervisors: list[ProcessIdentity] = []

    def end(line: str) -> None:
        supervisors.append(of_process(line))
        assert is_alive(supervisors[0])
        assert send_signal(supervisors[0], signal.SIGTERM)

    ended = run_supervised(shell("echo $PPID; sleep 600", tmp_path), LIMITS, end)
    assert ended.reason is EndReason.STOPPED
    assert not is_alive(supervisors[0])


def test_what_a_callback_raises_ends_the_command_and_comes_out(tmp_path: Path) -> None:
    supervisors: list[ProcessIdentity] = []

    def fail(line: str) -> None:
        supervisors.append(of_process(line))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_supervised(shell("echo $PPID; sleep 600", tmp_path), LIMITS, fail)
    assert not is_alive(supervisors[0])


def test_the_lock_is_held_while_the_command_lives(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    held: list[bool] = []

    def look(_line: str) -> None:
        held.append(is_lock_held(lock))
        second = run_supervised(shell("true", tmp_path), LIMITS, lock=lock)
        held.append(second.reason is EndReason.START_FAILED and "another session is active" in second.problem)
        (tmp_path / "seen").touch()

    lives = shell(f"echo ready; while [ ! -e {tmp_path}/seen ]; do sleep 0.05; done", tmp_path)
    assert run_supervised(lives, LIMITS, look, lock=lock).is_success
    assert held == [True, True]
    assert not is_lock_held(lock)


def test_commands_run_side_by_side(tmp_path: Path) -> None:
    """Each waits for a file that the next one makes, so one after another they would never end."""
    ends: list[Ended] = []
    script = "touch $1; while [ ! -e $2 ]; do sleep 0.01; done"

    def run(number: int) -> None:
        command = Command(
            ("sh", "-c", script, "-", str(number), str((number + 1) % 4)), tmp_path, ENVIRONMENT
        )
        ends.append(run_supervised(command, LIMITS))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [ended.is_success for ended in ends] == [True] * 4


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    gc.collect()  # what other tests left open
    before = sorted(path.name for path in Path("/proc/self/fd").iterdir())
    run_supervised(shell("true", tmp_path, stdin=b"x"), LIMITS, lock=tmp_path / "lock")
    run_supervised(shell("true", tmp_path / "missing"), LIMITS)
    assert sorted(path.name for path in Path("/proc/self/fd").iterdir()) == before
