"""Agents to test with: real programs that print what a client prints, and programs that behave badly on purpose."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from gitticks.agents.base import AgentReport, Ended, EndReason
from gitticks.agents.stream import StreamReader

NOW = datetime(2026, 11, 22, 1, 0, tzinfo=UTC)
DATA = Path(__file__).resolve().parent.parent / "data" / "agents"
FLOOD_BYTES = 1_073_741_824 if os.environ.get("GITTICKS_DOSE") == "full" else 50_000_000

_DAEMONS = """
def daemons(count=3):
    for _ in range(count):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                os.closerange(0, 64)
                os.execve("/bin/sleep", [MARK, "600"], {})
            os._exit(0)
        os.wait()


def parent_of(pid):
    return int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])


def say(text):
    print(text, flush=True)
"""

BAD_AGENTS: Mapping[str, str] = {
    "prints nothing": "pass",
    "exits with 9": "sys.exit(9)",
    "hangs": "time.sleep(600)",
    "never stops printing": "\nwhile True: os.write(1, b'y\\n' * 30000)",
    "floods stdout": "\nfor _ in range(FLOOD // 65536): os.write(1, (b'0123456789abcdef' * 7 + b'0123456789abcde\\n') * 512)",
    "floods stderr": "\nfor _ in range(FLOOD // 65536): os.write(2, (b'0123456789abcdef' * 7 + b'0123456789abcde\\n') * 512)",
    "prints one endless line": "\nfor _ in range(FLOOD // 65536): os.write(1, b'x' * 65536)",
    "leaves daemons": "daemons()",
    "ignores TERM": "\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ndaemons()\ntime.sleep(600)",
    "kills its parent": "\ndaemons()\nos.kill(os.getppid(), 9)\ntime.sleep(600)",
    "kills both its parents": (
        "\nupper = parent_of(os.getppid())\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(600)\n    os._exit(0)\n"
        "if os.fork() == 0:\n    os.setsid()\n    os.kill(parent_of(os.getppid()), 9)\n    os.kill(upper, 9)\n"
        "    time.sleep(600)\n"
        "time.sleep(600)"
    ),
    "stops its parent": "\ndaemons()\nos.kill(os.getppid(), signal.SIGSTOP)\ntime.sleep(600)",
    "kills its process group": "\ndaemons()\nos.kill(0, 9)",
    "closes stdout and goes on": "\nos.close(1)\nos.close(2)\ntime.sleep(600)",
    "forks in all directions": (
        "\nfor _ in range(6): os.fork()\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(600)"
    ),
    "flees from session to session": (
        "\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsay('off')\nend = time.monotonic() + 60\n"
        "while time.monotonic() < end:\n    if os.fork(): os._exit(0)\n    os.setsid()"
    ),
}
"""Each is the body of a Python program that knows `MARK`, `FLOOD` and the helpers above."""


def write_program(path: Path, body: str, *, interpreter: str = "/bin/sh") -> Path:
    """Writes an executable program and returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.new")
    aside.write_text(f"#!{interpreter}\n{body}\n")
    aside.chmod(0o755)
    return aside.replace(path)  # the one before may be about to start, and takes no writer then


def bad_agent(folder: Path, name: str, mark: str) -> tuple[str, ...]:
    """Writes the bad agent of that name and returns its command line, which holds `mark`."""
    head = f"import os, signal, sys, time\nMARK, FLOOD = sys.argv[1], {FLOOD_BYTES}\n{_DAEMONS}\n"
    program = folder / "agent.py"
    program.write_text(head + BAD_AGENTS[name].lstrip("\n") + "\n")
    return (sys.executable, "-I", "-S", str(program), mark)


def python_agent(folder: Path, body: str) -> tuple[str, ...]:
    """Writes a small Python program and returns its command line."""
    program = folder / "agent.py"
    program.write_text(textwrap.dedent(body))
    return (sys.executable, "-I", "-S", str(program))


def fake_client(
    folder: Path,
    name: str,
    *,
    stdout: str = "",
    stderr: str = "",
    exit_code: int = 0,
    version: str = "1.2.3",
) -> Path:
    """Writes a program that stands in for a client, and returns its path.

    It prints `stdout` and `stderr` whatever it is asked, and leaves its arguments and stdin in `<name>.asked.json`.
    """
    answer = json.dumps([stdout, stderr, exit_code, version, str(folder / f"{name}.asked.json")])
    body = f"""
import json, os, sys
stdout, stderr, exit_code, version, asked = json.loads({answer!r})
if sys.argv[1:] == ["--version"]:
    print(version)
    sys.exit(0)
with open(asked, "w") as file:
    json.dump({{"argv": sys.argv[1:], "stdin": sys.stdin.read(), "environment": dict(os.environ)}}, file)
sys.stdout.write(stdout)
sys.stderr.write(stderr)
sys.exit(exit_code)
"""
    return write_program(folder / name, body, interpreter=f"{sys.executable} -IS")


def asked_of(folder: Path, name: str) -> dict[str, object]:
    """Returns what a fake client was asked: `argv`, `stdin`, `environment`."""
    found = json.loads((folder / f"{name}.asked.json").read_text())
    assert isinstance(found, dict)
    return found


def fixture(name: str) -> list[str]:
    """Returns the lines of a recorded stream."""
    return (DATA / name).read_text().splitlines()


def read_fixture(
    reader: StreamReader,
    name: str,
    *,
    exit_code: int | None = 0,
    reason: EndReason = EndReason.EXITED,
    errors: str = "",
) -> AgentReport:
    """Returns what a reader makes of a recorded stream and an end of the process."""
    for line in fixture(name):
        reader.feed(line)
    return reader.report(Ended(reason, exit_code, errors=errors, seconds=1.5), NOW)


_READER = b"cat-file\0--batch-command\0"
"""What reads the objects of a repository that a test has open."""


def processes_with(mark: str) -> list[int]:
    """Returns the processes that carry `mark` in their arguments or environment, without this one and its git readers."""
    found = []
    for directory in Path("/proc").iterdir():
        if not directory.name.isdecimal() or int(directory.name) == os.getpid():
            continue
        try:
            words = (directory / "cmdline").read_bytes()
            facts = words + (directory / "environ").read_bytes()
            parent = int((directory / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if mark.encode() in facts and not (words.endswith(_READER) and parent == os.getpid()):
            found.append(int(directory.name))
    return found


def lines_of(events: Sequence[object]) -> str:
    """Returns events as JSON lines."""
    return "".join(f"{json.dumps(event)}\n" for event in events)
