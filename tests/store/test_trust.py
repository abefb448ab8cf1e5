"""What may run here is each user's own to say."""

from __future__ import annotations

import os
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
