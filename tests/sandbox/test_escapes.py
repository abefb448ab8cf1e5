"""Fault test 12: forty escapes, behind strict walls and without any; the page on security shows both columns."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from gitticks.agents.base import Command, EndReason, Limits
from gitticks.agents.process import run_supervised
from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout, checkout_at
from gitticks.git.repository import Repository, discover
from gitticks.git.worktrees import add_worktree
from gitticks.model.settings import SandboxPreset, SandboxSettings
from gitticks.runner.verifiers import judge_tree
from gitticks.sandbox.enclosure import ClientNeeds, enclosed, take_home
from gitticks.sandbox.walls import walls_of
from tests.sandbox.escapes import ESCAPES, SECRET, Escape
from tests.support.listeners import listening
from tests.support.repositories import git, make_repository
from tests.support.waiting import LONGEST_SECONDS

pytestmark = [pytest.mark.debian("bubblewrap", program="bwrap"), pytest.mark.damages]

PAGE = Path(__file__).parents[2] / "docs/explanation/security.md"
LEAST_WITHOUT_WALLS = 30
LIMITS = {"max_processes": 100, "max_memory": 400_000_000, "max_file_size": 20_000_000}
BRANCH = "gitticks/work/k7f2"


@dataclass(frozen=True, slots=True)
class State:
    """What is the person's: of `kept` nothing may vanish or change, `whole` gains nothing either."""

    kept: Mapping[str, str]
    whole: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Scene:
    """A person's machine in a folder: their home, a repository with a workspace, services, a process."""

    home: Path
    out: Path
    repository: Repository
    checkout: Checkout
    environment: Mapping[str, str]
    victim: subprocess.Popen[bytes]
    heard: list[bytes] = field(default_factory=list)

    def attempt(self, escape: Escape, preset: SandboxPreset) -> str:
        """Returns what came of a way out: `worked`, `blocked`, or `flagged` where it was refused afterwards."""
        shutil.rmtree(self.out)
        self.out.mkdir()
        (self.checkout.path / "got").unlink(missing_ok=True)
        self.heard.clear()
        before = self._state()
        argv: tuple[str, ...] = ("/bin/sh", "-c", escape.script)
        environment = dict(self.environment)
        settings = SandboxSettings(preset, **LIMITS)  # type: ignore[arg-type] # three numbers
        walls = walls_of(settings)
        limits = Limits(total_seconds=300, processes=walls.limits.max_processes if walls else None)
        with contextlib.ExitStack() as held:
            if walls is not None:
                needs = ClientNeeds(variables=("OUT", "COMMON", "ENTRY"))
                enclosure = held.enter_context(
                    enclosed(walls, self.repository, self.checkout, environment, client=needs)
                )
                argv, environment = enclosure.around(argv), enclosure.environment(environment)
            ended = run_supervised(Command(argv, self.checkout.path, environment), limits)
        if walls is None and "$VICTIM" in escape.script:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.victim.wait(LONGEST_SECONDS)  # a signal is on its way for a moment
        flagged = ended.reason is EndReason.CROWDED
        if walls is not None:
            try:
                take_home(self.repository, self.checkout, BRANCH, base=None)
            except GitticksError:
                flagged = True
        for words in escape.then:
            for place in (self.checkout.path, self.repository.main_worktree):
                subprocess.run(words, cwd=place, env=self.environment, check=False, capture_output=True)
        if escape.is_flagged:
            tip = git("rev-parse", BRANCH, at=self.repository.common_dir).strip()
            flagged = flagged or judge_tree(self.repository, "main", tip) is not None
        return "worked" if self._worked(before) else "flagged" if flagged else "blocked"

    def _worked(self, before: State) -> bool:
        got, after = self.checkout.path / "got", self._state()
        if got.is_file() and SECRET in got.read_text(errors="replace"):
            return True
        is_harmed = any(after.kept.get(name) != what for name, what in before.kept.items())
        return bool(self.heard) or is_harmed or after.whole != before.whole

    def _state(self) -> State:
        common, top = self.repository.common_dir, self.checkout.path
        listed = git("for-each-ref", "--format=%(refname) %(objectname)", at=common)
        refs = dict(line.split() for line in listed.splitlines())
        refs.pop(f"refs/heads/{BRANCH}", None)
        objects = {str(path): "" for path in (common / "objects").glob("??/*")}
        paths = (path for path in self.home.rglob("*") if not path.is_relative_to(common))
        whole = {
            str(path): path.read_bytes() for path in paths if path.is_file() and not path.is_relative_to(top)
        }
        for path in (common / "objects/info/alternates", Path("/dev/shm", self.environment["NAME"])):
            if path.exists():
                whole[str(path)] = path.read_bytes()
        return State(refs | objects, whole | {"victim": str(self.victim.poll()).encode()})


