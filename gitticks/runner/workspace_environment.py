"""What commands in a checkout get of its own: ports, a temporary folder, and the sandbox if the settings ask for one."""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from gitticks.agents.base import Command
from gitticks.git.checkouts import Checkout, linked_checkouts
from gitticks.git.locks import hold_lock
from gitticks.git.repository import Repository
from gitticks.git.worktrees import remove_tree
from gitticks.model.settings import Settings
from gitticks.sandbox.enclosure import Enclosure, enclosed
from gitticks.sandbox.walls import walls_of, with_rules
from gitticks.workflow.permissions import PolicyLayer

PORT_BASE = "GITTICKS_PORT_BASE"
PORTS_EACH = 20
_FIRST_PORT, _BLOCKS = 20_000, 600
"""Up to 31,999: above are the ports that systems give to whoever asks for any."""
_PORTS_FILE, _TEMPORARY_FILE, _PORTS_LOCK = "gitticks-ports", "gitticks-tmp", "ports.lock"
_PREFIX = "gt-"


def port_variables(repository: Repository, checkout: Checkout) -> dict[str, str]:
    """Returns the variable that names the first of a checkout's ports, which it has to itself for as long as it is there."""
    file = _own_folder(repository, checkout) / _PORTS_FILE
    block = _read_block(file)
    if block is None:
        with hold_lock(repository.own_file(_PORTS_LOCK)):
            block = _read_block(file)
            if block is None:
                block = _free_block(repository)
                file.write_text(f"{block}\n", encoding="utf-8")
    return {PORT_BASE: str(_FIRST_PORT + block * PORTS_EACH)}


@contextlib.contextmanager
def temporary_folder(repository: Repository, checkout: Checkout) -> Iterator[dict[str, str]]:
    """Gives the variable that names a fresh folder for temporary files, removed with all in it afterwards.

    What a killed session left is removed by the next one there. Programs share the usual folder where none can be made.
    """
    note = _own_folder(repository, checkout) / _TEMPORARY_FILE
    _remove_noted(note)
    try:
        folder = tempfile.mkdtemp(prefix=_PREFIX)
        note.write_text(folder, encoding="utf-8")
    except OSError:
        yield {}
        return
    try:
        yield {"TMPDIR": folder}
    finally:
        with contextlib.suppress(OSError):
            remove_tree(Path(folder))  # the agent may have taken the note away
            note.unlink(missing_ok=True)


def remove_temporary_folder(repository: Repository, checkout: Checkout) -> None:
    """Removes what a killed session left in its folder for temporary files."""
    _remove_noted(_own_folder(repository, checkout) / _TEMPORARY_FILE)


def _own_folder(repository: Repository, checkout: Checkout) -> Path:
    if checkout.git_dir != repository.common_dir:
        return checkout.git_dir
    repository.own_dir.mkdir(parents=True, exist_ok=True)
    return repository.own_dir


def _read_block(file: Path) -> int | None:
    try:
        block = int(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return block if 0 <= block < _BLOCKS else None


def _free_block(repository: Repository) -> int:
    """Returns a block that no other checkout here has; clones begin at different ones."""
    folders = [repository.own_dir, *(one.git_dir for one in linked_checkouts(repository))]
    taken = {_read_block(folder / _PORTS_FILE) for folder in folders}
    first = crc32(os.fsencode(repository.common_dir)) % _BLOCKS
    blocks = [(first + step) % _BLOCKS for step in range(_BLOCKS)]
    return next((one for one in blocks if one not in taken and _is_unused(one)), first)


def _is_unused(block: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", _FIRST_PORT + block * PORTS_EACH))
        except OSError:
            return False
    return True


def _remove_noted(note: Path) -> None:
    with contextlib.suppress(OSError, ValueError):
        folder = Path(note.read_text(encoding="utf-8"))
        # An agent may write the note; what it names is removed only where we make such folders.
        if folder.parent == Path(tempfile.gettempdir()) and folder.name.startswith(_PREFIX):
            remove_tree(folder)
        note.unlink()


class WalledCommand(NamedTuple):
    """Turns lines of shell into commands that run in one checkout."""

    checkout: Checkout
    environment: Mapping[str, str]
    enclosure: Enclosure | None = None

    @property
    def processes(self) -> int | None:
        """Returns how many processes such a command may have."""
        return None if self.enclosure is None else self.enclosure.walls.limits.max_processes

    def __call__(self, line: str) -> Command:
        """Returns the command that runs a line."""
        argv = ("/bin/sh", "-c", line)
        if self.enclosure is None:
            return Command(argv, self.checkout.path, self.environment, merge_errors=True)
        environment = self.enclosure.environment(self.environment)
        return Command(self.enclosure.around(argv), self.checkout.path, environment, merge_errors=True)


@contextlib.contextmanager
def walled_command(
    repository: Repository, checkout: Checkout, settings: Settings, environment: Mapping[str, str]
) -> Iterator[WalledCommand]:
    """Gives what runs set-up commands and quality gates in a checkout, whose commits there nobody takes."""
    walls = walls_of(settings.sandbox)
    if walls is None:
        yield WalledCommand(checkout, environment)
        return
    walls = with_rules(walls, (PolicyLayer("settings", settings.permissions.deny),))
    with enclosed(walls, repository, checkout, environment) as enclosure:
        yield WalledCommand(checkout, environment, enclosure)
