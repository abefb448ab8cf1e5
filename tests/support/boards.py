"""Builders of boards, and a person who edits on them."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from gitticks.board.place import create_board
from gitticks.board.step import WORKTREE_BOARD
from gitticks.git.identity import Identity
from gitticks.git.repository import Repository
from gitticks.store.branch import Store
from gitticks.store.transaction import Transaction
from tests.support.repositories import git
from tests.support.stores import make_store

ENGINE = Identity("engine", "engine@example.org")
PATH = "notes/a.md"
LINES = "".join(f"line {number}\n" for number in range(1, 21))


@dataclass(frozen=True, slots=True)
class BoardOfTest:
    """A repository with a board, a writer on the state branch, and a person's hands."""

    store: Store
    folder: Path

    @property
    def repository(self) -> Repository:
        return self.store.repository

    def write(self, text: str | None, path: str = PATH) -> str:
        """Writes the file on the state branch, or removes it, and returns the new tip."""
        return write_to_branch(self.store, {path: text})

    def save(self, text: str, path: str = PATH) -> None:
        """Saves a file on the board, as a person did some seconds ago."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        past = time.time() - 5
        os.utime(file, (past, past))

    def read(self, path: str = PATH) -> str:
        """Returns what the file on the board holds."""
        return (self.folder / path).read_text(encoding="utf-8")

    def git(self, *arguments: str) -> str:
        """Runs git on the board."""
        return git(*arguments, at=self.folder)

    def status(self) -> str:
        """Returns what git says of the board."""
        return self.git("status", "--porcelain")


def make_board(path: Path) -> BoardOfTest:
    """Makes a repository at `path` with a board and one file on it."""
    store = make_store(path, board=WORKTREE_BOARD)
    folder = create_board(store.repository)
    board = BoardOfTest(store, folder)
    board.write(LINES)
    return board


def write_to_branch(store: Store, changes: dict[str, str | None]) -> str:
    """Writes or removes files on the state branch in one commit and returns the new tip."""

    def change(transaction: Transaction) -> None:
        for path, text in changes.items():
            if text is None:
                transaction.remove(path)
            else:
                transaction.write(path, text.encode())

    store.transact(change, author=ENGINE)
    return store.tip()