@contextlib.contextmanager
def scene(folder: Path) -> Iterator[Scene]:
    """Makes a fresh one, so that no way out builds on another."""
    home, out, name = folder / "home", folder / "home/precious", f"gt{secrets.token_hex(6)}"
    for path, content in {
        ".ssh/id_ed25519": SECRET,
        ".ssh/authorized_keys": "",
        ".aws/credentials": SECRET,
        ".netrc": SECRET,
        ".bashrc": "",
        "other-project/notes": SECRET,
        "bin/tool": "#!/bin/sh\n",
        "precious/x": "",
    }.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(content)
    main = home / "project"
    make_repository(main)
    (main / "file").write_text("one\n")
    git("add", "-A", at=main)
    git("commit", "-q", "-m", "begin", at=main)
    git("branch", "gitticks/state", at=main)
    git("config", "remote.origin.url", f"https://user:{SECRET}@example.org/x", at=main)
    (main / ".env").write_text(SECRET)
    (main / "Makefile").write_text("")
    (main / ".gitticks-work/other").mkdir(parents=True)
    (main / ".gitticks-work/other/draft").write_text(SECRET)
    repository = discover(main)
    add_worktree(
        repository,
        main / ".gitticks-work/k7f2",
        branch=BRANCH,
        commit=git("rev-parse", "HEAD", at=main).strip(),
    )
    checkout = checkout_at(repository, main / ".gitticks-work/k7f2")
    heard: list[bytes] = []
    with contextlib.ExitStack() as held:
        tcp = socket.create_server(("127.0.0.1", 0))
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 0))
        unix, abstract = (socket.socket(socket.AF_UNIX) for _ in range(2))
        place = f"/tmp/{name}.sock"
        unix.bind(place)
        held.callback(os.unlink, place)
        abstract.bind(f"\0{name}")
        for listener in (unix, abstract):
            listener.listen()
        for one in (tcp, unix, abstract):
            held.enter_context(listening(one, partial(_accept, heard)))
        held.enter_context(listening(udp, partial(_receive, heard)))
        victim = subprocess.Popen(["sleep", "600"], env={"OF_THE_PERSON": SECRET})
        held.callback(victim.wait)
        held.callback(victim.kill)
        held.callback(lambda: Path("/dev/shm", name).unlink(missing_ok=True))
        yield Scene(
            home,
            out,
            repository,
            checkout,
            {
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "OUT": str(out),
                "COMMON": str(repository.common_dir),
                "ENTRY": str(checkout.git_dir),
                "MAIN": str(main),
                "PORT": str(tcp.getsockname()[1]),
                "UDP": str(udp.getsockname()[1]),
                "SOCKET": place,
                "NAME": name,
                "VICTIM": str(victim.pid),
                "SHOP_API_TOKEN": SECRET,
                "GIT_AUTHOR_NAME": "x",
                "GIT_AUTHOR_EMAIL": "x@example.org",
                "GIT_COMMITTER_NAME": "x",
                "GIT_COMMITTER_EMAIL": "x@example.org",
            },
            victim,
            heard,
        )


def _accept(heard: list[bytes], listener: socket.socket) -> bool:
    with listener.accept()[0] as near:
        heard.append(near.recv(10))
    return True


def _receive(heard: list[bytes], listener: socket.socket) -> bool:
    data = listener.recv(10)
    heard += [data] if data else []
    return bool(data)


def test_forty_are_blocked_or_flagged_and_thirty_work_without_walls(tmp_path: Path) -> None:
    assert len(ESCAPES) == 40
    rows = []
    for number, escape in enumerate(ESCAPES):
        results = {}
        for preset in (SandboxPreset.NONE, SandboxPreset.STRICT):
            with scene(tmp_path / f"{number}-{preset}") as made:
                results[preset] = made.attempt(escape, preset)
        rows.append(
            f"| {escape.group} | {escape.title} | {results[SandboxPreset.NONE]} | {results[SandboxPreset.STRICT]} |"
        )
    table = "\n".join(rows)
    assert not [row for row in rows if row.endswith("| worked |")], table
    assert len([row for row in rows if "| worked |" in row]) >= LEAST_WITHOUT_WALLS, table
    page = PAGE.read_text().splitlines()
    if os.geteuid() != 0:  # of whom the kernel counts the processes, so that a fork bomb is blocked at once
        rows, page = ([row.replace("flagged |", "blocked |") for row in some] for some in (rows, page))
    missing = [row for row in rows if row not in page]
    assert not missing, f"docs/explanation/security.md has other rows than these:\n{table}"
