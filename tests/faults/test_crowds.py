"""More tasks than anybody should have, in one epic, in lines and in cycles; what is damaged is tried elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.faults.crowds import in_a_cycle, in_a_cycle_of_parents, in_one_epic, in_one_line, put_crowd
from tests.faults.forked import Ended
from tests.faults.measured import Used, run_measured
from tests.faults.scene import IDLE, OTHER, WAITING, Scene, make_scene
from tests.faults.usage import complaint
from tests.support.doses import IS_FULL, dose
from tests.support.figures import record
from tests.support.waiting import LONGEST_SECONDS

MOST_MEGABYTES = 1_000.0

MOST_SHOWN = 2_000
"""A cycle of ten thousand is not for reading."""
Crowd = Callable[[int], Iterable[tuple[str, str]]]
COMMANDS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("list",), 0),
    (("next",), 0),
    (("ready",), 0),
    (("status",), 0),
    (("show", "{task}"), 0),
    (("show", OTHER), 0),
    (("list", "--json"), 0),
    (("update", OTHER, "-p", "1"), 0),
    (("note", "{task}", "seen"), 0),
    (("create", "One more"), 0),
    (("approve", WAITING, "yes"), 0),
    (("run", IDLE), 2),
)
CROWDS: dict[str, tuple[Crowd, int, int, str]] = {
    "tasks in one epic": (in_one_epic, 5_000, 100_000, "t000001"),
    "tasks in a cycle": (in_a_cycle, 1_000, 10_000, "t000001"),
    "epics in one line": (in_one_line, 1_000, 10_000, "t000999"),
    "epics in a cycle": (in_a_cycle_of_parents, 1_000, 10_000, "t000001"),
}


def measured(scene: Scene, *arguments: str) -> Used:
    return run_measured(*arguments, at=scene.path, environment=scene.environment, seconds=LONGEST_SECONDS)


def problem(ended: Ended, code: int) -> str | None:
    told = complaint(ended)
    if told is None and ended.code != code:
        told = f"it should end with {code}"
    return None if told is None else f"{told}: {str(ended)[:2000]}"


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", CROWDS)
def test_a_crowd_is_worked_on_in_bounded_time_and_memory(name: str, tmp_path: Path) -> None:
    crowd, small, full, task = CROWDS[name]
    scene = make_scene(tmp_path)
    put_crowd(scene, crowd(dose(small, full)))
    few = COMMANDS if IS_FULL else COMMANDS[:: 4 if "cycle" in name else 3]
    figures: dict[str, float] = {}
    peak = 0.0
    for words, code in few:
        used = measured(scene, *(word.format(task=task) for word in words))
        assert (wrong := problem(used.ended, code)) is None, wrong
        figures["_".join(word.strip("-") for word in words[:2])] = round(used.ended.seconds, 2)
        peak = max(peak, used.peak_megabytes)
    doctor = measured(scene, "doctor")
    assert complaint(doctor.ended) is None, str(doctor.ended)[:2000]
    figures["doctor"] = round(doctor.ended.seconds, 2)
    peak = max(peak, doctor.peak_megabytes)
    seconds = {f"{words}_seconds": took for words, took in figures.items()}
    record("a crowd", name=name, tasks=dose(small, full), peak_megabytes=round(peak), **seconds)
    assert peak <= MOST_MEGABYTES


@pytest.mark.parametrize(
    ("crowd", "link"), [(in_a_cycle, "gt unblock"), (in_a_cycle_of_parents, "--parent=null")]
)
def test_a_long_cycle_is_named_and_opened_by_the_fix(crowd: Crowd, link: str, tmp_path: Path) -> None:
    scene = make_scene(tmp_path)
    put_crowd(scene, crowd(dose(300, 10_000)))
    assert scene.gt("doctor", "--fix").code == 1
    found = scene.gt("doctor")
    assert "in a cycle" in found.out
    assert len(found.out) < MOST_SHOWN
    fix = next(command for command in re.findall(r"`gt ([^`]*)`", found.out) if link in f"gt {command}")
    assert scene.gt(*fix.split()).code == 0
    assert "in a cycle" not in scene.gt("doctor").out
