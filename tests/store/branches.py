"""A repository with a fresh state branch, and operations on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gitticks.git.identity import Identity
from gitticks.git.repository import discover
from gitticks.store.branch import Store
from gitticks.store.transaction import Transaction
from tests.support.repositories import make_repository

ADA = Identity("Ada Lovelace", "ada@example.org")
CONFIG = "version: 1\n"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "r")


@pytest.fixture
def store(top: Path) -> Store:
    made = Store(discover(top))
    made.initialise(ADA, CONFIG)
    return made


def writing(path: str, content: bytes) -> Callable[[Transaction], None]:
    def operation(transaction: Transaction) -> None:
        transaction.write(path, content)
        transaction.describe(f"write {path}", [("Task", "k7f2"), ("Actor", "human Ada")])

    return operation


def increment(transaction: Transaction) -> int:
    value = int(transaction.read("counter") or b"0") + 1
    transaction.write("counter", str(value).encode())
    return value
