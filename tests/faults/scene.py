"""The repository that is broken again and again, and put back as it was before each time."""

from __future__ import annotations

import functools
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gitticks.board.step import WORKTREE_BOARD
from gitticks.git.repository import discover
from gitticks.model.event import Event, EventType
from gitticks.model.ids import TaskId, task_path
from gitticks.model.status import Awaiting, Status, TaskType
from gitticks.store.branch import Store
from gitticks.store.transaction import Transaction
from tests.cli.support import gt
from tests.faults.forked import Ended, gt_forked
from tests.support.repositories import git, loose_file, make_repository
from tests.support.stores import ADA, ADA_ACTOR, CREATED, NOW, QUESTION, put_task

VICTIM = "k7f2"
"""The task that is broken where one task is."""
NEIGHBOUR = "m3f2"
"""A task whose folder lies beside the victim's."""
OTHER = "q8xy"
"""The task that is next."""
WAITING = "w4tt"
"""A task that awaits an answer."""
IDLE = "h6rv"
"""A task that awaits a person's own work, so that a run of it has nothing to do."""
EPIC, CHILD = "e2pc", "c5de"
ALL = (CHILD, EPIC, IDLE, NEIGHBOUR, OTHER, VICTIM, WAITING)
NO_OBJECT = "0" * 40
STATE = "refs/heads/gitticks/state"


@dataclass(frozen=True, slots=True)
class Scene:
    """A repository at `path`, and below `spare` a copy of how it was, and programs for PATH."""

    path: Path
    spare: Path

    @property
    def git_dir(self) -> Path:
        """Returns the repository's git directory."""
        return self.path / ".git"

    @property
    def own(self) -> Path:
        """Returns our own folder in it."""
        return self.git_dir / "gitticks"

    @property
    def index(self) -> Path:
        """Returns the query index."""
        return self.own / "index.sqlite3"

    @property
    def board(self) -> Path:
        """Returns the board."""
        return self.path / ".gitticks"

    @property
    def board_git_dir(self) -> Path:
        """Returns the board's own git directory."""
        return self.git_dir / "worktrees" / "-gitticks"

    @property
    def ref(self) -> Path:
        """Returns the file of the state branch's ref."""
        return self.git_dir / STATE

    @property
    def tip(self) -> str:
        """Returns the state branch's commit."""
        return self.ref.read_text(encoding="ascii").strip()

    @property
    def environment(self) -> dict[str, str]:
        """Returns the variables that commands run with: `gt` on PATH, and an editor that puts the old file back."""
        path = f"{self.spare / 'bin'}{os.pathsep}{os.environ['PATH']}"
        editor = str(self.spare / "bin" / "editor")
        return {"PATH": path, "EDITOR": editor, "VISUAL": editor, "GIT_EDITOR": editor}

    def board_file(self, task_id: str = VICTIM) -> Path:
        """Returns a task's file on the board."""
        return self.board / task_path(TaskId(task_id))

    def object_file(self, revision: str) -> Path:
        """Returns the loose file of the object that a revision names."""
        name = self.git("rev-parse", revision)
        return loose_file(self.git_dir, name)

    def git(self, *arguments: str, input: str | None = None) -> str:  # noqa: A002
        """Runs git at the repository's top."""
        return git(*arguments, at=self.path, input=input)

    def gt(self, *arguments: str) -> Ended:
        """Runs a command at the repository's top."""
        return gt_forked(*arguments, at=self.path, environment=self.environment)

    def commit_files(
        self,
        files: Mapping[str, bytes | None],
        *,
        links: Mapping[str, str] | None = None,
        parent: str | None = STATE,
    ) -> str:
        """Commits files and links to the state branch by git's plumbing, past every check; None removes a file."""
        environment = {"GIT_INDEX_FILE": str(self.spare / "index")}
        (self.spare / "index").unlink(missing_ok=True)
        if parent is not None:
            git("read-tree", parent, at=self.path, environment=environment)
        put = {path: content for path, content in files.items() if content is not None}
        entries = [f"0 {NO_OBJECT}\t{path}" for path in files.keys() - put.keys()]
        entries += [f"100644 {name}\t{path}" for path, name in self._put_blobs(put).items()]
        targets = {path: os.fsencode(target) for path, target in (links or {}).items()}
        entries += [f"120000 {name}\t{path}" for path, name in self._put_blobs(targets).items()]
        lines = "".join(f"{entry}\0" for entry in entries)
        git("update-index", "-z", "--index-info", at=self.path, environment=environment, input=lines)
        tree = git("write-tree", at=self.path, environment=environment)
        return self.put_commit(tree, parent)

    def put_blob(self, content: bytes) -> str:
        """Stores a blob and returns its name."""
        return self._put_blobs({"": content})[""]

    def _put_blobs(self, contents: Mapping[str, bytes]) -> dict[str, str]:
        """Stores blobs and returns their names."""
        folder = self.spare / "blobs"
        folder.mkdir(exist_ok=True)
        for number, content in enumerate(contents.values()):
            (folder / str(number)).write_bytes(content)
        paths = "".join(f"{folder / str(number)}\n" for number in range(len(contents)))
        names = self.git("hash-object", "-w", "--no-filters", "--stdin-paths", input=paths).split()
        return dict(zip(contents, names, strict=True))

    def put_commit(self, tree: str, parent: str | None = STATE) -> str:
        """Moves the state branch to a new commit of `tree` and returns it."""
        parents = () if parent is None else ("-p", parent)
        commit = self.git("commit-tree", tree, *parents, "-m", "by hand")
        self.git("update-ref", STATE, commit)
        return commit

    def keep(self) -> None:
        """Makes what is there now what `restore` puts back."""
        shutil.rmtree(self.spare / "as-it-was", ignore_errors=True)
        shutil.copytree(self.path, self.spare / "as-it-was", symlinks=True)

    def restore(self) -> None:
        """Puts everything back."""
        _remove(self.path)
        shutil.copytree(self.spare / "as-it-was", self.path, symlinks=True)


