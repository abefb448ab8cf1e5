"""Tasks from a stranger: nothing of them reaches a terminal raw, a path outside, a shell, or anybody's patience."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.forked import Ended, gt_on_terminal
from tests.faults.hostile import HOSTILE
from tests.faults.hostile_texts import MARK, STEERING, WORDS
from tests.faults.measured import MOST_MEGABYTES, run_measured
from tests.faults.scene import ALL, IDLE, OTHER, Scene, make_scene, scene_in
from tests.faults.usage import complaint
from tests.support.doses import IS_FULL, dose
from tests.support.figures import record
from tests.support.repositories import fsck_problems, git

LEAST = 120
LISTINGS = (
    ("list",),
    ("list", "--json"),
    ("ready",),
    ("next",),
    ("status",),
    ("log",),
    ("current",),
    ("health",),
    ("doctor",),
    ("list", "--label", "x"),
    ("list", "--status", "stuck"),
    ("tree",),
    ("tree", "--all", "--json"),
    ("inbox", "--all"),
    ("search", "--all", "e"),
)
ABOUT = (("show",), ("show", "--json"), ("log",), ("path",), ("note", "seen"), ("update", "-p", "1"))
PAGES = ("show", "status", "inbox", "search")
"""The commands that show texts of several lines as such."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LINKED = {"\u200d", "\u200c"}
"""Joiners, without which emoji and some scripts cannot be written."""
_STEERING = {"Cc", "Cf", "Zl", "Zp", "Cs", "Co"}
_HIDDEN = range(0xE0000, 0xE1000)


@functools.cache
def hostile_scene(folder: Path) -> Scene:
    """Makes a scene with every hostile task in it; to be called within a test, for its seal."""
    made = make_scene(folder)
    files = {path: content for one in HOSTILE for path, content in one.files.items()}
    made.commit_files(files, links={path: target for one in HOSTILE for path, target in one.links.items()})
    made.keep()
    return made


@pytest.fixture
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Returns that scene as it was."""
    made = hostile_scene(tmp_path_factory.getbasetemp() / "hostile" / "scene")
    made.restore()
    yield made
    assert fsck_problems(made.path) == ""


@pytest.fixture
def commanded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Returns a scene without them."""
    made = scene_in(tmp_path_factory.getbasetemp() / "commanded" / "scene")
    made.restore()
    yield made
    assert fsck_problems(made.path) == ""


def raw(seen: bytes) -> set[str]:
    """Returns what a terminal must not be sent: all that steers it or hides, colours apart."""
    text = _COLOUR.sub("", seen.decode("utf-8", "surrogateescape")).replace("\r\n", "\n").replace("\n", "")
    return {
        ascii(char)
        for char in set(text) - _LINKED
        if unicodedata.category(char) in _STEERING or ord(char) in _HIDDEN
    }


def forged(seen: bytes) -> list[str]:
    """Returns the lines that a text made."""
    lines = _COLOUR.sub("", seen.decode("utf-8", "surrogateescape")).split("\n")
    return [line for line in lines if line.strip().startswith(MARK)]


def wrongs(ended: Ended, seen: bytes, *, is_page: bool) -> Iterator[str]:
    """Yields what is wrong with what a command showed; a page shows texts of several lines as such."""
    told = complaint(ended)
    if told is not None:
        yield told
    if found := raw(seen):
        yield f"{sorted(found)} reached the terminal"
    if not is_page and (lines := forged(seen)):
        yield f"{lines} was forged"


def shown(scene: Scene, *arguments: str) -> list[str]:
    """Runs a command on a terminal and returns what is wrong with it."""
    ended, seen = gt_on_terminal(*arguments, at=scene.path, environment=scene.environment)
    return [f"{wrong}:\n{ended}"[:4000] for wrong in wrongs(ended, seen, is_page=arguments[0] in PAGES)]


def outside(scene: Scene) -> set[str]:
    """Returns every path beside the repository's own places."""
    top = scene.path.parent
    own = (scene.git_dir, scene.board, scene.spare)
    return {
        str(path.relative_to(top))
        for path in [*top.rglob("*"), *Path.home().rglob("*")]
        if path.is_relative_to(top) and not any(path.is_relative_to(place) for place in own)
    }


def test_there_are_enough_and_each_is_another() -> None:
    assert len(HOSTILE) >= LEAST
    assert len({one.name for one in HOSTILE}) == len(HOSTILE)
    assert len({one.task for one in HOSTILE if one.task}) == sum(one.task is not None for one in HOSTILE)


