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
_REFUSALS = ("operation not permitted", "permission denied", "no space left on device")
"""What the kernel says where namespaces or mounts are not allowed; the last is that of a limit of no namespaces."""


def run_on_small_disk(place: Path, size: str, module: str, *arguments: str, seconds: float) -> str:
    """Runs a module with a file system of `size` (as `3m`) mounted at `place`, and returns what it printed.

    Where the kernel refuses every mount the test is skipped, or fails where programs are required. Whatever else goes
    wrong, with the probe too, fails the test with what was printed.
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
    refusals = []
    for command in (_USER, _ROOT):
        refusal = _refusal(command)
        if refusal is None:
            return command
        refusals.append(refusal)
    reason = f"this machine allows nobody here a mount: {'; '.join(refusals)}"
    if os.environ.get(REQUIRED_VARIABLE):
        pytest.fail(f"{reason} ({REQUIRED_VARIABLE} is set)", pytrace=False)
    pytest.skip(reason)


@functools.cache
def _refusal(command: Sequence[str]) -> str | None:
    """Returns how the kernel refuses a mount by this command, None if it does not; any other failure fails the test."""
    probe = [*command, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    done = subprocess.run(
        probe, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"}
    )
    if done.returncode == 0:
        return None
    words = done.stderr.strip()
    if not any(refusal in words.casefold() for refusal in _REFUSALS):
        pytest.fail(f"`{' '.join(probe)}`: {words or done.returncode}", pytrace=False)
    return words
