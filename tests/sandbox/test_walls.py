"""The words that bubblewrap is given: which word on a path holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.model.settings import SandboxPreset, SandboxSettings
from gitticks.sandbox.walls import Inside, Machine, Walls, bubblewrap, walls_of

HOME, WORK = Path("/home/ada"), Path("/home/ada/project/.work/k7f2")
MACHINE = Machine(
    "/usr/bin/bwrap",
    HOME,
    {"bin": "usr/bin"},
    (Path("/usr"), Path("/etc/passwd")),
    (HOME / ".ssh", Path("/etc/ssh")),
    (HOME / ".tools/token",),
    Path("/run/resolver"),
)


def walls(preset: SandboxPreset = SandboxPreset.STRICT, **settings: tuple[str, ...]) -> Walls:
    found = walls_of(SandboxSettings(preset)._replace(**settings))  # type: ignore[arg-type] # the lists alone
    assert found is not None
    return found


def mounts(given: Walls, inside: Inside) -> dict[str, str]:
    """Returns what stands at each place."""
    words = bubblewrap(given, MACHINE, inside)
    found: dict[str, str] = {}
    for number, word in enumerate(words):
        match word:
            case "--bind" | "--ro-bind" | "--symlink":
                found[words[number + 2]] = f"{word} {words[number + 1]}"
            case "--tmpfs":
                found[words[number + 1]] = word
    return found


def test_none_is_no_walls() -> None:
    assert walls_of(SandboxSettings(SandboxPreset.NONE)) is None


def test_strict_begins_with_nothing_and_permissive_with_all_that_is_read_only() -> None:
    strict = mounts(walls(), Inside(WORK))
    assert "/" not in strict
    assert (strict["/usr"], strict["/bin"]) == ("--ro-bind /usr", "--symlink usr/bin")
    assert strict[str(HOME)] == strict["/tmp"] == strict["/run"] == "--tmpfs"
    permissive = mounts(walls(SandboxPreset.PERMISSIVE), Inside(WORK))
    assert permissive["/"] == "--ro-bind /"
    assert str(HOME) not in permissive
    assert permissive[str(HOME / ".ssh")] == permissive["/etc/ssh"] == "--tmpfs"
    assert permissive["/run/resolver"] == "--ro-bind /run/resolver"


@pytest.mark.parametrize("preset", [SandboxPreset.STRICT, SandboxPreset.PERMISSIVE])
def test_the_nearest_word_on_a_path_holds(preset: SandboxPreset) -> None:
    inside = Inside(
        WORK,
        readable=(HOME / ".tools", HOME / ".ssh/tool"),
        writable=(HOME / ".cache",),
        hidden=(HOME / "project", WORK / "secrets"),
        hidden_files=(WORK / ".env",),
        pinned=(WORK / ".git",),
        overlaid={HOME / "project/.git/worktrees/k7f2": Path("/private")},
    )
    found = mounts(walls(preset), inside)
    assert found[str(HOME / "project")] == "--tmpfs"
    assert found[str(WORK)] == f"--bind {WORK}"
    assert found[str(WORK / "secrets")] == "--tmpfs"
    assert found[str(WORK / ".env")] == "--ro-bind /dev/null"
    assert found[str(WORK / ".git")] == f"--ro-bind {WORK}/.git"
    assert found["/home/ada/project/.git/worktrees/k7f2"] == "--bind /private"
    assert found[str(HOME / ".cache")] == f"--bind {HOME}/.cache"
    places = list(found)
    assert places.index(str(HOME / "project")) < places.index(str(WORK)) < places.index(str(WORK / ".env"))


@pytest.mark.parametrize("preset", [SandboxPreset.STRICT, SandboxPreset.PERMISSIVE])
def test_a_secret_within_what_is_let_through_stays_hidden(preset: SandboxPreset) -> None:
    found = mounts(walls(preset), Inside(WORK, readable=(HOME / ".tools", HOME / ".ssh/tool")))
    assert found[str(HOME / ".tools/token")] == "--ro-bind /dev/null"
    assert str(HOME / ".ssh/tool") not in found


@pytest.mark.parametrize(
    ("given", "is_cut"),
    [
        (walls(), True),
        (walls(allowed_hosts=("example.org",)), True),
        (walls(allowed_hosts=("*",)), True),
        (walls(SandboxPreset.PERMISSIVE), False),
        (walls(SandboxPreset.PERMISSIVE, denied_hosts=("example.org",)), True),
    ],
)
def test_only_a_permissive_network_without_exceptions_is_the_machines_own(given: Walls, is_cut: bool) -> None:
    assert ("--unshare-net" in bubblewrap(given, MACHINE, Inside(WORK))) is is_cut


def test_what_takes_rights_away_always_stands() -> None:
    for preset in (SandboxPreset.STRICT, SandboxPreset.PERMISSIVE):
        words = bubblewrap(walls(preset), MACHINE, Inside(WORK))
        assert {
            "--unshare-user",
            "--disable-userns",
            "--unshare-pid",
            "--unshare-ipc",
            "--die-with-parent",
        } <= {*words}
        assert words[words.index("--cap-drop") + 1] == "ALL"
        assert "--new-session" in words
