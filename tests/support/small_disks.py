"""Runs a program of the tests on a small file system of its own, which nobody else sees and which ends with it."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.programs import REQUIRED_VARIABLE

_MOUNT = 'mount -t tmpfs -o "size=$2" tmpfs "$1" && shift 2 && exec "$@"'
_USER = ("unshare", "--user", "--map-root-user", "--mount")
_ROOT = ("unshare", "--mount", "--propagation", "private")


def run_on_small_disk(place: Path, size: str, module: str, *arguments: str, seconds: float) -> str:
    """Runs a module with a file system of `size` (as `3m`) mounted at `place`, and returns what it printed.

    Where the machine allows no mount at all the test is skipped, or fails where programs are required. Whatever else
    goes wrong fails the test with what was printed.
    """
    place.mkdir(parents=True, exist_ok=True)
    command = [*_unshare(), "sh", "-c", _MOUNT, "sh", str(place), size, sys.executable, "-P", "-m", module]
    done = subprocess.run(
        [*command, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )
    if done.returncode != 0:
        pytest.fail(done.stdout, pytrace=False)
    return done.stdout


def _unshare() -> Sequence[str]:
    """Returns the command that makes a mount namespace: by a user namespace, else by being root."""
    for command in (_USER, _ROOT):
        if _works(command):
            return command
    reason = "neither a user namespace nor root's own mount namespace is allowed on this machine"
    if os.environ.get(REQUIRED_VARIABLE):
        pytest.fail(f"{reason} ({REQUIRED_VARIABLE} is set)", pytrace=False)
    pytest.skip(reason)


@functools.cache
def _works(command: Sequence[str]) -> bool:
    probe = [*command, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0
