from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from gitticks.actions.context import Context
from gitticks.actions.sync_auto import sync_after
from tests.support.tasks import make_store


def test_where_nothing_asks_for_it_the_settings_are_not_even_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise AssertionError("the settings were read")

    make_store(tmp_path / "r", [])
    context = Context(directory=tmp_path / "r")
    monkeypatch.setattr("gitticks.store.settings.load_settings", fail)
    assert sync_after(context) is None
    git_config = tmp_path / "r/.git/config"
    git_config.write_text(git_config.read_text() + '[gitticks "sync"]\n\tauto = push\n')
    with pytest.raises(AssertionError, match="were read"):
        sync_after(context)