def test_listings_show_nothing_raw_and_all_other_tasks(scene: Scene) -> None:
    before = outside(scene)
    problems = [wrong for arguments in LISTINGS for wrong in shown(scene, *arguments)]
    listed = scene.gt("list")
    assert [task for task in ALL if task not in listed.out] == []
    assert [one.name for one in HOSTILE if one.is_readable != (f" {one.task} " in listed.out)] == []
    assert scene.gt("update", OTHER, "-p", "1").code == 0
    assert scene.gt("run", IDLE).code == 2
    assert outside(scene) == before
    assert not problems, "\n\n".join(problems)


def test_each_is_shown_and_changed_without_harm(scene: Scene) -> None:
    before = outside(scene)
    asked = [one for one in HOSTILE if one.task is not None]
    problems = []
    for number, one in enumerate(asked):
        assert one.task is not None
        few = ABOUT if IS_FULL else (ABOUT[0], ABOUT[number % (len(ABOUT) - 1) + 1])[: 1 + number % 2]
        for command, *options in few:
            problems += [f"{one.name}: {wrong}" for wrong in shown(scene, command, one.task, *options)]
    assert outside(scene) == before
    told = git("log", "--format=%B", "gitticks/state", at=scene.path)
    assert raw(told.encode("utf-8", "surrogateescape")) == set()
    assert not problems, "\n\n".join(problems)


@pytest.mark.parametrize(
    "text", [*STEERING.values(), *WORDS.values(), "a\udcffb", " ", ""][:: dose(2, 1)], ids=ascii
)
def test_a_title_by_command_is_taken_as_text_or_refused(commanded: Scene, text: str) -> None:
    ended, seen = gt_on_terminal("create", "--", text, at=commanded.path, environment=commanded.environment)
    assert [*wrongs(ended, seen, is_page=False)] == []
    if ended.code != 0 or text == "-":
        return
    task = ended.out.strip()
    title = next(line for line in commanded.gt("show", task, "--json").out.split('"title": ')[1:])
    assert title.startswith('"')
    problems = [*shown(commanded, "list"), *shown(commanded, "show", task), *shown(commanded, "log", task)]
    assert commanded.gt("cancel", task).code == 0
    assert not problems, "\n\n".join(problems)


def test_options_and_paths_in_the_place_of_ids_are_refused(commanded: Scene) -> None:
    for text in (
        "--",
        "-rf",
        "../../etc/passwd",
        "/etc/passwd",
        "k7\x1b[2J",
        "\u202ek7f2",
        "*",
        "",
        "x" * 100_000,
        "k7f2\n",
    ):
        for command in ("show", "note", "update", "log", "path", "approve", "run"):
            ended, seen = gt_on_terminal(
                command,
                "--",
                text,
                *(["x"] if command == "note" else []),
                at=commanded.path,
                environment=commanded.environment,
            )
            assert ended.code != 0, ended
            assert [*wrongs(ended, seen, is_page=False)] == []


def heavy() -> list[tuple[str, ...]]:
    """Returns the commands whose time and memory are measured: all listings, and pages of what is large."""
    large = [one.task for one in HOSTILE if one.task is not None and one.task.startswith(("size", "yaml"))]
    pages = [(command, task, *options) for task in large for command, *options in ABOUT]
    return [*LISTINGS[:: dose(2, 1)], *pages[:: dose(29, 1)]]


def test_no_command_takes_long_or_much(scene: Scene) -> None:
    slowest, busiest, largest = ("", 0.0), ("", 0.0), ("", 0.0)
    for arguments in heavy():
        used = run_measured(*arguments, at=scene.path, environment=scene.environment)
        assert complaint(used.ended) is None, used.ended
        name = " ".join(arguments)
        slowest = max(slowest, (name, used.ended.seconds), key=lambda one: one[1])
        busiest = max(busiest, (name, used.cpu_seconds), key=lambda one: one[1])
        largest = max(largest, (name, used.peak_megabytes), key=lambda one: one[1])
        assert used.peak_megabytes <= MOST_MEGABYTES, f"{name}: {used.peak_megabytes:.0f} MB"
    record(
        "hostile tasks",
        tasks=len(HOSTILE),
        commands=len(heavy()),
        slowest=slowest[0],
        slowest_seconds=round(slowest[1], 2),
        busiest=busiest[0],
        busiest_cpu_seconds=round(busiest[1], 2),
        largest=largest[0],
        largest_megabytes=round(largest[1]),
    )
