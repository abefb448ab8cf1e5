"""Runs one command and prints what it cost, as one line of JSON; started afresh for each measurement.

A program of its own for the sake of the peak memory: the kernel counts the memory of the process that starts a
command to the command's own peak. Under `python -I -S`, with nothing but built-in modules here, that is about 9 MB,
less than any Python program needs; started from the harness itself it would be the harness's own peak.

Arguments: the limit in seconds, the file for stdout, the file for stderr, the command.
"""

import os
import signal
import sys
import time


def run(limit_seconds: int, output: str, errors: str, command: list[str]) -> str:
    """Returns wall and CPU seconds, peak kilobytes and exit code (negative: the signal); sub-processes are included."""
    writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, output, writing, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, errors, writing, 0o600),
    ]
    begun = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=actions, setpgroup=0)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(child, signal.SIGKILL))
    signal.alarm(limit_seconds)
    _, status, used = os.wait4(child, 0)
    seconds = time.perf_counter() - begun
    unit = 1024 if sys.platform == "darwin" else 1
    code = os.waitstatus_to_exitcode(status)
    return (
        f'{{"seconds": {seconds}, "cpu_seconds": {used.ru_utime + used.ru_stime}, '
        f'"peak_kilobytes": {used.ru_maxrss // unit}, "code": {code}}}'
    )


if __name__ == "__main__":
    print(run(int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]))
