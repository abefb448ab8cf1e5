"""The few settings that say what a repository is, as git reads them or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.git.repository_settings import read_settings
from tests.support.repositories import git


def settings_of(path: Path, text: str) -> dict[str, str]:
    file = path / "config"
    file.write_text(text, encoding="utf-8")
    return read_settings(file)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[core]\n\tbare = false\n", {"core.bare": "false"}),
        ("[CORE]\nBare=true\n", {"core.bare": "true"}),
        ("[core] bare = true\n", {"core.bare": "true"}),
        ("[core]\nbare\n", {"core.bare": "true"}),
        ("[core]\n  worktree  =  ../w w  \n", {"core.worktree": "../w w"}),
        ("[core]\n# bare = true\n; bare = true\n", {}),
        ('[remote "origin"]\n\turl = "x"\n[core]\nbare = no\n', {"core.bare": "no"}),
        (
            '[branch "a]b"]\nmerge = x\n[extensions]\nworktreeConfig = true\n',
            {"extensions.worktreeconfig": "true"},
        ),
        ('[branch "a\\"b"]\nbare = true\n[core]\n', {}),
        ("[user]\nname = A \\\n B\n", {}),
        ("", {}),
    ],
)
def test_what_is_plain_is_read(tmp_path: Path, text: str, expected: dict[str, str]) -> None:
    assert settings_of(tmp_path, text) == expected
    for key, value in expected.items():
        assert git("config", "-f", str(tmp_path / "config"), key, at=tmp_path) in (value, "")


@pytest.mark.parametrize(
    "text",
    [
        "[include]\npath = other\n",
        '[includeIf "gitdir:x"]\npath = other\n',
        '[core]\nworktree = "a"\n',
        "[core]\nworktree = a # b\n",
        "[core]\nworktree = a\\\n",
        "[core]\nno.name = x\n",
        "[core]\n= x\n",
        "[core\nbare = true\n[core]\n[odd\n",
    ],
)
def test_what_is_not_plain_is_left_to_git(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        settings_of(tmp_path, text)


def test_a_missing_file_sets_nothing(tmp_path: Path) -> None:
    assert read_settings(tmp_path / "missing") == {}
