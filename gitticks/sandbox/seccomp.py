"""The few system calls that go round namespaces, which a sandbox therefore refuses.

The kernel's keyrings belong to a session, not to a namespace: a key of the person's would be read. A socket of the
family VSOCK leads from a virtual machine to its host past every network namespace. By `ioctl` a program types into its
terminal. An `io_uring` makes sockets that no filter sees.
"""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path
from typing import NamedTuple

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE = 0, 4
_FIRST, _SECOND = 16, 24
"""Where the low words of a call's arguments lie, on machines that put the low word first."""
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_VSOCK, _TYPE, _TYPE_ON_CONSOLE = 40, 0x5412, 0x541C
_X32 = 0x40000000
_DESCRIPTOR = "9"
_OPEN = f'exec {_DESCRIPTOR}<"$1" && shift && exec "$@"'
"""Bubblewrap reads the filter from a descriptor, and closes it."""
_Code = list[tuple[int, int, int, int]]


class _Calls(NamedTuple):
    """The numbers of calls on one kind of machine; `socketcall` hides from a filter what socket it makes."""

    architecture: int
    keys: tuple[int, int, int]
    socket: int
    ioctl: int
    io_uring: int = 425
    socketcall: int | None = None
    has_x32: bool = False


_MACHINES = {
    "x86_64": (
        _Calls(0xC000003E, (248, 249, 250), 41, 16, has_x32=True),
        _Calls(0x40000003, (286, 287, 288), 359, 54, socketcall=102),
    ),
    "aarch64": (
        _Calls(0xC00000B7, (217, 218, 219), 198, 29),
        _Calls(0x40000028, (309, 310, 311), 281, 54),
    ),
}
"""By what the kernel calls the machine: its own calls, and those of its older programs."""


def filtered(bubblewrap: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """Returns the command line of bubblewrap with the filter, which lies in a file in `folder` until it was started."""
    program = filter_program()
    if program is None:
        return bubblewrap
    file = folder / "seccomp"
    file.write_bytes(program)
    return ("/bin/sh", "-c", _OPEN, "sh", str(file), bubblewrap[0], "--seccomp", _DESCRIPTOR, *bubblewrap[1:])


def filter_program(machine: str | None = None) -> bytes | None:
    """Returns the filter as the kernel reads it; None for a machine whose calls are not known here."""
    kinds = _MACHINES.get(machine or os.uname().machine)
    if kinds is None:
        return None
    code: _Code = [(_LOAD, 0, 0, _ARCHITECTURE)]
    for calls in kinds:
        part = _part(calls)
        code += [(_EQUAL, 0, len(part), calls.architecture), *part]
    return b"".join(struct.pack("<HBBI", *step) for step in [*code, _fail(errno.ENOSYS)])


def _part(calls: _Calls) -> _Code:
    code: _Code = [(_LOAD, 0, 0, _NUMBER)]
    if calls.has_x32:
        code += [(_AT_LEAST, 0, 1, _X32), _fail(errno.ENOSYS)]
    for number in (*calls.keys, calls.io_uring, calls.socketcall):
        if number is not None:
            code += [(_EQUAL, 0, 1, number), _fail(errno.ENOSYS)]
    code += _if_argument(calls.socket, _FIRST, (_VSOCK,), errno.EAFNOSUPPORT)
    code += _if_argument(calls.ioctl, _SECOND, (_TYPE, _TYPE_ON_CONSOLE), errno.EPERM)
    return [*code, (_RETURN, 0, 0, _ALLOW)]


def _if_argument(number: int, place: int, values: tuple[int, ...], error: int) -> _Code:
    code: _Code = [(_LOAD, 0, 0, place)]
    for value in values:
        code += [(_EQUAL, 0, 1, value), _fail(error)]
    code += [(_RETURN, 0, 0, _ALLOW)]
    return [(_EQUAL, 0, len(code), number), *code]


def _fail(error: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, _FAIL | error)
