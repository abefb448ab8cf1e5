"""The system calls that go round namespaces: refused in a sandbox, and nothing else is."""

from __future__ import annotations

import errno
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from gitticks.model.settings import SandboxPreset, SandboxSettings
from gitticks.sandbox.machine import read_machine
from gitticks.sandbox.seccomp import filter_program, filtered
from gitticks.sandbox.walls import Inside, bubblewrap, walls_of

X86_64, I386, AARCH64 = 0xC000003E, 0x40000003, 0xC00000B7
ALLOWED = 0
TRIED = """
import ctypes, fcntl, os, platform, socket, termios
kernel = ctypes.CDLL(None, use_errno=True)
def call(*words):
    return ctypes.get_errno() if kernel.syscall(*words) < 0 else 0
def made(family):
    try:
        socket.socket(family)
    except OSError as error:
        return error.errno
    return 0
def typed(request):
    try:
        fcntl.ioctl(0, request, b"x")
    except OSError as error:
        return error.errno
    return 0
keyctl = {"x86_64": 250, "aarch64": 219}[platform.machine()]
print(call(keyctl, 0, -3, 1), call(425, 1, 0), made(40), made(1), made(2), typed(termios.TIOCSTI), len(os.listdir("/proc/self/fd")))
"""


def judged(machine: str, architecture: int, number: int, *arguments: int) -> int:
    """Returns the error that the filter gives to a call, as the kernel reads it; 0 if it lets it through."""
    program = filter_program(machine)
    assert program is not None
    steps = list(struct.iter_unpack("<HBBI", program))
    data = struct.pack("<IIQ6Q", number, architecture, 0, *(*arguments, *[0] * (6 - len(arguments))))
    at = value = 0
    while True:
        code, if_so, if_not, given = steps[at]
        at += 1
        if code == 0x20:
            (value,) = struct.unpack_from("<I", data, given)
        elif code == 0x06:
            return 0 if given == 0x7FFF0000 else given & 0xFFFF
        else:
            at += if_so if (value == given if code == 0x15 else value >= given) else if_not


@pytest.mark.parametrize(
    ("machine", "architecture", "call", "error"),
    [
        ("x86_64", X86_64, (0,), ALLOWED),
        ("x86_64", X86_64, (59,), ALLOWED),
        ("x86_64", X86_64, (250, 11), errno.ENOSYS),
        ("x86_64", X86_64, (0x40000000 + 41, 40), errno.ENOSYS),
        ("x86_64", X86_64, (41, socket.AF_INET), ALLOWED),
        ("x86_64", X86_64, (41, 40), errno.EAFNOSUPPORT),
        (
            "x86_64",
            X86_64,
            (41, (1 << 32) + 40),
            errno.EAFNOSUPPORT,
        ),  # the kernel looks at the low word alone
        ("x86_64", X86_64, (16, 0, 0x5412), errno.EPERM),
        ("x86_64", X86_64, (16, 0x5412, 0x5413), ALLOWED),
        ("x86_64", I386, (288,), errno.ENOSYS),
        ("x86_64", I386, (102, 1), errno.ENOSYS),
        ("x86_64", I386, (41, 40), ALLOWED),  # there it is `dup`
        ("x86_64", AARCH64, (0,), errno.ENOSYS),
        ("aarch64", AARCH64, (219,), errno.ENOSYS),
        ("aarch64", AARCH64, (198, 40), errno.EAFNOSUPPORT),
        ("aarch64", AARCH64, (29, 0, 0x541C), errno.EPERM),
        ("aarch64", AARCH64, (63,), ALLOWED),
    ],
)
def test_what_the_filter_says_of_a_call(
    machine: str, architecture: int, call: tuple[int, ...], error: int
) -> None:
    assert judged(machine, architecture, *call) == error


def test_a_machine_that_is_not_known_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert filter_program("riscv64") is None
    monkeypatch.setattr("gitticks.sandbox.seccomp.filter_program", lambda: None)
    assert filtered(("bwrap", "--"), tmp_path) == ("bwrap", "--")


@pytest.mark.debian("bubblewrap", program="bwrap")
@pytest.mark.parametrize("preset", [SandboxPreset.STRICT, SandboxPreset.PERMISSIVE])
def test_the_kernel_refuses_them_in_a_sandbox(tmp_path: Path, preset: SandboxPreset) -> None:
    walls = walls_of(SandboxSettings(preset))
    assert walls is not None
    inside = Inside(tmp_path, readable=(Path(sys.prefix), Path(sys.base_prefix)))
    words = filtered(bubblewrap(walls, read_machine(os.environ), inside), tmp_path)
    ran = subprocess.run([*words, sys.executable, "-c", TRIED], capture_output=True, text=True, check=True)
    expected = errno.ENOSYS, errno.ENOSYS, errno.EAFNOSUPPORT, ALLOWED, ALLOWED, errno.EPERM, 4
    assert ran.stdout.split() == [str(one) for one in expected]
