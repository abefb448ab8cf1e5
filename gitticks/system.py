"""Identifies the current boot of the machine. A leaf module that reading commands load."""

from __future__ import annotations

import functools
import os

BOOT_ID_FILE = "/proc/sys/kernel/random/boot_id"


@functools.cache
def boot_id() -> str:
    """Returns what tells this boot of the machine from every other one."""
    try:
        with open(BOOT_ID_FILE, encoding="ascii") as file:  # noqa: PTH123 (pathlib is slow to load)
            return file.read().strip()
    except OSError:
        return ask_program("sysctl", "-n", "kern.boottime")


def ask_program(*command: str) -> str:
    """Returns what a program of the system prints, without white space around it."""
    import subprocess

    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    answer = subprocess.run(command, capture_output=True, check=False, env=environment)
    return answer.stdout.decode("utf-8", "replace").strip()
