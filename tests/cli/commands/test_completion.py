from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import gt, gt_process
from tests.support.repositories import make_repository
from tests.support.stores import make_queue


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(tmp_path: Path, shell: str) -> None:
    ran = gt("completion", shell, at=tmp_path)
    assert ran.code == 0
    assert f"_GT_COMPLETE={shell}_complete" in ran.out


def test_an_unknown_shell(tmp_path: Path) -> None:
    ran = gt("completion", "csh", at=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "'bash', 'zsh', 'fish'" in ran.err


def completions(at: Path, words: str) -> list[str]:
    environment = {
        "_GT_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    ran = gt_process(at=at, environment=environment)
    assert ran.code == 0, ran.err
    return [line.partition(",")[2] for line in ran.out.splitlines() if line]


def test_ids_and_commands_are_completed(tmp_path: Path) -> None:
    make_queue(tmp_path)
    assert completions(tmp_path, "gt show k") == ["k7f2"]
    assert sorted(completions(tmp_path, "gt compl")) == ["complete", "completion"]
    assert "verify.test" in completions(tmp_path, "gt config verify.t")


def test_where_there_are_no_tasks_nothing_is_completed_and_nothing_fails(tmp_path: Path) -> None:
    assert completions(make_repository(tmp_path / "repository"), "gt show k") == []
    assert completions(tmp_path, "gt show k") == []
