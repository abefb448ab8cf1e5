from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import gt


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(tmp_path: Path, shell: str) -> None:
    ran = gt("completion", shell, at=tmp_path)
    assert ran.code == 0
    assert f"_GT_COMPLETE={shell}" in ran.out


def test_an_unknown_shell(tmp_path: Path) -> None:
    ran = gt("completion", "csh", at=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "`bash`, `zsh`, `fish`" in ran.err