@functools.cache
def scene_in(folder: Path) -> Scene:
    """Returns the scene of a folder, made once; to be called within a test, for its seal."""
    return make_scene(folder)


def make_scene(folder: Path) -> Scene:
    """Makes the repository with a board and a task of each sort in it, and a warm index."""
    scene = Scene(make_repository(folder / "repository"), folder / "spare")
    assert gt("init", at=scene.path).code == 0
    Store(discover(scene.path), WORKTREE_BOARD).transact(_put_tasks, author=ADA)
    assert gt("list", at=scene.path).code == 0
    _put_programs(scene)
    shutil.rmtree(scene.git_dir / "hooks")
    scene.keep()
    return scene


def _put_tasks(transaction: Transaction) -> None:
    noted = Event(EventType.NOTED, CREATED, ADA_ACTOR)
    put_task(transaction, id=VICTIM, body="After SSO people land on /.\n", events=[noted])
    put_task(transaction, "Rename the error page", id=NEIGHBOUR)
    put_task(transaction, "Faster start", id=OTHER, priority=0)
    put_task(
        transaction,
        "Log in by passkey",
        id=WAITING,
        status=Status.CLARIFICATION,
        awaiting=Awaiting.INPUT,
        asked_at=NOW,
        body=QUESTION,
    )
    put_task(transaction, "Ask the lawyers", id=IDLE, awaiting=Awaiting.WORK, asked_at=NOW)
    put_task(transaction, "Accounts", id=EPIC, type=TaskType.EPIC)
    put_task(transaction, "Delete an account", id=CHILD, parent=TaskId(EPIC))


def _put_programs(scene: Scene) -> None:
    """Puts a `gt` of this source tree on PATH, and an editor that saves the victim's file as it once was."""
    folder = scene.spare / "bin"
    folder.mkdir(parents=True)
    good = folder / "good.md"
    good.write_bytes(scene.board_file().read_bytes())
    start = f"exec {sys.executable} -P -c 'from gitticks.cli.entry import main; main()' \"$@\""
    for name, line in {"gt": start, "editor": f'cat {good} > "$1"'}.items():
        (folder / name).write_text(f"#!/bin/sh\n# gitticks\n{line}\n", encoding="utf-8")
        (folder / name).chmod(0o755)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
