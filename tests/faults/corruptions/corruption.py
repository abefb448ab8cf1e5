"""What a corruption is: how it is made, what must still work under it, and what `gt doctor` must say of it."""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

from tests.faults.scene import Scene

_LONGEST_NAME = 70
Break = Callable[[Scene], None]


class Reach(StrEnum):
    """What must still work."""

    ALL = "everything"
    OTHERS = "everything but the victim"
    READING = "everything that only reads"
    ANSWERS = "nothing, but every command ends with an answer"


@dataclass(frozen=True, slots=True)
class Corruption:
    """One way to break the scene.

    Attributes:
        name: `family: what`, where corruptions with the same `family` are variants of one another.
        make: breaks it.
        reach: what must still work.
        finding: words that `gt doctor` must use; empty where gitticks fixes it without a word or nothing is wrong.
        refusal: words that some other command must use.
        can_be_fixed: False where no command can be printed that a person only has to paste.
    """

    name: str
    make: Break
    reach: Reach = Reach.ALL
    finding: str = ""
    can_be_fixed: bool = True
    refusal: str = ""

    @property
    def family(self) -> str:
        """Returns what it is a variant of."""
        return self.name.partition(":")[0]


def variants(
    family: str,
    make: Callable[..., None],
    cases: Iterable[object],
    reach: Reach = Reach.ALL,
    finding: str = "",
    *,
    can_be_fixed: bool = True,
    refusal: str = "",
) -> list[Corruption]:
    """Returns a corruption for each case; `make` takes the scene and the case."""
    return [
        Corruption(
            f"{family}: {_named(case)}", partial(_made, make, case), reach, finding, can_be_fixed, refusal
        )
        for case in cases
    ]


def _made(make: Callable[..., None], case: object, scene: Scene) -> None:
    make(scene, case)


def _named(case: object) -> str:
    if isinstance(case, tuple):
        return ", ".join(_named(one) for one in case)
    text = getattr(case, "__name__", None) or ascii(case)
    return (
        text
        if len(text) <= _LONGEST_NAME
        else f"{text[:_LONGEST_NAME]}… {len(text)} {zlib.crc32(text.encode()):08x}"
    )


def remove(path: Path) -> None:
    """Removes whatever is at `path`."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def put(path: Path, content: bytes) -> None:
    """Puts a file in the place of whatever is at `path`, objects of git included, which are read-only."""
    remove(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def gone(path: Path) -> None:
    """Takes it away."""
    remove(path)


def empty(path: Path) -> None:
    """Leaves nothing of it but its name."""
    put(path, b"")


def garbage(path: Path) -> None:
    """Makes it bytes without meaning."""
    put(path, bytes(range(256)) * 4)


def half(path: Path) -> None:
    """Cuts it in half."""
    content = path.read_bytes()
    put(path, content[: len(content) // 2])


def zeros(path: Path) -> None:
    """Makes it zeros, as a file system does that lost the blocks of a file."""
    put(path, bytes(path.stat().st_size))


def folder(path: Path) -> None:
    """Makes it a folder with something in it."""
    remove(path)
    path.mkdir(parents=True)
    (path / "inside").write_text("kept\n", encoding="utf-8")


def dangling(path: Path) -> None:
    """Makes it a link to nothing."""
    remove(path)
    path.symlink_to("nothing-here")


def loop(path: Path) -> None:
    """Makes it a link to itself."""
    remove(path)
    path.symlink_to(path.name)


def fifo(path: Path) -> None:
    """Makes it a pipe, which whoever opens it waits for."""
    remove(path)
    os.mkfifo(path)


def device(path: Path) -> None:
    """Makes it a link to what never ends."""
    remove(path)
    path.symlink_to("/dev/zero")
