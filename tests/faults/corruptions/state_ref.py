"""The ref of the state branch: what it may hold instead of a commit's id, loose and packed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.faults.corruptions.corruption import (
    Break,
    Corruption,
    Reach,
    dangling,
    device,
    empty,
    fifo,
    folder,
    garbage,
    half,
    loop,
    put,
    remove,
    variants,
    zeros,
)
from tests.faults.scene import STATE, Scene

NO_COMMIT = "1234567890" * 4
FINDING = STATE


def _content(scene: Scene, content: str) -> None:
    put(scene.ref, content.format(tip=scene.tip, half=scene.tip[:20], upper=scene.tip.upper()).encode())


def _names(scene: Scene, revision: str) -> None:
    put(scene.ref, (scene.git("rev-parse", revision) + "\n").encode())


def _names_tag(scene: Scene, of: str) -> None:
    scene.git("tag", "-a", "-m", "a tag", "kept", of)
    _names(scene, "refs/tags/kept")


def _file(scene: Scene, make: Callable[[Path], None]) -> None:
    make(scene.ref)


def _deleted(scene: Scene, _: object) -> None:
    scene.ref.unlink()
    remove(scene.git_dir / "logs" / STATE)


def _deleted_with_reflog(scene: Scene, _: object) -> None:
    scene.ref.unlink()


def _packed(scene: Scene, content: str) -> None:
    """Packs the refs and writes the file anew; `{}` in it is what git wrote."""
    scene.git("pack-refs", "--all")
    file = scene.git_dir / "packed-refs"
    whole = file.read_text(encoding="ascii")
    tip = whole[: whole.index(f" {STATE}")][-40:]
    file.write_bytes(
        content.format(whole=whole, half=whole[: whole.index(STATE) + 5], tip=tip, main=whole).encode()
    )


def _packed_file(scene: Scene, make: Callable[[Path], None]) -> None:
    scene.git("pack-refs", "--all")
    make(scene.git_dir / "packed-refs")


def _packed_beside(scene: Scene, make: Callable[[Path], None]) -> None:
    """Damages the file of packed refs although the state branch's own ref is loose."""
    put(scene.git_dir / "packed-refs", b"# pack-refs with: peeled fully-peeled sorted \n")
    make(scene.git_dir / "packed-refs")


def _reflog(scene: Scene, make: Callable[[Path], None]) -> None:
    make(scene.git_dir / "logs" / STATE)


def _left_lock(scene: Scene, content: bytes) -> None:
    """Leaves a lock that is as old as no program keeps one."""
    import os

    lock = scene.ref.with_name("state.lock")
    put(lock, content)
    os.utime(lock, (1_000_000_000, 1_000_000_000))


def _in_the_way(scene: Scene, _: object) -> None:
    """Makes what git forbids: a branch that is also a folder of branches."""
    remove(scene.git_dir / "refs/heads/gitticks")
    put(scene.git_dir / "refs/heads/gitticks", (scene.git("rev-parse", "main") + "\n").encode())


CONTENTS = (
    "{half}",
    "{half}\n",
    "{tip}{half}\n",
    "{upper}\n",
    "{tip} and more\n",
    "{tip}\n{tip}\n",
    "\n",
    "0000000000000000000000000000000000000000\n",
    f"{NO_COMMIT}\n",
    "not an id at all\n",
    "ref:\n",
    "ref: refs/heads/nothing\n",
    "ref: refs/heads/gitticks/state\n",
    "ref: ../../../../etc/passwd\n",
    "ref: HEAD\n",
    "<<<<<<< HEAD\n{tip}\n",
)
PACKED = (
    "{half}",
    "",
    "garbage\n",
    "# pack-refs with: peeled\n{half}",
    "zzzz{whole}",
    "# pack-refs with: peeled\n0000000000000000000000000000000000000000 refs/heads/gitticks/state\n",
    f"# pack-refs with: peeled\n{NO_COMMIT} refs/heads/gitticks/state\n",
    "# pack-refs with: peeled\n{tip}refs/heads/gitticks/state\n",
)
ANSWERS = Reach.ANSWERS

CORRUPTIONS: tuple[Corruption, ...] = (
    *variants("ref content", _content, CONTENTS, ANSWERS, FINDING),
    *variants(
        "ref no commit", _names, ("gitticks/state^{tree}", "gitticks/state:config.yaml"), ANSWERS, FINDING
    ),
    *variants("ref other tree", _names, ("main",), ANSWERS),
    *variants(
        "ref tag", _names_tag, ("gitticks/state", "gitticks/state^{tree}", "main:README.md"), ANSWERS, FINDING
    ),
    *variants("ref file", _file, (empty, garbage, half, zeros, loop, fifo, device), ANSWERS, FINDING),
    *variants("ref file missing", _file, (folder, dangling), ANSWERS, FINDING),
    *variants("ref deleted", _deleted, ("with its log",), ANSWERS, FINDING),
    *variants("ref deleted", _deleted_with_reflog, ("log kept",), ANSWERS, FINDING),
    *variants("packed-refs", _packed, PACKED, ANSWERS, FINDING),
    *variants(
        "packed-refs file",
        _packed_file,
        (empty, garbage, half, zeros, loop),
        ANSWERS,
        FINDING,
    ),
    *variants("packed-refs no file", _packed_file, (folder, fifo, device), ANSWERS, "packed-refs"),
    *variants(
        "packed-refs beside",
        _packed_beside,
        (garbage, folder, loop, fifo, device),
        Reach.ANSWERS,
        "packed-refs",
    ),
    *variants("reflog", _reflog, (empty, garbage, half, zeros, folder, loop)),
    *variants("ref lock", _left_lock, (b"", b"1234567890" * 4 + b"\n")),
    *variants("ref lock of another", _left_lock, (b"garbage",), Reach.READING, "state.lock"),
    *variants("ref in the way", _in_the_way, ("branch `gitticks`",), ANSWERS, FINDING),
)
__all__ = ["CORRUPTIONS", "Break"]
