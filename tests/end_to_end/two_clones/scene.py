"""Two clones of a bare repository, the dice, and what was done so far."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess

from tests.cli.support import Ran, gt, gt_process
from tests.end_to_end.two_clones.ledger import Ledger, Place
from tests.support.clones import Clone
from tests.support.repositories import git, run_git_command
from tests.support.tasks import task_ids

STATE = "gitticks/state"
_AS_PROCESS = 0.05
"""So many of the commands run as processes of their own; the others share one, which is much faster."""
_HOT, _MEETS = 3, 0.7
_ANSWERS = (0, 1, 3)
"""How a command may end: well, with an expected failure, or refused by a rule."""


@dataclass(slots=True)
class Scene:
    """What an operation works on; `log` tells in words what was done."""

    clones: Sequence[Clone]
    remote: Path
    dice: random.Random
    ledger: Ledger = field(default_factory=Ledger)
    tasks: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    offline: dict[Path, int] = field(default_factory=dict)
    busy: int = 0
    editors: dict[Path, tuple[str, str]] = field(default_factory=dict)

    def say(self, clone: Clone, words: str) -> None:
        """Writes down what is done."""
        self.log.append(f"{clone.path.name}: {words}")

    def task_of(self, clone: Clone) -> str:
        """Returns some task that a clone has, mostly one of the first, so that both clones meet in it."""
        known = set(task_ids(clone.store))
        here = [task for task in self.tasks if task in known]
        return self.dice.choice(here[:_HOT] if self.dice.random() < _MEETS else here)

    def gt(self, clone: Clone, *arguments: str, **more: str) -> Ran:
        """Runs a command, which may be refused, but has to say so in order."""
        self.say(clone, f"gt {' '.join(arguments)}")
        runs = gt_process if self.dice.random() < _AS_PROCESS else gt
        environment = {"GITTICKS_AGENT": "1", "GITTICKS_ROLE": "worker"} if more.get("role") else None
        ran = runs(*arguments, at=clone.path, environment=environment)
        self.log[-1] += f" → {ran.code} {ran.err.strip()}"
        assert ran.code in _ANSWERS, ran.seen
        return ran

    def git(self, clone: Clone, *arguments: str) -> CompletedProcess[str]:
        """Runs git on a clone's board; whether it succeeds is for the caller to judge."""
        self.say(clone, f"git {' '.join(arguments)}")
        done = run_git_command(*arguments, at=clone.board)
        self.log[-1] += f" → {done.returncode} {(done.stdout + done.stderr).strip()}"
        assert "this is a bug" not in done.stderr, done.stderr
        return done

    def acknowledged(self, ran: Ran, word: str, task: str, place: Place) -> bool:
        """Keeps a word if the command took it."""
        if ran.code == 0:
            self.ledger.keep(word, task, place)
        return ran.code == 0

    def go_offline(self, clone: Clone, count: int) -> None:
        """Lets a clone's remote be out of reach for the next `count` operations there."""
        git("config", self._unplugged, str(self.remote), at=clone.path)
        self.offline[clone.path] = count

    def go_online(self, clone: Clone) -> None:
        """Lets a clone reach its remote again."""
        git("config", "--unset", self._unplugged, at=clone.path)
        self.offline.pop(clone.path, None)

    @property
    def _unplugged(self) -> str:
        return f"url.{self.remote}.unplugged.insteadOf"

    def pass_time(self, clone: Clone) -> None:
        """Counts an operation of a clone that is offline."""
        left = self.offline.get(clone.path)
        if left is not None:
            self.offline[clone.path] = left - 1
            if left <= 1:
                self.say(clone, "is online again")
                self.go_online(clone)
