"""What may run here is each user's own to say."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitticks.git.repository import discover
from gitticks.model.trust import Runnable, RunnableKind
from gitticks.store.trust import trust, trusted_digests
from tests.support.repositories import make_repository

MAKE = Runnable(RunnableKind.TEMPLATE, "prompts/a.md", "make")
DANCE = Runnable(RunnableKind.TEMPLATE, "prompts/b.md", "dance")


def test_what_another_user_wrote_trusts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = discover(make_repository(tmp_path / "r"))
    trust(repository, [MAKE])
    assert trusted_digests(repository) == {MAKE.digest}
    with monkeypatch.context() as other:
        other.setattr(os, "geteuid", lambda: 4242)
        assert trusted_digests(repository) == frozenset()
        trust(repository, [DANCE])
        assert trusted_digests(repository) == frozenset()  # that file is not of the other user either
    assert (repository.own_dir / "trust-4242").exists()
    assert trusted_digests(repository) == {MAKE.digest}


@pytest.mark.parametrize("lay", [os.mkfifo, Path.mkdir, lambda file: file.symlink_to("nowhere")])
def test_what_lies_in_its_place_keeps_nobody_waiting(tmp_path: Path, lay: Callable[[Path], object]) -> None:
    repository = discover(make_repository(tmp_path / "r"))
    file = repository.own_dir / "trust"
    file.parent.mkdir()
    lay(file)
    with pytest.raises(OSError, match="trust") as caught:
        trust(repository, [MAKE])
    assert caught.value.filename == str(file)
    assert trusted_digests(repository) == frozenset()


def test_a_pipe_that_somebody_reads_is_no_memory(tmp_path: Path) -> None:
    repository = discover(make_repository(tmp_path / "r"))
    file = repository.own_dir / "trust"
    file.parent.mkdir()
    os.mkfifo(file)
    reader = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(OSError, match="no plain file"):
            trust(repository, [MAKE])
        assert os.read(reader, 100) == b""
    finally:
        os.close(reader)
