"""`gt run --auto` left alone with real work: agents meet what users report, people answer, and everything gets killed.

Each task has one fault in the shares in which users report them, some ask, some are sent back by their reviewer or by a
person, one can never be done. The run is killed again and again and begun anew, agents are killed too. In the end every
task stands where it should, with its code merged once, and nothing but the hopeless one needed help.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TextIO

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Requires, Status, TaskType
from tests.cli.support import Ran, command, gt_process
from tests.support.agents import processes_with
from tests.support.clones import on_path
from tests.support.doses import LONGEST_TEST_SECONDS, dose
from tests.support.faulty_agents import COUNTED_AS_CRASH, deal, handed_over, write_faulty_agent, write_plan
from tests.support.figures import record
from tests.support.repositories import git, run_git_command
from tests.support.runs import RunProject, allow_shared, assert_sound, make_run_project
from tests.support.tasks import write_files
from tests.support.waiting import until

__all__ = ["on_path"]

TASKS = dose(12, 200)
KILLS = dose(4, 100)
SEED = 13
AGENTS = ("alpha", "beta", "gamma")
HOPELESS = "hope"
EPIC = "epic"
RIGHT_SHARE = 0.99
_BETWEEN_KILLS = (0.3, 4.0)
_LOOK_SECONDS = 0.3
_TRIES = 200
_CONFIG = f"human: when-required\nlimits: {{idle: {dose(30, 6)}s, iteration: 10m, rest: 2s}}\n"
_ANSWER = "\n### 2026-11-23T00:00:00Z · human · Ada\n\nFriendly.\n"


@dataclass(slots=True)
class Soak:
    """A project full of tasks, and what happened to it so far."""

    project: RunProject
    folder: Path
    faults: dict[str, str]
    random: Random
    over: threading.Event = field(default_factory=threading.Event)
    outcomes: Counter[str] = field(default_factory=Counter)
    helped: set[str] = field(default_factory=set)
    said_yes: Counter[str] = field(default_factory=Counter)
    killed: set[str] = field(default_factory=set)
    trouble: list[str] = field(default_factory=list)

    @property
    def log(self) -> Path:
        """Returns where the runs' events are kept."""
        return self.folder / "runs.jsonl"

    def gt(self, *words: str) -> Ran:
        """Runs a command as a person's own process."""
        ran = gt_process(*words, at=self.project.path)
        self.outcomes[f"{words[0]}: {ran.code}"] += 1
        if "Traceback" in ran.err or ran.code not in (0, 1, 3):
            self.trouble.append(f"{words}: {ran.seen}")
        return ran


@pytest.fixture
def soak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_path: Path) -> Soak:
    assert on_path.exists()
    mark = f"mark-{secrets.token_hex(8)}"
    monkeypatch.setenv("RUN_MARK", mark)
    project = make_run_project(tmp_path / "repo", mark, _CONFIG)
    allow_shared(project.shared, monkeypatch)
    argv = list(write_faulty_agent(project.shared, mark))
    config = (project.store.read("config.yaml") or b"").decode()
    agents = "".join(f"  {name}: {{type: command, argv: {json.dumps(argv)}}}\n" for name in AGENTS)
    write_files(project.store, {"config.yaml": config.replace("agents:\n", f"agents:\n{agents}").encode()})
    names = [f"t{number:03}" for number in range(TASKS)]
    faults = deal(names, SEED)
    project.make(EPIC, type=TaskType.EPIC)
    for number, name in enumerate(names):
        marks = [
            mark
            for mark, is_so in (
                ("asks", number % 5 == 1),
                ("fails-review", number % 6 == 2),
                ("by-command", number % 3 == 1),
                ("to-reject", number % 8 == 4),
            )
            if is_so
        ]
        write_plan(project.shared, name, [faults[name]], *marks)
        project.make(
            name,
            agent=AGENTS[number % len(AGENTS)],
            requires=Requires.APPROVAL if number % 4 == 0 else None,
            parent=EPIC if number % 7 == 3 else None,
        )
    write_plan(project.shared, HOPELESS, ["crash"] * 9)
    project.make(HOPELESS, agent=AGENTS[0])
    return Soak(project, project.shared, faults, Random(SEED))


