"""Runs commands of the settings in a checkout, sandboxed if the settings say so."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gitticks.agents.base import Command
from gitticks.git.checkouts import Checkout
from gitticks.git.repository import Repository
from gitticks.model.settings import Settings
from gitticks.sandbox.enclosure import Enclosure, enclosed
from gitticks.sandbox.rules import with_rules
from gitticks.sandbox.walls import walls_of
from gitticks.workflow.permissions import PolicyLayer


@dataclass(frozen=True, slots=True)
class WalledCommand:
    """Turns lines of shell into commands that run in one checkout."""

    checkout: Checkout
    environment: Mapping[str, str]
    enclosure: Enclosure | None = None

    @property
    def processes(self) -> int | None:
        """Returns how many processes such a command may have."""
        return None if self.enclosure is None else self.enclosure.walls.limits.processes

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
    """Gives what runs set-up commands and quality gates in a checkout, whose commits there nobody takes.

    Raises:
        GitticksError: the settings ask for walls that cannot be built.
    """
    walls = walls_of(settings.sandbox)
    if walls is None:
        yield WalledCommand(checkout, environment)
        return
    walls = with_rules(walls, (PolicyLayer("settings", settings.permissions.deny),))
    with enclosed(walls, repository, checkout, environment) as enclosure:
        yield WalledCommand(checkout, environment, enclosure)
