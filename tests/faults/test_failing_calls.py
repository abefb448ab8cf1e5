"""One call of the system fails, or is the last of its process: every one that a command makes, one after the other."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.faults.families import FAMILIES, Variant, start_project, task_name
from tests.faults.injecting import Fault, Struck, faults_of, spread, strike
from tests.faults.killing import Hit, Tally, Target, check_at_the_end, judge, tip_of
from tests.support.chains import steps_since
from tests.support.doses import LONGEST_TEST_SECONDS, dose
from tests.support.figures import record
from tests.support.projects import Project
from tests.support.traces import SYNCS
from tests.support.victims import Moments

pytestmark = [pytest.mark.debian("strace"), pytest.mark.timeout(LONGEST_TEST_SECONDS)]

FAULTS, FAULTS_OF_LONG_ONES = dose(8, 1000), dose(0, 500)
FAULTS_A_REPOSITORY = 50
BUG = 70
VARIANTS: dict[str, Variant] = {
    "create": FAMILIES["create"][0],
    "update": FAMILIES["fields"][0],
    "approve": FAMILIES["verdicts"][0],
}
LONG_VARIANTS: dict[str, Variant] = {
    "edit": FAMILIES["edit"][0],
    "start": FAMILIES["start"][0],
    "merge": FAMILIES["merge"][0],
    "import": FAMILIES["import"][0],
}


@dataclass(frozen=True, slots=True)
class Trial:
    """A command, what it does when nothing fails, and what came of the faults so far."""

    target: Target
    tally: Tally = field(default_factory=Tally)
    counts: Counter[str] = field(default_factory=Counter)

    def strike(self, project: Project, fault: Fault, number: int) -> None:
        """Lets one fault befall the command and checks everything that must hold."""
        case = self.target.variant(project, task_name(number))
        base = tip_of(project)
        struck = strike(case.command, fault, project.path.parent / "trace")
        try:
            _check_answer(struck, fault, project.path)
            done = judge(
                project, self.target, Hit(case, base, struck.fate), self.tally, again=bool(number % 2)
            )
        except AssertionError as error:
            error.add_note(f"{fault.injection} at {struck.paths}: {struck.fate}")
            raise
        self.counts[_outcome(struck, done, len(self.target.whole))] += 1


@pytest.mark.parametrize("name", [*VARIANTS, *(LONG_VARIANTS if FAULTS_OF_LONG_ONES else ())])
def test_a_failing_call_loses_nothing(tmp_path: Path, name: str) -> None:
    target, faults = _plan(tmp_path / "first", {**VARIANTS, **LONG_VARIANTS}[name])
    trial = Trial(target)
    most = FAULTS if name in VARIANTS else FAULTS_OF_LONG_ONES
    for some in _batches(list(spread(faults, most))):
        project = start_project(tmp_path / "repository")
        for number, fault in enumerate(some):
            trial.strike(project, fault, number)
        check_at_the_end(project, trial.tally)
        shutil.rmtree(project.path)
    counts = trial.counts
    slowest = trial.tally.slowest_seconds
    record(f"failing calls: {name}", faults=sum(counts.values()), **counts, slowest_seconds=slowest)
    assert counts["nothing done"] > 0
    assert counts["done and said"] > 0


def _plan(folder: Path, variant: Variant) -> tuple[Target, tuple[Fault, ...]]:
    """Returns what the variant does when nothing fails, and everything that can."""
    project = start_project(folder)
    case = variant(project, task_name(0))
    base = tip_of(project)
    faults = faults_of(case.command, project.path, folder.parent / "trace")
    whole = steps_since(project.path, base)
    shutil.rmtree(folder)
    return Target(variant, whole, Moments.none()), faults


def _batches(faults: list[Fault]) -> list[list[Fault]]:
    return [faults[at : at + FAULTS_A_REPOSITORY] for at in range(0, len(faults), FAULTS_A_REPOSITORY)]


def _check_answer(struck: Struck, fault: Fault, place: Path) -> None:
    """Fails if a fault was answered by anything but success or an error that helps, or if a failed sync was hidden."""
    fate = struck.fate
    if fate.was_killed:
        assert fault.kills
        return
    assert fate.code is not None
    if not all(call.is_within(place) for call in struck.calls):
        return  # it hit Python's or git's own files, which may make anything of the program
    assert "Traceback" not in fate.err
    assert 0 <= fate.code < BUG
    assert fate.code == 0 or ("error: " in fate.err and ("hint: " in fate.err or "`git " in fate.err))
    if struck.calls and fault.name in SYNCS and not fault.kills:
        is_of_branch = any(
            f"/.git/{name}/" in f"{path}/" for path in struck.paths for name in ("objects", "refs")
        )
        assert fate.code != 0 or not is_of_branch, "a failed sync was acknowledged"


def _outcome(struck: Struck, done: int, whole: int) -> str:
    if not struck.calls:
        return "did not fire"
    if struck.fate.code == 0:
        return "done and said"
    if done == 0:
        return "nothing done"
    return "done and not said" if done == whole else "a part done"