class Person(threading.Thread):
    """Answers whatever waits for a person, by a command or in the file and with plain git."""

    def __init__(self, soak: Soak) -> None:
        super().__init__()
        self.soak = soak
        self._number = 0

    def run(self) -> None:
        """Looks again and again."""
        while not self.soak.over.wait(_LOOK_SECONDS):
            ran = self.soak.gt("list", "--awaiting", "--json")
            if ran.code == 0:
                for task in json.loads(ran.out)["tasks"]:
                    self._answer(task["id"], Awaiting(task["awaiting"]))

    def _answer(self, task: str, awaiting: Awaiting) -> None:
        self._number += 1
        by_file = self._number % 3 == 0
        if awaiting is Awaiting.INPUT:
            yes = (
                self._by_file(task, _ANSWER)
                if by_file
                else self.soak.gt("respond", task, "Friendly.").code == 0
            )
        elif awaiting in (Awaiting.APPROVAL, Awaiting.REVIEW):
            plan = self.soak.folder / "plans" / task / "to-reject"
            if plan.exists():
                if self.soak.gt("reject", task, "Not yet").code == 0:
                    plan.unlink()
                return
            yes = self._by_file(task) if by_file else self.soak.gt("approve", task).code == 0
        else:
            if task != HOPELESS:
                self.soak.helped.add(task)
                self.soak.gt("respond", task, "Go on.")
            return
        self.soak.said_yes[task] += yes

    def _by_file(self, task: str, answer: str = "") -> bool:
        """Writes a verdict and commits; returns whether git took it."""
        project = self.soak.project
        file = project.board_file(task)
        text = file.read_text()
        if "\nawaiting:" not in text:
            return False
        edited = text.replace("\nawaiting:", "\nverdict: approved\nawaiting:", 1)
        edited = edited.rstrip("\n") + f"\n{answer}" if answer else edited
        aside = file.with_name(".TASK.md.swp")
        aside.write_text(edited)
        aside.replace(file)
        done = self._git("commit", "-q", "-m", f"Answer {task}", str(file))
        self.soak.outcomes[f"committed: {done.returncode}"] += 1
        if done.returncode:
            self._git("checkout", "-q", "HEAD", "--", str(file))
        return done.returncode == 0

    def _git(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs git on the board, again and again where it meets the lock of a command that works or was killed."""
        for _ in range(_TRIES):
            done = run_git_command(*words, at=self.soak.project.board)
            if done.returncode == 0 or "lock" not in done.stderr:
                return done
            time.sleep(0.1)
        self.soak.trouble.append(f"{words}: {done.stderr}")
        return done


def begin(soak: Soak, log: TextIO) -> subprocess.Popen[bytes]:
    """Starts the run."""
    words = ("run", "--auto", "--all", "--json", "--parallel", "4", "--debounce", "0", "--poll", "2s")
    return subprocess.Popen(
        command(*words),
        cwd=soak.project.path,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )


def kill_an_agent(soak: Soak) -> bool:
    """Kills one agent whose task bears another crash; returns whether there was one."""
    for process in processes_with(str(soak.folder / "faulty.py")):
        with suppress(OSError):
            variables = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
            task = next(
                (one[14:].decode() for one in variables if one.startswith(b"GITTICKS_TASK=")), HOPELESS
            )
            if task != HOPELESS and task not in soak.killed and soak.faults[task] not in COUNTED_AS_CRASH:
                os.kill(process, signal.SIGKILL)
                soak.killed.add(task)
                return True
    return False


def is_settled(soak: Soak) -> bool:
    """True once nothing is left to do but for the hopeless one, which waits for help."""
    tasks = soak.project.store.snapshot().all_tasks().values()
    return all(not one.is_open or (one.id == HOPELESS and one.status is Status.STUCK) for one in tasks)


@pytest.mark.timeout(LONGEST_TEST_SECONDS)
def test_work_that_is_left_alone_comes_to_its_end(soak: Soak) -> None:
    began = time.monotonic()
    kills = agents = 0
    person = Person(soak)
    person.start()
    with soak.log.open("a") as log:
        run = begin(soak, log)
        try:
            while kills < KILLS and not is_settled(soak):
                soak.over.wait(soak.random.uniform(*_BETWEEN_KILLS))
                if kills % 3 == 2:
                    agents += kill_an_agent(soak)
                assert run.poll() is None, soak.log.read_text()[-2000:]
                run.kill()
                run.wait()
                kills += 1
                run = begin(soak, log)
            until(
                lambda: is_settled(soak) or run.poll() is not None or not person.is_alive(),
                "the end of all work",
            )
            run.send_signal(signal.SIGINT)
            run.wait()
        finally:
            run.kill()
            run.wait()
            soak.over.set()
            person.join()
    seconds = round(time.monotonic() - began)
    check(soak, seconds, kills, agents)


def check(soak: Soak, seconds: int, kills: int, agents: int) -> None:
    """Fails if anything was lost or done twice, or if a task is where it should not be."""
    project, tasks = soak.project, list(soak.faults)
    stands = {name: project.stands(name) for name in (*tasks, HOPELESS, EPIC)}
    wrong = {name: stand for name, stand in stands.items() if stand != (Status.DONE, None)}
    record(
        "a soak of a run",
        seconds=seconds,
        tasks=len(tasks),
        kills=kills,
        agents_killed=agents,
        sessions=sum(project.kinds(name).count(EventType.SESSION_STARTED) for name in tasks),
        helped=len(soak.helped),
        **{f"fault {kind}": count for kind, count in Counter(soak.faults.values()).items()},
        **soak.outcomes,
    )
    said = soak.log.read_text()
    assert "Traceback" not in said
    assert wrong == {HOPELESS: (Status.STUCK, Awaiting.ESCALATION)}, soak.trouble
    assert len(soak.helped) <= (1 - RIGHT_SHARE) * len(tasks), {
        name: (
            soak.faults[name],
            name in soak.killed,
            [one.reason for one in project.events(name) if one.reason],
        )
        for name in soak.helped
    }
    assert sorted(project.merges()) == tasks
    for name in tasks:
        kinds = project.kinds(name)
        assert kinds.count(EventType.MERGED) == 1, name
        assert sum(handed_over(soak.folder, name).values()) == len(handed_over(soak.folder, name)), name
        verdicts = sum(one.type is EventType.VERDICT and one.actor.is_human for one in project.events(name))
        assert verdicts >= soak.said_yes[name], name
        assert f"{name}.txt" in project.files()
    until(lambda: not processes_with(project.mark), "the end of every process")
    assert_sound(project)
    assert project.board_status() == ""
    assert git("status", "--porcelain", at=project.path) == ""
    found = json.loads(soak.gt("doctor", "--json").out)["findings"]
    assert [one for one in found if one["severity"] == "error"] == []
