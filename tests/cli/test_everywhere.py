"""Every command works the same from the top, a subdirectory, the board and a workspace of the repository."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gitticks.cli.catalogue import CATALOGUE
from gitticks.model.status import Awaiting, Status
from tests.cli.support import gt
from tests.support.checkpoints import make_checkpoint
from tests.support.projects import make_project, make_reviewing, make_working
from tests.support.repositories import fsck_problems, git

PLACES = ("top", "subdirectory", "board", "workspace")

CALLS: dict[str, tuple[str, ...]] = {
    "init": ("init",),
    "config": ("config", "verify.test", "true"),
    "doctor": ("doctor",),
    "hooks": ("hooks", "install", "--checkout"),
    "agents": ("agents",),
    "completion": ("completion", "bash"),
    "skill": ("skill",),
    "help": ("help", "workflow"),
    "version": ("version",),
    "create": ("create", "Another one"),
    "update": ("update", "k7f2", "-p", "0"),
    "edit": ("edit", "k7f2"),
    "note": ("note", "k7f2", "look here"),
    "block": ("block", "k7f2", "m3xq"),
    "unblock": ("unblock", "k7f2", "m3xq"),
    "defer": ("defer", "k7f2", "+3d"),
    "cancel": ("cancel", "k7f2"),
    "close": ("close", "k7f2"),
    "reopen": ("reopen", "done"),
    "import": ("import", "beads", str(Path(__file__).parents[1] / "data" / "foreign" / "issues.jsonl")),
    "export": ("export",),
    "migrate": ("migrate", "--manual-to-awaiting"),
    "watch": ("watch", "--once"),
    "sync": ("sync",),
    "trust": ("trust", "--list"),
    "list": ("list", "--all"),
    "tree": ("tree",),
    "search": ("search", "--all", "login"),
    "show": ("show", "k7f2"),
    "next": ("next",),
    "ready": ("ready",),
    "current": ("current",),
    "status": ("status",),
    "log": ("log", "k7f2"),
    "graph": ("graph", "k7f2"),
    "board": ("board",),
    "stats": ("stats", "--html", "-"),
    "path": ("path", "k7f2"),
    "inbox": ("inbox",),
    "approve": ("approve", "wait"),
    "reject": ("reject", "wait", "not yet"),
    "respond": ("respond", "asks", "comma"),
    "review": ("review", "wait"),
    "complete": ("complete", "work"),
    "ask": ("ask", "work", "Which one?"),
    "handoff": ("handoff", "work", "DONE: all"),
    "run": ("run", "done", "--debounce", "0"),
    "start": ("start", "k7f2"),
    "stop": ("stop", "k7f2"),
    "pause": ("pause",),
    "unpause": ("unpause",),
    "resume": ("resume", "work-1", "--no-run"),
    "checkpoints": ("checkpoints", "diff", "work-1"),
    "health": ("health",),
    "worktree": ("worktree", "list"),
    "verify": ("verify", "work"),
    "conflicts": ("conflicts", "k7f2"),
    "audit": ("audit",),
    "permissions": ("permissions", "explain", "shell", "make test"),
    "merge": ("merge",),
}
"""One plain call of each command that succeeds; `attach` needs an agent at work, `demo` makes its own repository and `hook` and `merge-driver` are called by git."""

QUESTION = "## Questions\n\n### 2026-11-22T10:00:00Z · agent · claude\n\nPoint or comma?\n"


def make_places(path: Path) -> dict[str, Path]:
    """Makes a repository with a task of each sort, and returns where a person may stand in it."""
    project = make_project(path)
    project.make("k7f2")
    project.make("m3xq")
    project.make("done", status=Status.DONE)
    project.make("asks", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, body=QUESTION)
    make_reviewing(project, "wait")
    workspace = make_working(project, "work", body="## Handoff\n\nDONE: all\n")
    make_checkpoint(project, "work", head=git("rev-parse", "HEAD", at=workspace))
    subdirectory = path / "some" / "where"
    subdirectory.mkdir(parents=True)
    git("clone", "--quiet", "--bare", str(path), str(path.parent / "remote.git"), at=path)
    git("remote", "add", "origin", str(path.parent / "remote.git"), at=path)
    return dict(zip(PLACES, (path, subdirectory, project.board, workspace), strict=True))


def test_the_calls_are_all_commands() -> None:
    assert set(CALLS) == {entry.name for entry in CATALOGUE} - {"attach", "demo", "hook", "merge-driver"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Path], Path]:
    """Returns the places, made once, and a copy of all that is around them."""
    around = tmp_path_factory.mktemp("everywhere") / "around"
    places = make_places(around / "project")
    return places, Path(shutil.copytree(around, around.with_name("copy"), symlinks=True))


@pytest.fixture
def places(made: tuple[dict[str, Path], Path]) -> dict[str, Path]:
    """Returns the places as they were made, where they were made: worktrees know where they are."""
    found, copy = made
    around = copy.with_name("around")
    shutil.rmtree(around)
    shutil.copytree(copy, around, symlinks=True)
    return found


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", CALLS)
def test_a_command_works_from(name: str, place: str, places: dict[str, Path]) -> None:
    done = gt(*CALLS[name], at=places[place], environment={"GIT_EDITOR": "true"})
    assert done.code == 0, done.seen
    assert fsck_problems(places["top"]) == ""
