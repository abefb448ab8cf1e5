"""The driver in a repository's configuration: set once, brought up to date, never named without its command."""

from __future__ import annotations

from pathlib import Path

from gitticks.git.repository import discover
from gitticks.store.merging.driver import driver_command, has_merge_driver, install_merge_driver
from tests.support.repositories import git, make_repository


def test_it_is_set_once_and_brought_up_to_date(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    repository = discover(top)
    assert not has_merge_driver(repository)
    install_merge_driver(repository)
    assert has_merge_driver(repository)
    assert git("config", "merge.gitticks.driver", at=top) == driver_command()
    once = (top / ".git/config").read_bytes()
    install_merge_driver(repository)
    assert (top / ".git/config").read_bytes() == once
    git("config", "merge.gitticks.driver", "/gone/gt merge-driver", at=top)
    install_merge_driver(repository)
    assert git("config", "merge.gitticks.driver", at=top) == driver_command()


def test_other_branches_never_ask_for_it(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    install_merge_driver(discover(top))
    asked = git("check-attr", "merge", "--", "TASK.md", at=top)
    assert asked == "TASK.md: merge: unspecified"
