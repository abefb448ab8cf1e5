"""Repositories of formats that nobody knows yet are refused by every command, and nothing is made in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.errors import Exit
from tests.cli.support import gt
from tests.cli.test_everywhere import CALLS
from tests.support.repositories import add_linked_worktree, git, make_repository

NEEDS_NONE = {"version", "completion", "help", "skill"}
SETTINGS = {"objects": "extensions.objectFormat", "refs": "extensions.refStorage"}
HINT = "`pipx upgrade gitticks`"
RUN_WITHOUT_REPOSITORY = 64


def words_of(kind: str) -> str:
    return f"stores its {kind} as `novel`, which gitticks does not know"


def become_future(path: Path, kind: str) -> Path:
    """Gives a repository a format that no git knows yet."""
    config = path / ".git" / "config"
    config.write_text(
        config.read_text().replace("repositoryformatversion = 0", "repositoryformatversion = 1")
        + f"[extensions]\n\t{SETTINGS[kind].partition('.')[2]} = novel\n"
    )
    return path


def everything_in(path: Path) -> dict[str, bytes]:
    return {str(one): one.read_bytes() if one.is_file() else b"" for one in path.rglob("*")}


@pytest.mark.parametrize("kind", SETTINGS)
def test_every_command_refuses_and_changes_nothing(kind: str, tmp_path: Path) -> None:
    top = become_future(make_repository(tmp_path / "top"), kind)
    before = everything_in(top)
    for name, words in {**CALLS, "hook": ("hook", "pre-commit")}.items():
        ran = gt(*words, at=top, environment={"GIT_EDITOR": "true"})
        if name in NEEDS_NONE:
            assert ran.code == Exit.DONE, (name, ran.seen)
            continue
        assert ran.code == (RUN_WITHOUT_REPOSITORY if name == "run" else Exit.FAILED), (name, ran.seen)
        if name == "doctor":
            assert f"error    `{top}/.git` {words_of(kind)}\n           {HINT}\n" in ran.out
        else:
            assert ran.seen == f"--- {ran.code}\nerror: `{top}/.git` {words_of(kind)}\n\nhint: {HINT}\n", name
    assert everything_in(top) == before


@pytest.mark.parametrize("words", [("init",), ("list",), ("doctor",), ("doctor", "--range", "main")])
def test_from_every_place(words: tuple[str, ...], tmp_path: Path) -> None:
    top = make_repository(tmp_path / "top")
    linked = add_linked_worktree(top, tmp_path / "linked", "side")
    inside = top / "some" / "where"
    inside.mkdir(parents=True)
    become_future(top, "objects")
    for place in (linked, inside, top / ".git"):
        ran = gt(*words, at=place)
        assert ran.code == Exit.FAILED, (place, ran.seen)
        assert words_of("objects") in ran.out + ran.err


def test_json_tells_it_too(tmp_path: Path) -> None:
    top = become_future(make_repository(tmp_path / "top"), "refs")
    ran = gt("list", "--json", at=top)
    assert ran.out == ""
    assert f'"message": "`{top}/.git` {words_of("refs")}"' in ran.err


def test_where_the_configuration_is_not_plain(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "top")
    git("config", "include.path", "other", at=top)
    ran = gt("list", at=become_future(top, "objects"))
    assert ran.code == Exit.FAILED
    assert "novel" in ran.err
